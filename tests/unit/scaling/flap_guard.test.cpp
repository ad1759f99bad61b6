// SPDX-License-Identifier: MIT
//
// Fewer instances must not cause an increase at once: the rules are evaluated again with the load
// of fewer instances.

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace flap_guard_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::role;
using sc::tribool;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;

namespace {

policy on_load(double more, double fewer)
{
    const auto cpu = sc::averaged(sc::mean("cpu"));
    return {.up = cpu > more, .down = cpu < fewer, .instances = {1, 100}, .stabilise = {}};
}

std::uint64_t projections(const decision& d)
{
    std::uint64_t n = 0;
    for (const sc::evidence& e : d.reasons) n += e.part == role::projected ? 1U : 0U;
    return n;
}

}  // namespace

TEST_CASE("flap guard: a change down that would exceed the rule up is held")
{
    const policy p = on_load(80, 60);
    // 50 % on two is 100 % on one.
    const decision d = decide(p, readings{level("cpu", 50)}, {}, 2, at(0));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::flapping);
    CHECK(d.to == 2);
    CHECK(d.desired == 1);
    REQUIRE(projections(d) == 1);
    CHECK(d.reasons.back().part == role::projected);
    CHECK(d.reasons.back().value == 100.0);
    CHECK(d.reasons.back().limit == 80.0);
    CHECK(d.reasons.back().holds == tribool::yes);
    CHECK(decide(p, readings{level("cpu", 40)}, {}, 2, at(0)).to == 1);  // 80 is not above 80
    CHECK(projections(decide(p, readings{level("cpu", 40)}, {}, 2, at(0))) == 0);
}

TEST_CASE("flap guard: a change down is cut to the lowest number that does not exceed the rule up")
{
    policy p = on_load(80, 60);
    p.step.down.count = 8;
    // 40 * 10 / n is above 80 below five.
    const decision d = decide(p, readings{level("cpu", 40)}, {}, 10, at(0));
    CHECK(d.verdict == verdict::down);
    CHECK(d.why == reason::flapping);
    CHECK(d.to == 5);
    CHECK(d.desired == 2);
    CHECK(d.reasons.back().value == 100.0);  // the value with four
    for (std::uint64_t from = 2; from <= 100; ++from) {
        p.step.down.count = from - 1;
        const double cpu = 55;
        const std::uint64_t to = decide(p, readings{level("cpu", cpu)}, {}, from, at(0)).to;
        const auto load = [&](std::uint64_t n) {
            return cpu * (static_cast<double>(from) / static_cast<double>(n));
        };
        CHECK(load(to) <= 80);
        CHECK((to == 1 || load(to - 1) > 80));
    }
}

TEST_CASE("flap guard: a total is compared with the thresholds of fewer instances, unscaled")
{
    const policy p{.up = sc::mean("orders") > sc::per_instance(100),
                   .down = sc::mean("orders") < 250,
                   .instances = {1, 20},
                   .stabilise = {}};
    CHECK(decide(p, readings{level("orders", 240)}, {}, 3, at(0)).why == reason::flapping);
    CHECK(decide(p, readings{level("orders", 200)}, {}, 3, at(0)).to == 2);
    CHECK(decide(p, readings{level("orders", 240)}, {}, 4, at(0)).to == 3);
}

TEST_CASE("flap guard: bands and targets are evaluated for fewer instances")
{
    policy p{.down = sc::mean("idle") > 0, .instances = {1, 20}, .stabilise = {}};
    p.bands.up = {{sc::averaged(sc::mean("cpu")) > 80, {}}};
    const readings now{level("idle", 1), level("cpu", 50)};
    CHECK(decide(p, now, {}, 2, at(0)).why == reason::flapping);
    p.bands.up.clear();
    p.targets = {{.of = sc::averaged(sc::mean("cpu")), .each = 50, .tolerance = {0.1, 0.1}}};
    CHECK(decide(p, now, {}, 10, at(0)).to == 10);
    // 44 needs 9 of 10, and 48.9 on nine is near enough to 50.
    CHECK(decide(p, readings{level("idle", 1), level("cpu", 44)}, {}, 10, at(0)).to == 9);
}

TEST_CASE("flap guard: a number cut by a rate limit is evaluated as well")
{
    // Four have a lower limit than three or five, for any reason.
    const auto odd = [](std::uint64_t n) { return n == 4 ? 10.0 : 1'000.0; };
    policy p{.up = sc::mean("orders") > sc::of_instances(odd),
             .down = sc::mean("orders") < 100,
             .instances = {1, 20},
             .stabilise = {}};
    p.step.down.count = 6;
    const readings now{level("orders", 50)};
    CHECK(decide(p, now, {}, 8, at(0)).to == 2);
    p.rate.down = {{{.count = 4}, tests_support::seconds(60)}};
    const decision d = decide(p, now, {}, 8, at(0));
    CHECK(d.to != 4);
    CHECK(d.to >= 4);
    CHECK(d.to <= 8);
}

TEST_CASE("flap guard: a projected load that overflows holds the change")
{
    policy p = on_load(1e308, 1e307);
    p.step.down.count = 98;
    CHECK(decide(p, readings{level("cpu", 9e306)}, {}, 99, at(0)).to > 1);
    p.instances = {1, UINT64_MAX};
    p.step.down.count = UINT64_MAX - 1;
    CHECK(decide(p, readings{level("cpu", 1e300)}, {}, UINT64_MAX, at(0)).to > 1);
}

TEST_CASE("flap guard: the last instance is removed for any projected load")
{
    policy p = on_load(80, 60);
    p.instances = {0, 5};
    p.activation = sc::mean("cpu") > 1;
    p.zero_after = {};
    CHECK(decide(p, readings{level("cpu", 0)}, {}, 1, at(0)).to == 0);
}

TEST_CASE("flap guard: after a change down the rule up does not hold")
{
    std::uint64_t seen = 0;
    for (std::uint64_t from = 2; from <= 40; ++from) {
        for (double cpu = 1; cpu < 60; cpu += 0.5) {
            policy p = on_load(80, 60);
            p.step.down.percent = 70;
            const decision d = decide(p, readings{level("cpu", cpu)}, {}, from, at(0));
            if (d.verdict != verdict::down) continue;
            ++seen;
            const double then = cpu * static_cast<double>(from) / static_cast<double>(d.to);
            const decision next =
                decide(p, readings{level("cpu", then * (1 - 1e-15))}, {}, d.to, at(0));
            CHECK(next.up != tribool::yes);
        }
    }
    CHECK(seen > 1'000);
}

}  // namespace flap_guard_test
