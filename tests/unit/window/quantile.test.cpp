// SPDX-License-Identifier: MIT

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <doctest/doctest.h>
#include <support/static_check.hpp>

#include <waybill/window/measures.hpp>
#include <waybill/window/quantile.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/worst_case.hpp>

namespace quantile_test {

using namespace waybill;

namespace {

constexpr wall_time at(std::int64_t seconds)
{
    return wall_time::at(duration::seconds(seconds));
}

template <class V>
constexpr std::vector<sample<V>> plain(std::initializer_list<V> values)
{
    std::vector<sample<V>> out;
    for (const V v : values) out.push_back({at(0), v});
    return out;
}

template <class V>
using heavy = std::vector<weighted_sample<V>>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

// The rank is that of the written decimal.
static_assert(detail::quantile_rank(0.0, 10) == 1);
static_assert(detail::quantile_rank(1e-300, 10) == 1);
static_assert(detail::quantile_rank(0.1, 10) == 1);
static_assert(detail::quantile_rank(0.11, 10) == 2);
static_assert(detail::quantile_rank(0.07, 100) == 7 && 0.07 * 100 > 7);
static_assert(detail::quantile_rank(0.99, 100) == 99);
static_assert(detail::quantile_rank(0.991, 100) == 100);
static_assert(detail::quantile_rank(1.0, 100) == 100);
static_assert(detail::quantile_rank(0.5, 1) == 1);
static_assert(detail::quantile_rank(1.0, detail::highest_size - 1) == detail::highest_size - 1);
static_assert([] {
    for (std::uint64_t n = 1; n != 50; ++n) {
        for (std::uint64_t i = 1; i <= 100; ++i) {
            if (detail::quantile_rank(static_cast<double>(i) / 100, n) != (i * n + 99) / 100)
                return false;
        }
    }
    return true;
}());

// Without samples, with an invalid fraction, or with saturated weights there is no quantile.
static_assert(detail::quantile_rank(0.5, 0) == 0);
static_assert(detail::quantile_rank(-0.01, 10) == 0 && detail::quantile_rank(1.01, 10) == 0);
static_assert(detail::quantile_rank(nan, 10) == 0 && detail::quantile_rank(infinite, 10) == 0);
static_assert(detail::quantile_rank(0.5, detail::highest_size) == 0);

// Nearest rank: always an existing value.
STATIC_CHECK(quantile(plain({5, 1, 4, 2, 3}), 0.5) == 3);
STATIC_CHECK(quantile(plain({4, 1, 3, 2}), 0.5) == 2);
STATIC_CHECK(quantile(plain({4, 1, 3, 2}), 0.51) == 3);
STATIC_CHECK(quantile(plain({4, 1, 3, 2}), 0.0) == 1);
STATIC_CHECK(quantile(plain({4, 1, 3, 2}), 1.0) == 4);
STATIC_CHECK(quantile(plain({-10, -14, -12}), 1.0) == -10);
STATIC_CHECK(quantile(plain({7, 7, 7}), 0.3) == 7);
STATIC_CHECK(quantile(plain({2.5, -2.5, 0.0}), 0.5) == 0.0);
STATIC_CHECK(!quantile(plain<double>({}), 0.5));
STATIC_CHECK(!quantile(plain({1.0}), nan) && !quantile(plain({1.0}), 2.0));

// A sample with weight n counts as n samples.
STATIC_CHECK(quantile(heavy<int>{{at(0), 1, 1}, {at(0), 9, 99}}, 0.01) == 1);
STATIC_CHECK(quantile(heavy<int>{{at(0), 1, 1}, {at(0), 9, 99}}, 0.02) == 9);
STATIC_CHECK(quantile(heavy<int>{{at(0), 1, 1}, {at(0), 5, 0}, {at(0), 9, 0}}, 1.0) == 1);
STATIC_CHECK(!quantile(heavy<int>{{at(0), 1, 0}}, 0.5));

// The order is that of the values, at both ends of their types and on both sides of zero.
STATIC_CHECK(quantile(plain({INT64_MAX, INT64_MIN, std::int64_t{0}}), 0.0) == INT64_MIN);
STATIC_CHECK(quantile(plain({INT64_MAX, INT64_MIN, std::int64_t{0}}), 0.5) == 0);
STATIC_CHECK(quantile(plain({INT64_MAX, INT64_MIN, std::int64_t{0}}), 1.0) == INT64_MAX);
STATIC_CHECK(quantile(plain({UINT64_MAX, UINT64_MAX / 2 + 1}), 0.5) == UINT64_MAX / 2 + 1);
STATIC_CHECK(quantile(plain<std::int8_t>({-128, 127, -1}), 0.5) == -1);
STATIC_CHECK(quantile(plain<unsigned char>({255, 0, 128}), 0.5) == 128);
STATIC_CHECK(quantile(plain({1.5F, -1.5F, 1e-45F}), 0.5) == 1e-45F);
STATIC_CHECK(quantile(plain({1e308, -1e308, 5e-324, -5e-324}), 0.5) == -5e-324);
STATIC_CHECK(quantile(plain({nan, 3.0, infinite, -infinite}), 0.0) == 3.0);
STATIC_CHECK(quantile(plain({nan, 3.0, infinite, -infinite}), 1.0) == 3.0);
STATIC_CHECK(!quantile(plain({nan, infinite}), 0.5));

// Accepted argument types, and others.
static_assert(waybill::detail::sample_sequence<std::vector<sample<int>>>);
static_assert(waybill::detail::sample_sequence<std::array<weighted_sample<double>, 3>>);
static_assert(!waybill::detail::sample_sequence<std::vector<int>>);
static_assert(!waybill::detail::sample_sequence<std::vector<sample<long double>>>);
static_assert(!waybill::detail::sample_window<std::vector<sample<int>>>);
static_assert(waybill::detail::sample_window<sliding_window<stats<double>>>);
static_assert(
    waybill::detail::sample_window<sliding_window<weighted_stats<int>, steady_time, worst_case>>);
template <class W>
concept asked_without_time = requires(const W& w) { quantile(w, 0.5); };
static_assert(asked_without_time<std::vector<sample<int>>>);
static_assert(!asked_without_time<sliding_window<stats<double>>>);

TEST_CASE("quantile: covers exactly the window at any time, and does not change it")
{
    sliding_window<stats<std::int64_t>> w{{.span = duration::seconds(10)}};
    CHECK(!quantile(w, 0.5, at(0)));
    for (std::int64_t t = 1; t <= 20; ++t) w.insert(at(t), t);
    const auto& asked = w;  // asking changes nothing
    CHECK(quantile(asked, 0.0, at(10)) == 1);
    CHECK(quantile(asked, 1.0, at(10)) == 10);
    CHECK(quantile(asked, 0.5, at(15)) == 10);
    CHECK(quantile(asked, 0.0, at(20)) == 11);
    CHECK(quantile(asked, 0.5, at(20)) == 15);
    CHECK(quantile(asked, 0.5, at(29)) == 20);
    CHECK(!quantile(asked, 0.5, at(30)));
    CHECK(w.size() == 20);

    w.advance(at(20));  // a clock that jumps back changes nothing either
    CHECK(quantile(w, 0.0, at(3)) == 11);
    CHECK(quantile(w, 1.0, at(3)) == 20);
}

TEST_CASE("quantile: covers the same samples as query at the lowest times")
{
    const wall_time first = wall_time::lowest();
    const auto behind = [&](std::int64_t ns) { return first + duration::nanoseconds(ns); };
    for (const std::int64_t span : {1, 2, 5, 6}) {
        sliding_window<stats<std::int64_t>> w{{.span = duration::nanoseconds(span)}};
        for (std::int64_t n = 0; n != 5; ++n) w.insert(behind(n), n);
        for (std::int64_t n = 0; n != 12; ++n) {
            const auto lowest = quantile(w, 0.0, behind(n));
            const auto highest = quantile(w, 1.0, behind(n));
            const auto s = w.query(behind(n));
            CHECK(lowest == s.lowest());
            CHECK(highest == s.highest());
        }
    }
}

TEST_CASE("quantile: an unlimited window with steady time and weights")
{
    const auto when = [](std::int64_t s) { return steady_time::at(duration::seconds(s)); };
    sliding_window<weighted_stats<double>, steady_time, worst_case> w;
    w.insert(when(1), 1.0, 98);
    w.insert(when(2), 7.0, 1);
    w.insert(when(3), 9.0, 1);
    CHECK(quantile(w, 0.98, when(3)) == 1.0);
    CHECK(quantile(w, 0.99, when(3)) == 7.0);
    CHECK(quantile(w, 1.0, when(3)) == 9.0);
    CHECK(quantile(w, 1.0, when(2)) == 7.0);
    CHECK(quantile(w, 0.0, when(1'000'000)) == 1.0);
    CHECK(!quantile(w, 0.5, when(0)));
}

}  // namespace quantile_test
