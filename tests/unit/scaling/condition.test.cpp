// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/scaling/condition.hpp>
#include <waybill/window/sliding_window.hpp>

namespace condition_test {

namespace sc = waybill::scaling;
using namespace std::chrono_literals;
using sc::evidence;
using sc::missing_part;
using sc::reading;
using sc::relation;
using sc::rule;
using sc::situation;
using sc::statistic;
using sc::tribool;
using waybill::duration;
using waybill::wall_time;

namespace {

constexpr wall_time at(std::int64_t minutes)
{
    return wall_time::at(duration::seconds(60 * minutes));
}

constexpr reading reading_of(std::string_view metric, statistic s, double value)
{
    reading r{.metric = metric, .points = 10};
    r.set(s, value);
    return r;
}

// A threshold is a number, not the name of one.
template <class T>
concept is_threshold = requires(T t) { sc::mean("orders") > t; };
static_assert(is_threshold<int> && is_threshold<double> && !is_threshold<const char*>);

tribool ask(const rule& r, const std::vector<reading>& metrics, std::uint64_t instances = 1)
{
    std::vector<evidence> because;
    return r({.metrics = metrics, .instances = instances, .now = at(10)}, because);
}

}  // namespace

TEST_CASE("condition: > and < are strict, >= and <= are not")
{
    const std::vector<reading> ten{reading_of("orders", statistic::mean, 10)};
    CHECK(ask(sc::mean("orders") > 10, ten) == tribool::no);
    CHECK(ask(sc::mean("orders") >= 10, ten) == tribool::yes);
    CHECK(ask(sc::mean("orders") < 10, ten) == tribool::no);
    CHECK(ask(sc::mean("orders") <= 10, ten) == tribool::yes);
    CHECK(ask(sc::mean("orders") > 9.999, ten) == tribool::yes);
    CHECK(ask(sc::mean("orders") < 10.001, ten) == tribool::yes);
}

TEST_CASE("condition: a threshold may depend on the number of instances")
{
    const std::vector<reading> now{reading_of("orders", statistic::mean, 350)};
    const rule busy = sc::mean("orders") > sc::per_instance(100);
    CHECK(ask(busy, now, 3) == tribool::yes);
    CHECK(ask(busy, now, 4) == tribool::no);
    CHECK(ask(busy, now, 0) == tribool::unknown);
}

TEST_CASE("condition: a missing part makes it unknown, and is in the evidence")
{
    const auto lacks = [](const rule& r, const std::vector<reading>& metrics) {
        std::vector<evidence> because;
        const tribool t =
            r({.metrics = metrics, .instances = 0, .now = at(10), .min_points = 5, .max_age = 3min},
              because);
        REQUIRE(because.size() == 1);
        CHECK((t == tribool::unknown) == (because[0].missing != missing_part::nothing));
        return because[0].missing;
    };
    reading fresh = reading_of("orders", statistic::mean, 10);
    fresh.timed = true;
    fresh.last = at(7);
    reading stale = fresh;
    stale.last = at(6);
    reading few = fresh;
    few.points = 4;
    reading untimed = fresh;
    untimed.timed = false;

    const rule r = sc::mean("orders") > 5;
    CHECK(lacks(r, {fresh}) == missing_part::nothing);
    CHECK(lacks(r, {}) == missing_part::metric);
    CHECK(lacks(sc::mean("mails") > 5, {fresh}) == missing_part::metric);
    CHECK(lacks(r, {few}) == missing_part::points);
    CHECK(lacks(r.with_points(4), {few}) == missing_part::nothing);
    CHECK(lacks(r, {stale}) == missing_part::fresh_points);
    CHECK(lacks(r.not_older_than(4min), {stale}) == missing_part::nothing);
    CHECK(lacks(r, {untimed}) == missing_part::fresh_points);
    CHECK(lacks(sc::highest("orders") > 5, {fresh}) == missing_part::value);
    CHECK(lacks(sc::mean("orders") > sc::per_instance(1), {fresh}) == missing_part::limit);

    reading nan = fresh;
    nan.set(statistic::mean, std::numeric_limits<double>::quiet_NaN());
    CHECK(lacks(r, {nan}) == missing_part::value);
    CHECK(lacks(!r, {nan}) == missing_part::value);  // not even the opposite holds
}

TEST_CASE("condition: if_missing replaces the unknown result")
{
    const rule r = sc::mean("orders") > 5;
    CHECK(ask(r.if_missing(sc::when_missing::holds), {}) == tribool::yes);
    CHECK(ask(r.if_missing(sc::when_missing::fails), {}) == tribool::no);
    CHECK(ask(r.if_missing(sc::when_missing::fails), {reading_of("orders", statistic::mean, 6)}) ==
          tribool::yes);
}

TEST_CASE(
    "condition: any_of, all_of and at_least_of use the known parts, and add evidence of all parts")
{
    const std::vector<reading> now{reading_of("orders", statistic::mean, 10)};
    const rule yes = sc::mean("orders") > 5;
    const rule no = sc::mean("orders") > 50;
    const rule unknown = sc::mean("mails") > 5;

    CHECK(ask(sc::any_of(no, unknown, yes), now) == tribool::yes);
    CHECK(ask(sc::any_of(no, unknown), now) == tribool::unknown);
    CHECK(ask(sc::any_of(no), now) == tribool::no);
    CHECK(ask(sc::all_of(yes, unknown), now) == tribool::unknown);
    CHECK(ask(sc::all_of(yes, unknown, no), now) == tribool::no);
    CHECK(ask(sc::all_of(yes, yes), now) == tribool::yes);
    CHECK(ask(sc::at_least_of(2, yes, no, unknown), now) == tribool::unknown);
    CHECK(ask(sc::at_least_of(1, yes, no, unknown), now) == tribool::yes);
    CHECK(ask(sc::at_least_of(3, yes, no, unknown), now) == tribool::no);
    CHECK(ask(!yes, now) == tribool::no);
    CHECK(ask(!unknown, now) == tribool::unknown);
    CHECK(ask(rule(rule::kind::all, {}), now) == tribool::yes);
    CHECK(ask(rule(rule::kind::any, {}), now) == tribool::no);

    // The first one decides, and the others are evaluated anyway.
    const rule all = sc::any_of(yes, sc::all_of(no, unknown));
    std::vector<evidence> because;
    CHECK(all({.metrics = now, .instances = 2, .now = at(10)}, because) == tribool::yes);
    REQUIRE(because.size() == 3);
    CHECK(
        because[0] ==
        evidence{.metric = "orders", .value = 10, .limit = 5, .points = 10, .holds = tribool::yes});
    CHECK(because[1].holds == tribool::no);
    CHECK(because[2] == evidence{.metric = "mails", .limit = 5, .missing = missing_part::metric});
    CHECK(all == sc::any_of(yes, sc::all_of(no, unknown)));
    CHECK(!(all == sc::any_of(yes, sc::all_of(unknown, no))));
}

TEST_CASE("condition: any_of and all_of accept a caller's own callable")
{
    const auto weekend = [](const situation& s, std::vector<evidence>& because) {
        because.push_back({.metric = "calendar", .holds = tribool::yes, .note = "it is Sunday"});
        return sc::truth_of(s.instances > 1);
    };
    static_assert(sc::condition<decltype(weekend)>);
    const rule yes = sc::mean("orders") > 5;
    const std::vector<reading> now{reading_of("orders", statistic::mean, 10)};
    std::vector<evidence> because;
    const situation one{.metrics = now, .instances = 1, .now = at(10)};
    const situation two{.metrics = now, .instances = 2, .now = at(10)};
    CHECK(sc::all_of(yes, weekend, yes)(one, because) == tribool::no);
    CHECK(because.size() == 3);
    CHECK(because[1].note == "it is Sunday");
    CHECK(sc::all_of(yes, weekend)(two, because) == tribool::yes);
    CHECK(sc::any_of(weekend, yes)(one, because) == tribool::yes);
    CHECK(sc::any_of(weekend)(one, because) == tribool::no);
}

TEST_CASE("reading: contains the statistics that its window has, and no others")
{
    waybill::sliding_window<waybill::weighted_stats<double>> w{{.span = 10min}};
    const reading empty = sc::read("orders", w.query(at(10)));
    CHECK(empty.points == 0);
    CHECK(empty.value(statistic::points) == 0.0);
    for (std::size_t s = 0; s != sc::statistics; ++s) {
        const auto which = static_cast<statistic>(s);
        CHECK(sc::name(which) != "?");
        if (which != statistic::points) CHECK(empty.value(which) == std::nullopt);
    }

    w.insert(at(5), 10, 1);
    w.insert(at(9), 40, 3);
    const reading r = sc::read("orders", w.query(at(10)));
    CHECK(r.metric == "orders");
    CHECK(r.points == 2);
    CHECK(r.value(statistic::mean) == 32.5);
    CHECK(r.value(statistic::highest) == 40.0);
    CHECK(r.value(statistic::lowest) == 10.0);
    CHECK(r.value(statistic::sum) == 130.0);
    CHECK(r.value(statistic::first) == 10.0);
    CHECK(r.value(statistic::last) == 40.0);
    CHECK(r.value(statistic::variance) == 168.75);
    CHECK(r.value(statistic::weight) == 4.0);
    CHECK(r.value(statistic::rate) == 4.0 / 600);
    CHECK(r.value(statistic::sampling_rate) == 50.0);
    CHECK(r.value(statistic::coverage) == 0.5);
    CHECK(r.value(statistic::age) == 60.0);
    CHECK(r.first == at(5));
    CHECK(r.last == at(9));

    waybill::sliding_window<waybill::measures<std::int64_t, waybill::summed>> sums{{.span = 10min}};
    sums.insert(at(9), 7);
    const reading plain = sc::read("mails", sums.query(at(10)));
    CHECK(plain.value(statistic::mean) == 7.0);
    CHECK(plain.value(statistic::highest) == std::nullopt);
    CHECK(plain.value(statistic::age) == std::nullopt);
    CHECK(!plain.timed);
}

}  // namespace condition_test
