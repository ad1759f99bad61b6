// SPDX-License-Identifier: MIT
//
// settle_policy: the retry limits of messages, and the properties of their queue, for `settle`.

#ifndef WAYBILL_QUEUE_SETTLE_POLICY_HPP
#define WAYBILL_QUEUE_SETTLE_POLICY_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/detail/settle_levels.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/levels.hpp>

namespace waybill::inline v0_2 {

/// The retry limits of messages, and the properties of their queue. The defaults are for a lock of
/// 90 seconds: a message is retried for one day, with a first delivery and 960 more.
struct settle_policy {
    /// The settlement of a message while a dependency is down.
    enum class when_down : std::uint8_t {
        let_lock_expire,  ///< Keep it until its lock expires.
        defer,            ///< Defer it by a pause of `levels.pauses`.
        abandon,  ///< Return it at once. For a queue that does not count this as a delivery.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(when_down) noexcept
    {
        return "let_lock_expire, defer, abandon";
    }

    /// The retries after transient faults. Each retry is a delivery. By default `max_deliveries` is
    /// the only limit, and the pauses grow from about 1 s to a random value in 100 to 150 s.
    retry_levels levels{.immediate = 0,
                        .delayed = retry_levels::unlimited,
                        .pauses = {.base = duration::seconds(1),
                                   .cap = duration::seconds(150),
                                   .spread = backoff::jitter::around}};
    /// The maximum that is configured at the queue, at least 1; 2^64 - 1 if it has none. The
    /// defaults of brokers are lower: 10 in Service Bus, 21 in a quorum queue of RabbitMQ 4. If
    /// this is more than the queue's maximum, the broker itself dead-letters, without a reason.
    std::uint64_t max_deliveries = 961;
    duration to_settle = duration::seconds(1);         ///< Maximum duration of a call, at least 0.
    when_down on_outage = when_down::let_lock_expire;  ///< After an `infrastructure` fault.
    bool can_defer = true;  ///< The queue can hold back a message from all consumers until a time.
    duration longest_defer = duration::highest();  ///< The longest deferral, more than 0.
    /// A copy takes the place of a deferred message, and its deliveries are counted from 1.
    bool defer_renews = false;
    bool release_counts = true;  ///< A delivery that is returned without a failure counts, too.

    /// The result of `validate` with the terms of the queue (settle.hpp).
    struct check;

    friend bool operator==(const settle_policy&, const settle_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const settle_policy& p) noexcept
{
    if (p.max_deliveries == 0) return config_error{"max_deliveries", 0, "must be at least", 1};
    if (p.to_settle < duration{}) {
        return config_error{.field = "to_settle",
                            .value = detail::magnitude(p.to_settle),
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    if (p.can_defer && p.longest_defer <= duration{}) {
        return config_error{"longest_defer", detail::magnitude(p.longest_defer),
                            "nanoseconds must be more than", 0, p.longest_defer < duration{}};
    }
    if (!p.can_defer && p.on_outage == settle_policy::when_down::defer) {
        return config_error{"can_defer", 0, "must be true, because on_outage is defer", 1};
    }
    if (p.release_counts && p.on_outage == settle_policy::when_down::abandon &&
        p.max_deliveries != detail::highest_size) {
        return config_error{"release_counts", 1, "must be false, because on_outage is abandon", 0};
    }
    const bool renews = p.can_defer && p.defer_renews;
    return detail::check_levels(p.levels, p.max_deliveries, renews);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_SETTLE_POLICY_HPP
