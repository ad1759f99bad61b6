// SPDX-License-Identifier: MIT
//
// Clocks that jump back, and times at the ends of the range. After a clock was set back, earlier
// changes do not become recent or old by it. Decisions hold, and nothing overflows.

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace clock_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::state;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;
using tests_support::seconds;
using waybill::duration;
using waybill::wall_time;

namespace {

policy plain()
{
    return {.up = sc::mean("load") > 100,
            .down = sc::mean("load") < 10,
            .instances = {1, 100},
            .stabilise = {},
            .after_failure = {}};
}

const readings high{level("load", 200)};
const readings low{level("load", 0)};
constexpr std::int64_t hour = 3'600;

}  // namespace

TEST_CASE("clock back: a cooldown holds until its stored end")
{
    policy p = plain();
    p.cooldown = {seconds(60), seconds(600)};
    state s;
    s.last_up = s.last_down = at(hour);
    for (const readings& now : {high, low}) {
        const decision d = decide(p, now, s, 5, at(0));
        CHECK(d.verdict == verdict::held);
        CHECK(d.why == reason::cooldown);
        CHECK(*d.until > at(0));
    }
    CHECK(decide(p, high, s, 5, at(hour + 60)).verdict == verdict::up);
}

TEST_CASE("clock back: without a cooldown no change is held")
{
    state s;
    s.last_up = s.last_down = s.last_failure = at(hour);
    CHECK(decide(tests_support::kept(plain()), high, s, 5, at(0)).verdict == verdict::up);
    CHECK(decide(tests_support::kept(plain()), low, s, 5, at(0)).verdict == verdict::down);
}

TEST_CASE("clock back: a pending command and a recent failure still hold")
{
    policy p = plain();
    p.after_failure = seconds(30);
    state s;
    s.on(decide(p, high, s, 5, at(hour)));
    CHECK(decide(p, high, s, 5, at(0)).why == reason::pending);
    CHECK(s.on(sc::failed{1}, at(hour)) == sc::command_result::applied);
    CHECK(decide(p, high, s, 5, at(0)).why == reason::failed);
    p.after_failure = {};
    CHECK(decide(p, high, s, 5, at(0)).verdict == verdict::up);
}

TEST_CASE("clock back: a result dated before its command is applied")
{
    policy p = plain();
    p.cooldown.up = seconds(60);
    state s;
    s.on(decide(p, high, s, 5, at(hour)));
    CHECK(s.on(sc::applied{1}, at(0)) == sc::command_result::applied);
    CHECK(decide(p, high, s, 6, at(59)).why == reason::cooldown);
    CHECK(decide(p, high, s, 6, at(60)).verdict == verdict::up);
}

TEST_CASE("clock back: new instances warm up, and none is removed")
{
    policy p = plain();
    p.warm_up = seconds(300);
    state s;
    s.on(decide(p, high, s, 5, at(hour)));
    s.on(sc::applied{1}, at(hour));
    CHECK(decide(p, low, s, 6, at(0)).why == reason::warming);
    CHECK(decide(p, low, s, 6, at(hour + 300)).verdict == verdict::down);
}

TEST_CASE("clock back: stabilisation holds changes in both directions")
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    p.stabilise = {seconds(300), seconds(300)};
    state s;
    s.on(decide(p, readings{level("work", 10)}, s, 10, at(hour - 20)));
    s.on(decide(p, readings{level("work", 10)}, s, 10, at(hour - 10)));
    for (std::int64_t t = 0; t < 299; t += 13) {
        for (const double work : {5.0, 20.0}) {
            const decision d = decide(p, readings{level("work", work)}, s, 10, at(t));
            CHECK(d.verdict == verdict::held);
            CHECK(d.why == reason::stabilising);
            CHECK(*d.until > at(t));
        }
        s.on(decide(p, readings{level("work", 5)}, s, 10, at(t)));
    }
    CHECK(decide(p, readings{level("work", 5)}, s, 10, at(hour + 200)).verdict == verdict::held);
    CHECK(decide(p, readings{level("work", 5)}, s, 10, at(hour + 310)).to == 5);
}

TEST_CASE("clock far ahead once: later decisions are not held for a year")
{
    const std::int64_t year = 365 * 24 * hour;
    policy p{.up = sc::mean("work") > 100,
             .down = sc::mean("work") < 10,
             .instances = {1, 100},
             .stabilise = {}};
    p.cooldown = {seconds(60), seconds(60), true};
    p.stabilise.down = seconds(120);
    p.warm_up = seconds(30);
    p.rate.up = {{{.count = 1}, seconds(60)}};
    const readings much{level("work", 200)}, little{level("work", 0)};
    state s;
    const decision then = decide(p, much, s, 5, at(year));
    REQUIRE(then.command);
    s.on(then);
    SUBCASE("applied")
    {
        s.on(sc::applied{1}, at(year));
    }
    SUBCASE("failed")
    {
        s.on(sc::failed{1}, at(year));
    }
    SUBCASE("without a result") {}
    p.after_failure = seconds(60);
    const std::uint64_t n = s.last_up ? 6 : 5;
    CHECK(decide(p, much, s, n, at(0)).verdict != verdict::up);  // as if it were just now
    for (std::int64_t t = 0; t <= 600; t += 10) s.on(decide(p, little, s, n, at(t)));
    CHECK(s.last_id > 1);  // it is held no more
}

TEST_CASE("clock far ahead once: an applied command corrects stored times, a stale one does not")
{
    const wall_time wrong = at(365 * 24 * hour);
    state s{.last_id = 2,
            .pending = sc::pending_command{.issued = {2, 5, 4}, .at = at(0)},
            .last_up = wrong,
            .last_failure = at(hour)};
    CHECK(s.on(sc::applied{1}, at(60)) == sc::command_result::stale);
    CHECK(s.last_up == wrong);
    CHECK(s.on(sc::applied{2}, at(60)) == sc::command_result::applied);
    CHECK(s.last_up == at(60));
    CHECK(s.last_down == at(60));
    CHECK(s.last_failure == at(hour));  // less than most_ahead after now
}

TEST_CASE("clock back: a change dated in the future counts for the rate")
{
    policy p = plain();
    p.rate.up = {{{.count = 1}, seconds(60)}};
    state s;
    s.applied_changes.push({at(hour), 4, 5});
    CHECK(decide(p, high, s, 5, at(0)).why == reason::rate);
    CHECK(decide(p, high, s, 5, at(hour + 60)).verdict == verdict::up);
}

TEST_CASE("clock back: the last instance is kept until zero_after has passed")
{
    policy p = plain();
    p.instances = {0, 10};
    p.activation = sc::mean("load") > 0;
    p.zero_after = seconds(300);
    state s;
    s.inactive_since = at(hour);
    const decision d = decide(p, low, s, 1, at(0));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::active);
    CHECK(decide(p, low, s, 1, at(hour + 300)).to == 0);
    p.zero_after = {};
    CHECK(decide(p, low, s, 1, at(0)).to == 0);
}

TEST_CASE("clock back: a sample from the future is not stale")
{
    policy p = plain();
    p.max_age = seconds(60);
    CHECK(decide(p, readings{level("load", 200, at(hour))}, {}, 5, at(0)).verdict == verdict::up);
    CHECK(decide(p, readings{level("load", 200, at(-61))}, {}, 5, at(0)).why == reason::unknown);
}

TEST_CASE("clock forward: after a long gap no old limit holds a change")
{
    policy p = plain();
    p.cooldown = {seconds(60), seconds(600)};
    p.rate = {{{{.count = 1}, seconds(60)}}, {{{.count = 1}, seconds(60)}}};
    p.after_failure = seconds(300);
    state s;
    for (std::uint64_t n = 1; n <= 20; ++n) {
        s.on(decide(p, high, s, n, at(static_cast<std::int64_t>(n) * 60)));
        s.on(sc::applied{n}, at(static_cast<std::int64_t>(n) * 60));
    }
    CHECK(s.last_id == 20);
    CHECK(decide(p, high, s, 21, at(1'000 * hour)).verdict == verdict::up);
    CHECK(decide(p, low, s, 21, at(1'000 * hour)).verdict == verdict::down);
}

TEST_CASE("clock: time points at both ends of the range do not overflow")
{
    policy p = plain();
    p.cooldown = {seconds(60), seconds(600)};
    p.stabilise = {seconds(60), seconds(60)};
    p.rate = {{{{.count = 1}, seconds(60)}}, {{{.count = 1}, seconds(60)}}};
    p.warm_up = seconds(300);
    p.after_failure = seconds(300);
    p.max_age = seconds(60);
    p.instances = {0, 100};
    p.activation = sc::mean("load") > 0;
    p.zero_after = seconds(300);
    const wall_time ends[]{wall_time::lowest(), wall_time::at(duration{}), at(0),
                           wall_time::highest()};
    for (const wall_time then : ends) {
        state s;
        s.last_up = s.last_down = s.last_failure = s.warm_at = s.inactive_since = then;
        s.highest.push({then, 9});
        s.lowest.push({then, 2});
        s.applied_changes.push({then, 2, 3});
        s.last_id = 1;
        s.pending = sc::pending_command{{1, 5, 6}, then, seconds(10)};
        for (const wall_time now : ends) {
            for (const std::uint64_t n : {0U, 5U, 6U, 100U}) {
                for (const readings& m : {high, low}) {
                    state copy = s;
                    const decision d = decide(p, m, copy, n, now);
                    CHECK(d.from == n);
                    CHECK((d.to <= 100 || d.to < n));
                    copy.on(d);
                    if (then > now && d.verdict == verdict::down) FAIL("went down in the past");
                    copy.on(sc::applied{copy.last_id}, now);
                    copy.on(sc::failed{copy.last_id}, now);
                }
            }
        }
    }
}

TEST_CASE("clock: maximum durations hold for their 292 years")
{
    policy p = plain();
    p.cooldown = {duration::highest(), duration::highest()};
    state s;
    s.last_up = s.last_down = at(0);
    CHECK(decide(p, high, s, 5, wall_time::highest()).until == wall_time::highest());
    p = plain();
    p.patience = duration::highest();
    s = {};
    s.on(decide(p, high, s, 5, at(0)));
    CHECK(decide(p, high, s, 5, wall_time::highest()).why == reason::pending);
    p = plain();
    p.stabilise.down = duration::highest();
    s = {};
    s.on(decide(p, low, s, 5, at(0)));
    s.on(decide(p, low, s, 5, at(hour)));
    CHECK(decide(p, low, s, 5, at(1'000 * hour)).why == reason::stabilising);
    // A decision of the year 1677: the 292 years of `stabilise` have passed.
    s = {};
    s.on(decide(p, low, s, 5, wall_time::lowest()));
    s.on(decide(p, low, s, 5, at(0)));
    CHECK(decide(p, low, s, 5, at(hour)).verdict == verdict::down);
}

}  // namespace clock_test
