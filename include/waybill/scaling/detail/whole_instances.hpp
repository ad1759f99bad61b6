// SPDX-License-Identifier: MIT
//
// whole_instances: rounds a computed number of instances to a whole one.

#ifndef WAYBILL_SCALING_DETAIL_WHOLE_INSTANCES_HPP
#define WAYBILL_SCALING_DETAIL_WHOLE_INSTANCES_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// x rounded down and clamped to the range of std::uint64_t; 0 for NaN and negative numbers.
[[nodiscard]] constexpr std::uint64_t whole_instances(double x) noexcept
{
    if (!(x > 0)) return 0;
    if (x >= 18446744073709549568.0) return waybill::detail::highest_size;
    return static_cast<std::uint64_t>(x);
}

/// x rounded up and clamped. A fraction of at most x * 1e-12 is ignored as a rounding error of the
/// division before: 0.3 / 0.1 instances are 3.
[[nodiscard]] constexpr std::uint64_t enough_instances(double x) noexcept
{
    const std::uint64_t n = whole_instances(x);
    const double rest = x - static_cast<double>(n);
    return rest > x * 1e-12 ? waybill::detail::saturating_add(n, 1) : n;
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_WHOLE_INSTANCES_HPP
