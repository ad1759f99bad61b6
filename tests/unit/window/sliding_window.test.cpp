// SPDX-License-Identifier: MIT

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/window/sliding_window.hpp>

namespace sliding_window_test {

using namespace std::chrono_literals;
using waybill::amortised;
using waybill::duration;
using waybill::insert_result;
using waybill::measures;
using waybill::sliding_window;
using waybill::stats;
using waybill::steady_time;
using waybill::summed;
using waybill::wall_time;
using waybill::weighted_stats;
using waybill::window_losses;
using waybill::window_options;
using waybill::worst_case;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr wall_time at(duration since)
{
    return wall_time::at(since);
}
constexpr wall_time at_s(std::int64_t s)
{
    return wall_time::at(duration::seconds(s));
}

template <class V>
using quick = sliding_window<stats<V>, wall_time, amortised>;
template <class V>
using steady = sliding_window<stats<V>, wall_time, worst_case>;

// Every test runs with both kinds of window.
#define TEST_BOTH_WINDOWS(text) TEST_CASE_TEMPLATE(text, W, quick<double>, steady<double>)

}  // namespace

static_assert(sizeof(quick<int>({})) != 0, "braces are default options, not a copy");
static_assert(std::is_copy_constructible_v<quick<int>> && std::is_copy_assignable_v<steady<int>>);
static_assert(std::is_nothrow_move_constructible_v<quick<int>> &&
              std::is_nothrow_move_assignable_v<steady<int>>);
static_assert(!std::is_convertible_v<window_options, quick<int>>, "the constructor is explicit");
static_assert(!quick<int>::weighted && sliding_window<weighted_stats<int>>::weighted);
static_assert(std::is_same_v<quick<int>::time_type, wall_time>);
template <class W, class... Args>
concept takes = requires(W& w, Args... args) { w.insert(args...); };
static_assert(takes<quick<int>, wall_time, int> && !takes<quick<int>, steady_time, int>);
static_assert(!takes<quick<int>, wall_time, int, std::uint64_t>);
static_assert(takes<sliding_window<weighted_stats<int>>, wall_time, int, std::uint64_t>);
// A window of integers does not truncate fractions, and NaN is no number.
static_assert(takes<quick<double>, wall_time, double> && !takes<quick<int>, wall_time, double>);
// A sample has an integer as its weight.
using weighted = sliding_window<weighted_stats<double>>;
static_assert(takes<weighted, wall_time, double, int> &&
              !takes<weighted, wall_time, double, double>);

// A measure must have a value of one sample.
template <class Sample>
struct how_many {
    using value_type = int;
    static how_many identity();
    static how_many of(const Sample&);
    static how_many combine(how_many, how_many);
};
template <class M>
concept is_measure = requires { typename sliding_window<M>; };
static_assert(is_measure<how_many<waybill::sample<int>>> && !is_measure<how_many<int>>);

static_assert(name(insert_result::newest) == "newest" && name(insert_result::late) == "late");
static_assert(name(insert_result::replaced) == "replaced" &&
              name(insert_result::too_old) == "too_old");
static_assert(name(insert_result::future) == "future" &&
              name(insert_result::not_finite) == "not_finite");
static_assert(name(insert_result::no_weight) == "no_weight");
static_assert(name(static_cast<insert_result>(99)) == "?");

// Invalid options are reported, with their value.
static_assert(!validate(window_options{}));
static_assert(!validate(window_options{.span = 1ns, .max_points = 1, .ahead = 0ns}));
static_assert(validate(window_options{.span = 0ns})->field == "span");
static_assert(validate(window_options{.span = -5ns})->value == 5);
static_assert(validate(window_options{.span = -5ns})->negative);
static_assert(validate(window_options{.span = duration::lowest()})->value == std::uint64_t{1}
                                                                                 << 63);
static_assert(validate(window_options{.max_points = 0})->field == "max_points");
static_assert(validate(window_options{.ahead = -1ns})->field == "ahead");
static_assert(validate(window_options{.ahead = -1ns})->negative);

TEST_BOTH_WINDOWS("sliding_window: one sample a minute gives ten in ten minutes, at any phase")
{
    for (std::int64_t phase = 0; phase != 60; ++phase) {
        W w{{.span = 10min}};
        for (std::int64_t n = 0; n != 60; ++n) {
            CHECK(w.insert(at_s(60 * n), static_cast<double>(n)) == insert_result::newest);
            if (n < 10) continue;
            const auto s = w.query(at_s(60 * n + phase));
            CHECK(s.points == 10);
            CHECK(*s.first() == static_cast<double>(n - 9));
            CHECK(*s.last() == static_cast<double>(n));
        }
    }
}

TEST_BOTH_WINDOWS("sliding_window: a sample of now is included, a sample as old as the span is not")
{
    W w{{.span = 10ns}};
    w.insert(at(0ns), 1);
    CHECK(w.query(at(0ns)).points == 1);
    CHECK(w.query(at(9ns)).points == 1);
    CHECK(w.query(at(10ns)).points == 0);
    CHECK(w.size() == 0);
    CHECK(w.insert(at(0ns), 1) == insert_result::too_old);
    CHECK(w.insert(at(1ns), 1) == insert_result::newest);
    CHECK(w.query(at(10ns)).points == 1);
    CHECK(w.losses() == window_losses{.too_old = 1});
}

TEST_BOTH_WINDOWS("sliding_window: without samples, all results are empty")
{
    W w{{.span = 1min}};
    const auto nothing = [&](std::int64_t now) {
        const auto s = w.query(at_s(now));
        CHECK(s.empty());
        CHECK(!s.sum());
        CHECK(!s.mean());
        CHECK(!s.lowest());
        CHECK(!s.highest());
        CHECK(!s.variance());
        CHECK(!s.first());
        CHECK(!s.last());
        CHECK(!s.rate());
        CHECK(!s.coverage());
        CHECK(!s.age());
        CHECK(!s.sampling_rate());
        CHECK(s.now == at_s(now));
    };
    nothing(0);
    w.insert(at_s(1), -7);
    CHECK(*w.query(at_s(2)).highest() == -7);
    nothing(100);  // no sample: the result is empty, not the last value
    w.insert(at_s(101), 3);
    CHECK(*w.query(at_s(101)).lowest() == 3);
}

TEST_BOTH_WINDOWS("sliding_window: values that are not finite are counted and not included")
{
    W w{{.span = 1min}};
    w.insert(at_s(1), 5);
    CHECK(w.insert(at_s(2), nan) == insert_result::not_finite);
    CHECK(w.insert(at_s(3), inf) == insert_result::not_finite);
    CHECK(w.insert(at_s(4), -inf) == insert_result::not_finite);
    w.insert(at_s(5), -0.0);
    w.insert(at_s(6), std::numeric_limits<double>::denorm_min());
    const auto s = w.query(at_s(7));
    CHECK(s.points == 3);
    CHECK(*s.sum() == 5);
    CHECK(*s.lowest() == 0);
    CHECK(*s.highest() == 5);
    CHECK(w.losses() == window_losses{.not_finite = 3});
}

TEST_BOTH_WINDOWS("sliding_window: expired spikes leave no rounding errors")
{
    for (const double spike : {1e12, 1e17, -1e300, 1.7e308}) {
        W w{{.span = 600s}};
        double exact = 0;
        for (std::int64_t n = 0; n != 3'000; ++n) {
            const bool odd = n % 700 == 3;
            w.insert(at_s(n), odd ? spike : 0.5);
            const auto s = w.query(at_s(n));
            if (n % 700 < 603 || n < 700) continue;
            // 600 halves are summed without rounding, so the sum is exact.
            exact = 0.5 * static_cast<double>(s.points);
            CHECK(s.points == 600);
            CHECK(*s.sum() == exact);
            CHECK(*s.mean() == 0.5);
            CHECK(*s.variance() == 0);
            CHECK(*s.highest() == 0.5);
        }
        CHECK(exact == 300);
    }
}

TEST_BOTH_WINDOWS("sliding_window: a sample of the far future removes no other sample")
{
    W w{{.span = 10min}};
    for (std::int64_t n = 1; n <= 5; ++n) w.insert(at_s(60 * n), 1);
    CHECK(w.insert(at_s(1'000'000), 99) == insert_result::newest);
    CHECK(w.insert(wall_time::highest(), 99) == insert_result::newest);
    CHECK(w.size() == 7);
    CHECK(w.query(at_s(300)).points == 5);
    CHECK(*w.query(at_s(300)).highest() == 1);
    CHECK(w.insert(at_s(360), 2) == insert_result::late);
    CHECK(*w.query(at_s(360)).last() == 2);
    CHECK(w.query(at_s(999'999)).empty());  // its time is in the future
    CHECK(*w.query(at_s(1'000'000)).sum() == 99);
    CHECK(w.query(at_s(1'000'600)).empty());
    CHECK(w.size() == 1);
}

TEST_BOTH_WINDOWS("sliding_window: samples later than the clock plus `ahead` are refused")
{
    W w{{.span = 1min, .ahead = 5s}};
    CHECK(w.insert(at_s(1'000), 1) == insert_result::newest);  // the window has no time yet
    w.advance(at_s(1'000));
    CHECK(w.insert(at_s(1'006), 1) == insert_result::future);
    CHECK(w.insert(at(1'005s + 1ns), 1) == insert_result::future);
    CHECK(w.insert(at_s(1'005), 2) == insert_result::newest);
    CHECK(w.insert(wall_time::highest(), 2) == insert_result::future);
    CHECK(w.losses() == window_losses{.future = 3});
    CHECK(w.query(at_s(1'004)).points == 1);
    CHECK(w.query(at_s(1'005)).points == 2);

    W strict{{.ahead = 0s}};
    strict.advance(at_s(5));
    CHECK(strict.insert(at_s(5), 1) == insert_result::newest);
    CHECK(strict.insert(at(5s + 1ns), 1) == insert_result::future);
}

TEST_BOTH_WINDOWS("sliding_window: a clock that goes back does not change the time of the window")
{
    W w{{.span = 10s}};
    for (std::int64_t n = 1; n <= 20; ++n) w.insert(at_s(n), static_cast<double>(n));
    CHECK(w.query(at_s(20)).points == 10);
    const auto s = w.query(at_s(5));
    CHECK(s.points == 10);
    CHECK(s.now == at_s(20));
    CHECK(*s.first() == 11);
    CHECK(w.clock() == at_s(20));
    w.advance(wall_time::lowest());
    CHECK(w.clock() == at_s(20));
    CHECK(w.insert(at_s(6), 6) == insert_result::too_old);
    CHECK(w.insert(at_s(15), 15.5) == insert_result::late);
    CHECK(w.query(at_s(6)).points == 11);
    CHECK(w.query(at_s(21)).points == 10);
}

TEST_BOTH_WINDOWS("sliding_window: a jump forward by any time expires all samples")
{
    W w{{.span = 1ns}};
    w.insert(at_s(0), 1);
    CHECK(w.query(wall_time::highest()).empty());
    CHECK(w.insert(wall_time::highest(), 2) == insert_result::newest);
    CHECK(*w.query(wall_time::highest()).sum() == 2);
    CHECK(w.insert(at_s(0), 1) == insert_result::too_old);
}

TEST_BOTH_WINDOWS("sliding_window: spans are exact at both ends of the time range")
{
    const wall_time first = wall_time::lowest();
    const wall_time last = wall_time::highest();
    W w{{.span = 10ns}};
    CHECK(w.insert(first, 1) == insert_result::newest);
    CHECK(w.query(first).points == 1);
    CHECK(w.insert(first, 2) == insert_result::newest);
    CHECK(w.query(first + duration(9ns)).points == 2);  // the window begins before all times
    CHECK(w.insert(first, 3) == insert_result::newest);
    CHECK(w.query(first + duration(10ns)).points == 0);
    CHECK(w.insert(first, 3) == insert_result::too_old);
    CHECK(w.insert(last, 4) == insert_result::newest);
    CHECK(w.query(last - duration(1ns)).points == 0);
    CHECK(w.insert(last - duration(9ns), 5) == insert_result::late);
    // It is a nanosecond earlier still, so this one is in it, and gone with the next.
    CHECK(w.insert(last - duration(10ns), 6) == insert_result::late);
    CHECK(w.query(last - duration(1ns)).points == 2);
    CHECK(w.query(last).points == 2);
    CHECK(*w.query(last).first() == 5);

    W ahead{{.ahead = 5ns}};
    ahead.advance(last - duration(3ns));
    CHECK(ahead.insert(last, 1) == insert_result::newest);

    W wide{{.span = duration::nanoseconds(INT64_MAX - 1)}};
    CHECK(wide.insert(first, 1) == insert_result::newest);
    CHECK(wide.query(at(duration::nanoseconds(-3))).points == 1);
    CHECK(wide.query(at(duration::nanoseconds(-2))).points == 0);
}

TEST_BOTH_WINDOWS("sliding_window: without a span no sample expires")
{
    W w{{.span = duration::highest(), .max_points = 3}};
    for (const wall_time t : {wall_time::lowest(), at_s(0), wall_time::highest()}) {
        CHECK(w.insert(t, 1) == insert_result::newest);
    }
    const auto s = w.query(wall_time::highest());
    CHECK(s.points == 3);
    CHECK(!s.rate());
    CHECK(!s.coverage());
    W all;
    for (std::int64_t n = 0; n != 1'000; ++n) all.insert(at_s(n), 1);
    CHECK(all.query(wall_time::highest()).points == 1'000);
}

TEST_BOTH_WINDOWS("sliding_window: at most max_points are kept, and at least one")
{
    for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{1}}) {
        W w{{.max_points = most}};  // functions stay total: none reads as one
        CHECK(w.insert(at_s(5), 5) == insert_result::newest);
        CHECK(*w.query(at_s(5)).sum() == 5);
        CHECK(w.insert(at_s(6), 6) == insert_result::newest);
        CHECK(w.insert(at_s(6), 7) == insert_result::newest);
        CHECK(*w.query(at_s(6)).sum() == 7);
        CHECK(w.insert(at_s(4), 4) == insert_result::too_old);
        CHECK(w.size() == 1);
        CHECK(w.losses() == window_losses{.pushed_out = 3});
    }
    W two{{.max_points = 2}};
    two.insert(at_s(5), 5);
    two.insert(at_s(7), 7);
    CHECK(two.insert(at_s(6), 6) == insert_result::late);
    CHECK(*two.query(at_s(9)).sum() == 13);
    CHECK(two.insert(at_s(6), 60) == insert_result::late);
    CHECK(*two.query(at_s(9)).sum() == 67);
    CHECK(two.losses() == window_losses{.pushed_out = 2});
}

TEST_BOTH_WINDOWS("sliding_window: late samples are inserted in order and expire at their own time")
{
    W w{{.span = 10s}};
    for (const std::int64_t n : {5, 1, 9, 3, 7}) w.insert(at_s(n), static_cast<double>(n));
    CHECK(*w.query(at_s(9)).sum() == 25);
    CHECK(w[0].value == 1);
    CHECK(w[4].value == 9);
    CHECK(*w.query(at_s(11)).sum() == 24);
    CHECK(*w.query(at_s(13)).sum() == 21);
    CHECK(*w.query(at_s(15)).sum() == 16);
    CHECK(w.insert(at_s(6), 6) == insert_result::late);
    CHECK(*w.query(at_s(16)).sum() == 16);
    CHECK(w.losses() == window_losses{});
}

TEST_BOTH_WINDOWS("sliding_window: with `replace`, samples of equal time are one point")
{
    W both{{.span = 10min}};
    W one{{.span = 10min, .on_equal_time = window_options::equal_time::replace}};
    for (std::int64_t n = 0; n != 5; ++n) {
        both.insert(at_s(60), 4);
        one.insert(at_s(60), static_cast<double>(n));
    }
    CHECK(both.query(at_s(60)).points == 5);
    CHECK(one.query(at_s(60)).points == 1);
    CHECK(*one.query(at_s(60)).sum() == 4);

    one.insert(at_s(120), 10);
    one.insert(at_s(180), 20);
    CHECK(one.insert(at_s(120), 11) == insert_result::replaced);
    CHECK(one.insert(at_s(180), 21) == insert_result::replaced);
    CHECK(one.insert(at_s(90), 9) == insert_result::late);
    CHECK(one.insert(at_s(90), 8) == insert_result::replaced);
    CHECK(*one.query(at_s(180)).sum() == 4 + 8 + 11 + 21);
    CHECK(*one.query(at_s(180)).highest() == 21);
    CHECK(one.losses() == window_losses{});
}

TEST_BOTH_WINDOWS("sliding_window: samples of equal time stay in the order of insertion")
{
    W w{{.span = 10s}};
    w.insert(at_s(5), 1);
    w.insert(at_s(9), 9);
    CHECK(w.insert(at_s(5), 2) == insert_result::late);
    CHECK(w.insert(at_s(9), 10) == insert_result::newest);
    CHECK(w[0].value == 1);
    CHECK(w[1].value == 2);
    const auto s = w.query(at_s(9));
    CHECK(*s.first() == 1);
    CHECK(*s.last() == 10);
}

TEST_BOTH_WINDOWS("sliding_window: a result contains its age, coverage and rate")
{
    W w{{.span = 10min}};
    for (std::int64_t n = 1; n <= 5; ++n) w.insert(at_s(60 * n), 1);
    auto s = w.query(at_s(300));
    CHECK(*s.coverage() == doctest::Approx(0.4));
    CHECK(*s.age() == duration(0s));
    CHECK(*s.rate() == doctest::Approx(5.0 / 600));
    s = w.query(at_s(840));  // one point is left, nine minutes old
    CHECK(s.points == 1);
    CHECK(*s.age() == duration(9min));
    CHECK(*s.coverage() == doctest::Approx(0.9));
    CHECK(s.span == duration(10min));
}

TEST_CASE_TEMPLATE("sliding_window: a sample of weight n counts as n events", W,
                   sliding_window<weighted_stats<std::int64_t>, wall_time, amortised>,
                   sliding_window<weighted_stats<std::int64_t>, wall_time, worst_case>)
{
    W w{{.span = 100s}};
    CHECK(w.insert(at_s(1), 10) == insert_result::newest);
    CHECK(w.insert(at_s(2), 20, 9) == insert_result::newest);
    CHECK(w.insert(at_s(3), 30, 0) == insert_result::no_weight);
    CHECK(w.insert(at_s(3), 30, std::uint64_t{1} << 32) == insert_result::no_weight);
    CHECK(w.insert(at_s(3), 30, ~std::uint64_t{0}) == insert_result::no_weight);
    CHECK(w.insert({at_s(3), 30, 0}) == insert_result::no_weight);
    CHECK(w.losses() == window_losses{.no_weight = 4});
    auto s = w.query(at_s(3));
    CHECK(s.points == 2);  // rules with a minimum of points count these
    CHECK(s.weight() == 10);
    CHECK(*s.sum() == 190);
    CHECK(*s.mean() == 19);
    CHECK(*s.sampling_rate() == 20);
    CHECK(s.is_sampled());
    CHECK(*s.rate() == doctest::Approx(0.1));
    w.insert(at_s(4), INT64_MIN, 0xFFFF'FFFFU);
    CHECK(*w.query(at_s(4)).sum() == INT64_MIN);
    w.insert(at_s(4), INT64_MAX, 0xFFFF'FFFFU);
    CHECK(*w.query(at_s(4)).sum() == 190 - std::int64_t{0xFFFF'FFFFU});
    CHECK(*w.query(at_s(103)).sum() == -std::int64_t{0xFFFF'FFFFU});  // clamping lost nothing
    CHECK(w.query(at_s(104)).empty());
}

TEST_CASE_TEMPLATE("sliding_window: integer sums are exact after an overflow of 64 bits", W,
                   quick<std::int64_t>, steady<std::int64_t>)
{
    W w{{.span = 10s}};
    for (std::int64_t n = 0; n != 10; ++n) w.insert(at_s(n), INT64_MAX);
    CHECK(*w.query(at_s(9)).sum() == INT64_MAX);
    for (std::int64_t n = 10; n != 20; ++n) w.insert(at_s(n), 1);
    CHECK(*w.query(at_s(18)).sum() == INT64_MAX);
    CHECK(!w.query(at_s(18)).total.fits());
    CHECK(*w.query(at_s(19)).sum() == 10);
}

TEST_BOTH_WINDOWS("sliding_window: also works on a steady clock")
{
    sliding_window<stats<int>, steady_time> w{{.span = 10s}};
    w.insert(steady_time::at(1s), 3);
    CHECK(*w.query(steady_time::at(2s)).sum() == 3);
    CHECK(*w.query(steady_time::at(2s)).age() == duration(1s));
}

TEST_BOTH_WINDOWS("sliding_window: copies are independent")
{
    W w{{.span = 100s}};
    for (std::int64_t n = 0; n != 50; ++n) w.insert(at_s(n), static_cast<double>(n));
    W copy(w);
    CHECK(copy == w);
    copy.insert(at_s(50), 1'000);
    CHECK(!(copy == w));
    CHECK(*w.query(at_s(50)).sum() == 1'225);
    CHECK(*copy.query(at_s(50)).sum() == 2'225);
    for (std::int64_t n = 51; n != 300; ++n) copy.insert(at_s(n), 1), copy.advance(at_s(n));
    CHECK(*w.query(at_s(50)).sum() == 1'225);
    CHECK(*copy.query(at_s(299)).sum() == 100);
    w = copy;
    CHECK(w == copy);
    const W& same = w;
    w = same;
    CHECK(*w.query(at_s(299)).sum() == 100);
}

TEST_BOTH_WINDOWS("sliding_window: a span of less than 1 ns is replaced by 1 ns")
{
    for (const duration span : {0ns, -5ns}) {
        W w{{.span = span}};
        CHECK(w.options().span == 1ns);
        CHECK(w.insert(at_s(1), 1.0, at_s(1)) == insert_result::newest);
        CHECK(w.query(at_s(1)).points == 1);
        CHECK(w.query(at_s(1) + 1ns).empty());
        CHECK(w.insert(at_s(1), 1.0) == insert_result::too_old);
    }
}

TEST_BOTH_WINDOWS("sliding_window: samples at both ends of the time range are accepted")
{
    W w;
    CHECK(w.insert(wall_time::lowest(), 1.0) == insert_result::newest);
    CHECK(w.insert(wall_time::highest(), 2.0) == insert_result::newest);
    CHECK(w.insert(wall_time::highest(), 3.0) == insert_result::newest);
    CHECK(w.query(wall_time::lowest()).points == 1);
    CHECK(w.query(at_s(0)).points == 1);
    CHECK(w.query(wall_time::highest()).points == 3);
    W spanned{{.span = 10s}};
    CHECK(spanned.insert(wall_time::highest(), 1.0, wall_time::highest()) == insert_result::newest);
    CHECK(spanned.query(wall_time::highest()).points == 1);
}

TEST_BOTH_WINDOWS("sliding_window: a moved-from window is empty and works")
{
    W w{{.span = 100s, .max_points = 8}};
    for (std::int64_t n = 0; n != 13; ++n) w.insert(at_s(n), 1), w.advance(at_s(n));
    W moved(std::move(w));
    CHECK(*moved.query(at_s(12)).sum() == 8);
    CHECK(w.size() == 0);  // NOLINT: this is the test
    CHECK(w.query(at_s(12)).empty());
    CHECK(w.options().max_points == 8);
    for (std::int64_t n = 13; n != 40; ++n) w.insert(at_s(n), 2);
    CHECK(*w.query(at_s(40)).sum() == 16);
    w = std::move(moved);
    CHECK(*w.query(at_s(12)).sum() == 8);
    CHECK(moved.query(at_s(12)).empty());
    moved = w;
    CHECK(moved == w);
    W& self = w;
    w = std::move(self);
    CHECK(moved == w);
    std::vector<W> many(3, w);
    many.erase(many.begin());
    std::swap(many[0], many[1]);
    CHECK(many[0] == w);
}

TEST_BOTH_WINDOWS("sliding_window: equality compares samples, time and options")
{
    const window_options o{.span = 100s};
    W one{o}, other{o};
    for (std::int64_t n = 0; n != 40; ++n) one.insert(at_s(n), static_cast<double>(n));
    for (std::int64_t n = 39; n >= 0; --n) other.insert(at_s(n), static_cast<double>(n));
    CHECK(one == other);
    one.advance(at_s(110)), other.advance(at_s(110));
    CHECK(one.size() == 29);
    CHECK(one == other);
    W later{o};
    later.advance(at_s(110));
    for (std::int64_t n = 11; n != 40; ++n) later.insert(at_s(n), static_cast<double>(n));
    CHECK(later == one);
    CHECK(*later.query(at_s(110)).sum() == *one.query(at_s(110)).sum());

    other = one;
    other.advance(at(110s + 1ns));
    CHECK(!(one == other));  // it has another time
    other = one;
    other.insert(at_s(5), 1);
    CHECK(!(one == other));  // it has lost a sample
    W narrow{{.span = 99s}};
    CHECK(!(narrow == W{o}));
}

TEST_BOTH_WINDOWS("sliding_window: with invalid options, all calls return defined results")
{
    for (const duration span : {duration(0s), duration(-5s), duration::lowest()}) {
        W w{{.span = span, .ahead = duration::lowest()}};
        w.insert(at_s(1), 1);
        CHECK(w.query(at_s(1)).now == at_s(1));
        w.insert(at_s(2), 1);
        CHECK(w.query(at_s(3)).empty());  // all later samples are too old, or too far ahead
        w.insert(wall_time::highest(), 1);
        w.insert(wall_time::lowest(), 1);
        CHECK(w.query(wall_time::highest()).now == wall_time::highest());
    }
}

#undef TEST_BOTH_WINDOWS

}  // namespace sliding_window_test
