// SPDX-License-Identifier: MIT
//
// Unknown metrics never remove an instance, for any missing part.

#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace unknown_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::missing_part;
using sc::policy;
using sc::reading;
using sc::reason;
using sc::tribool;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;
using tests_support::seconds;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();

policy two_metrics()
{
    policy p{.up = sc::any_of(sc::mean("a") > 100, sc::mean("b") > 100),
             .down = sc::all_of(sc::mean("a") < 10, sc::mean("b") < 10),
             .min_points = 5,
             .max_age = seconds(120),
             .instances = {1, 20},
             .stabilise = {}};
    return p;
}

// All ways in which a metric can be unknown.
struct way {
    missing_part missing;
    readings metrics;
};

std::vector<way> ways()
{
    const reading a = level("a", 0, at(0));
    reading few = level("b", 0, at(0));
    few.points = 4;
    reading no_number = level("b", 0, at(0));
    no_number.set(sc::statistic::mean, not_a_number);
    reading no_end = level("b", 0, at(0));
    no_end.set(sc::statistic::mean, -endless);
    return {{missing_part::metric, {a}},
            {missing_part::points, {a, few}},
            {missing_part::points, {a, reading{.metric = "b"}}},
            {missing_part::fresh_points, {a, level("b", 0, at(-121))}},
            {missing_part::fresh_points, {a, level("b", 0)}},
            {missing_part::value, {a, no_number}},
            {missing_part::value, {a, no_end}}};
}

void is_unknown(const decision& d, missing_part missing)
{
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::unknown);
    CHECK(d.to == d.from);
    CHECK(d.desired == d.from);
    CHECK_FALSE(d.command);
    bool found = false;
    for (const sc::evidence& e : d.reasons) {
        found = found || (e.metric == "b" && e.holds == tribool::unknown && e.missing == missing);
    }
    CHECK(found);
}

}  // namespace

TEST_CASE("unknown: with all metrics known, a change down is decided")
{
    const readings both{level("a", 0, at(0)), level("b", 0, at(-120))};
    CHECK(decide(tests_support::kept(two_metrics()), both, {}, 5, at(0)).verdict == verdict::down);
}

TEST_CASE("unknown: an unknown rule down holds the decision, for each missing part")
{
    policy p = two_metrics();
    p.up = sc::mean("a") > 100;
    for (const way& w : ways()) is_unknown(decide(p, w.metrics, {}, 5, at(0)), w.missing);
}

TEST_CASE("unknown: an unknown rule or band up holds a change down")
{
    policy p = two_metrics();
    p.down = sc::mean("a") < 10;
    for (const way& w : ways()) is_unknown(decide(p, w.metrics, {}, 5, at(0)), w.missing);
    p.up = sc::mean("a") > 100;
    p.bands.up = {{sc::mean("b") > 100, {}}};
    for (const way& w : ways()) is_unknown(decide(p, w.metrics, {}, 5, at(0)), w.missing);
}

TEST_CASE("unknown: an unknown target holds a change down, with a rule down and without one")
{
    policy p = two_metrics();
    p.up = sc::mean("a") > 100;
    p.targets = {{.of = sc::mean("a"), .each = 10}, {.of = sc::mean("b"), .each = 10}};
    p.down = sc::mean("a") < 10;
    for (const way& w : ways()) is_unknown(decide(p, w.metrics, {}, 5, at(0)), w.missing);
    p.down = {};
    for (const way& w : ways()) is_unknown(decide(p, w.metrics, {}, 5, at(0)), w.missing);
}

TEST_CASE(
    "unknown: an unknown activation rule keeps the last instance, and does not start the first")
{
    policy p{.up = sc::mean("a") > 100,
             .min_points = 5,
             .max_age = seconds(120),
             .instances = {0, 9},
             .stabilise = {}};
    p.activation = sc::mean("b") > 0;
    sc::state s;
    s.inactive_since = at(-1'000);
    for (const way& w : ways()) {
        CHECK(decide(p, w.metrics, s, 1, at(0)).to == 1);
        is_unknown(decide(p, w.metrics, s, 0, at(0)), w.missing);
    }
    CHECK(decide(p, readings{level("a", 0, at(0)), level("b", 0, at(0))}, s, 1, at(0)).to == 0);
}

TEST_CASE("unknown: non-finite and missing thresholds are unknown")
{
    const readings low{level("a", 0), level("b", 0)};
    policy p{.up = sc::mean("a") > 100,
             .down = sc::mean("b") < 10,
             .instances = {1, 20},
             .stabilise = {}};
    for (const double bad : {not_a_number, endless, -endless}) {
        p.down = sc::mean("b") < bad;
        is_unknown(decide(p, low, {}, 5, at(0)), missing_part::limit);
        p.down = sc::mean("b") > bad;
        is_unknown(decide(p, low, {}, 5, at(0)), missing_part::limit);
        p.down = !(sc::mean("b") > bad);
        is_unknown(decide(p, low, {}, 5, at(0)), missing_part::limit);
    }
    p.down = sc::mean("b") < sc::by_instances({{8, 10}});
    is_unknown(decide(p, low, {}, 5, at(0)), missing_part::limit);
    p.down = sc::mean("b") < sc::of_instances([](std::uint64_t) { return not_a_number; });
    is_unknown(decide(p, low, {}, 5, at(0)), missing_part::limit);
}

TEST_CASE("unknown: a target with a non-finite, zero or negative `each` is unknown")
{
    const readings low{level("a", 0), level("b", 0)};
    policy p{.up = sc::mean("a") > 100, .instances = {1, 20}, .stabilise = {}};
    for (const double bad : {not_a_number, endless, -endless, 0.0, -5.0}) {
        p.targets = {{.of = sc::mean("b"), .each = bad}};
        is_unknown(decide(p, low, {}, 5, at(0)), missing_part::limit);
    }
}

TEST_CASE("unknown: if_unknown is a lower limit, and removes no instance")
{
    policy p = two_metrics();
    p.if_unknown = 8;
    const readings none;
    decision d = decide(p, none, {}, 5, at(0));
    CHECK(d.verdict == verdict::up);
    CHECK(d.why == reason::unknown);  // no rule needs it
    CHECK(d.to == 8);
    CHECK(decide(p, none, {}, 8, at(0)).verdict == verdict::held);
    CHECK(decide(p, none, {}, 12, at(0)).to == 12);
    CHECK(decide(p, none, {}, 12, at(0)).why == reason::unknown);
    p.if_unknown = 1'000;
    CHECK(decide(p, none, {}, 5, at(0)).to == 20);
    // A known reading takes over again.
    CHECK(decide(p, readings{level("a", 50, at(0)), level("b", 50, at(0))}, {}, 5, at(0)).to == 5);
    // It waits as any other change does.
    p.cooldown.up = seconds(60);
    sc::state s;
    s.last_up = at(-10);
    d = decide(p, none, s, 5, at(0));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::cooldown);
    CHECK(d.until == at(50));
}

TEST_CASE("unknown: if_missing decides the result of a comparison without its metric")
{
    policy p = two_metrics();
    p.up = sc::mean("a") > 100;
    p.down =
        sc::all_of(sc::mean("a") < 10, (sc::mean("b") < 10).if_missing(sc::when_missing::holds));
    for (const way& w : ways()) {
        const decision d = decide(p, w.metrics, {}, 5, at(0));
        CHECK(d.verdict == verdict::down);
        CHECK(d.reasons.back().missing == w.missing);
    }
    p.down =
        sc::all_of(sc::mean("a") < 10, (sc::mean("b") < 10).if_missing(sc::when_missing::fails));
    for (const way& w : ways()) {
        CHECK(decide(p, w.metrics, {}, 5, at(0)).verdict == verdict::steady);
    }
}

TEST_CASE("unknown: a decision that does not depend on the unknown part is made")
{
    policy p = two_metrics();
    p.up = sc::mean("a") > 100;
    p.down = sc::any_of(sc::mean("a") < 10, sc::mean("absent") < 10);
    CHECK(decide(p, readings{level("a", 0, at(0))}, {}, 5, at(0)).verdict == verdict::down);
    p.down = sc::all_of(sc::mean("a") < 10, sc::mean("absent") < 10);
    const decision d = decide(p, readings{level("a", 50, at(0))}, {}, 5, at(0));
    CHECK(d.verdict == verdict::steady);
}

TEST_CASE("unknown: with_points, not_older_than and if_missing of a combined rule reach each part")
{
    const sc::rule both = sc::all_of(sc::mean("a") < 10, sc::any_of(sc::mean("b") < 10));
    policy p{.up = sc::mean("a") > 100,
             .down = both.with_points(11),
             .instances = {1, 20},
             .stabilise = {}};
    const readings low{level("a", 0, at(0)), level("b", 0, at(0))};
    is_unknown(decide(p, low, {}, 5, at(0)), missing_part::points);
    p.down = both.not_older_than(seconds(10));
    is_unknown(decide(p, low, {}, 5, at(11)), missing_part::fresh_points);
    p.down = both.if_missing(sc::when_missing::holds);
    CHECK(decide(p, {}, {}, 5, at(11)).down == tribool::yes);
}

TEST_CASE("unknown: a number of instances for which the rule up is unknown is not chosen")
{
    // Whether three are enough is unknown: the table begins with four.
    const auto steps = sc::by_instances({{4, 100}, {8, 300}});
    const policy p{.up = sc::mean("a") > steps,
                   .down = sc::mean("a") < 10,
                   .instances = {1, 20},
                   .stabilise = {}};
    const decision d = decide(p, readings{level("a", 0)}, {}, 4, at(0));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::flapping);
    CHECK(decide(p, readings{level("a", 0)}, {}, 5, at(0)).to == 4);
}

}  // namespace unknown_test
