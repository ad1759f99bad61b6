// SPDX-License-Identifier: MIT
//
// A maximum of changes within any period, counted from the applied changes.

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace rate_test {

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

policy by_target()
{
    policy p{.instances = {1, 1'000}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    return p;
}

}  // namespace

TEST_CASE(
    "rate: a change is cut to the rest of the period, with the reason and the time of the next")
{
    policy p = by_target();
    p.rate.up = {{{.count = 4}, seconds(60)}};
    loop l{p, 10};
    decision d = l.step({level("work", 100)}, at(0));
    CHECK(d.verdict == verdict::up);
    CHECK(d.to == 14);
    CHECK(d.desired == 100);
    CHECK(d.why == reason::rate);
    CHECK_FALSE(d.until);  // no applied change limits it
    d = l.step({level("work", 100)}, at(59));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::rate);
    CHECK(d.until == at(60));
    CHECK(l.step({level("work", 100)}, at(60)).to == 18);
}

TEST_CASE("rate: changes within the period reduce what it still allows")
{
    policy p = by_target();
    p.rate.up = {{{.count = 4}, seconds(60)}};
    loop l{p, 10};
    CHECK(l.step({level("work", 11)}, at(0)).to == 11);
    CHECK(l.step({level("work", 13)}, at(30)).to == 13);
    const decision d = l.step({level("work", 30)}, at(40));
    CHECK(d.to == 14);
    CHECK(d.until == at(60));
    CHECK(l.step({level("work", 30)}, at(60)).to == 15);  // the one of the beginning is free again
    CHECK(l.step({level("work", 30)}, at(90)).to == 17);
    CHECK(l.step({level("work", 30)}, at(100)).to == 18);
}

TEST_CASE("rate: a percentage is of the number at the start of the period")
{
    policy p = by_target();
    p.rate.down = {{{.percent = 10}, seconds(60)}};
    loop l{p, 80};
    CHECK(l.step({level("work", 10)}, at(0)).to == 72);
    CHECK(l.step({level("work", 10)}, at(30)).to == 72);
    CHECK(l.step({level("work", 10)}, at(60)).to == 64);   // 7.2 of 72 are 8
    CHECK(l.step({level("work", 10)}, at(120)).to == 57);  // 6.4 of 64 are 7
}

TEST_CASE(
    "rate: all limits hold, and a count and a percentage in one limit allow the greater of both")
{
    policy p = by_target();
    p.rate.up = {{{.count = 4, .percent = 100}, seconds(15)}};
    CHECK(decide(p, readings{level("work", 100)}, {}, 1, at(0)).to == 5);
    CHECK(decide(p, readings{level("work", 100)}, {}, 10, at(0)).to == 20);
    p.rate.up = {{{.count = 4}, seconds(15)}, {{.percent = 100}, seconds(15)}};
    CHECK(decide(p, readings{level("work", 100)}, {}, 1, at(0)).to == 2);
    CHECK(decide(p, readings{level("work", 100)}, {}, 10, at(0)).to == 14);
    p.rate.up = {{{.count = 4}, seconds(15)}, {{.count = 6}, seconds(60)}};
    loop l{p, 10};
    CHECK(l.step({level("work", 100)}, at(0)).to == 14);
    const decision d = l.step({level("work", 100)}, at(15));
    CHECK(d.to == 16);
    CHECK(d.until == at(60));
    CHECK(l.step({level("work", 100)}, at(30)).verdict == verdict::held);
}

TEST_CASE("rate: each direction has its own limit, and may first undo the other direction")
{
    policy p = by_target();
    p.rate = {{{{.count = 4}, seconds(60)}}, {{{.count = 2}, seconds(60)}}};
    loop l{p, 10};
    CHECK(l.step({level("work", 14)}, at(0)).to == 14);
    // The period began with 10: two below that are 8.
    CHECK(l.step({level("work", 5)}, at(10)).to == 8);
    const decision d = l.step({level("work", 5)}, at(20));
    CHECK(d.verdict == verdict::held);
    CHECK(d.until == at(70));  // when the change down leaves the period
    CHECK(l.step({level("work", 50)}, at(20)).to == 14);
}

TEST_CASE("rate: a failed command does not count")
{
    policy p = by_target();
    p.rate.up = {{{.count = 4}, seconds(60)}};
    p.after_failure = {};
    state s;
    const decision d = decide(p, readings{level("work", 100)}, s, 10, at(0));
    s.on(d);
    CHECK(s.on(sc::failed{d.command->id}, at(1)) == sc::command_result::applied);
    CHECK(s.applied_changes.empty());
    CHECK(decide(p, readings{level("work", 100)}, s, 10, at(2)).to == 14);
}

TEST_CASE("rate: a limit keeps the current number, and reverses no change")
{
    policy p = by_target();
    p.rate = {{{{.count = 1}, seconds(60)}}, {{{.count = 1}, seconds(60)}}};
    state s;
    s.applied_changes.push({at(-10), 10, 30});
    // Another policy has raised it above the limit: 30 are not reduced to 11.
    CHECK(decide(p, readings{level("work", 40)}, s, 30, at(0)).to == 30);
    CHECK(decide(p, readings{level("work", 40)}, s, 30, at(0)).why == reason::rate);
    s = {};
    s.applied_changes.push({at(-10), 30, 10});
    CHECK(decide(p, readings{level("work", 5)}, s, 10, at(0)).to == 10);
}

TEST_CASE("rate: zero and 2^64 - 1 instances do not overflow")
{
    policy p = by_target();
    p.instances = {1, UINT64_MAX};
    p.rate = {{{{.percent = 50}, seconds(60)}}, {{{.percent = 50}, seconds(60)}}};
    CHECK(decide(p, readings{level("work", 1e18)}, {}, 1, at(0)).to == 2);
    CHECK(decide(p, readings{level("work", 1e30)}, {}, UINT64_MAX - 5, at(0)).to == UINT64_MAX);
    state s;
    s.applied_changes.push({at(-10), 0, UINT64_MAX});
    s.applied_changes.push({at(-9), 0, UINT64_MAX});
    s.applied_changes.push({at(-8), UINT64_MAX, 0});
    const decision up = decide(p, readings{level("work", 1e18)}, s, 7, at(0));
    CHECK(up.to >= 7);
    const decision down = decide(p, readings{level("work", 1)}, s, 7, at(0));
    CHECK(down.to <= 7);
}

TEST_CASE("rate: more changes than the state stores hold longer, never shorter, in both directions")
{
    // An hour ago there were 17 changes up of ten; they have expired.
    policy p = by_target();
    p.rate.down = {{{.count = 2}, seconds(60)}};
    loop l{p, 1};
    for (int n = 0; n != 17; ++n) {
        l.step({level("work", static_cast<double>(11 + 10 * n))}, at(-4'000 + n));
    }
    CHECK(l.instances == 171);
    // In this minute there is the same number of further changes, down and up by one.
    std::uint64_t total_down = 0;
    for (int n = 0; n != 20; ++n) {
        const decision d = l.step({level("work", n % 2 == 0 ? 1.0 : 172.0)}, at(n));
        if (d.verdict == verdict::down) total_down += d.from - d.to;
        // Never more than two below the initial number.
        CHECK(l.instances >= 169);
    }
    CHECK(total_down >= 2);
}

TEST_CASE("rate: merged changes do not raise the limit")
{
    // Up by four and down by four, a while apart, and then many small changes.
    policy p = by_target();
    p.rate.down = {{{.count = 4}, seconds(60)}};
    state s;
    std::uint64_t id = 0;
    const auto made = [&](std::uint64_t from, std::uint64_t to, std::int64_t t) {
        s.on(sc::decision{.from = from,
                          .desired = to,
                          .to = to,
                          .now = at(t),
                          .command = sc::command{++id, from, to}});
        CHECK(s.on(sc::applied{id}, at(t)) == sc::command_result::applied);
    };
    made(10, 14, 0);
    made(14, 10, 50);
    for (int n = 0; n != 8; ++n) {
        made(10, 11, 51);
        made(11, 10, 51);
    }
    // From 60 on only the change down counts: there were 14, and ten are four below.
    CHECK(decide(p, readings{level("work", 1)}, s, 10, at(70)).to == 10);
    CHECK(decide(p, readings{level("work", 1)}, s, 10, at(111)).to == 6);
}

}  // namespace rate_test
