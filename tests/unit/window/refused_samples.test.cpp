// SPDX-License-Identifier: MIT
//
// If several reasons speak against a sample, every window reports the same one.

#include <chrono>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <waybill/window/bins.hpp>
#include <waybill/window/log_histogram.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/slotted_window.hpp>
#include <waybill/window/window_set.hpp>

namespace refused_samples_test {

using namespace waybill;
using namespace std::chrono_literals;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t too_heavy = std::uint64_t{1} << 32;

wall_time at(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

using measure = weighted_stats<double>;

}  // namespace

TEST_CASE_TEMPLATE("sliding_window: a value that is not finite is reported before a bad weight", W,
                   sliding_window<measure, wall_time, amortised>,
                   sliding_window<measure, wall_time, worst_case>)
{
    W w{{.span = 10s, .ahead = 5s}};
    for (const double value : {nan, infinite, -infinite}) {
        for (const std::uint64_t weight : {std::uint64_t{0}, std::uint64_t{1}, too_heavy}) {
            CHECK(w.insert(at(100), value, weight, at(100)) == insert_result::not_finite);
            CHECK(w.insert(at(1), value, weight, at(100)) == insert_result::not_finite);
            CHECK(w.insert(at(200), value, weight, at(100)) == insert_result::not_finite);
        }
        CHECK(w.insert({at(100), value, 0}) == insert_result::not_finite);
    }
    for (const std::uint64_t weight : {std::uint64_t{0}, too_heavy}) {
        CHECK(w.insert(at(1), 5, weight, at(100)) == insert_result::no_weight);
        CHECK(w.insert(at(200), 5, weight, at(100)) == insert_result::no_weight);
    }
    CHECK(w.losses() == window_losses{.not_finite = 30, .no_weight = 4});
    CHECK(w.size() == 0);
}

TEST_CASE(
    "window_set, slotted_window, bins: a value that is not finite is reported before a bad "
    "weight")
{
    window_set<int, sliding_window<measure>> set({.window = {.span = 10s}});
    slotted_window<log_histogram<>> slotted({.span = 10s, .width = 1s});
    bins<measure> daily(duration(24h));
    for (const double value : {nan, infinite, -infinite}) {
        for (const std::uint64_t weight : {std::uint64_t{0}, std::uint64_t{1}, too_heavy}) {
            CHECK(set.insert(7, at(100), value, weight, at(100)) == insert_result::not_finite);
            CHECK(slotted.insert(at(100), value, weight, at(100)) == insert_result::not_finite);
            CHECK(slotted.insert(at(1), value, weight, at(100)) == insert_result::not_finite);
            CHECK(daily.add(at(100), value, weight) == binned::not_finite);
        }
    }
    CHECK(set.insert(7, at(1), 5, 0, at(100)) == insert_result::no_weight);
    CHECK(slotted.insert(at(1), 5, 0, at(100)) == insert_result::no_weight);
    CHECK(daily.add(at(100), 5, 0) == binned::no_weight);
    CHECK(slotted.losses() == window_losses{.not_finite = 18, .no_weight = 1});
    CHECK(slotted.query(at(100)).points() == 0);
}

}  // namespace refused_samples_test
