// SPDX-License-Identifier: MIT
//
// nanoseconds: two sums over durations that the headers of this room share.

#ifndef WAYBILL_RETRY_NANOSECONDS_HPP
#define WAYBILL_RETRY_NANOSECONDS_HPP

#include <cstdint>

#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_1::detail {

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

}  // namespace waybill::inline v0_1::detail

#endif  // WAYBILL_RETRY_NANOSECONDS_HPP
