// SPDX-License-Identifier: MIT
//
// The contents of a state, and its small size.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/state.hpp>

namespace state_test {

namespace sc = waybill::scaling;
using sc::state;
using tests_support::at;
using tests_support::seconds;

// One small row: without pointers, and below one and a half kilobytes.
static_assert(std::is_trivially_copyable_v<state>);
static_assert(sizeof(state) <= 1'536);

namespace {

sc::decision asked(std::uint64_t desired, std::int64_t t, std::int64_t down, std::int64_t up = 0)
{
    return {.from = 10,
            .desired = desired,
            .to = 10,
            .now = at(t),
            .stabilise = {seconds(up), seconds(down)}};
}

// The valid order: later and later, each above or below the one before.
bool is_in_order(const state& s)
{
    bool good = true;
    for (std::size_t n = 1; n < s.highest.size(); ++n) {
        good = good && s.highest[n - 1].at <= s.highest[n].at &&
               s.highest[n - 1].instances > s.highest[n].instances;
    }
    for (std::size_t n = 1; n < s.lowest.size(); ++n) {
        good = good && s.lowest[n - 1].at <= s.lowest[n].at &&
               s.lowest[n - 1].instances < s.lowest[n].instances;
    }
    return good;
}

}  // namespace

TEST_CASE("state: without stabilisation no recommendation is stored")
{
    state s;
    for (std::int64_t t = 0; t != 100; ++t) s.on(asked(5, t, 0));
    CHECK(s.highest.empty());
    CHECK(s.lowest.empty());
}

TEST_CASE("state: equal recommendations are one entry")
{
    state s;
    for (std::int64_t t = 0; t != 100; ++t) s.on(asked(10, t, 300, 300));
    CHECK(s.highest.size() == 1);
    CHECK(s.lowest.size() == 1);
    CHECK(s.highest.back().instances == 10);
}

TEST_CASE("state: expired recommendations and those below a later one are removed")
{
    state s;
    s.on(asked(20, 0, 300));
    s.on(asked(15, 10, 300));
    s.on(asked(12, 20, 300));
    CHECK(s.highest.size() == 3);
    s.on(asked(14, 30, 300));  // hides 12
    CHECK(s.highest.size() == 3);
    CHECK(s.highest[2].instances == 14);
    s.on(asked(5, 311, 300));  // 20 stood until 10
    CHECK(s.highest[0].instances == 15);
    CHECK(is_in_order(s));
}

TEST_CASE("state: random decisions at random times keep it in order and within its size")
{
    state s;
    std::uint64_t seed = 1;
    for (int n = 0; n != 20'000; ++n) {
        seed = seed * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        const auto draw = [&](unsigned shift, std::uint64_t below) {
            return (seed >> shift) % below;
        };
        const auto t = static_cast<std::int64_t>(draw(40, 600)) + n / 4;
        s.on(asked(draw(20, 60), t, 300, 120));
        if (!is_in_order(s)) FAIL("out of order after decision " << n);
    }
    CHECK(s.highest.size() <= state::recommendations);
    CHECK(s.lowest.size() <= state::recommendations);
}

TEST_CASE("state: clock jumps of hours keep it in order")
{
    state s;
    std::uint64_t seed = 1;
    std::int64_t t = 0;
    for (int n = 0; n != 20'000; ++n) {
        seed = seed * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        const auto draw = [&](unsigned shift, std::int64_t below) {
            return static_cast<std::int64_t>(seed >> shift) % below;
        };
        const bool jumps = draw(60, 8) == 0;
        t += jumps ? draw(30, 40'000) - 20'000 : draw(30, 900);
        const auto desired = static_cast<std::uint64_t>(draw(20, 60));
        s.on(asked(desired, t, 30'000, 12'000));
        if (!is_in_order(s)) FAIL("out of order after decision " << n);
    }
}

TEST_CASE("state: an applied command limits a warm-up end that a clock far ahead has stored")
{
    state s;
    const auto ordered = [&](std::uint64_t id, std::int64_t t, std::int64_t warm_up) {
        s.on(sc::decision{.from = id,
                          .desired = id + 1,
                          .to = id + 1,
                          .now = at(t),
                          .command = sc::command{id, id, id + 1},
                          .warm_up = seconds(warm_up)});
    };
    constexpr std::int64_t year = 31'536'000;
    ordered(1, year, 30);
    s.on(sc::applied{1}, at(year));
    CHECK(s.warm_at == at(year + 30));
    ordered(2, year, 0);  // the policy has changed, and then the clock is set right
    CHECK(s.on(sc::applied{2}, at(0)) == sc::command_result::applied);
    CHECK(s.last_up == at(0));
    CHECK(s.warm_at == at(30));
}

TEST_CASE("state: a decision that found its command applied confirms only that command")
{
    state s;
    s.on(sc::decision{
        .from = 5, .desired = 6, .to = 6, .now = at(0), .command = sc::command{1, 5, 6}});
    const sc::decision saw{.from = 6, .desired = 6, .to = 6, .now = at(1), .arrived = true};
    s.on(saw);
    CHECK(s.last_up == at(1));
    s.on(sc::decision{
        .from = 6, .desired = 9, .to = 9, .now = at(2), .command = sc::command{2, 6, 9}});
    s.on(saw);  // reported again
    CHECK(s.pending);
    CHECK(s.applied_changes.size() == 1);
}

TEST_CASE("state: applied changes are bounded, and their sum is kept")
{
    state s;
    std::uint64_t up = 0, down = 0;
    for (std::uint64_t id = 1; id <= 100; ++id) {
        const bool more = id % 3 != 0;
        const std::uint64_t from = 50, to = more ? 50 + id : 50 - id % 7 - 1;
        (more ? up : down) += more ? id : id % 7 + 1;
        s.on(sc::decision{.from = from,
                          .desired = to,
                          .to = to,
                          .now = at(static_cast<std::int64_t>(id)),
                          .command = sc::command{id, from, to}});
        s.on(sc::applied{id}, at(static_cast<std::int64_t>(id)));
    }
    CHECK(s.applied_changes.size() == state::changes);
    for (const sc::applied_change& c : s.applied_changes) {
        CHECK(c.from != c.to);
        if (c.is_up()) up -= c.to - c.from;
        else down -= c.from - c.to;
    }
    CHECK(up == 0);
    CHECK(down == 0);
    for (std::size_t n = 1; n != s.applied_changes.size(); ++n)
        CHECK(s.applied_changes[n - 1].at <= s.applied_changes[n].at);
}

TEST_CASE("state: merged changes have the latest time of their parts")
{
    state s;
    for (std::uint64_t id = 1; id <= state::changes + 1; ++id) {
        const std::int64_t t = id == 1 ? 3'000 : static_cast<std::int64_t>(id);
        s.on(sc::decision{
            .from = 1, .desired = 2, .to = 2, .now = at(t), .command = sc::command{id, 1, 2}});
        s.on(sc::applied{id}, at(t));
    }
    CHECK(s.applied_changes[0] == sc::applied_change{at(3'000), 0, 2});
}

TEST_CASE("state: merged huge changes do not overflow")
{
    state s;
    for (std::uint64_t id = 1; id <= 40; ++id) {
        const bool more = id % 2 != 0;
        const std::uint64_t from = more ? 0 : UINT64_MAX, to = more ? UINT64_MAX : 0;
        s.on(sc::decision{.from = from,
                          .desired = to,
                          .to = to,
                          .now = at(0),
                          .command = sc::command{id, from, to}});
        s.on(sc::applied{id}, at(0));
    }
    for (const sc::applied_change& c : s.applied_changes) {
        CHECK((c.is_up() ? c.to - c.from : c.from - c.to) == UINT64_MAX);
    }
}

TEST_CASE("state: copies are independent")
{
    state s;
    s.on(asked(20, 0, 300));
    state copy = s;
    CHECK(copy == s);
    copy.on(asked(5, 10, 300));
    CHECK_FALSE(copy == s);
    CHECK(s.highest.size() == 1);
    copy = s;
    CHECK(copy == s);
}

}  // namespace state_test
