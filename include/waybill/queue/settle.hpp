// SPDX-License-Identifier: MIT
//
// settle: returns the settlement of a message, from its delivery and the outcome of its handling.
//
//     waybill::queue_delivery d{.count = m.deliveries, .lock_left = m.lock_left(),
//                               .outage_deliveries = outages.count_of(m.id)};
//     waybill::match(waybill::settle(policy, d, f.kind, dice()),
//         [&](complete)              { queue.remove(m); },
//         [&](abandon a)             { queue.give_back(m, a.failed); },
//         [&](defer d)               { queue.give_back_in(m, d.delay); },
//         [&](dead_letter_message d) { queue.dead_letter(m, waybill::describe(d, f.text)); },
//         [&](let_lock_expire)       {});                       // no call: the lock expires
//
// Guarantees (details, and the calls of SQS, Service Bus and AMQP: guide)
//   1. A failed message is dead-lettered with a reason, before the broker does so without one.
//   2. In an outage a message is not returned at once, unless that does not count as a delivery.
//   3. If the lock is lost or too short for a call, the queue is called only after a success.
//   4. Deliveries in an outage use up no tries, if the caller passes their number.
//
// A pure function: constant time, no allocation.

#ifndef WAYBILL_QUEUE_SETTLE_HPP
#define WAYBILL_QUEUE_SETTLE_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/queue/detail/settle_outage.hpp>
#include <waybill/queue/detail/settled_delivery.hpp>
#include <waybill/queue/settle_policy.hpp>
#include <waybill/queue/settlement.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/levels.hpp>

namespace waybill::inline v0_2 {

/// The result of checking a policy against the terms of its queue.
struct settle_policy::check {
    std::optional<config_error> error{};  ///< The first invalid field, of the policy or the terms.
    /// The longest outage in which no message is dead-lettered, if settle() receives
    /// `outage_deliveries`. It is the time from a first delivery to the beginning of the last one,
    /// or less if `time_to_live` ends first. If `on_outage` defers, each pause has its lowest
    /// random value, which is 0 with full jitter.
    duration longest_outage{};
    /// The longest outage in which no message is dead-lettered, if settle() does not receive
    /// `outage_deliveries`: each delivery in the outage uses up a try.
    duration longest_outage_if_counted{};
    std::uint64_t max_deliveries = 0;  ///< The lower value of policy and queue, at least 1.
    std::uint64_t max_tries = 0;       ///< The limit of the levels; 2^64 - 1 if unlimited.
    /// The limit that determines `longest_outage`.
    delivery_terms::lifetime::delivery_limit limited_by =
        delivery_terms::lifetime::delivery_limit::deliveries;

    friend bool operator==(const check&, const check&) = default;
};

/// Describes the result in one line, or the error if there is one. Example: "survives an outage of
/// 24h: max_deliveries is 961".
template <std::same_as<settle_policy::check> T>
[[nodiscard]] std::string describe(const T& c)
{
    if (c.error) return describe(*c.error);
    std::string line = "survives an outage of ";
    if (c.longest_outage == duration::highest()) {
        line += "any length";
    } else {
        line += to_text(c.longest_outage);
        line += ": ";
        line += c.limited_by == delivery_terms::lifetime::delivery_limit::time_to_live
                    ? std::string("time_to_live ends it")
                    : "max_deliveries is " + std::to_string(c.max_deliveries);
    }
    if (c.longest_outage_if_counted < c.longest_outage) {
        line += "; of " + to_text(c.longest_outage_if_counted);
        line += " if outage_deliveries is not passed: levels allow ";
        line += std::to_string(c.max_tries) + " tries";
    }
    return line;
}

/// Checks that the policy fits the queue, and computes the longest outage that a message survives.
/// Time: one step for each delivery until the pause reaches its cap, at most 2,000.
[[nodiscard]] constexpr settle_policy::check validate(const settle_policy& p,
                                                      const delivery_terms& t) noexcept
{
    settle_policy::check c;
    c.max_deliveries = detail::greater(detail::lesser(p.max_deliveries, t.max_deliveries), 1);
    c.max_tries = p.levels.max_attempts();
    c.error = validate(p);
    if (!c.error) c.error = validate(t);
    if (!c.error && p.max_deliveries > t.max_deliveries) {
        c.error = config_error{"max_deliveries", p.max_deliveries,
                               "must be at most the limit of the queue, delivery.max_deliveries",
                               t.max_deliveries};
    }
    if (!c.error && p.to_settle >= t.lock) {
        c.error =
            config_error{"to_settle", detail::magnitude(p.to_settle),
                         "nanoseconds must be less than delivery.lock", detail::magnitude(t.lock)};
    }

    // No delivery is the last one if a deferral resets their count, or if a release does not count.
    const bool endless =
        p.max_deliveries <= t.max_deliveries && (detail::renews_deliveries(p) || !p.release_counts);
    c.longest_outage =
        detail::time_until_delivery(p, t, endless ? detail::highest_size : c.max_deliveries);
    const duration time_to_live = detail::greater(t.time_to_live, duration{});
    if (time_to_live < c.longest_outage) {
        // The last delivery begins at most one hold before the message expires.
        constexpr double highest_random = 1.0;
        const duration longest_hold = detail::outage_hold(p, t, UINT32_MAX, highest_random);
        c.longest_outage = detail::greater(time_to_live - longest_hold, duration{});
        c.limited_by = delivery_terms::lifetime::delivery_limit::time_to_live;
    }
    const bool uses_tries = p.on_outage != settle_policy::when_down::abandon || p.release_counts;
    const std::uint64_t tries = uses_tries ? c.max_tries : detail::highest_size;
    c.longest_outage_if_counted =
        detail::lesser(c.longest_outage, detail::time_until_delivery(p, t, tries));
    return c;
}

/// Returns the settlement of a message whose handling ended in `kind`. `random` in [0, 1) spreads
/// the pauses. `hint` is the retry-after of a server that the handler called, and a lower bound of
/// the pause. A deferral is at most `longest_defer`. Constant time.
[[nodiscard]] constexpr settlement settle(const settle_policy& p, const queue_delivery& d,
                                          fault_kind kind, double random,
                                          duration hint = {}) noexcept
{
    if (kind == fault_kind::none) return complete{};
    if (kind == fault_kind::ownership_lost || d.lock_left <= duration{}) {
        return let_lock_expire{let_lock_expire::cause::lock_lost};
    }
    if (d.lock_left <= p.to_settle) return let_lock_expire{let_lock_expire::cause::lock_short};

    const detail::settled_delivery delivery(p, d, kind);
    switch (kind) {
        case fault_kind::none:
        case fault_kind::ownership_lost: break;  // handled above
        case fault_kind::permanent: return delivery.permanent();
        case fault_kind::transient: return delivery.transient(random, hint);
        case fault_kind::infrastructure: return delivery.infrastructure(random, hint);
        case fault_kind::cancelled: return delivery.cancelled();
    }
    return let_lock_expire{let_lock_expire::cause::lock_lost};
}

/// Returns the text of a dead letter: the cause, the fault and the limit that is used up, then
/// `reason`. At most `max_bytes` bytes, cut between characters. Examples:
///
///     exhausted: transient, 24 of 24 tries (levels): timed out
///     last_delivery: infrastructure, 10 of 10 deliveries (max_deliveries): the store is down
///     crashes: 5 of 5 deliveries (max_crashes): they ended without a settlement
///     permanent: no such customer
template <std::same_as<dead_letter_message> T>
[[nodiscard]] std::string describe(const T& d, std::string_view reason,
                                   std::size_t max_bytes = 1'024)
{
    std::string line(name(d.reason));
    if (d.reason != dead_letter_message::cause::permanent) {
        line += ": ";
        if (d.reason != dead_letter_message::cause::crashes) {
            line += name(d.kind);
            line += ", ";
        }
        line += std::to_string(d.used);
        line += " of ";
        line += std::to_string(d.max_attempts);
        if (d.reason == dead_letter_message::cause::exhausted) line += " tries (levels)";
        if (d.reason == dead_letter_message::cause::last_delivery)
            line += " deliveries (max_deliveries)";
        if (d.reason == dead_letter_message::cause::crashes) line += " deliveries (max_crashes)";
    }
    if (!reason.empty()) {
        line += ": ";
        line += utf8_prefix(reason, max_bytes);
    }
    return std::string(utf8_prefix(line, max_bytes));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_SETTLE_HPP
