// SPDX-License-Identifier: MIT
//
// settle_outage: the deliveries of a message while a dependency is down.

#ifndef WAYBILL_QUEUE_DETAIL_SETTLE_OUTAGE_HPP
#define WAYBILL_QUEUE_DETAIL_SETTLE_OUTAGE_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/settle_policy.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/delivery.hpp>

namespace waybill::inline v0_2::detail {

/// True if a deferral resets the count of deliveries.
[[nodiscard]] constexpr bool renews_deliveries(const settle_policy& p) noexcept
{
    return p.can_defer && p.defer_renews;
}

/// The time from the n-th delivery in an outage to the next delivery.
[[nodiscard]] constexpr duration outage_hold(const settle_policy& p, const delivery_terms& t,
                                             std::uint32_t n, double random) noexcept
{
    duration hold{};
    if (p.on_outage == settle_policy::when_down::let_lock_expire) hold = t.lock;
    if (p.on_outage == settle_policy::when_down::defer) {
        hold = lesser(pause(p.levels.pauses, n, random), p.longest_defer);
    }
    return greater(hold, duration{});
}

/// The time from the first delivery in an outage to the n-th, with the lowest random values. Pauses
/// that still grow after 2,000 deliveries, the maximum of Service Bus, are assumed to stay
/// constant.
[[nodiscard]] constexpr duration time_until_delivery(const settle_policy& p,
                                                     const delivery_terms& t,
                                                     std::uint64_t n) noexcept
{
    constexpr std::uint32_t max_summed = 2'000;
    constexpr double lowest_random = 0.0;
    if (n == highest_size) return duration::highest();
    const duration final_hold = outage_hold(p, t, UINT32_MAX, lowest_random);
    duration elapsed{};
    for (std::uint32_t i = 1; i < n; ++i) {
        const duration hold = outage_hold(p, t, i, lowest_random);
        if (hold == final_hold || i == max_summed) return elapsed + times(hold, n - i);
        elapsed = elapsed + hold;
    }
    return elapsed;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_SETTLE_OUTAGE_HPP
