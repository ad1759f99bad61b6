// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <support/static_check.hpp>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/window/log_histogram.hpp>
#include <waybill/window/quantile.hpp>

namespace log_histogram_test {

using namespace waybill;

namespace {

using limits = std::numeric_limits<double>;

template <unsigned Bits = 6, class V>
constexpr log_histogram<Bits> of(std::initializer_list<V> values)
{
    log_histogram<Bits> h;
    for (const V v : values) h.add(v);
    return h;
}

// One value between two others, at the maximum error.
template <unsigned Bits>
constexpr double error_of(double value)
{
    log_histogram<Bits> h;
    h.add(value / 4);
    h.add(value);
    h.add(value * 4);
    const double got = *h.quantile(0.5);
    return (got < value ? value - got : got - value) / (value < 0 ? -value : value);
}

// A sketch of a user's own.
struct middle_of_the_ends {
    double low = 0, high = 0;
    void add(double v) { v < low ? low = v : high = v; }
    void merge(const middle_of_the_ends& o)
    {
        add(o.low);
        add(o.high);
    }
    double quantile(double) { return (low + high) / 2; }
};

}  // namespace

static_assert(log_histogram<>::relative_error == 1.0 / 128);
static_assert(log_histogram<0>::relative_error == 0.5);
static_assert(log_histogram<10>::relative_error < 0.0005);
static_assert(log_histogram<>::max_buckets * 8 < 2'200'000);

static_assert(detail::quantile_sketch<log_histogram<>> &&
              detail::weighted_sketch<log_histogram<3>>);
static_assert(detail::quantile_sketch<middle_of_the_ends> &&
              !detail::weighted_sketch<middle_of_the_ends>);
static_assert(!detail::quantile_sketch<double> && !detail::quantile_sketch<std::string>);

// An empty histogram has no quantile, and an invalid fraction has none either.
STATIC_CHECK(!log_histogram<>().quantile(0.5) && !log_histogram<>().lowest());
STATIC_CHECK(log_histogram<>().empty() && log_histogram<>().buckets() == 0);
STATIC_CHECK(!of({1.0}).quantile(-0.1) && !of({1.0}).quantile(1.1));
STATIC_CHECK(!of({1.0}).quantile(limits::quiet_NaN()));

// One value is exact, and so are both ends, and zero.
STATIC_CHECK(of({3.14159}).quantile(0.5) == 3.14159);
STATIC_CHECK(of({-3.14159}).quantile(0.5) == -3.14159);
STATIC_CHECK(of({1.1, 2.2, 3.3}).quantile(0.0) == 1.1);
STATIC_CHECK(of({1.1, 2.2, 3.3}).quantile(1.0) == 3.3);
STATIC_CHECK(of({-1.0, 0.0, -0.0, 1.0}).quantile(0.5) == 0.0);
STATIC_CHECK(of({-5, -3, 7}).lowest() == -5.0 && of({-5, -3, 7}).highest() == 7.0);
STATIC_CHECK(of({0.0}) == of({-0.0}));

// The error is the documented one, and is reached at the start of a bucket.
STATIC_CHECK(error_of<6>(1.0) == log_histogram<6>::relative_error);
STATIC_CHECK(error_of<0>(1.0) == log_histogram<0>::relative_error);
STATIC_CHECK(error_of<6>(-1024.0) == log_histogram<6>::relative_error);
STATIC_CHECK(error_of<6>(1.0 + 1.0 / 128) == 0);

// Buckets are as fine for denormal numbers, until there is one for each.
STATIC_CHECK(of({5e-324, 10e-324, 15e-324}).quantile(0.5) == 10e-324);
STATIC_CHECK(of({-1.0, 15e-324, 1e-310}).quantile(0.5) == 15e-324);
STATIC_CHECK(error_of<6>(limits::min()) <= log_histogram<6>::relative_error);
STATIC_CHECK(error_of<6>(limits::min() / 4) == log_histogram<6>::relative_error);

// Negative values are in their order.
STATIC_CHECK([] {
    const auto h = of({-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0});
    double before = *h.quantile(0);
    for (int i = 1; i <= 100; ++i) {
        const double next = *h.quantile(i / 100.0);
        if (next < before) return false;
        before = next;
    }
    return h.quantile(3 / 7.0) < -0.99 && h.quantile(4 / 7.0) == 0.0 && h.quantile(5 / 7.0) > 0.99;
}());

// A value with a weight counts as many values.
STATIC_CHECK([] {
    log_histogram<> once, often;
    once.add(5, 1'000);
    for (int i = 0; i != 1'000; ++i) often.add(5);
    once.add(7.5);
    often.add(7.5);
    return once.quantile(0.999) == often.quantile(0.999) && once.quantile(1) == 7.5 &&
           once.weight() == 1'001 && once.points() == 2 && often.points() == 1'001;
}());

// A value that is no number, or has no weight, is only counted.
STATIC_CHECK([] {
    log_histogram<> h;
    const bool taken = h.add(limits::infinity()) || h.add(-limits::infinity()) ||
                       h.add(limits::quiet_NaN()) || h.add(1.0, 0);
    return !taken && h.empty() && h.buckets() == 0 && h.not_finite() == 3 && h.no_weight() == 1 &&
           h.add(1.0) && h.quantile(1) == 1.0;
}());

// Weights saturate, and then quantiles are unknown, for any order.
STATIC_CHECK([] {
    log_histogram<> h;
    h.add(1.0, detail::highest_size - 5);
    h.add(2.0, 4);
    const bool known = h.quantile(0.5).has_value() && h.quantile(1) == 2.0;
    h.add(-3.0, 7);
    return known && h.weight() == detail::highest_size && !h.quantile(0.5) && h.highest() == 2.0;
}());

// Memory: 64 buckets for every power of two in between, on either side.
STATIC_CHECK(of({1.0, 1.5, 1.99}).buckets() == 64);
STATIC_CHECK(of({1.0, 1'000'000.0}).buckets() == 20 * 64);
STATIC_CHECK(of({1'000'000.0, 1.0}) == of({1.0, 1'000'000.0}));
STATIC_CHECK(of({1.0, -1.0}).buckets() == 128);
STATIC_CHECK(of({0.0}).buckets() == 0);

// Whole numbers of all kinds.
STATIC_CHECK(of({INT64_MIN, INT64_MAX}).lowest() == -0x1p63);
STATIC_CHECK(of({UINT64_MAX}).quantile(0.5) == 0x1p64);
STATIC_CHECK(of<3, float>({1.5F}).quantile(0.5) == 1.5);

// A merge equals adding all values to one.
STATIC_CHECK([] {
    auto a = of({1.0, -2.0, 0.0});
    const auto b = of({1e6, -1e-6, 1e-3});
    auto c = b;
    c.merge(a);
    a.merge(b);
    return a == c && a == of({1.0, -2.0, 0.0, 1e6, -1e-6, 1e-3});
}());
STATIC_CHECK([] {
    auto a = of({1.0, 2.0});
    a.merge(a);
    auto b = of({1.0, 2.0, 1.0, 2.0});
    b.merge({});
    log_histogram<> c;
    c.merge(b);
    return a == b && b == c;
}());
STATIC_CHECK([] {
    log_histogram<> none, other;
    none.add(limits::infinity());
    other.merge(none);
    return other.empty() && other.not_finite() == 1 && !other.lowest() && other == none;
}());

TEST_CASE("log_histogram: the relative error holds with fine buckets and for extreme values")
{
    CHECK(error_of<16>(1.0) == log_histogram<16>::relative_error);
    CHECK(error_of<16>(100.0 / 3) < log_histogram<16>::relative_error);
    CHECK(error_of<16>(limits::denorm_min() * 3) == 0);
    CHECK(error_of<16>(limits::max() / 4) <= log_histogram<16>::relative_error);
    const auto all = of({5e-324, limits::max(), -5e-324, limits::lowest()});
    CHECK(all.buckets() == log_histogram<>::max_buckets);
    CHECK(all.quantile(0.5) == -5e-324);
    CHECK(all.quantile(0.75) == 5e-324);
}

TEST_CASE("log_histogram: copies are independent")
{
    auto a = of({1.0, 2.0, 3.0});
    const auto b = a;
    a.add(4.0);
    CHECK(!(a == b));
    CHECK(b.highest() == 3.0);
    a = b;
    CHECK(a == b);
    a = {};
    CHECK(a == log_histogram<>());
}

}  // namespace log_histogram_test
