// SPDX-License-Identifier: MIT
//
// nanoseconds: what the headers of this room share: how durations are multiplied, and how errors
// tell durations and shares, which have no fractions and no sign.

#ifndef WAYBILL_RETRY_NANOSECONDS_HPP
#define WAYBILL_RETRY_NANOSECONDS_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// d times n, which saturates; nothing for what is negative.
[[nodiscard]] constexpr duration times(duration d, std::uint64_t n) noexcept
{
    constexpr auto most = static_cast<std::uint64_t>(INT64_MAX);
    const auto ns = static_cast<std::uint64_t>(greater(d, duration{}).count());
    return duration::nanoseconds(static_cast<std::int64_t>(lesser(saturating_mul(ns, n), most)));
}

/// How far from zero, as an error tells it.
[[nodiscard]] constexpr std::uint64_t magnitude(duration d) noexcept
{
    const auto n = static_cast<std::uint64_t>(d.count());
    return d < duration{} ? 0 - n : n;
}

/// A share that breaks a rule, told in thousandths like the bound, and as another number than the
/// bound where it is another one. What is no number, or too large, is the largest.
[[nodiscard]] constexpr config_error wrong_share(std::string_view field, double share,
                                                 std::string_view rule,
                                                 std::uint64_t bound) noexcept
{
    const bool below = share < 0;
    const double size = below ? -share : share;
    if (!(size < 1e15)) return {field, highest_size, rule, bound, below};
    const double all = size * 1'000;
    auto n = static_cast<std::uint64_t>(all + 0.5);
    if (below && n == 0) n = 1;
    const auto limit = static_cast<double>(bound);
    if (!below && n == bound && all > limit) ++n;
    if (!below && n == bound && all < limit) --n;
    return {field, n, rule, bound, below};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_RETRY_NANOSECONDS_HPP
