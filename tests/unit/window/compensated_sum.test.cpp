// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include <doctest/doctest.h>

#include <waybill/window/detail/compensated_sum.hpp>
#include <waybill/window/sliding_window.hpp>

namespace compensated_sum_test {
namespace {

using namespace waybill;

constexpr double most = std::numeric_limits<double>::max();

constexpr detail::compensated_sum sum_of(double x, std::uint32_t times = 1)
{
    return {x, times};
}

constexpr double hundred_between(double large)
{
    detail::compensated_sum s = sum_of(large);
    for (int n = 0; n != 100; ++n) s = s + sum_of(1);
    return (s + sum_of(-large)).approximately();
}
static_assert(hundred_between(1e16) == 100);
static_assert(hundred_between(1e30) == 100);
static_assert(detail::compensated_sum().approximately() == 0);
static_assert(sum_of(0.1).approximately() == 0.1);

// A product is kept with all of its digits: its rounding error remains after the subtraction.
static_assert((sum_of(0.1, 3) + sum_of(-(0.1 * 3))).approximately() == -0x1p-55);
constexpr double all_bits = 0x1.fffffffffffffp0;
static_assert((sum_of(all_bits, 3) + sum_of(-(all_bits * 3))).approximately() == 0x1p-52);
static_assert((sum_of(2, 3) + sum_of(-6)).approximately() == 0);

constexpr wall_time at(std::int64_t n)
{
    return wall_time::at(duration::nanoseconds(n));
}

}  // namespace

static_assert(sizeof(measures<double, compensated, extremes>) == 40);
static_assert(sizeof(measures<double, summed, extremes>) == 32);

TEST_CASE_TEMPLATE("compensated_sum: a large value does not erase small ones", How, amortised<int>,
                   worst_case<int>)
{
    using window =
        std::conditional_t<std::is_same_v<How, amortised<int>>,
                           sliding_window<measures<double, compensated>, wall_time, amortised>,
                           sliding_window<measures<double, compensated>, wall_time, worst_case>>;
    window w{{.span = duration::nanoseconds(300)}};
    sliding_window<measures<double, summed>> plain;
    const auto insert = [&](int n, double x) {
        w.insert(at(n), x);
        plain.insert(at(n), x);
    };
    insert(0, 1e16);
    for (int n = 1; n != 101; ++n) insert(n, 1);
    insert(101, -1e16);
    CHECK(*w.query(at(101)).sum() == 100);
    CHECK(*w.query(at(101)).mean() == 100.0 / 102);
    CHECK(*w.query(at(300)).sum() == 100 - 1e16);
    CHECK(*plain.query(at(101)).sum() != 100);  // which is as rounding is
}

TEST_CASE("compensated_sum: an overflow is an infinity and stays one")
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const detail::compensated_sum too_much = sum_of(most) + sum_of(most);
    CHECK(too_much.approximately() == infinity);
    CHECK((too_much + sum_of(-1)).approximately() == infinity);
    CHECK(sum_of(most, 2).approximately() == infinity);
    CHECK(sum_of(-most, 2).approximately() == -infinity);
    CHECK(too_much == sum_of(most, 2));
    CHECK(sum_of(most).approximately() == most);
    CHECK(sum_of(1e305, 3).approximately() == 1e305 * 3);
    CHECK_FALSE(sum_of(1) == sum_of(2));
}

TEST_CASE("compensated: an overflow has no sum until the large samples expire")
{
    sliding_window<measures<double, weighted_count, compensated>> w{
        {.span = duration::nanoseconds(10)}};
    w.insert(at(1), most, 2);
    w.insert(at(2), most);
    w.insert(at(3), 0.5, 3);
    CHECK(w.query(at(3)).sum() == std::nullopt);
    CHECK(w.query(at(3)).mean() == std::nullopt);
    CHECK(w.query(at(12)).sum() == 1.5);
    // With moments there is also a mean.
    sliding_window<measures<double, compensated, moments>> both;
    both.insert(at(1), most);
    both.insert(at(2), most);
    CHECK(both.query(at(3)).sum() == std::nullopt);
    CHECK(both.query(at(3)).mean() == most);
}

TEST_CASE("compensated: integer sums stay exact")
{
    sliding_window<measures<std::int64_t, compensated>> w;
    w.insert(at(1), INT64_MAX);
    w.insert(at(2), INT64_MAX);
    w.insert(at(3), -INT64_MAX);
    CHECK(w.query(at(3)).sum() == INT64_MAX);
}

}  // namespace compensated_sum_test
