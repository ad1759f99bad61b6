// SPDX-License-Identifier: MIT
//
// The first instance, and the last one.

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace activation_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::role;
using sc::state;
using sc::tribool;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::loop;
using tests_support::readings;
using tests_support::seconds;

namespace {

policy to_zero()
{
    policy p{.up = sc::mean("work") > sc::per_instance(100),
             .down = sc::mean("work") < 10,
             .instances = {0, 10},
             .stabilise = {}};
    p.activation = sc::last("work") > 5;
    p.zero_after = seconds(300);
    return p;
}

}  // namespace

TEST_CASE("activation: its own rule starts the first instance, with a strict comparison")
{
    const policy p = to_zero();
    decision d = decide(p, readings{level("work", 5)}, {}, 0, at(0));
    CHECK(d.verdict == verdict::steady);
    CHECK(d.activation == tribool::no);
    d = decide(p, readings{level("work", 6)}, {}, 0, at(0));
    CHECK(d.verdict == verdict::up);
    CHECK(d.to == 1);
    CHECK(d.activation == tribool::yes);
    // The threshold per instance is unknown without instances, and stops nothing.
    CHECK(d.up == tribool::unknown);
    CHECK(d.reasons.back().part == role::activation);
}

TEST_CASE("activation: a target decides how many instances start at once")
{
    policy p = to_zero();
    p.targets = {{.of = sc::mean("work"), .each = 100}};
    CHECK(decide(p, readings{level("work", 250)}, {}, 0, at(0)).to == 3);
    CHECK(decide(p, readings{level("work", 6)}, {}, 0, at(0)).to == 1);
    CHECK(decide(p, readings{level("work", 5)}, {}, 0, at(0)).to == 0);
    CHECK(decide(p, readings{level("work", 1e9)}, {}, 0, at(0)).to == 10);
}

TEST_CASE(
    "activation: it ignores cooldown, rate and stabilisation, and waits for a pending command")
{
    policy p = to_zero();
    p.cooldown = {seconds(600), seconds(600), true};
    p.stabilise = {seconds(600), seconds(600)};
    p.rate.up = {{{.count = 1}, seconds(600)}};
    state s;
    s.last_up = s.last_down = at(-1);
    s.applied_changes.push({at(-2), 0, 5});
    s.applied_changes.push({at(-1), 5, 0});
    const decision d = decide(p, readings{level("work", 6)}, s, 0, at(0));
    CHECK(d.verdict == verdict::up);
    s.on(d);
    CHECK(decide(p, readings{level("work", 6)}, s, 0, at(1)).why == reason::pending);
}

TEST_CASE("activation: a disabled direction up starts no first instance")
{
    policy p = to_zero();
    p.allow.up = false;
    const decision d = decide(p, readings{level("work", 6)}, {}, 0, at(0));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::disabled);
}

TEST_CASE("activation: the last instance is removed after zero_after without a need")
{
    loop l{to_zero(), 1};
    CHECK(l.step({level("work", 7)}, at(0)).verdict == verdict::held);
    decision d = l.step({level("work", 0)}, at(100));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::active);
    CHECK(d.desired == 1);
    CHECK(l.step({level("work", 6)}, at(200)).why == reason::active);
    d = l.step({level("work", 0)}, at(300));
    CHECK(d.why == reason::active);
    REQUIRE(d.until);
    CHECK(*d.until >= at(500));
    CHECK(l.step({level("work", 0)}, at(499)).verdict == verdict::held);
    // By any count, it goes 300 s after the first decision without a need.
    CHECK(l.step({level("work", 0)}, at(600)).to == 0);
    CHECK(l.step({level("work", 0)}, at(601)).verdict == verdict::steady);
    CHECK(l.step({level("work", 6)}, at(602)).to == 1);
}

TEST_CASE("activation: an unknown activation rule restarts zero_after")
{
    loop l{to_zero(), 1};
    l.step({level("work", 0)}, at(0));
    l.step({}, at(290));
    CHECK(l.step({level("work", 0)}, at(300)).to == 1);
    CHECK(l.step({level("work", 0)}, at(589)).to == 1);
    CHECK(l.step({level("work", 0)}, at(600)).to == 0);
}

TEST_CASE("activation: zero_after starts with the first decision of a state")
{
    loop l{to_zero(), 1};
    CHECK(l.step({level("work", 0)}, at(0)).to == 1);
    CHECK(l.step({level("work", 0)}, at(299)).to == 1);
    CHECK(l.step({level("work", 0)}, at(300)).to == 0);
}

TEST_CASE("activation: after a gap without decisions, zero_after starts with the next decision")
{
    loop l{to_zero(), 5};
    CHECK(l.step({level("work", 50)}, at(0)).to == 5);
    const decision d = l.step({level("work", 0)}, at(3'600));
    CHECK(d.to == 4);
    CHECK(l.step({level("work", 0)}, at(3'899)).to == 3);
    CHECK(l.step({level("work", 0)}, at(3'900)).to == 0);
}

TEST_CASE("activation: the rule down removes one at a time, activation all remaining at once")
{
    loop l{to_zero(), 5};
    CHECK(l.step({level("work", 6)}, at(0)).to == 4);
    CHECK(l.step({level("work", 0)}, at(10)).to == 3);
    CHECK(l.step({level("work", 0)}, at(20)).to == 2);
    loop m{to_zero(), 5};
    m.policy.cooldown.down = seconds(250);
    m.step({level("work", 50)}, at(0));
    m.step({level("work", 0)}, at(10));
    CHECK(m.instances == 4);
    const decision d = m.step({level("work", 0)}, at(310));
    CHECK(d.to == 0);
}

TEST_CASE("activation: the last instances wait for zero_after, not for stabilisation or rates")
{
    const readings none{level("work", 0)};
    for (const std::uint64_t instances : {1U, 2U, 10U}) {
        CAPTURE(instances);
        policy p = to_zero();
        p.stabilise.down = seconds(3'600);
        p.rate.down = {{{.count = 1}, seconds(3'600)}};
        loop l{p, instances};
        l.state.applied_changes.push({at(-1), instances + 1, instances});
        l.step({level("work", 50)}, at(0));
        CHECK(l.step(none, at(1)).to == instances);
        CHECK(l.step(none, at(300)).to == instances);
        const decision d = l.step(none, at(301));
        CHECK(d.to == 0);
        CHECK(d.why == reason::nothing);
    }
}

TEST_CASE("activation: pending commands, failures, warm-up and cooldown hold the last instance")
{
    const readings none{level("work", 0)};
    policy p = to_zero();
    p.zero_after = {};
    CHECK(decide(p, none, {}, 1, at(0)).to == 0);
    state s;
    s.last_up = at(-10);
    p.cooldown.down = seconds(60);
    CHECK(decide(p, none, s, 1, at(0)).why == reason::cooldown);
    p.cooldown.down = {};
    s.warm_at = at(1);
    CHECK(decide(p, none, s, 1, at(0)).why == reason::warming);
    p.after_failure = seconds(60);
    s.last_failure = at(-10);
    CHECK(decide(p, none, s, 1, at(0)).why == reason::failed);
    s.last_id = 1;
    s.pending = {{1, 1, 2}, at(-10), {}};
    CHECK(decide(p, none, s, 1, at(0)).why == reason::pending);
    p.allow.down = false;
    CHECK(decide(p, none, {}, 1, at(0)).why == reason::disabled);
}

TEST_CASE("activation: an instance that only the rule down removes is stabilised and rate-limited")
{
    policy p = to_zero();
    p.stabilise.down = seconds(60);
    CHECK(decide(p, readings{level("work", 6)}, {}, 2, at(0)).why == reason::stabilising);
    p.stabilise.down = {};
    p.rate.down = {{{.count = 1}, seconds(60)}};
    state s;
    s.applied_changes.push({at(-1), 3, 2});
    CHECK(decide(p, readings{level("work", 6)}, s, 2, at(0)).why == reason::rate);
    // If at least one instance is required, activation removes none.
    p.instances.lowest = 1;
    p.zero_after = {};
    CHECK(decide(p, readings{level("work", 0)}, s, 2, at(0)).why == reason::rate);
}

TEST_CASE("activation: a target on a metric that activation does not compare keeps its instances")
{
    // Three workers at full load that keep the queue empty.
    policy p{.targets = {{.of = sc::last("queue"), .each = 100},
                         {.of = sc::averaged(sc::last("cpu")), .each = 60}},
             .instances = {0, 10},
             .stabilise = {},
             .activation = sc::last("queue") > 0,
             .zero_after = seconds(300)};
    const auto cpu_is = [](double load) { return readings{level("queue", 0), level("cpu", load)}; };
    loop l{p, 3};
    for (std::int64_t t = 0; t <= 900; t += 15) {
        const decision d = l.step(cpu_is(60), at(t));
        CHECK(d.activation == tribool::no);
        CHECK(d.needed);
        CHECK(d.to == 3);
    }
    SUBCASE("zero_after starts when the target needs none")
    {
        CHECK(l.step(cpu_is(0), at(915)).to == 1);
        CHECK(l.step(cpu_is(0), at(1'214)).to == 1);
        CHECK(l.step(cpu_is(0), at(1'215)).to == 0);
    }
    SUBCASE("zero_after restarts while the target is unknown")
    {
        l.step(cpu_is(0), at(915));
        CHECK(l.step({level("queue", 0)}, at(1'200)).why == reason::unknown);
        CHECK(l.step(cpu_is(0), at(1'215)).to == 1);
        CHECK(l.step(cpu_is(0), at(1'515)).to == 0);
    }
    SUBCASE("activation decides for a metric that it compares")
    {
        l.policy.activation = sc::any_of(sc::last("queue") > 0, !(sc::last("cpu") <= 5));
        l.step(cpu_is(5), at(915));
        CHECK_FALSE(l.step(cpu_is(5), at(930)).needed);
        CHECK(l.step(cpu_is(5), at(1'215)).to == 0);
    }
    SUBCASE("the target starts no first instance")
    {
        const decision d = decide(p, readings{level("queue", 0), level("cpu", 60)}, {}, 0, at(0));
        CHECK(d.verdict == verdict::steady);
        CHECK_FALSE(d.needed);
    }
}

TEST_CASE("activation: a rule down that does not hold or is unknown keeps the instances")
{
    policy p = to_zero();
    p.down = sc::all_of(sc::mean("work") < 10, sc::mean("mails") < 10);
    p.zero_after = {};
    const auto to = [&](const readings& r) { return decide(p, r, {}, 4, at(0)).to; };
    CHECK(to({level("work", 0), level("mails", 500)}) == 4);
    CHECK(to({level("work", 0)}) == 4);
    CHECK(to({level("work", 0), level("mails", 0)}) == 0);
    p.activation = sc::any_of(sc::last("work") > 5, sc::last("mails") > 1'000);
    CHECK(to({level("work", 0), level("mails", 500)}) == 0);
}

TEST_CASE(
    "activation: with a lowest number of one, the last instance is kept, with bounds as the reason")
{
    policy p = to_zero();
    p.instances = {1, 10};
    p.zero_after = {};
    const decision d = decide(p, readings{level("work", 0)}, {}, 1, at(0));
    CHECK(d.verdict == verdict::steady);
    CHECK(d.why == reason::bounds);
    CHECK_FALSE(d.until);
    CHECK(decide(p, {}, {}, 0, at(0)).to == 1);
}

TEST_CASE("activation: the rule up decides above the first instance")
{
    const policy p = to_zero();
    CHECK(decide(p, readings{level("work", 101)}, {}, 1, at(0)).to == 2);
    CHECK(decide(p, readings{level("work", 100)}, {}, 1, at(0)).to == 1);
}

}  // namespace activation_test
