// SPDX-License-Identifier: MIT
//
// Named sizes, as of a database, instead of numbers of instances.

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace ladder_test {

namespace sc = waybill::scaling;
using sc::capacity_tier;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;

namespace {

const std::vector<capacity_tier> sizes{
    {"S0", 10}, {"S1", 20}, {"S2", 50}, {"S3", 100}, {"P1", 125}};

policy database()
{
    policy p{.up = sc::averaged(sc::mean("dtu")) > 80,
             .down = sc::averaged(sc::mean("dtu")) < 30,
             .instances = {0, 4},
             .stabilise = {}};
    p.ladder = sizes;
    return p;
}

std::uint64_t to(const policy& p, std::uint64_t from, double dtu)
{
    return decide(p, readings{level("dtu", dtu)}, {}, from, at(0)).to;
}

}  // namespace

TEST_CASE("ladder: tiers have names and capacities")
{
    CHECK(sc::tier_named(sizes, "S2") == 2);
    CHECK_FALSE(sc::tier_named(sizes, "s2"));
    CHECK_FALSE(sc::tier_named(sizes, ""));
    CHECK_FALSE(sc::tier_named({}, "S2"));
    CHECK(sc::capacity_at(sizes, 0) == 10);
    CHECK(sc::capacity_at(sizes, 4) == 125);
    CHECK(sc::capacity_at(sizes, 5) == 125);
    CHECK(sc::capacity_at(sizes, UINT64_MAX) == 125);
    CHECK(sc::capacity_at({}, 7) == 7);
    CHECK(sc::tier_for(sizes, 0) == 0);
    CHECK(sc::tier_for(sizes, 10) == 0);
    CHECK(sc::tier_for(sizes, 11) == 1);
    CHECK(sc::tier_for(sizes, 101) == 4);
    CHECK(sc::tier_for(sizes, UINT64_MAX) == 4);
    CHECK(sc::tier_for({}, 7) == 7);
}

TEST_CASE("ladder: steps are one tier, and end at both ends of the ladder")
{
    const policy p = database();
    CHECK(to(p, 0, 90) == 1);
    CHECK(to(p, 3, 90) == 4);
    const decision top = decide(p, readings{level("dtu", 90)}, {}, 4, at(0));
    CHECK(top.verdict == verdict::held);
    CHECK(top.why == reason::bounds);
    CHECK(to(p, 4, 20) == 3);
    CHECK(to(p, 1, 5) == 0);
    CHECK(to(p, 0, 5) == 0);
    CHECK(decide(p, readings{level("dtu", 5)}, {}, 0, at(0)).command == std::nullopt);
}

TEST_CASE("ladder: the lowest tier is an instance, and needs no activation")
{
    policy p = database();
    CHECK(decide(p, readings{level("dtu", 90)}, {}, 0, at(0)).verdict == verdict::up);
    p.cooldown.up = tests_support::seconds(60);
    sc::state s;
    s.last_up = at(-1);
    CHECK(decide(p, readings{level("dtu", 90)}, s, 0, at(0)).why == reason::cooldown);
}

TEST_CASE("ladder: the flap guard uses the capacities of the tiers")
{
    const policy p = database();
    // 28 % of 50 are 70 % of 20; 28 % of 20 are 56 % of 10; of 125 they are 35 % of 100.
    CHECK(to(p, 2, 28) == 1);
    CHECK(to(p, 1, 28) == 0);
    CHECK(to(p, 4, 28) == 3);
    // 33 % of 50 are 82.5 % of 20.
    policy wide = p;
    wide.down = sc::averaged(sc::mean("dtu")) < 40;
    CHECK(decide(wide, readings{level("dtu", 33)}, {}, 2, at(0)).why == reason::flapping);
    wide.step.down.count = 4;
    CHECK(to(wide, 4, 33) == 3);  // 41.25 of 50 would be too much, and of 100 is not
}

TEST_CASE("ladder: targets choose the lowest tier with enough capacity")
{
    policy p{.instances = {0, 4}, .stabilise = {}};
    p.ladder = sizes;
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    const auto tier_of = [&](double work, std::uint64_t from) {
        return decide(p, readings{level("work", work)}, {}, from, at(0)).to;
    };
    CHECK(tier_of(10, 2) == 0);
    CHECK(tier_of(10.5, 2) == 1);
    CHECK(tier_of(21, 0) == 2);
    CHECK(tier_of(126, 0) == 4);
    CHECK(tier_of(50, 2) == 2);
    p.targets[0].tolerance = {0.1, 0.1};
    CHECK(tier_of(54, 2) == 2);
    CHECK(tier_of(56, 2) == 3);
    p.targets = {{.of = sc::averaged(sc::mean("work")), .each = 60, .tolerance = {0, 0}}};
    CHECK(tier_of(72, 2) == 3);  // 60 capacity
    CHECK(tier_of(24, 2) == 1);  // 20
    CHECK(tier_of(23, 2) == 1);  // 19.2
    CHECK(tier_of(12, 2) == 0);  // 10
}

TEST_CASE("ladder: a percentage is of the capacity of the tier")
{
    policy p = database();
    p.step.up = {.percent = 100};
    CHECK(to(p, 0, 90) == 1);
    CHECK(to(p, 1, 90) == 2);  // 40
    CHECK(to(p, 2, 90) == 3);  // 100
    p.step.down = {.percent = 60};
    CHECK(to(p, 4, 10) == 2);  // 50
    p.step.down = {.percent = 50};
    CHECK(to(p, 4, 10) == 3);  // 62.5 needs 100
    p.step.down = {.percent = 1};
    CHECK(to(p, 4, 10) == 3);  // one at least
}

TEST_CASE("ladder: per_instance uses the capacity of the tier")
{
    policy p = database();
    p.up = sc::mean("sessions") > sc::per_instance(2);
    p.down = {};
    CHECK(decide(p, readings{level("sessions", 41)}, {}, 1, at(0)).to == 2);
    CHECK(decide(p, readings{level("sessions", 40)}, {}, 1, at(0)).to == 1);
    CHECK(decide(p, readings{level("sessions", 41)}, {}, 1, at(0)).reasons[0].limit == 40.0);
}

TEST_CASE("ladder: a tier outside the ladder or the bounds is brought within them")
{
    policy p = database();
    CHECK(to(p, 7, 50) == 4);
    p.instances = {0, 9};  // and bounds beyond the ladder end with it
    CHECK(to(p, 4, 90) == 4);
    CHECK(to(p, 9, 90) == 4);
    p.instances = {1, 3};
    CHECK(to(p, 4, 50) == 3);
    CHECK(to(p, 0, 50) == 1);
}

TEST_CASE("ladder: a rate in percent is of capacity, and always allows one tier")
{
    policy p = database();
    p.targets = {{.of = sc::mean("dtu"), .each = 1}};
    p.rate.up = {{{.percent = 100}, tests_support::seconds(60)}};
    p.rate.down = {{{.percent = 75}, tests_support::seconds(60)}};
    p.up = {};
    p.down = {};
    CHECK(to(p, 0, 125) == 1);  // 10 and 10 more
    CHECK(to(p, 1, 125) == 2);  // 20 and 20 more are not 50, but one tier it is
    CHECK(to(p, 2, 125) == 3);  // 50 and 50 more
    CHECK(to(p, 4, 1) == 2);    // 125 less 94 are 31, for which 50 is enough
    p.rate.up = {{{.count = 2}, tests_support::seconds(60)}};
    CHECK(to(p, 0, 125) == 2);
    p.rate.up = {{{.percent = 1e300}, tests_support::seconds(60)}};
    CHECK(to(p, 0, 125) == 4);
}

}  // namespace ladder_test
