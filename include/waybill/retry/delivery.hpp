// SPDX-License-Identifier: MIT
//
// delivery: how long a queue keeps trying, from what is set there, and the other way round.
//
// A handler that lets the lock of a message run out, because what it needs is down, gets it again
// when that has happened. So the broker keeps a message for deliveries times lock before it becomes
// a dead letter, unless its time to live ends before that:
//
//     constexpr waybill::delivery_terms queue{.lock = 90s, .max_deliveries = 960};
//     static_assert(waybill::patience(queue).lasts == 24h);
//     static_assert(waybill::deliveries_for(24h, 90s) == 960);
//
// The last delivery begins one lock earlier. A good message survives an outage that ends before the
// last delivery begins: 961 deliveries for a day. check() of a settle_policy and these terms
// (consume/settle.hpp) reports that time.
//
// A message that is given back at once is delivered again at once: then all deliveries may be used
// up within a second. `hold` is how long each is really kept.

#ifndef WAYBILL_RETRY_DELIVERY_HPP
#define WAYBILL_RETRY_DELIVERY_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

/// What is set at a queue. A plain value; `check` finds what cannot work.
struct delivery_terms {
    duration lock = duration::seconds(60);  ///< How long one delivery is kept from others.
    std::uint64_t max_deliveries = 10;      ///< After so many it is a dead letter.
    duration time_to_live = duration::highest();
    /// What the broker allows for `lock`. Service Bus: five minutes ("Message transfers, locks, and
    /// settlement", Microsoft Learn).
    duration highest_lock = duration::seconds(300);

    friend bool operator==(const delivery_terms&, const delivery_terms&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const delivery_terms& t) noexcept
{
    if (t.lock <= duration{}) {
        return config_error{"delivery.lock", detail::magnitude(t.lock),
                            "nanoseconds must be more than", 0, t.lock < duration{}};
    }
    if (t.lock > t.highest_lock) {
        return config_error{"delivery.lock", detail::magnitude(t.lock),
                            "nanoseconds must be at most what the broker allows",
                            detail::magnitude(greater(t.highest_lock, duration{}))};
    }
    if (t.max_deliveries == 0) {
        return config_error{"delivery.max_deliveries", 0, "must be at least", 1};
    }
    if (t.time_to_live <= duration{}) {
        return config_error{"delivery.time_to_live", detail::magnitude(t.time_to_live),
                            "nanoseconds must be more than", 0, t.time_to_live < duration{}};
    }
    return {};
}

/// What ends the deliveries of a message that is never completed.
enum class delivery_end : std::uint8_t {
    deliveries,    ///< There are no more of them.
    time_to_live,  ///< Its time is over before that.
};

[[nodiscard]] constexpr std::string_view name(delivery_end e) noexcept
{
    switch (e) {
        case delivery_end::deliveries: return "deliveries";
        case delivery_end::time_to_live: return "time_to_live";
    }
    return "?";
}

/// How long a queue keeps a message that is never completed, and what ends it.
struct queue_patience {
    duration lasts{};
    delivery_end by = delivery_end::deliveries;

    friend bool operator==(const queue_patience&, const queue_patience&) = default;
};

/// How long a queue delivers a message again that is kept for `hold` each time and never completed:
/// deliveries times hold, where no hold is longer than the lock, or its time to live. Saturates.
[[nodiscard]] constexpr queue_patience patience(const delivery_terms& t, duration hold) noexcept
{
    const duration all = detail::times(lesser(hold, t.lock), t.max_deliveries);
    const duration live = greater(t.time_to_live, duration{});
    if (live < all) return {live, delivery_end::time_to_live};
    return {all, delivery_end::deliveries};
}

/// The same where each lock is let run out.
[[nodiscard]] constexpr queue_patience patience(const delivery_terms& t) noexcept
{
    return patience(t, t.lock);
}

/// So many deliveries, each kept for `hold`, last for `wanted`: the least number, and 1 at least.
/// Empty where no number does.
[[nodiscard]] constexpr std::optional<std::uint64_t> deliveries_for(duration wanted,
                                                                    duration hold) noexcept
{
    if (wanted <= duration{}) return 1;
    if (hold <= duration{}) return {};
    const auto all = static_cast<std::uint64_t>(wanted.count());
    const auto each = static_cast<std::uint64_t>(hold.count());
    return (all - 1) / each + 1;
}

/// Kept for so long each time, `deliveries` last for `wanted`: the least time, to the nanosecond.
/// Empty for no deliveries.
[[nodiscard]] constexpr std::optional<duration> hold_for(duration wanted,
                                                         std::uint64_t deliveries) noexcept
{
    if (deliveries == 0) return {};
    if (wanted <= duration{}) return duration{};
    const auto all = static_cast<std::uint64_t>(wanted.count());
    return duration::nanoseconds(static_cast<std::int64_t>((all - 1) / deliveries + 1));
}

/// Attempts in all where each of the delayed rounds, and the first one, tries again at once so many
/// times: (immediate + 1) * (delayed + 1), which saturates. NServiceBus counts so.
[[nodiscard]] constexpr std::uint64_t attempts_in_all(std::uint64_t immediate,
                                                      std::uint64_t delayed) noexcept
{
    return saturating_mul(saturating_add(immediate, 1), saturating_add(delayed, 1));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_DELIVERY_HPP
