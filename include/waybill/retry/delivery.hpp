// SPDX-License-Identifier: MIT
//
// delivery: how long a queue redelivers a message with given settings, and the settings for a given
// time.
//
//     constexpr waybill::delivery_terms queue{.lock = 90s, .max_deliveries = 960};
//     static_assert(waybill::time_until_dead_letter(queue).lasts == 24h);
//     static_assert(waybill::delivery_terms::deliveries_for(24h, 90s) == 960);
//
// If a dependency is down, a handler can let the lock of a message expire. The queue then delivers
// the message again. It becomes a dead letter after the maximum of deliveries multiplied by the
// lock, or after the time to live if that is shorter.
//
// The last delivery begins one lock earlier. A valid message survives an outage that ends before
// the last delivery begins: 961 deliveries for a day. validate() of a settle_policy and these terms
// (queue/settle.hpp) reports that time.
//
// A message that is given back at once is delivered again at once, so all deliveries may be used up
// within a second. The parameter `hold` is the real time from a delivery to the next one.

#ifndef WAYBILL_RETRY_DELIVERY_HPP
#define WAYBILL_RETRY_DELIVERY_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The settings of a queue. `validate` returns the first invalid value.
struct delivery_terms {
    struct lifetime;

    duration lock = duration::seconds(60);        ///< Duration of the lock of a delivery.
    std::uint64_t max_deliveries = 10;            ///< After these, a message is a dead letter.
    duration time_to_live = duration::highest();  ///< After it, a message is not delivered.
    /// The broker's maximum of `lock`. Service Bus: five minutes ("Message transfers, locks, and
    /// settlement", Microsoft Learn).
    duration highest_lock = duration::seconds(300);

    /// The minimum number of deliveries of `hold` each that together last at least `wanted`; not
    /// less than 1. If `wanted` is positive and `hold` is not, no number is enough and the result
    /// is empty.
    [[nodiscard]] static constexpr std::optional<std::uint64_t> deliveries_for(
        duration wanted, duration hold) noexcept
    {
        if (wanted <= duration{}) return 1;
        if (hold <= duration{}) return {};
        const auto all = static_cast<std::uint64_t>(wanted.count());
        const auto each = static_cast<std::uint64_t>(hold.count());
        return (all - 1) / each + 1;
    }

    /// The minimum time per delivery with which `deliveries` last at least `wanted`, rounded up to
    /// a nanosecond. Zero if `wanted` is not positive. Empty for 0 deliveries.
    [[nodiscard]] static constexpr std::optional<duration> hold_for(
        duration wanted, std::uint64_t deliveries) noexcept
    {
        if (deliveries == 0) return {};
        if (wanted <= duration{}) return duration{};
        const auto all = static_cast<std::uint64_t>(wanted.count());
        return duration::nanoseconds(static_cast<std::int64_t>((all - 1) / deliveries + 1));
    }

    friend bool operator==(const delivery_terms&, const delivery_terms&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const delivery_terms& t) noexcept
{
    if (t.lock <= duration{}) {
        return config_error{"delivery.lock", detail::magnitude(t.lock),
                            "nanoseconds must be more than", 0, t.lock < duration{}};
    }
    if (t.lock > t.highest_lock) {
        return config_error{"delivery.lock", detail::magnitude(t.lock),
                            "nanoseconds must be at most delivery.highest_lock",
                            detail::magnitude(detail::greater(t.highest_lock, duration{}))};
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

/// The time for which a queue keeps a message that is never completed, and the limit that ends it.
struct delivery_terms::lifetime {
    /// The limit that ends the deliveries of a message that is never completed.
    enum class delivery_limit : std::uint8_t {
        deliveries,    ///< The maximum of deliveries.
        time_to_live,  ///< The time to live.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(delivery_limit) noexcept
    {
        return "deliveries, time_to_live";
    }

    duration lasts{};
    delivery_limit limited_by = delivery_limit::deliveries;

    friend bool operator==(const lifetime&, const lifetime&) = default;
};

/// The time until a message that is never completed becomes a dead letter or expires, if each
/// delivery lasts for `hold`. It is the maximum of deliveries multiplied by the shorter of hold and
/// lock, or the time to live if that is shorter. Saturates. A negative hold counts as 0.
[[nodiscard]] constexpr delivery_terms::lifetime time_until_dead_letter(const delivery_terms& t,
                                                                        duration hold) noexcept
{
    const duration all_deliveries = detail::times(detail::lesser(hold, t.lock), t.max_deliveries);
    const duration time_to_live = detail::greater(t.time_to_live, duration{});
    if (time_to_live < all_deliveries)
        return {time_to_live, delivery_terms::lifetime::delivery_limit::time_to_live};
    return {all_deliveries, delivery_terms::lifetime::delivery_limit::deliveries};
}

/// The same if each delivery lasts until its lock expires.
[[nodiscard]] constexpr delivery_terms::lifetime time_until_dead_letter(
    const delivery_terms& t) noexcept
{
    return time_until_dead_letter(t, t.lock);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_DELIVERY_HPP
