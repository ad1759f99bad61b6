// SPDX-License-Identifier: MIT
//
// nanoseconds: multiplies a duration, and reports durations and shares in a config_error.
//
// The value of a config_error is an unsigned integer. So an error reports the absolute value of a
// duration, and a share in thousandths.

#ifndef WAYBILL_CORE_DETAIL_NANOSECONDS_HPP
#define WAYBILL_CORE_DETAIL_NANOSECONDS_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// d times n, saturating. Zero if d is negative.
[[nodiscard]] constexpr duration times(duration d, std::uint64_t n) noexcept
{
    // Not operator*: a template takes memory of the compiler in each file (bench/run include).
    constexpr auto max_ns = static_cast<std::uint64_t>(INT64_MAX);
    const auto ns = static_cast<std::uint64_t>(greater(d, duration{}).count());
    return duration::nanoseconds(static_cast<std::int64_t>(lesser(saturating_mul(ns, n), max_ns)));
}

/// The absolute value of d in nanoseconds, as an error reports it.
[[nodiscard]] constexpr std::uint64_t magnitude(duration d) noexcept
{
    return absolute(d.count());
}

/// The error for a ratio that breaks a rule. The ratio is rounded to thousandths, the unit of
/// `bound`. A ratio that differs from the bound is never reported as equal to it. NaN and absolute
/// values of 1e15 or more, whose thousandths may exceed 64 bits, are reported as `highest_size`.
[[nodiscard]] constexpr config_error ratio_error(std::string_view field, double share,
                                                 std::string_view rule,
                                                 std::uint64_t bound) noexcept
{
    const bool negative = share < 0;
    const double absolute = negative ? -share : share;
    if (!(absolute < 1e15)) return {field, highest_size, rule, bound, negative};
    const double thousandths = absolute * 1'000;
    auto n = static_cast<std::uint64_t>(thousandths + 0.5);
    if (negative && n == 0) n = 1;
    const auto limit = static_cast<double>(bound);
    if (!negative && n == bound && thousandths > limit) ++n;
    if (!negative && n == bound && thousandths < limit) --n;
    return {field, n, rule, bound, negative};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_NANOSECONDS_HPP
