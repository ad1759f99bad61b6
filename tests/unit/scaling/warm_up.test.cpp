// SPDX-License-Identifier: MIT
//
// New instances that do not take their share yet.

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace warm_up_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::loop;
using tests_support::seconds;

namespace {

policy steps()
{
    policy p{.up = sc::mean("cpu") > 60,
             .down = sc::mean("cpu") < 40,
             .instances = {1, 100},
             .stabilise = {}};
    p.step = {.up = {.percent = 10}, .down = {.percent = 10}};
    p.bands.up = {{sc::mean("cpu") > 70, {.percent = 30}}};
    p.warm_up = seconds(300);
    return p;
}

}  // namespace

TEST_CASE("warm-up: instances that warm up count, so a greater step adds only the difference")
{
    loop l{steps(), 10};
    CHECK(l.step({level("cpu", 65)}, at(0)).to == 11);
    CHECK(l.step({level("cpu", 65)}, at(60)).verdict == verdict::steady);
    CHECK(l.step({level("cpu", 75)}, at(120)).to == 13);
    CHECK(l.step({level("cpu", 75)}, at(180)).to == 13);
    CHECK(l.step({level("cpu", 75)}, at(419)).to == 13);
    CHECK(l.step({level("cpu", 75)}, at(420)).to == 16);  // 30 % of 13 that are all warm
}

TEST_CASE("warm-up: no instance is removed during warm-up")
{
    loop l{steps(), 10};
    l.step({level("cpu", 65)}, at(0));
    const decision d = l.step({level("cpu", 10)}, at(299));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::warming);
    CHECK(d.until == at(300));
    CHECK(l.step({level("cpu", 10)}, at(300)).to == 10);
}

TEST_CASE("warm-up: it starts when the change is applied")
{
    const policy p = steps();
    sc::state s;
    const decision d = decide(p, tests_support::readings{level("cpu", 65)}, s, 10, at(0));
    s.on(d);
    CHECK(s.on(sc::applied{d.command->id}, at(100)) == sc::command_result::applied);
    CHECK(s.warm_at == at(400));
    CHECK(decide(p, tests_support::readings{level("cpu", 10)}, s, 11, at(399)).why ==
          reason::warming);
    CHECK(decide(p, tests_support::readings{level("cpu", 10)}, s, 11, at(400)).verdict ==
          verdict::down);
}

TEST_CASE("warm-up: without warm-up, each change starts from the current number")
{
    loop l{steps(), 10};
    l.policy.warm_up = {};
    CHECK(l.step({level("cpu", 65)}, at(0)).to == 11);
    CHECK(l.step({level("cpu", 65)}, at(1)).to == 12);
    CHECK(l.step({level("cpu", 75)}, at(2)).to == 15);
}

TEST_CASE("warm-up: it holds a target's change down, and not its change up")
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    p.warm_up = seconds(300);
    loop l{p, 10};
    CHECK(l.step({level("work", 20)}, at(0)).to == 20);
    CHECK(l.step({level("work", 25)}, at(10)).to == 25);
    CHECK(l.step({level("work", 5)}, at(309)).why == reason::warming);
    CHECK(l.step({level("work", 5)}, at(310)).to == 5);
}

TEST_CASE("warm-up: instances changed by another process keep the steps right")
{
    loop l{steps(), 10};
    l.step({level("cpu", 65)}, at(0));
    l.instances = 4;
    CHECK(l.ask({level("cpu", 65)}, at(10)).to == 5);
    l.instances = 50;
    CHECK(l.ask({level("cpu", 65)}, at(10)).to == 50);
}

}  // namespace warm_up_test
