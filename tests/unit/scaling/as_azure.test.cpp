// SPDX-License-Identifier: MIT
//
// The documented behaviour of autoscale in Azure Monitor, as policies:
// https://learn.microsoft.com/azure/azure-monitor/autoscale/autoscale-best-practices and
// https://learn.microsoft.com/azure/azure-monitor/autoscale/autoscale-understanding-settings

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>

namespace as_azure_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::loop;
using tests_support::readings;
using tests_support::seconds;

namespace {

policy four_rules()
{
    const auto cpu = sc::averaged(sc::mean("cpu")), memory = sc::averaged(sc::mean("memory"));
    return {.up = sc::any_of(cpu > 75, memory > 75),
            .down = sc::all_of(cpu < 30, memory < 50),
            .instances = {1, 20},
            .stabilise = {}};
}

}  // namespace

TEST_CASE("as Azure: any rule scales out, all rules together scale in")
{
    const policy p = four_rules();
    CHECK_FALSE(sc::validate(p));
    const auto of = [&](double cpu, double memory) {
        const readings now{level("cpu", cpu), level("memory", memory)};
        return decide(p, now, {}, 10, at(0)).verdict;
    };
    CHECK(of(76, 50) == verdict::up);
    CHECK(of(50, 76) == verdict::up);
    CHECK(of(25, 51) == verdict::steady);
    CHECK(of(29, 49) == verdict::down);
}

TEST_CASE("as Azure: 60 % on three would be 90 % on two, so three stay; with 50 % one is removed")
{
    const auto cpu = sc::averaged(sc::mean("cpu"));
    const policy p{.up = cpu >= 80, .down = cpu <= 60, .instances = {1, 10}, .stabilise = {}};
    CHECK_FALSE(sc::validate(p));
    loop l{p, 2};
    CHECK(l.step({level("cpu", 80)}, at(0)).to == 3);
    const decision d = l.step({level("cpu", 60)}, at(600));
    CHECK(d.to == 3);
    CHECK(d.why == reason::flapping);
    CHECK(d.reasons.back().value == doctest::Approx(90));
    CHECK(l.step({level("cpu", 50)}, at(660)).to == 2);
}

TEST_CASE("as Azure: two instances at 60 % stay two")
{
    const auto cpu = sc::averaged(sc::mean("cpu"));
    const policy p{.up = cpu > 80, .down = cpu <= 60, .instances = {1, 10}, .stabilise = {}};
    CHECK(decide(p, readings{level("cpu", 60)}, {}, 2, at(0)).why == reason::flapping);
}

TEST_CASE(
    "as Azure: validate refuses one threshold for both directions, and decide does not flap with "
    "it")
{
    const auto threads = sc::averaged(sc::mean("threads"));
    const policy p{
        .up = threads >= 600, .down = threads <= 600, .instances = {1, 10}, .stabilise = {}};
    CHECK(sc::validate(p));
    loop l{p, 2};
    CHECK(l.step({level("threads", 625)}, at(0)).to == 3);
    const decision d = l.step({level("threads", 575)}, at(600));
    CHECK(d.to == 3);
    CHECK(d.why == reason::flapping);
    CHECK(d.reasons.back().value == doctest::Approx(862.5));
}

TEST_CASE("as Azure: four to two would flap, so three stay")
{
    const auto cpu = sc::averaged(sc::mean("cpu"));
    policy p{.up = cpu > 80, .down = cpu < 50, .instances = {1, 10}, .stabilise = {}};
    p.step.down.count = 2;
    const decision d = decide(p, readings{level("cpu", 45)}, {}, 4, at(0));
    CHECK(d.desired == 2);
    CHECK(d.to == 3);
    CHECK(d.why == reason::flapping);
}

TEST_CASE("as Azure: a queue threshold per instance")
{
    const auto queue = sc::mean("messages");
    const policy p{.up = queue >= sc::per_instance(50),
                   .down = queue <= sc::per_instance(10),
                   .instances = {1, 10},
                   .stabilise = {}};
    CHECK_FALSE(sc::validate(p));
    const auto of = [&](double messages, std::uint64_t n) {
        return decide(p, readings{level("messages", messages)}, {}, n, at(0)).to;
    };
    CHECK(of(50, 2) == 2);
    CHECK(of(99, 2) == 2);
    CHECK(of(100, 2) == 3);
    CHECK(of(149, 3) == 3);
    CHECK(of(150, 3) == 4);
    CHECK(of(31, 3) == 3);
    CHECK(of(30, 3) == 2);
}

TEST_CASE("as Azure: of several rules that scale out, the highest capacity counts")
{
    policy p{.down = {}, .instances = {1, 100}, .stabilise = {}};
    p.bands.up = {{sc::mean("a") > 1, {.count = 3}}, {sc::mean("b") > 1, {.count = 5}}};
    CHECK(decide(p, readings{level("a", 2), level("b", 2)}, {}, 10, at(0)).to == 15);
    CHECK(decide(p, readings{level("a", 2), level("b", 0)}, {}, 10, at(0)).to == 13);
    p.bands.up[1].by = {.percent = 15};
    CHECK(decide(p, readings{level("a", 2), level("b", 2)}, {}, 10, at(0)).to == 13);
    CHECK(decide(p, readings{level("a", 2), level("b", 2)}, {}, 40, at(0)).to == 46);
}

TEST_CASE("as Azure: of several limits that scale in, the smallest change counts")
{
    // Half of them or three: from ten, five or seven, and seven it is. Here that is two limits.
    policy p{.down = sc::all_of(sc::mean("a") < 1, sc::mean("b") < 1),
             .instances = {1, 100},
             .stabilise = {}};
    p.step.down.percent = 100;
    p.rate.down = {{{.percent = 50}, seconds(60)}, {{.count = 3}, seconds(60)}};
    CHECK(decide(p, readings{level("a", 0), level("b", 0)}, {}, 10, at(0)).to == 7);
    CHECK(decide(p, readings{level("a", 0), level("b", 0)}, {}, 4, at(0)).to == 2);
    CHECK(decide(p, readings{level("a", 0), level("b", 1)}, {}, 10, at(0)).to == 10);
}

TEST_CASE("as Azure: a shared cooldown holds both directions")
{
    policy p = four_rules();
    p.cooldown = {seconds(300), seconds(300), true};
    loop l{p, 5};
    CHECK(l.step({level("cpu", 20), level("memory", 20)}, at(0)).to == 4);
    CHECK(l.step({level("cpu", 90), level("memory", 20)}, at(299)).why == reason::cooldown);
    CHECK(l.step({level("cpu", 90), level("memory", 20)}, at(300)).to == 5);
    CHECK(l.step({level("cpu", 20), level("memory", 20)}, at(599)).why == reason::cooldown);
}

TEST_CASE("as Azure: without metrics the default is a lower limit")
{
    policy p = four_rules();
    p.if_unknown = 4;
    CHECK(decide(p, {}, {}, 2, at(0)).to == 4);
    CHECK(decide(p, {}, {}, 4, at(0)).to == 4);
    CHECK(decide(p, {}, {}, 9, at(0)).to == 9);
    CHECK(decide(p, {}, {}, 9, at(0)).why == reason::unknown);
}

TEST_CASE("as Azure: a manually set number is brought within the bounds")
{
    policy p = four_rules();
    p.instances = {3, 6};
    const readings calm{level("cpu", 50), level("memory", 60)};
    CHECK(decide(p, calm, {}, 1, at(0)).to == 3);
    CHECK(decide(p, calm, {}, 8, at(0)).to == 6);
}

}  // namespace as_azure_test
