// SPDX-License-Identifier: MIT
//
// What the README shows of windows.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
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

TEST_CASE("README: daily sums, quantiles, and windows by key")
{
    std::vector<event> telemetry;
    for (std::int64_t hour = 0; hour != 72; ++hour) {
        const bool sampled = hour >= 36;
        if (!sampled || hour % 4 == 0) {
            telemetry.push_back({at(3'600 * hour), 10.0 + static_cast<double>(hour), sampled ? 4U : 1U});
        }
    }
    struct row {
        std::string resource, metric;
        waybill::wall_time at;
        double value;
    };
    const std::vector<row> collected{{"orders", "length", at(60), 3}, {"orders", "age", at(60), 0.5}};
    const waybill::wall_time now = at(72 * 3'600);
    std::vector<std::uint64_t> recorded;
    std::vector<std::uint64_t> happened;
    const auto print = [&](waybill::wall_time, std::uint64_t points, std::uint64_t weight) {
        recorded.push_back(points);
        happened.push_back(weight);
    };
    waybill::sliding_window<waybill::weighted_stats<double>> requests{{.span = 72h}};
    for (const event& e : telemetry) requests.insert(e.at, e.milliseconds, e.item_count);

    //! [windows]
    waybill::bins<waybill::weighted_stats<double>> daily{24h};
    for (const event& e : telemetry) daily.add(e.at, e.milliseconds, e.item_count);
    for (auto day : daily) print(day.from, day.measure.points, day.measure.weight());
    auto p95 = waybill::quantile(requests, 0.95, now);      // exact, of what happened, without a copy

    using key = std::pair<std::string, std::string>;        // (resource, metric)
    using metric = waybill::sliding_window<waybill::stats<double>>;
    waybill::window_set<key, metric> metrics{{.window = {.span = 10min}, .idle = 1h}};
    for (const row& r : collected) metrics.insert({r.resource, r.metric}, r.at, r.value);
    //! [windows]

    CHECK(recorded == std::vector<std::uint64_t>{24, 15, 6});
    CHECK(happened == std::vector<std::uint64_t>{24, 24, 24});
    CHECK(*p95 == 78.0);
    CHECK(metrics.size() == 2);
}

}  // namespace
}  // namespace readme_window
