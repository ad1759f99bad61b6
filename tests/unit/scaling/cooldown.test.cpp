// SPDX-License-Identifier: MIT
//
// A cooldown after each applied change, for each direction.

#include <cstdint>
#include <optional>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace cooldown_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::state;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::loop;
using tests_support::readings;
using tests_support::seconds;

namespace {

// A number without a unit is no duration.
template <class T>
concept is_cooldown = requires(T t) { policy{.cooldown = {.up = t, .down = t}}; };
static_assert(is_cooldown<waybill::duration> && !is_cooldown<int>);

policy with(std::int64_t up, std::int64_t down, bool shared = false)
{
    return {.up = sc::mean("load") > 100,
            .down = sc::mean("load") < 10,
            .cooldown = {seconds(up), seconds(down), shared},
            .instances = {1, 100},
            .stabilise = {},
            .after_failure = {}};
}

const readings high{level("load", 200)};
const readings low{level("load", 0)};

}  // namespace

TEST_CASE("cooldown: it starts when the change is applied, not when it is decided")
{
    const policy p = with(60, 600);
    state s;
    const decision d = decide(p, high, s, 5, at(0));
    s.on(d);
    CHECK(s.on(sc::applied{d.command->id}, at(45)) == sc::command_result::applied);
    const decision held = decide(p, high, s, 6, at(104));
    CHECK(held.verdict == verdict::held);
    CHECK(held.why == reason::cooldown);
    CHECK(held.until == at(105));
    CHECK(held.desired == 7);
    CHECK(held.to == 6);
    CHECK(decide(p, high, s, 6, at(105)).verdict == verdict::up);
}

TEST_CASE("cooldown: a change down waits after the last change of either direction")
{
    const policy p = with(60, 600);
    state s;
    s.last_up = at(0);
    CHECK(decide(p, low, s, 6, at(599)).until == at(600));
    CHECK(decide(p, low, s, 6, at(600)).verdict == verdict::down);
    s.last_down = at(300);
    CHECK(decide(p, low, s, 6, at(700)).until == at(900));
    s.last_up = at(650);
    CHECK(decide(p, low, s, 6, at(700)).until == at(1'250));
    CHECK(decide(p, low, s, 6, at(1'250)).verdict == verdict::down);
}

TEST_CASE("cooldown: a change up waits after a change down only if the cooldown is shared")
{
    state s;
    s.last_down = at(0);
    CHECK(decide(tests_support::kept(with(60, 600)), high, s, 6, at(1)).verdict == verdict::up);
    const decision held = decide(tests_support::kept(with(60, 600, true)), high, s, 6, at(1));
    CHECK(held.why == reason::cooldown);
    CHECK(held.until == at(60));
    CHECK(decide(tests_support::kept(with(60, 600, true)), high, s, 6, at(60)).verdict ==
          verdict::up);
}

TEST_CASE("cooldown: a steady decision is not held")
{
    state s;
    s.last_up = s.last_down = at(0);
    const decision d =
        decide(tests_support::kept(with(60, 600)), readings{level("load", 50)}, s, 6, at(1));
    CHECK(d.verdict == verdict::steady);
    CHECK(d.why == reason::nothing);
    CHECK_FALSE(d.until);
}

TEST_CASE("cooldown: a failed or lost command starts no cooldown")
{
    const policy p = with(60, 600);
    state s;
    decision d = decide(p, high, s, 5, at(0));
    s.on(d);
    s.on(sc::failed{d.command->id}, at(1));
    d = decide(p, high, s, 5, at(2));
    CHECK(d.verdict == verdict::up);
    s.on(d);
    CHECK(decide(p, high, s, 5, at(302)).verdict == verdict::up);  // its patience is over
    CHECK_FALSE(s.last_up);
}

TEST_CASE("cooldown: a cooldown of zero holds no change")
{
    loop l{with(0, 0), 5};
    for (int n = 0; n != 5; ++n) CHECK(l.step(high, at(0)).verdict == verdict::up);
    for (int n = 0; n != 5; ++n) CHECK(l.step(low, at(0)).verdict == verdict::down);
    CHECK(l.instances == 5);
}

TEST_CASE("cooldown: all changes are at least the cooldown apart")
{
    loop l{with(120, 600), 5};
    std::optional<std::int64_t> up, down;
    for (std::int64_t t = 0; t < 10'000; t += 30) {
        const bool busy = (t / 700) % 2 == 0;
        const decision d = l.step(busy ? high : low, at(t));
        if (d.verdict == verdict::up) {
            if (up) CHECK(t - *up >= 120);
            up = t;
        }
        if (d.verdict == verdict::down) {
            if (up) CHECK(t - *up >= 600);
            if (down) CHECK(t - *down >= 600);
            down = t;
        }
    }
    CHECK(up);
    CHECK(down);
}

TEST_CASE("cooldown: the maximum duration does not overflow")
{
    policy p = with(0, 0);
    p.cooldown = {waybill::duration::highest(), waybill::duration::highest()};
    state s;
    s.last_up = s.last_down = at(0);
    CHECK(decide(p, high, s, 5, at(1'000'000)).until == waybill::wall_time::highest());
    CHECK(decide(p, low, s, 5, at(1'000'000)).verdict == verdict::held);
}

TEST_CASE("failure: after a failed command, changes are held for after_failure")
{
    policy p = with(0, 0);
    p.after_failure = seconds(30);
    state s;
    decision d = decide(p, high, s, 5, at(0));
    s.on(d);
    CHECK(s.on(sc::failed{d.command->id}, at(10)) == sc::command_result::applied);
    d = decide(p, high, s, 5, at(39));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::failed);
    CHECK(d.until == at(40));
    CHECK(decide(p, low, s, 5, at(39)).why == reason::failed);
    d = decide(p, high, s, 5, at(40));
    CHECK(d.verdict == verdict::up);
    CHECK(d.command->id == 2);
}

}  // namespace cooldown_test
