// SPDX-License-Identifier: MIT
//
// whole_instances: rounds a computed number of instances to a whole one.

#ifndef WAYBILL_SCALING_DETAIL_WHOLE_INSTANCES_HPP
#define WAYBILL_SCALING_DETAIL_WHOLE_INSTANCES_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// The relative deviation from an exact number that counts as a rounding error. It is much larger
/// than the rounding errors of a few operations on doubles.
inline constexpr double rounding_tolerance = 1e-12;

/// x rounded down and clamped to the range of std::uint64_t; 0 for NaN and negative numbers.
[[nodiscard]] constexpr std::uint64_t whole_instances(double x) noexcept
{
    if (!(x > 0)) return 0;
    constexpr double highest_double = 0x1p64 - 2048;  // the highest double below 2^64
    if (x >= highest_double) return waybill::detail::highest_size;
    return static_cast<std::uint64_t>(x);
}

/// x rounded up and clamped. A fraction of at most x * `rounding_tolerance` is ignored as the
/// rounding error of a division: 0.3 / 0.1 instances are 3.
[[nodiscard]] constexpr std::uint64_t enough_instances(double x) noexcept
{
    const std::uint64_t n = whole_instances(x);
    const double rest = x - static_cast<double>(n);
    return rest > x * rounding_tolerance ? waybill::detail::saturating_add(n, 1) : n;
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_WHOLE_INSTANCES_HPP
