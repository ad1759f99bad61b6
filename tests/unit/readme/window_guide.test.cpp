// SPDX-License-Identifier: MIT
//
// The snippets of the guide include/waybill/window/README.md.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/window.hpp>

namespace window_guide_test {
namespace {

using namespace std::chrono_literals;

struct event {
    waybill::wall_time at;
    double milliseconds;
    std::uint32_t item_count;
};

constexpr waybill::wall_time at(std::int64_t seconds)
{
    return waybill::wall_time::at(waybill::duration::seconds(seconds));
}

struct point {
    waybill::wall_time at;
    std::int64_t value;
};

TEST_CASE("window guide: the last ten minutes")
{
    std::vector<point> collected;
    for (std::int64_t minute = 0; minute != 30; ++minute) {
        collected.push_back({at(60 * minute), 100 + minute});
    }
    const waybill::wall_time now = at(60 * 29);
    int scaled = 0;
    const auto scale_up = [&] { ++scaled; };

    //! [window_backlog]
    waybill::sliding_window<waybill::stats<std::int64_t>> backlog{{.span = 10min}};
    for (const point& p : collected) backlog.insert(p.at, p.value);
    auto s = backlog.query(now);  // of (now - 10min, now]: ten points, never stale
    if (s.points >= 5 && *s.mean() > 100) scale_up();
    //! [window_backlog]

    CHECK(s.points == 10);
    CHECK(s.mean() == 124.5);
    CHECK(s.highest() == 129);
    CHECK(scaled == 1);
}

TEST_CASE("window guide: limits, and samples that are not inserted")
{
    const waybill::wall_time now = at(1'000);
    std::vector<waybill::wall_time> reported;
    const auto report_clock = [&](waybill::wall_time t) { reported.push_back(t); };
    const auto insert = [&](waybill::wall_time sampled_at, double seconds) {
        //! [window_limits]
        waybill::sliding_window<waybill::stats<double>> latency{
            {.span = 10min, .max_points = 100'000, .ahead = 1min}};
        auto outcome = latency.insert(sampled_at, seconds, now);  // `now` moves the clock first
        if (outcome == waybill::insert_result::future) report_clock(sampled_at);
        std::uint64_t lost = latency.losses().future + latency.losses().too_old;
        bool all_counted = latency.query(now).complete();  // false after `pushed_out`
        //! [window_limits]
        CHECK(all_counted);
        CHECK(lost == reported.size());
    };
    insert(at(990), 0.5);
    CHECK(reported.empty());
    insert(at(1'061), 0.5);
    CHECK(reported.size() == 1);
}

TEST_CASE("window guide: sampled telemetry, quantiles, bins")
{
    std::vector<event> telemetry;
    for (std::int64_t second = 1; second != 2'001; ++second) {
        if (second <= 1'000) telemetry.push_back({at(second), 5, 1});
        else if (second % 10 == 0) telemetry.push_back({at(second), 7, 10});
    }
    const waybill::wall_time midnight = at(86'400);
    const waybill::wall_time now = midnight;

    //! [window_sampled]
    waybill::sliding_window<waybill::weighted_stats<double>> requests{{.span = 24h}};
    for (const event& e : telemetry) requests.insert(e.at, e.milliseconds, e.item_count, now);
    auto day = requests.query(midnight);
    auto recorded = day.points;       // 1,100 samples
    auto happened = day.weight();     // 2,000 events
    auto rate = day.sampling_rate();  // 55 %
    //! [window_sampled]

    CHECK(recorded == 1'100);
    CHECK(happened == 2'000);
    CHECK(*rate == 55.0);
    CHECK(day.is_sampled());

    //! [window_quantile]
    auto p95 = waybill::quantile(requests, 0.95, now);  // of (now - span, now], with weights
    std::vector<waybill::sample<int>> list{{at(1), 30}, {at(2), 10}, {at(3), 20}};
    auto median = waybill::quantile(list, 0.5);  // of all samples of a container
    //! [window_quantile]
    CHECK(*p95 == 7.0);
    CHECK(*median == 20);

    std::vector<std::uint64_t> printed;
    const auto print = [&](waybill::wall_time, std::uint64_t points, std::uint64_t weight) {
        printed.push_back(points);
        printed.push_back(weight);
    };
    //! [window_bins]
    waybill::bins<waybill::weighted_stats<double>> daily{24h};
    daily.add_all(requests);  // or daily.add(at, value, weight)
    for (auto d : daily) print(d.from, d.measure.points, d.measure.weight());
    for (auto d : daily.with_gaps()) print(d.from, d.measure.points, d.measure.weight());
    daily.forget_before(now - 720h);
    //! [window_bins]
    CHECK(printed == std::vector<std::uint64_t>{1'100, 2'000, 1'100, 2'000});
    CHECK(daily.size() == 1);
}

TEST_CASE("window guide: quantiles of more values than can be stored")
{
    const waybill::wall_time now = at(7'200);
    waybill::log_histogram<> of_another_process;
    of_another_process.add(9.0);

    //! [window_sketch]
    waybill::log_histogram<> latency;  // all values since the start
    latency.add(0.012);
    latency.add(0.2, 200);  // one value that stands for 200 events
    latency.merge(of_another_process);
    auto p99 = latency.quantile(0.99);

    waybill::slotted_window<waybill::log_histogram<>> recent{{.span = 1h, .width = 1min}};
    recent.insert(now, 0.012, now);
    auto p99_of_an_hour = recent.quantile(0.99, now);
    //! [window_sketch]
    CHECK(*p99 == doctest::Approx(0.2).epsilon(0.01));
    CHECK(*p99_of_an_hour == 0.012);
    CHECK(*latency.quantile(1) == 9.0);
}

TEST_CASE("window guide: windows by key")
{
    const waybill::wall_time now = at(600);
    struct row {
        std::string resource, metric;
        waybill::wall_time at;
        double value;
    };
    const std::vector<row> collected{{"orders", "length", at(60), 3}, {"orders", "age", at(60), 4}};
    std::vector<std::string> logged;
    const auto log = [&](const auto& k, std::uint64_t, auto) { logged.push_back(k.second); };

    //! [window_keys]
    using key = std::pair<std::string, std::string>;  // (resource, metric)
    using metric = waybill::sliding_window<waybill::stats<double>>;
    waybill::window_set<key, metric> metrics{
        {.window = {.span = 10min, .ahead = 1min}, .idle = 1h, .max_keys = 10'000}};
    for (const row& r : collected) metrics.insert({r.resource, r.metric}, r.at, r.value, now);
    auto age = metrics.query({"orders", "age"}, now);  // empty: unknown or idle key
    metrics.for_each(now, [&](const key& k, const auto& s) { log(k, s.points, s.mean()); });
    //! [window_keys]
    CHECK(*age->highest() == 4);
    CHECK(logged == std::vector<std::string>{"age", "length"});
    CHECK_FALSE(metrics.query({"orders", "age"}, at(3'660)));
}

//! [window_measure]
using backlog_measures = waybill::measures<std::int64_t, waybill::summed, waybill::extremes>;

struct slow_calls {  // a measure of your own
    using value_type = double;
    static constexpr bool commutative = true;  // late samples are cheap
    std::uint64_t number = 0;

    static slow_calls identity() { return {}; }
    static slow_calls of(const waybill::sample<double>& s) { return {s.value > 1.0 ? 1U : 0U}; }
    static slow_calls combine(const slow_calls& older, const slow_calls& newer)
    {
        return {older.number + newer.number};
    }
};
//! [window_measure]

TEST_CASE("window guide: measures")
{
    waybill::sliding_window<slow_calls> calls{{.span = 10s}};
    for (int n = 0; n != 20; ++n) calls.insert(at(n), n % 2 == 0 ? 2.0 : 0.5);
    CHECK(calls.query(at(19)).number == 5);

    waybill::sliding_window<backlog_measures, waybill::wall_time, waybill::worst_case> backlog;
    backlog.insert(at(1), 7);
    CHECK(*backlog.query(at(1)).sum() == 7);
}

TEST_CASE("window guide: merged windows")
{
    using window = waybill::sliding_window<waybill::stats<double>>;
    const waybill::wall_time now = at(100);
    window left{{.span = 10min}};
    window right{{.span = 10min}};
    left.insert(at(10), 1);
    right.insert(at(20), 3);
    double seen = 0;
    const auto show = [&](const window::summary& s) { seen = *s.mean(); };

    //! [window_merged]
    auto both = waybill::merged(left, right);                       // all samples: O(n + m)
    auto sum = waybill::merged(left.query(now), right.query(now));  // the summaries only: O(1)
    if (sum) show(*sum);                                            // else: a merge_mismatch
    //! [window_merged]
    CHECK(seen == 2);
    CHECK(*both.query(now).mean() == 2);
}

TEST_CASE("window guide: stored windows")
{
    using window = waybill::sliding_window<waybill::stats<double>>;
    const waybill::wall_time now = at(100);
    window latency{{.span = 10min}};
    latency.insert(at(10), 1, now);
    std::string refused;
    const auto log = [&](std::string line) { refused = std::move(line); };

    const auto restart = [&](std::string_view stored) {
        //! [window_stored]
        std::string bytes = waybill::save(latency);
        auto again = waybill::load<window>(stored, {.span = 10min});
        if (!again) log(waybill::describe(again.error()));  // "window snapshot: corrupt at ..."
        window w = again ? *again : window{{.span = 10min}};
        //! [window_stored]
        CHECK(w.size() == (again ? 1 : 0));
        return bytes;
    };
    const std::string bytes = restart("");
    CHECK(refused == "window snapshot: empty at byte 0");
    refused.clear();
    restart(bytes);
    CHECK(refused.empty());
}

}  // namespace
}  // namespace window_guide_test
