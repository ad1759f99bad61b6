// SPDX-License-Identifier: MIT
//
// The documented behaviour of the horizontal pod autoscaler of Kubernetes, as policies. All from
// https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/

#include <cstdint>
#include <initializer_list>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>

namespace as_kubernetes_test {

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

// An average of 100 m for each pod; a tenth more or less does not matter.
policy pods()
{
    policy p{.instances = {1, 1'000}, .stabilise = {}};
    p.targets = {{.of = sc::averaged(sc::mean("cpu")), .each = 100, .tolerance = {0.1, 0.1}}};
    return p;
}

std::uint64_t to(double cpu, std::uint64_t from)
{
    return decide(tests_support::kept(pods()), readings{level("cpu", cpu)}, {}, from, at(0)).to;
}

}  // namespace

TEST_CASE("as Kubernetes: twice the target value doubles the instances, half of it halves them")
{
    CHECK_FALSE(sc::validate(pods()));
    for (const std::uint64_t n : {1U, 2U, 3U, 10U, 250U}) CHECK(to(200, n) == 2 * n);
    for (const std::uint64_t n : {2U, 4U, 10U, 250U}) CHECK(to(50, n) == n / 2);
    CHECK(to(50, 3) == 2);   // ceil(1.5)
    CHECK(to(130, 3) == 4);  // ceil(3.9)
}

TEST_CASE("as Kubernetes: a value within a tenth of the target changes nothing")
{
    CHECK(to(109, 50) == 50);
    CHECK(to(91, 50) == 50);
    CHECK(to(112, 50) == 56);
    CHECK(to(88, 50) == 44);
}

TEST_CASE("as Kubernetes: the metric that needs the most instances decides")
{
    policy p = pods();
    p.targets.push_back({.of = sc::mean("requests"), .each = 10});
    p.targets.push_back({.of = sc::highest("age"), .each = 30});
    const auto of = [&](double cpu, double requests, double age) {
        const readings now{level("cpu", cpu), level("requests", requests), level("age", age)};
        return decide(p, now, {}, 10, at(0)).to;
    };
    CHECK(of(200, 50, 300) == 20);
    CHECK(of(50, 500, 300) == 50);
    CHECK(of(50, 70, 60) == 7);
}

TEST_CASE("as Kubernetes: a missing metric blocks a change down, and no change up")
{
    policy p = pods();
    p.targets.push_back({.of = sc::mean("requests"), .each = 10});
    const decision fewer = decide(p, readings{level("cpu", 50)}, {}, 10, at(0));
    CHECK(fewer.verdict == verdict::held);
    CHECK(fewer.why == reason::unknown);
    CHECK(decide(p, readings{level("cpu", 200)}, {}, 10, at(0)).to == 20);
}

TEST_CASE("as Kubernetes: five minutes of stabilisation keep the highest recommendation")
{
    policy p = pods();
    p.targets[0] = {.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}};
    p.stabilise.down = seconds(300);
    loop l{p, 10};
    for (std::int64_t t = 0; t != 90; t += 15) l.step({level("work", 10)}, at(t));
    l.step({level("work", 6)}, at(90));
    l.step({level("work", 8)}, at(105));
    l.step({level("work", 4)}, at(120));
    CHECK(l.instances == 10);
    CHECK(l.step({level("work", 4)}, at(389)).to == 10);  // ten stood until 90
    CHECK(l.step({level("work", 4)}, at(390)).to == 8);
    CHECK(l.step({level("work", 4)}, at(419)).to == 8);
    CHECK(l.step({level("work", 4)}, at(420)).to == 4);
}

TEST_CASE("as Kubernetes: stabilisation does not raise the instances while fewer are recommended")
{
    // The behaviour there (kubernetes/kubernetes #96671, #98174).
    policy p = pods();
    p.targets[0] = {.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}};
    p.stabilise.down = seconds(300);
    loop l{p, 3};
    l.step({level("work", 9)}, at(0));
    l.instances = 4;
    CHECK(l.step({level("work", 2)}, at(15)).to == 4);
}

TEST_CASE("as Kubernetes: a rate of four pods or a tenth per minute allows the greater of both")
{
    policy p = pods();
    p.targets[0] = {.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}};
    p.rate.down = {{{.count = 4, .percent = 10}, seconds(60)}};
    loop l{p, 80};
    // From 80 to 10: a tenth while there are more than forty, then four at a time.
    std::int64_t t = 0;
    for (const std::uint64_t next :
         {72U, 64U, 57U, 51U, 45U, 40U, 36U, 32U, 28U, 24U, 20U, 16U, 12U, 10U, 10U}) {
        CHECK(l.step({level("work", 10)}, at(t)).to == next);
        CHECK(l.step({level("work", 10)}, at(t + 59)).to == next);
        t += 60;
    }
}

TEST_CASE("as Kubernetes: ten pods per minute, and the smaller of two limits")
{
    policy p = pods();
    p.targets[0] = {.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}};
    p.rate.down = {{{.count = 10}, seconds(60)}};
    loop l{p, 80};
    CHECK(l.step({level("work", 1)}, at(0)).to == 70);
    CHECK(l.step({level("work", 1)}, at(60)).to == 60);
    // At most five even where a tenth would be more.
    p.rate.down = {{{.percent = 10}, seconds(60)}, {{.count = 5}, seconds(60)}};
    loop m{p, 80};
    CHECK(m.step({level("work", 1)}, at(0)).to == 75);
    m.instances = 20;
    m.state = {};
    CHECK(m.step({level("work", 1)}, at(0)).to == 18);
}

TEST_CASE("as Kubernetes: up by a hundred percent or four pods per 15 s")
{
    policy p = pods();
    p.targets[0] = {.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}};
    p.rate.up = {{{.count = 4, .percent = 100}, seconds(15)}};
    loop l{p, 1};
    std::int64_t t = 0;
    for (const std::uint64_t next : {5U, 10U, 20U, 40U, 80U, 100U, 100U}) {
        CHECK(l.step({level("work", 100)}, at(t)).to == next);
        t += 15;
    }
}

TEST_CASE("as Kubernetes: disabled scaling down keeps the instances")
{
    policy p = pods();
    p.allow.down = false;
    CHECK(decide(p, readings{level("cpu", 10)}, {}, 10, at(0)).why == reason::disabled);
    CHECK(decide(p, readings{level("cpu", 200)}, {}, 10, at(0)).to == 20);
}

TEST_CASE("as Kubernetes: the smaller of two limits up is not zero")
{
    // A bug there: a minimum that began with 0 never let anything start.
    policy p = pods();
    p.rate.up = {{{.count = 4}, seconds(15)}, {{.percent = 100}, seconds(15)}};
    CHECK(decide(p, readings{level("cpu", 1'000)}, {}, 10, at(0)).to == 14);
    CHECK(decide(p, readings{level("cpu", 1'000)}, {}, 2, at(0)).to == 4);
}

}  // namespace as_kubernetes_test
