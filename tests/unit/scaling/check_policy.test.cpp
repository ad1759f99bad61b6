// SPDX-License-Identifier: MIT
//
// The error of a policy has the path, the expected value and the found value.

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>

namespace check_policy_test {

namespace sc = waybill::scaling;
using sc::policy;
using sc::validate;
using tests_support::seconds;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();

policy good()
{
    return {.up = sc::any_of(sc::mean("orders") > sc::per_instance(100), sc::highest("age") > 300),
            .down = sc::all_of(sc::highest("orders") < 10, sc::highest("mails") < 10),
            .min_points = 5,
            .cooldown = {seconds(60), seconds(600)},
            .instances = {1, 20},
            .stabilise = {}};
}

template <class F>
std::string wrong(F change)
{
    policy p = good();
    change(p);
    const auto bad = validate(p);
    if (bad) {
        CHECK_FALSE(bad->expected.empty());
        CHECK_FALSE(bad->found.empty());
        CHECK(sc::describe(*bad).find(bad->expected) != std::string::npos);
    }
    return bad ? bad->path : "nothing";
}

}  // namespace

TEST_CASE("validate: accepts a valid policy")
{
    CHECK_FALSE(validate(good()));
    policy p = good();
    p.targets = {{.of = sc::mean("orders"), .each = 50}};
    p.bands.up = {{sc::mean("age") > 900, {.percent = 50}}};
    p.bands.down = {{sc::mean("age") < 1, {.count = 3}}};
    p.stabilise = {seconds(0), seconds(300)};
    p.rate.up = {{{.count = 4, .percent = 100}, seconds(15)}};
    p.if_unknown = 3;
    CHECK_FALSE(validate(p));
    p.instances = {0, 20};
    p.activation = sc::last("orders") > 0;
    CHECK_FALSE(validate(p));
}

TEST_CASE("validate: errors in rules contain the path of the part")
{
    CHECK(wrong([](policy& p) { p.up = {}; }) == "/up");
    CHECK(wrong([](policy& p) { p.up = sc::mean("") > 1; }) == "/up/mean");
    CHECK(wrong([](policy& p) { p.up = sc::mean("a") > nan; }) == "/up/above");
    CHECK(wrong([](policy& p) { p.up = sc::mean("a") >= endless; }) == "/up/at_least");
    CHECK(wrong([](policy& p) { p.up = sc::mean("a") > sc::per_instance(nan); }) ==
          "/up/above/per_instance");
    CHECK(wrong([](policy& p) { p.up = sc::mean("a") > sc::by_instances({}); }) ==
          "/up/above/by_instances");
    CHECK(wrong([](policy& p) { p.up = sc::mean("a") > sc::by_instances({{1, 1}, {1, 2}}); }) ==
          "/up/above/by_instances/1");
    CHECK(wrong([](policy& p) {
              p.up = sc::mean("a") > sc::by_instances({{1, 1}, {2, endless}});
          }) == "/up/above/by_instances/1");
    CHECK(wrong([](policy& p) { p.up = (sc::mean("a") > 1).not_older_than(seconds(-1)); }) ==
          "/up/max_age");
    CHECK(wrong([](policy& p) {
              p.down = sc::all_of(sc::mean("a") < 1, sc::highest("b") < nan);
          }) == "/down/all/1/below");
    CHECK(wrong([](policy& p) { p.down = !(sc::mean("a") > nan); }) == "/down/not/above");
    CHECK(wrong([](policy& p) {
              p.down = sc::at_least_of(3, sc::mean("a") < 1, sc::mean("b") < 1);
          }) == "/down/at_least");
    CHECK(wrong([](policy& p) {
              p.down = sc::at_least_of(0, sc::mean("a") < 1, sc::mean("b") < 1);
          }) == "/down/at_least");
    CHECK(wrong([](policy& p) { p.down = sc::rule(sc::rule::kind::all, {}); }) == "/down/all");
    CHECK(wrong([](policy& p) { p.up = sc::any_of(sc::mean("a") > 1, sc::rule()); }) ==
          "/up/any/1/any");
    CHECK(wrong([](policy& p) { p.up = sc::rule(sc::rule::kind::opposite, {}); }) == "/up/not");
}

TEST_CASE("validate: errors in bands, targets and activation contain the path")
{
    CHECK(wrong([](policy& p) { p.bands.up = {{}}; }) == "/bands/up/0/when");
    CHECK(wrong([](policy& p) { p.bands.up = {{sc::mean("a") > 1, {.percent = -1}}}; }) ==
          "/bands/up/0/by/percent");
    CHECK(wrong([](policy& p) { p.bands.down = {{sc::mean("a") < nan, {}}}; }) ==
          "/bands/down/0/when/below");
    CHECK(wrong([](policy& p) {
              p.down = {};
              p.bands.down = {{sc::mean("a") < 1, {}}};
          }) == "/down");
    const auto target = [](double each, double up = 0.1, double down = 0.1) {
        return wrong([=](policy& p) {
            p.targets = {{.of = sc::mean("a"), .each = each, .tolerance = {up, down}}};
        });
    };
    for (const double each : {0.0, -1.0, nan, endless}) CHECK(target(each) == "/targets/0/each");
    for (const double t : {-0.1, 1.0, nan, endless}) {
        CHECK(target(1, t) == "/targets/0/tolerance/up");
        CHECK(target(1, 0, t) == "/targets/0/tolerance/down");
    }
    CHECK(wrong([](policy& p) { p.targets = {{.of = sc::mean(""), .each = 1}}; }) ==
          "/targets/0/mean");
    CHECK(wrong([](policy& p) { p.instances = {0, 5}; }) == "/activation");
    CHECK(wrong([](policy& p) { p.activation = sc::rule(); }) == "/activation");
    CHECK(wrong([](policy& p) { p.activation = sc::mean("a") > nan; }) == "/activation/above");
    CHECK(wrong([](policy& p) {
              p.ladder = {{"S", 1}, {"L", 2}};
              p.instances = {0, 1};
              p.activation = sc::mean("a") > 1;
          }) == "/activation");
    CHECK(wrong([](policy& p) { p.patience = {}; }) == "/patience");
    CHECK(wrong([](policy& p) { p.if_unknown = p.instances.highest; }) == "nothing");
    CHECK(wrong([](policy& p) { p.if_unknown = p.instances.highest + 1; }) == "/if_unknown");
}

TEST_CASE("validate: a table needs a threshold for the lowest number of instances")
{
    const auto first = [](std::uint64_t from, std::uint64_t lowest) {
        return wrong([=](policy& p) {
            p.up = sc::mean("a") > sc::by_instances({{from, 100}, {9, 200}});
            p.down = {};
            p.instances = {lowest, 10};
            if (lowest == 0) p.activation = sc::last("a") > 0;
        });
    };
    CHECK(first(1, 1) == "nothing");
    CHECK(first(1, 0) == "nothing");  // without instances only `activation` is evaluated
    CHECK(first(2, 1) == "/up/above/by_instances/0");
    CHECK(first(2, 0) == "/up/above/by_instances/0");
    CHECK(first(2, 2) == "nothing");
}

TEST_CASE("validate: activation needs a threshold for zero instances")
{
    // No instances have no share: this would be unknown, and never wake.
    const auto wakes = [](sc::threshold t, std::uint64_t lowest) {
        return wrong([&](policy& p) {
            p.instances = {lowest, 10};
            p.activation = sc::any_of(sc::last("a") > 7, sc::last("b") >= std::move(t));
        });
    };
    CHECK(wakes(sc::per_instance(5), 0) == "/activation/any/1/at_least/per_instance");
    CHECK(wakes(sc::by_instances({{1, 5}}), 0) == "/activation/any/1/at_least/by_instances/0");
    CHECK(wakes(sc::by_instances({{0, 5}, {3, 10}}), 0) == "nothing");
    CHECK(wakes(5, 0) == "nothing");
    CHECK(wakes(sc::per_instance(5), 1) == "nothing");
    CHECK(wakes(sc::by_instances({{1, 5}}), 1) == "nothing");
}

TEST_CASE("validate: errors in bounds and ladders contain the path")
{
    CHECK(wrong([](policy& p) { p.instances = {0, 0}; }) == "/instances/highest");
    CHECK(wrong([](policy& p) { p.instances = {}; }) == "/instances/highest");  // not set
    CHECK(wrong([](policy& p) { p.instances = {5, 4}; }) == "/instances/lowest");
    CHECK(wrong([](policy& p) { p.instances = {5, 5}; }) == "nothing");
    const auto ladder = [](std::vector<sc::capacity_tier> tiers, sc::bounds b) {
        return wrong([&](policy& p) {
            p.ladder = tiers;
            p.instances = b;
        });
    };
    CHECK(ladder({{"S", 10}, {"M", 20}}, {0, 1}) == "nothing");
    CHECK(ladder({{"S", 10}, {"M", 20}}, {0, 2}) == "/instances/highest");
    CHECK(ladder({{"S", 10}, {"", 20}}, {0, 1}) == "/ladder/1/name");
    CHECK(ladder({{"S", 10}, {"S", 20}}, {0, 1}) == "/ladder/1/name");
    CHECK(ladder({{"S", 10}, {"M", 10}}, {0, 1}) == "/ladder/1/capacity");
    CHECK(ladder({{"S", 0}, {"M", 10}}, {0, 1}) == "/ladder/0/capacity");
    CHECK(ladder({{"S", UINT64_MAX}, {"M", UINT64_MAX - 1}}, {0, 1}) == "/ladder/1/capacity");
    CHECK(ladder({{"S", UINT64_MAX}, {"M", UINT64_MAX}}, {0, 1}) == "/ladder/1/capacity");
}

TEST_CASE("validate: errors in durations and percentages contain the path")
{
    CHECK(wrong([](policy& p) { p.max_age = seconds(-1); }) == "/max_age");
    CHECK(wrong([](policy& p) { p.cooldown.up = seconds(-1); }) == "/cooldown/up");
    CHECK(wrong([](policy& p) { p.cooldown.down = seconds(-1); }) == "/cooldown/down");
    CHECK(wrong([](policy& p) { p.stabilise.up = seconds(-1); }) == "/stabilise/up");
    CHECK(wrong([](policy& p) { p.stabilise.down = seconds(-1); }) == "/stabilise/down");
    CHECK(wrong([](policy& p) { p.warm_up = seconds(-1); }) == "/warm_up");
    CHECK(wrong([](policy& p) { p.zero_after = seconds(-1); }) == "/zero_after");
    CHECK(wrong([](policy& p) { p.patience = seconds(-1); }) == "/patience");
    CHECK(wrong([](policy& p) { p.after_failure = seconds(-1); }) == "/after_failure");
    CHECK(wrong([](policy& p) { p.step.up.percent = -1; }) == "/step/up/percent");
    CHECK(wrong([](policy& p) { p.step.down.percent = nan; }) == "/step/down/percent");
    CHECK(wrong([](policy& p) { p.rate.up = {{{}, seconds(0)}}; }) == "/rate/up/0/per");
    CHECK(wrong([](policy& p) { p.rate.down = {{{.percent = endless}, seconds(1)}}; }) ==
          "/rate/down/0/most/percent");
}

TEST_CASE("validate: overlapping thresholds of up and down are refused")
{
    const auto pair = [](double more, double fewer) {
        return wrong([=](policy& p) {
            p.up = sc::mean("orders") > more;
            p.down = sc::mean("orders") < fewer;
        });
    };
    CHECK(pair(100, 99) == "nothing");
    CHECK(pair(100, 100) == "/down/below");
    CHECK(pair(100, 120) == "/down/below");
    policy p = good();
    p.up = sc::mean("orders") > 100;
    p.down = sc::all_of(sc::highest("mails") < 3, sc::mean("orders") < 120);
    const auto bad = validate(p);
    REQUIRE(bad);
    CHECK(bad->path == "/down/all/1/below");
    CHECK(sc::describe(*bad) ==
          "/down/all/1/below: expected a threshold below 100 (at which \"orders\" scales "
          "up, with 1 instance), found 120");
    // Only with few instances; and in a band.
    CHECK(wrong([](policy& q) {
              q.up = sc::mean("orders") > sc::per_instance(100);
              q.down = sc::mean("orders") < 250;
          }) == "/down/below");
    CHECK(wrong([](policy& q) {
              q.up = sc::mean("orders") > sc::per_instance(100);
              q.down = sc::mean("orders") < 250;
              q.instances = {3, 20};
          }) == "nothing");
    CHECK(wrong([](policy& q) {
              q.down = sc::mean("mails") < 50;
              q.bands.up = {{sc::mean("mails") > 30, {}}};
          }) == "/down/below");
    // Fewer free resources need more instances.
    CHECK(wrong([](policy& q) {
              q.up = sc::mean("free") < 10;
              q.down = sc::mean("free") > 5;
          }) == "/down/above");
}

TEST_CASE("validate: contradictory fields are refused")
{
    CHECK(wrong([](policy& p) { p.cooldown = {{}, seconds(1), true}; }) == "/cooldown/shared");
    CHECK(wrong([](policy& p) { p.cooldown = {seconds(1), {}, true}; }) == "nothing");
    CHECK(wrong([](policy& p) {
              p.instances = {3, 10};
              p.if_unknown = 2;
          }) == "/if_unknown");
    CHECK(wrong([](policy& p) {
              p.instances = {3, 10};
              p.if_unknown = 3;
          }) == "nothing");
    CHECK(wrong([](policy& p) { p.every = {}; }) == "/every");
    CHECK(wrong([](policy& p) { p.window = seconds(14); }) == "/window");
    CHECK(wrong([](policy& p) { p.window = seconds(15); }) == "nothing");
    CHECK(wrong([](policy& p) { p.window = seconds(15 * 1'000); }) == "nothing");
    CHECK(wrong([](policy& p) { p.window = seconds(15 * 1'001); }) == "/window");
    CHECK(wrong([](policy& p) { p.window = waybill::duration::highest(); }) == "/window");
    CHECK(wrong([](policy& p) { p.every = p.window = waybill::duration::highest(); }) == "nothing");
}

TEST_CASE("check: a comparison within `not` has the opposite direction, also in the message")
{
    policy p = good();
    p.up = !(sc::mean("orders") <= 100);
    p.down = sc::mean("orders") < 120;
    auto bad = validate(p);
    REQUIRE(bad);
    CHECK(sc::describe(*bad) ==
          "/down/below: expected a threshold below 100 (at which \"orders\" scales up, "
          "with 1 instance), found 120");
    p.down = !(sc::mean("orders") > 120);
    bad = validate(p);
    REQUIRE(bad);
    CHECK(bad->path == "/down/not/above");
    CHECK(bad->expected.starts_with("a threshold below 100 "));
    p.up = !(sc::mean("free") >= 10);
    p.down = sc::all_of(sc::last("age") < 5, !(sc::mean("free") < 8));
    bad = validate(p);
    REQUIRE(bad);
    CHECK(bad->path == "/down/all/1/not/below");
    CHECK(bad->expected.starts_with("a threshold above 10 "));
    // These exclude each other.
    p.up = sc::mean("orders") > 100;
    p.down = sc::all_of(!(sc::mean("orders") > 100), sc::mean("orders") < 50);
    CHECK_FALSE(validate(p));
    // The same comparison twice: the one that clashes is named.
    p.up = sc::mean("orders") > 100;
    p.down = sc::any_of(sc::all_of(!(sc::mean("orders") < 120), sc::mean("orders") < 90),
                        sc::mean("orders") < 120);
    bad = validate(p);
    REQUIRE(bad);
    CHECK(bad->path == "/down/any/1/below");
}

}  // namespace check_policy_test
