// SPDX-License-Identifier: MIT
//
// Rules that want more and fewer instances at the same time.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/scaling/flapping.hpp>

namespace flapping_test {

namespace sc = waybill::scaling;
using sc::all_of;
using sc::any_of;
using sc::at_least_of;
using sc::flapping;
using sc::highest;
using sc::mean;
using sc::rule;

namespace {

bool flaps(const rule& up, const rule& down, sc::bounds b = {1, 10})
{
    return flapping(up, down, b).has_value();
}

}  // namespace

TEST_CASE("flapping: overlapping thresholds of one metric are found")
{
    CHECK(flaps(mean("a") > 100, mean("a") < 101));
    CHECK(flaps(mean("a") > 100, mean("a") < 100));
    CHECK(flaps(mean("a") >= 100, mean("a") <= 100));
    CHECK_FALSE(flaps(mean("a") > 100, mean("a") < 99.9));
    CHECK(flaps(mean("a") < 10, mean("a") > 9));
    CHECK_FALSE(flaps(mean("a") < 10, mean("a") > 11));
    CHECK_FALSE(flaps(mean("a") > 100, mean("b") < 200));
    CHECK_FALSE(flaps(mean("a") > 100, sc::rate("a") < 200));
    CHECK(flaps(mean("a") > 100, highest("a") < 200));
    CHECK_FALSE(flaps(mean("a") > 100, mean("a") > 200));
}

TEST_CASE("flapping: each alternative of up is compared with each alternative of down")
{
    const rule up = any_of(mean("a") > 100, mean("b") > 50);
    CHECK_FALSE(flaps(up, all_of(mean("a") < 10, mean("b") < 10)));
    CHECK(flaps(up, all_of(mean("a") < 10, mean("b") < 60)));
    // A value between the thresholds separates them.
    CHECK_FALSE(
        flaps(all_of(mean("a") > 100, mean("b") > 50), all_of(mean("a") < 200, mean("b") < 20)));
    CHECK(flaps(all_of(mean("a") > 100, mean("b") > 50), any_of(mean("a") < 200, mean("b") < 20)));
    CHECK(flaps(at_least_of(2, mean("a") > 10, mean("b") > 10, mean("c") > 10),
                all_of(mean("a") < 5, mean("b") < 20)));
    CHECK_FALSE(flaps(at_least_of(3, mean("a") > 10, mean("b") > 10, mean("c") > 10),
                      all_of(mean("a") < 5, mean("b") < 20)));
}

TEST_CASE("flapping: negated rules are compared with the opposite direction")
{
    CHECK_FALSE(flaps(mean("a") > 100, !(mean("a") >= 50)));
    CHECK(flaps(mean("a") > 100, !(mean("a") > 150)));
    CHECK(flaps(!(mean("a") < 100), mean("a") < 150));
    CHECK_FALSE(flaps(!any_of(mean("a") < 100, mean("b") < 5), mean("a") < 50));
    CHECK(flaps(mean("a") > 100, !all_of(mean("a") > 150, mean("b") > 5)));
    CHECK_FALSE(flaps(mean("a") > 100, !!(mean("a") < 50)));
    CHECK(flaps(mean("a") > 100, !at_least_of(2, mean("a") > 150, mean("b") > 5, mean("c") > 5)));
}

TEST_CASE("flapping: the result contains a number of instances that flaps")
{
    const auto c = flapping(mean("a") > sc::per_instance(100), mean("a") < 450, {3, 10});
    REQUIRE(c);
    CHECK(c->instances >= 3);
    CHECK(c->instances <= 4);
    CHECK_FALSE(flapping(mean("a") > sc::per_instance(100), mean("a") < 450, {5, 10}));
    // A step of a table for only one number of instances.
    const auto table = sc::by_instances({{1, 1'000}, {700, 10}, {701, 1'000}});
    const auto t = flapping(mean("a") > table, mean("a") < 20, {1, 100'000});
    REQUIRE(t);
    CHECK(t->instances == 700);
    CHECK_FALSE(flapping(mean("a") > table, mean("a") < 20, {1, 699}));
    CHECK_FALSE(flapping(mean("a") > table, mean("a") < 20, {701, UINT64_MAX}));
    CHECK(flapping(mean("a") > 5, mean("a") < sc::per_instance(1), {1, UINT64_MAX}));
}

TEST_CASE("flapping: per_instance uses the capacities of a ladder")
{
    const std::vector<sc::capacity_tier> ladder{{"S", 10}, {"M", 20}, {"L", 50}};
    CHECK(flapping(mean("a") > sc::per_instance(1), mean("a") < 15, {0, 2}, ladder));
    CHECK_FALSE(flapping(mean("a") > sc::per_instance(1), mean("a") < 15, {1, 2}, ladder));
}

TEST_CASE("flapping: capacities between the tiers of a ladder are not compared")
{
    const std::vector<sc::capacity_tier> ladder{{"S", 10}, {"L", 50}};
    const auto table = sc::by_instances({{1, 100}, {20, 5}, {45, 100}});
    CHECK_FALSE(flapping(mean("a") > table, mean("a") < 20, {0, 1}, ladder));
    const std::vector<sc::capacity_tier> more{{"S", 10}, {"M", 20}, {"L", 50}};
    CHECK(flapping(mean("a") > table, mean("a") < 20, {0, 2}, more));
}

TEST_CASE("flapping: an empty rule does not flap")
{
    CHECK_FALSE(flaps(rule(), mean("a") < 1));
    CHECK_FALSE(flaps(mean("a") > 1, rule()));
    CHECK_FALSE(flaps(rule(), rule()));
    CHECK_FALSE(flaps(rule(rule::kind::all, {}), mean("a") < 1));
    CHECK_FALSE(flaps(rule(rule::kind::opposite, {}), mean("a") < 1));
}

TEST_CASE("flapping: rules with 155 million alternatives and 200 levels are compared")
{
    std::vector<rule> many;
    for (int n = 0; n != 30; ++n) {
        many.push_back(mean("m" + std::to_string(n)) > 100);
    }
    const rule up(rule::kind::at_least, many, 15);
    CHECK_FALSE(flaps(up, mean("m0") < 200));  // 155 million ways
    rule deep = mean("a") > 1;
    for (int n = 0; n != 200; ++n) deep = !any_of(deep);
    CHECK(flaps(deep, mean("a") < 5));
}

}  // namespace flapping_test
