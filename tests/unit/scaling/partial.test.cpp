// SPDX-License-Identifier: MIT
//
// Windows that have displaced samples, and samples with a weight.

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>
#include <waybill/window/sliding_window.hpp>

namespace partial_test {

namespace sc = waybill::scaling;
using sc::evidence;
using sc::missing_part;
using sc::reading;
using sc::rule;
using sc::tribool;
using tests_support::at;
using tests_support::seconds;

namespace {

evidence asked(const rule& r, const reading& known)
{
    std::vector<evidence> rows;
    (void)r({.metrics = {&known, 1}, .instances = 1, .now = at(100)}, rows);
    return rows.at(0);
}

}  // namespace

TEST_CASE(
    "partial: an extreme of a window cut by max_points is unknown if a lost sample could change it")
{
    waybill::sliding_window<waybill::stats<double>> w{{.span = seconds(1'000), .max_points = 3}};
    w.insert(at(1), 500);
    for (std::int64_t t = 2; t <= 5; ++t) w.insert(at(t), 7);
    const reading known = sc::read("orders", w.query(at(100)));
    CHECK_FALSE(known.complete);
    CHECK(asked(sc::highest("orders") < 10, known).holds == tribool::unknown);
    CHECK(asked(sc::highest("orders") < 10, known).missing == missing_part::samples);
    CHECK(asked(sc::highest("orders") <= 7, known).holds == tribool::unknown);
    CHECK(asked(sc::highest("orders") > 10, known).holds == tribool::unknown);
    CHECK(asked(sc::highest("orders") > 5, known).holds == tribool::yes);
    CHECK(asked(sc::highest("orders") >= 7, known).holds == tribool::yes);
    CHECK(asked(sc::highest("orders") < 7, known).holds == tribool::no);
    CHECK(asked(sc::lowest("orders") > 5, known).holds == tribool::unknown);
    CHECK(asked(sc::lowest("orders") < 10, known).holds == tribool::yes);
    CHECK(asked(sc::lowest("orders") < 7, known).holds == tribool::unknown);
    CHECK(asked(sc::lowest("orders") >= 8, known).holds == tribool::no);
    CHECK(asked(sc::mean("orders") < 10, known).holds == tribool::yes);  // of the remaining samples
    CHECK(asked(sc::sum("orders") < 1'000, known).missing == missing_part::value);
    CHECK(asked((sc::highest("orders") < 10).if_missing(sc::when_missing::holds), known).holds ==
          tribool::yes);
    CHECK(asked(sc::highest("orders") < 10, known).cut);
}

TEST_CASE("partial: a window limited only by max_points is complete")
{
    waybill::sliding_window<waybill::stats<double>> w{{.max_points = 3}};
    for (std::int64_t t = 1; t <= 9; ++t) w.insert(at(t), 7);
    const reading known = sc::read("orders", w.query(at(100)));
    CHECK(known.complete);
    CHECK(asked(sc::highest("orders") < 10, known).holds == tribool::yes);
}

TEST_CASE("partial: the highest of weighted samples is marked as a bound")
{
    waybill::sliding_window<waybill::weighted_stats<double>> w{{.span = seconds(1'000)}};
    w.insert(at(1), 7, 1);
    CHECK_FALSE(asked(sc::highest("orders") < 10, sc::read("orders", w.query(at(100)))).sampled);
    w.insert(at(2), 7, 10);
    const evidence e = asked(sc::highest("orders") < 10, sc::read("orders", w.query(at(100))));
    CHECK(e.sampled);
    CHECK(is_only_a_bound(e));
    CHECK(e.holds == tribool::yes);
    CHECK_FALSE(
        is_only_a_bound(asked(sc::mean("orders") < 10, sc::read("orders", w.query(at(100))))));
}

TEST_CASE("partial: validate refuses averages of statistics that do not grow with the load")
{
    const auto wrong = [](sc::statistic s) {
        sc::policy p{
            .up = sc::averaged(sc::of(s, "cpu")) > 70, .instances = {1, 4}, .stabilise = {}};
        return sc::validate(p).has_value();
    };
    CHECK_FALSE(wrong(sc::statistic::mean));
    CHECK_FALSE(wrong(sc::statistic::highest));
    for (const sc::statistic s :
         {sc::statistic::points, sc::statistic::age, sc::statistic::coverage,
          sc::statistic::sampling_rate, sc::statistic::variance}) {
        CHECK(wrong(s));
    }
}

}  // namespace partial_test
