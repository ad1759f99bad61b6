// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/scaling/detail/sample_list.hpp>

namespace sample_list_test {
namespace {

using waybill::duration;
using waybill::wall_time;
namespace sc = waybill::scaling;

/// The reading of a window with the same samples.
sc::reading in_a_window(const sc::metric_samples& m, duration window, wall_time now)
{
    waybill::sliding_window<waybill::stats<double>> w{waybill::window_options{.span = window}};
    for (const auto& s : m.samples) w.insert(s);
    return sc::read(m.metric, w.query(now));
}

TEST_CASE("readings_of: the statistics equal those of a window, in any order of the samples")
{
    const duration window = duration::seconds(10);
    const double none = std::numeric_limits<double>::quiet_NaN();
    const double values[]{0.1, -1e16, 1e16, 0.3, 7.25, none};
    std::mt19937_64 random(1);
    const auto pick = [&random](std::uint32_t n) {
        return static_cast<std::uint32_t>(random() % n);
    };
    for (int run = 0; run != 20'000; ++run) {
        const wall_time now = wall_time{} + duration::seconds(1'000);
        std::vector<sc::metric_samples> list(1);
        list[0].metric = "load";
        const bool ordered = pick(2) == 0;
        wall_time at = now - window + duration::nanoseconds(1);
        for (std::uint32_t n = pick(8); n != 0; --n) {
            const std::uint32_t value = pick(ordered && pick(4) != 0 ? 3 : 6);
            if (ordered) at = waybill::detail::earlier(at + duration::seconds(pick(3)), now);
            else at = now - duration::seconds(pick(pick(4) == 0 ? 12 : 10));
            list[0].samples.push_back({at, values[value]});
        }
        const auto readings = sc::detail::readings_of(list, window, now);
        REQUIRE(readings.size() == 1);
        REQUIRE(readings[0] == in_a_window(list[0], window, now));
    }
}

}  // namespace
}  // namespace sample_list_test
