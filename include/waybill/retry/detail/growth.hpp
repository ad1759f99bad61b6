// SPDX-License-Identifier: MIT
//
// growth: the pauses of a backoff before the cap and the jitter are applied.

#ifndef WAYBILL_RETRY_DETAIL_GROWTH_HPP
#define WAYBILL_RETRY_DETAIL_GROWTH_HPP

#include <cstdint>

#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// factor^n, at most 1e19: more nanoseconds than any duration has. At most 32 steps.
[[nodiscard]] constexpr double growth(double factor, std::uint32_t n) noexcept
{
    constexpr double max_growth = 1e19;
    double grown = 1.0;
    for (double square = factor; n != 0; n /= 2, square *= square) {
        if (!(square < max_growth)) return max_growth;
        if (n % 2 != 0) grown *= square;
        if (!(grown < max_growth)) return max_growth;
    }
    return grown;
}

/// The pause before retry n, without cap and jitter: base * factor^(n-1) + step * (n-1).
[[nodiscard]] constexpr duration uncapped(duration base, double factor, duration step,
                                          std::uint32_t n) noexcept
{
    const std::uint32_t earlier_retries = n > 1 ? n - 1 : 0;
    duration grown = greater(base, duration{});
    if (earlier_retries != 0 && factor > 1.0) grown = grown * growth(factor, earlier_retries);
    return grown + times(step, earlier_retries);
}

/// The pause before retry n-1 with decorrelated jitter if all random numbers are 0.5. The sequence
/// starts with base for n = 1, and each next pause is (base + 3 * pause) / 2. Closed form:
/// base * (2 * 1.5^(n-1) - 1).
[[nodiscard]] constexpr duration assumed_previous_pause(duration base, std::uint32_t n) noexcept
{
    if (n <= 1) return base;
    return greater(base, duration{}) * (2.0 * growth(1.5, n - 1) - 1.0);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_RETRY_DETAIL_GROWTH_HPP
