// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/config_error.hpp>
#include <waybill/window/bins.hpp>
#include <waybill/window/sliding_window.hpp>

namespace bins_test {

using namespace std::chrono_literals;
using namespace waybill;

namespace {

using whole = stats<std::int64_t>;
using sampled = weighted_stats<double>;

constexpr wall_time at(std::int64_t ns)
{
    return wall_time::at(duration::nanoseconds(ns));
}
constexpr wall_time day(std::int64_t n, duration within = {})
{
    return wall_time::at(duration::seconds(n * 86'400) + within);
}

template <class B>
std::vector<std::pair<std::int64_t, std::uint64_t>> points(B&& bins)
{
    std::vector<std::pair<std::int64_t, std::uint64_t>> all;
    for (const auto& b : bins) all.emplace_back(b.from.since_epoch().count(), b.measure.points);
    return all;
}
using found = std::vector<std::pair<std::int64_t, std::uint64_t>>;

static_assert(!validate(bin_options<>{.width = 1h}));
static_assert(validate(bin_options<>{})->field == "width");
static_assert(validate(bin_options<>{.width = -1s})->negative);
static_assert(validate(bin_options<>{.width = 1h, .max_bins = 0})->field == "max_bins");
static_assert(name(binned::no_room) == "no_room");

// Bins of a measure without weights accept no weighted samples.
template <class B, class S>
concept takes = requires(B b, S s) { b.add(s); };
static_assert(takes<bins<whole>, sample<std::int64_t>>);
static_assert(!takes<bins<whole>, weighted_sample<std::int64_t>>);
static_assert(!takes<bins<whole>, sample<std::int32_t>>);
static_assert(takes<bins<sampled>, sample<double>>);
static_assert(takes<bins<sampled>, weighted_sample<double>>);
static_assert(!takes<bins<sampled>, sample<double, steady_time>>);

TEST_CASE("bins: a bin includes its start and not its end, on both sides of the origin")
{
    bins<whole> b(duration::nanoseconds(10), at(3));
    for (const std::int64_t t : {-18, -17, -8, -7, -1, 0, 2, 3, 12, 13}) b.add(at(t), 1);
    CHECK(points(b) == found{{-27, 1}, {-17, 2}, {-7, 4}, {3, 2}, {13, 1}});
    CHECK(b.at(at(-8)).from == at(-17));
    CHECK(b.at(at(-8)).until == at(-7));
    CHECK(b.at(at(-7)).from == at(-7));
    CHECK(b.at(at(99)).measure.empty());
    CHECK(b.at(at(99)).from == at(93));
}

TEST_CASE("bins: with_gaps includes empty bins between others")
{
    bins<whole> daily(24h, day(0));
    CHECK(points(daily).empty());
    CHECK(points(daily.with_gaps()).empty());
    daily.add(day(5, 1h), 1);
    CHECK(points(daily.with_gaps()).size() == 1);
    daily.add(day(2, 23h), 1);
    daily.add(day(3), 1);
    CHECK(points(daily).size() == 3);
    std::vector<std::uint64_t> all;
    wall_time next = day(2);
    for (const auto& b : daily.with_gaps()) {
        CHECK(b.from == next);
        CHECK(b.until == next + 24h);
        next = b.until;
        all.push_back(b.measure.points);
    }
    CHECK(all == std::vector<std::uint64_t>{1, 1, 0, 1});
}

TEST_CASE("bins: a late sample is counted in its own bin")
{
    bins<whole> daily{24h};
    daily.add(day(9), 1);
    daily.add(day(2, 5h), 7);
    daily.add(day(9, 1h), 2);
    daily.add(day(2, 4h), 5);
    const auto late = daily.at(day(2)).measure;
    CHECK(late.sum() == 12);
    CHECK(late.first() == 5);
    CHECK(late.last() == 7);
    CHECK(daily.at(day(9)).measure.sum() == 3);
}

TEST_CASE("bins: the lowest and highest times are in a bin")
{
    constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t origins[] = {low, low + 1, -5, 0, 7, high - 1, high};
    constexpr std::int64_t widths[] = {1, 10, high - 1, high};
    constexpr std::int64_t times[] = {low, low + 1, -1, 0, high - 1, high};
    for (const std::int64_t origin : origins) {
        for (const std::int64_t width : widths) {
            bins<whole> b(duration::nanoseconds(width), at(origin));
            for (const std::int64_t t : times) {
                CAPTURE(origin);
                CAPTURE(width);
                CAPTURE(t);
                CHECK(b.add(at(t), 1) == binned::added);
                const auto mine = b.at(at(t));
                CHECK(mine.from <= at(t));
                CHECK((at(t) < mine.until || mine.until == at(high)));
                CHECK_FALSE(mine.measure.empty());
            }
            std::uint64_t all = 0;
            wall_time before = wall_time::lowest();
            for (const auto& one : b) {
                CHECK(before <= one.from);
                before = one.until;
                all += one.measure.points;
            }
            CHECK(all == 6);
        }
    }
}

TEST_CASE("bins: refused samples are counted by reason")
{
    bins<sampled> b(bin_options<>{.width = 1s, .max_bins = 2});
    CHECK(b.add(at(0), std::numeric_limits<double>::quiet_NaN()) == binned::not_finite);
    CHECK(b.add(at(0), -std::numeric_limits<double>::infinity()) == binned::not_finite);
    CHECK(b.add(at(0), 1.0, 0) == binned::no_weight);
    CHECK(b.add(at(0), 1.0, std::uint64_t{1} << 32) == binned::no_weight);
    CHECK(b.empty());
    CHECK(b.add(at(0), 1.0, 0xFFFF'FFFFU) == binned::added);
    CHECK(b.add(at(-1), 1.0) == binned::added);
    CHECK(b.add(at(5'000'000'000), 1.0) == binned::no_room);
    CHECK(b.add(at(1), 1.0) == binned::added);
    CHECK(b.losses() == bin_losses{.no_room = 1, .not_finite = 2, .no_weight = 2});
    CHECK(b.size() == 2);

    b.forget_before(at(999'999'999));
    CHECK(b.size() == 1);
    CHECK(b.at(at(0)).measure.points == 2);
    CHECK(b.add(at(5'000'000'000), 1.0) == binned::added);
    b.forget_before(at(1'000'000'000));
    CHECK(b.size() == 1);
}

TEST_CASE("bins: invalid options are clamped to valid ones")
{
    bins<whole> b(bin_options<>{.width = -5s, .max_bins = 0});
    CHECK(b.add(at(4), 1) == binned::added);
    CHECK(b.add(at(5), 1) == binned::no_room);
    CHECK(b.at(at(4)).until == at(5));
}

TEST_CASE("bins: add_all of a window, a vector or a list equals single insertions")
{
    sliding_window<whole> w{{.span = 48h}};
    std::vector<sample<std::int64_t>> all;
    for (int n = 0; n != 20; ++n) {
        all.push_back({day(0, duration::seconds(n * 7'000)), n});
        w.insert(all.back());
    }
    bins<whole> one_by_one{24h};
    for (const auto& s : all) one_by_one.add(s);
    bins<whole> from_window{24h};
    from_window.add_all(w);
    bins<whole> from_vector{24h};
    from_vector.add_all(all);
    bins<whole> from_list{24h};
    from_list.add_all(std::list<sample<std::int64_t>>(all.begin(), all.end()));
    CHECK(from_window == one_by_one);
    CHECK(from_vector == one_by_one);
    CHECK(from_list == one_by_one);
    CHECK(one_by_one.size() == 2);

    auto copy = one_by_one;
    copy.add(all[0]);
    CHECK(copy != one_by_one);
}

TEST_CASE("bins: weights keep the event counts exact if the sampling rate changes")
{
    // A request a second for four days. From noon of the second day on, one of ten is sent.
    bins<sampled> daily{24h};
    for (std::int64_t second = 0; second != 4 * 86'400; ++second) {
        const bool thinned = second >= 86'400 + 43'200;
        if (thinned && second % 10 != 0) continue;
        daily.add(wall_time::at(duration::seconds(second)), 3.0, thinned ? 10 : 1);
    }
    std::vector<std::uint64_t> raw;
    std::vector<std::uint64_t> events;
    std::vector<double> sums;
    std::vector<double> rates;
    for (const auto& b : daily) {
        raw.push_back(b.measure.points);
        events.push_back(b.measure.weight());
        sums.push_back(*b.measure.sum());
        rates.push_back(*b.measure.sampling_rate());
        CHECK(*b.measure.mean() == doctest::Approx(3));
    }
    CHECK(raw == std::vector<std::uint64_t>{86'400, 47'520, 8'640, 8'640});
    CHECK(events == std::vector<std::uint64_t>(4, 86'400));
    CHECK(sums == std::vector<double>(4, 259'200.0));
    CHECK(rates == std::vector<double>{100, 55, 10, 10});
    CHECK_FALSE(daily.at(day(0)).measure.is_sampled());
    CHECK(daily.at(day(1)).measure.is_sampled());
}

}  // namespace

}  // namespace bins_test
