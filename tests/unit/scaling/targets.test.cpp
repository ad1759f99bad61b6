// SPDX-License-Identifier: MIT
//
// The number of instances that the work needs.

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace targets_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::role;
using sc::tribool;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;

namespace {

policy for_each(double each, double tolerance = 0)
{
    policy p{.instances = {1, 1'000'000}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = each, .tolerance = {tolerance, tolerance}}};
    return p;
}

std::uint64_t to(const policy& p, double work, std::uint64_t from)
{
    return decide(p, readings{level("work", work)}, {}, from, at(0)).to;
}

}  // namespace

TEST_CASE("target: the number of instances is the work divided by `each`, rounded up")
{
    CHECK(to(for_each(100), 1'500, 10) == 15);
    CHECK(to(for_each(100), 1'501, 10) == 16);
    CHECK(to(for_each(100), 1'499, 10) == 15);
    CHECK(to(for_each(100), 1, 10) == 1);
    CHECK(to(for_each(100), 0, 10) == 1);
    CHECK(to(for_each(100), -50, 10) == 1);
}

TEST_CASE("target: rounding errors of the division add no instance")
{
    CHECK(to(for_each(0.1), 0.3, 1) == 3);
    CHECK(to(for_each(0.1), 0.7, 1) == 7);
    CHECK(to(for_each(0.2), 0.6, 1) == 3);
    int wrong = 0;
    for (int n = 1; n <= 1'000; ++n) {
        for (const double each : {0.1, 0.2, 0.3, 0.7, 1.1, 3.3, 1e-9, 1e9}) {
            const double work = each * n;
            wrong += to(for_each(each), work, 2'000) != static_cast<std::uint64_t>(n);
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("target: a value within the tolerance or at its ends changes nothing")
{
    const policy p = for_each(10, 0.1);
    CHECK(to(p, 110, 10) == 10);
    CHECK(to(p, 110.01, 10) == 12);
    CHECK(to(p, 90, 10) == 10);
    CHECK(to(p, 89.99, 10) == 9);
    int wrong = 0;
    for (std::uint64_t n = 2; n <= 1'000; ++n) {
        const double whole = static_cast<double>(n);
        wrong += to(p, 11 * whole, n) != n;
        wrong += to(p, 9 * whole, n) != n;
        for (const int percent : {3, 5, 7, 15, 20, 30, 45}) {
            const double t = percent / 100.0;
            wrong += to(for_each(100, t), (100 + percent) * whole, n) != n;
            wrong += to(for_each(100, t), (100 - percent) * whole, n) != n;
            wrong += to(for_each(100, t), (100 + percent) * whole + 1, n) == n;
            wrong += to(for_each(100, t), (100 - percent) * whole - 100, n) == n;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("target: each direction has its own tolerance")
{
    policy p = for_each(10);
    p.targets[0].tolerance = {.up = 0.5, .down = 0};
    CHECK(to(p, 150, 10) == 10);
    CHECK(to(p, 151, 10) == 16);
    CHECK(to(p, 90, 10) == 9);
    p.targets[0].tolerance = {.up = 0, .down = 0.5};
    CHECK(to(p, 101, 10) == 11);
    CHECK(to(p, 50, 10) == 10);
    CHECK(to(p, 49, 10) == 5);
}

TEST_CASE("target: 41 tasks at four each need 11 instances, and with a tolerance of a tenth ten")
{
    // kubernetes/kubernetes #116984: with a tenth of tolerance nothing happens below 44.
    CHECK(to(for_each(4, 0.1), 41, 10) == 10);
    CHECK(to(for_each(4, 0.0), 41, 10) == 11);
}

TEST_CASE("target: an averaged metric is multiplied by the instances")
{
    policy p = for_each(50, 0.1);
    p.targets[0].of = sc::averaged(sc::mean("work"));
    CHECK(to(p, 100, 4) == 8);
    CHECK(to(p, 25, 4) == 2);
    CHECK(to(p, 55, 4) == 4);
    CHECK(to(p, 45, 4) == 4);
    CHECK(to(p, 56, 4) == 5);
}

TEST_CASE("target: the target that needs the most instances decides")
{
    policy p = for_each(10);
    p.targets.push_back({.of = sc::highest("age"), .each = 60, .tolerance = {0, 0}});
    const auto both = [&](double work, double age) {
        return decide(p, readings{level("work", work), level("age", age)}, {}, 5, at(0));
    };
    CHECK(both(80, 60).to == 8);
    CHECK(both(10, 600).to == 10);
    CHECK(both(10, 100).to == 2);
    CHECK(both(50, 100).to == 5);
    // If one is unknown, a higher number of the other counts, and a lower one does not.
    CHECK(decide(p, readings{level("work", 80)}, {}, 5, at(0)).to == 8);
    CHECK(decide(p, readings{level("work", 10)}, {}, 5, at(0)).to == 5);
}

TEST_CASE("target: its evidence contains the value, the limit and the wanted number")
{
    const decision d =
        decide(tests_support::kept(for_each(100)), readings{level("work", 250)}, {}, 2, at(0));
    REQUIRE(d.reasons.size() == 1);
    CHECK(d.reasons[0].part == role::target);
    CHECK(d.reasons[0].value == 250.0);
    CHECK(d.reasons[0].limit == 200.0);
    CHECK(d.reasons[0].holds == tribool::yes);
    CHECK(d.reasons[0].wants == 3);
    const decision enough =
        decide(tests_support::kept(for_each(100)), readings{level("work", 150)}, {}, 2, at(0));
    CHECK(enough.reasons[0].holds == tribool::no);
    CHECK(enough.reasons[0].wants == 2);
    const decision unknown = decide(tests_support::kept(for_each(100)), {}, {}, 2, at(0));
    CHECK_FALSE(unknown.reasons[0].wants);
    CHECK(unknown.reasons[0].holds == tribool::unknown);
}

TEST_CASE("target: huge work and huge numbers of instances do not overflow")
{
    policy p = for_each(1);
    p.instances = {1, UINT64_MAX};
    CHECK(to(p, 1e300, 1) == UINT64_MAX);
    CHECK(to(p, 1e300, UINT64_MAX) == UINT64_MAX);
    CHECK(to(p, 0, UINT64_MAX) == 1);
    p.targets[0].of.averaged = true;
    CHECK(to(p, 1e300, UINT64_MAX) == UINT64_MAX);
    CHECK(to(p, 1, UINT64_MAX) == UINT64_MAX);
    p.targets[0].tolerance = {1e308, 0.5};
    CHECK(to(p, 1e300, 7) == 7);
}

}  // namespace targets_test
