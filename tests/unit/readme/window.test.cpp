// SPDX-License-Identifier: MIT
//
// What the README shows of windows.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include <waybill/window.hpp>

namespace readme_window {
namespace {

using namespace std::chrono_literals;

struct point {
    waybill::wall_time at;
    std::int64_t value;
};
struct event {
    waybill::wall_time at;
    double milliseconds;
    std::uint32_t item_count;
};

constexpr waybill::wall_time at(std::int64_t seconds)
{
    return waybill::wall_time::at(waybill::duration::seconds(seconds));
}

TEST_CASE("README: a backlog of the last ten minutes")
{
    std::vector<point> collected;
    for (std::int64_t minute = 0; minute != 30; ++minute) {
        collected.push_back({at(60 * minute), 100 + minute});
    }
    const waybill::wall_time now = at(60 * 29);
    int scaled = 0;
    const auto scale_up = [&] { ++scaled; };

    //! [backlog]
    waybill::sliding_window<waybill::stats<std::int64_t>> backlog{{.span = 10min}};
    for (const point& p : collected) backlog.insert(p.at, p.value);
    auto s = backlog.query(now);              // of (now - 10min, now]: ten points, never stale
    if (s.points >= 5 && *s.mean() > 100) scale_up();
    //! [backlog]

    CHECK(s.points == 10);
    CHECK(s.mean() == 124.5);
    CHECK(s.highest() == 129);
    CHECK(scaled == 1);
}

TEST_CASE("README: events that were sampled")
{
    std::vector<event> telemetry;
    for (std::int64_t second = 1; second != 2'001; ++second) {
        if (second <= 1'000) telemetry.push_back({at(second), 5, 1});
        else if (second % 10 == 0) telemetry.push_back({at(second), 5, 10});
    }
    const waybill::wall_time midnight = at(86'400);

    //! [sampled]
    waybill::sliding_window<waybill::weighted_stats<double>> requests{{.span = 24h}};
    for (const event& e : telemetry) requests.insert(e.at, e.milliseconds, e.item_count);
    auto day = requests.query(midnight);
    auto recorded = day.points;               // 1,100: fewer than the day before, says the chart
    auto happened = day.weight();             // 2,000: as many as ever
    auto rate = day.sampling_rate();          // 55 %
    //! [sampled]

    CHECK(recorded == 1'100);
    CHECK(happened == 2'000);
    CHECK(*rate == 55.0);
    CHECK(day.is_sampled());
}

}  // namespace
}  // namespace readme_window
