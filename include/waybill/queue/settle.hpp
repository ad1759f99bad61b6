// SPDX-License-Identifier: MIT
//
// settle: returns the settlement of a message, from its delivery and the outcome of its handling.
//
//     waybill::queue_delivery d{.count = m.deliveries, .lock_left = m.lock_left(),
//                               .outage_deliveries = outages.count_of(m.id)};
//     waybill::match(waybill::settle(policy, d, f.kind, dice(), now),
//         [&](complete)              { queue.remove(m); },
//         [&](abandon a)             { queue.give_back(m, a.failed); },
//         [&](defer d)               { queue.give_back_at(m, d.until); },
//         [&](dead_letter_message d) { queue.park(m, waybill::describe(d, f.text)); },
//         [&](let_lock_expire)       {});                       // no call: the lock expires
//
// Guarantees (details, and the calls of SQS, Service Bus and AMQP: guide)
//   1. A failed message is dead-lettered with a reason, before the broker does so without one.
//   2. In an outage a message is not returned at once, unless that does not count as a delivery.
//   3. If the lock is lost or too short for a call, only success is reported.
//   4. Deliveries in an outage use up no tries, if the caller passes their number.
//
// A pure function: constant time, no allocation.

#ifndef WAYBILL_QUEUE_SETTLE_HPP
#define WAYBILL_QUEUE_SETTLE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/queue/detail/settle_outage.hpp>
#include <waybill/queue/settle_policy.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/levels.hpp>

namespace waybill::inline v0_2 {

/// Return the message to the queue now. If `failed` is false, the delivery should not count, as far
/// as the broker can distinguish that.
struct abandon {
    bool failed = true;
    friend bool operator==(const abandon&, const abandon&) = default;
};

/// Return the message to the queue. No consumer receives it before `until`.
struct defer {
    wall_time until{};
    friend bool operator==(const defer&, const defer&) = default;
};

/// Dead-letter the message with the reason. `used` of `max_attempts` are used up: deliveries if
/// `reason` is `last_delivery`, otherwise tries. If `reason` is `permanent`, both are the tries
/// made.
struct dead_letter_message {
    /// Why a message is dead-lettered.
    enum class cause : std::uint8_t {
        permanent,      ///< The fault is permanent: no retry can succeed.
        exhausted,      ///< All tries that the levels allow are used up.
        last_delivery,  ///< The broker would dead-letter it next, without a reason.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(cause) noexcept
    {
        return "permanent, exhausted, last_delivery";
    }

    cause reason = cause::permanent;
    fault_kind kind = fault_kind::permanent;
    std::uint64_t used = 0;
    std::uint64_t max_attempts = 0;
    friend bool operator==(const dead_letter_message&, const dead_letter_message&) = default;
};

/// Do not call the queue. It delivers the message again after the lock has expired.
struct let_lock_expire {
    /// Why the queue is not called.
    enum class cause : std::uint8_t {
        outage,      ///< A dependency is down. The lock expires without a call.
        pause,       ///< The queue cannot defer. The rest of the lock is the pause.
        lock_short,  ///< The rest of the lock is at most `to_settle`.
        lock_lost,   ///< The lock is lost or has expired. Another consumer may have the message.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(cause) noexcept
    {
        return "outage, pause, lock_short, lock_lost";
    }

    cause reason = cause::outage;
    friend bool operator==(const let_lock_expire&, const let_lock_expire&) = default;
};

using settlement = std::variant<complete, abandon, defer, dead_letter_message, let_lock_expire>;

/// The kind of a settlement that calls the queue, without its data.
enum class settle_kind : std::uint8_t { complete, abandon, defer, dead_letter };

inline constexpr settle_kind settle_kinds[] = {settle_kind::complete, settle_kind::abandon,
                                               settle_kind::defer, settle_kind::dead_letter};

[[nodiscard]] constexpr std::string_view texts_of(settle_kind) noexcept
{
    return "complete, abandon, defer, dead_letter";
}

/// Returns no value for let_lock_expire, which does not call the queue.
[[nodiscard]] constexpr std::optional<settle_kind> kind_of(const settlement& s) noexcept
{
    if (std::holds_alternative<complete>(s)) return settle_kind::complete;
    if (std::holds_alternative<abandon>(s)) return settle_kind::abandon;
    if (std::holds_alternative<defer>(s)) return settle_kind::defer;
    if (std::holds_alternative<dead_letter_message>(s)) return settle_kind::dead_letter;
    return {};
}

/// The result of checking a policy against the terms of its queue.
struct settle_check {
    std::optional<config_error> error{};  ///< The first invalid field, of the policy or the terms.
    /// The longest outage in which no message is dead-lettered, if settle() receives
    /// `outage_deliveries`. It is the time from a first delivery to the beginning of the last one,
    /// or less if `time_to_live` ends first. If `on_outage` defers, each pause has its lowest
    /// random value, which is 0 with full jitter.
    duration longest_outage{};
    /// The longest outage in which no message is dead-lettered, if settle() does not receive
    /// `outage_deliveries`: each delivery in the outage uses up a try.
    duration longest_uncounted_outage{};
    std::uint64_t max_deliveries = 0;  ///< The lower value of policy and queue, at least 1.
    std::uint64_t max_tries = 0;       ///< The limit of the levels; `highest_size` if unlimited.
    delivery_lifetime::delivery_limit by = delivery_lifetime::delivery_limit::
        deliveries;  ///< The limit that determines `longest_outage`.

    friend bool operator==(const settle_check&, const settle_check&) = default;
};

/// Describes the result in one line, or the error if there is one. Example: "survives an outage of
/// 24h: max_deliveries is 961".
[[nodiscard]] inline std::string describe(const settle_check& c)
{
    if (c.error) return describe(*c.error);
    std::string line = "survives an outage of ";
    if (c.longest_outage == duration::highest()) {
        line += "any length";
    } else {
        line += to_text(c.longest_outage);
        line += ": ";
        line += c.by == delivery_lifetime::delivery_limit::time_to_live
                    ? std::string("time_to_live ends it")
                    : "max_deliveries is " + std::to_string(c.max_deliveries);
    }
    if (c.longest_uncounted_outage < c.longest_outage) {
        line += "; of " + to_text(c.longest_uncounted_outage);
        line += " if outage_deliveries is not passed: levels allow ";
        line += std::to_string(c.max_tries) + " tries";
    }
    return line;
}

/// Checks that the policy fits the queue, and computes the longest outage that a message survives.
/// Time: linear in the deliveries whose pauses still grow, at most 2,000.
[[nodiscard]] constexpr settle_check validate(const settle_policy& p,
                                              const delivery_terms& t) noexcept
{
    settle_check c;
    c.max_deliveries = detail::greater(detail::lesser(p.max_deliveries, t.max_deliveries), 1);
    c.max_tries = attempts_in_all(p.levels);
    c.error = validate(p);
    if (!c.error) c.error = validate(t);
    if (!c.error && p.max_deliveries > t.max_deliveries) {
        c.error = config_error{"max_deliveries", p.max_deliveries,
                               "must be at most the limit of the queue, delivery.max_deliveries",
                               t.max_deliveries};
    }
    if (!c.error && p.to_settle >= t.lock) {
        c.error = config_error{"to_settle", detail::magnitude(p.to_settle),
                               "nanoseconds must be less than delivery.lock",
                               detail::magnitude(t.lock)};
    }

    // No delivery is the last one if a deferral resets their count, or if a release does not count.
    const bool endless = p.max_deliveries <= t.max_deliveries &&
                         (detail::renews_deliveries(p) || !p.release_counts);
    c.longest_outage = detail::until_delivery(p, t, endless ? highest_size : c.max_deliveries);
    const duration live = detail::greater(t.time_to_live, duration{});
    if (live < c.longest_outage) {
        const duration last_hold = detail::outage_hold(p, t, UINT32_MAX, 1.0);
        c.longest_outage = detail::greater(live - last_hold, duration{});
        c.by = delivery_lifetime::delivery_limit::time_to_live;
    }
    const bool counted = p.on_outage != settle_policy::when_down::abandon || p.release_counts;
    const std::uint64_t tries = counted ? c.max_tries : highest_size;
    c.longest_uncounted_outage =
        detail::lesser(c.longest_outage, detail::until_delivery(p, t, tries));
    return c;
}

/// One delivery of a message. SQS (ApproximateReceiveCount) and the SDKs of Service Bus count from
/// 1. The delivery-count of AMQP is the number of earlier deliveries: add 1 to it.
struct queue_delivery {
    std::uint64_t count = 1;  ///< Deliveries by the broker, including this one; 0 is read as 1.
    /// Tries of the message in total. Set it if copies of the message, or several tries in one
    /// delivery, make it differ from `count`; 0 is read as `count`.
    std::uint64_t tries = 0;
    duration lock_left = duration::highest();  ///< Measured by the consumer's own steady clock.
    /// Earlier deliveries that ended in `infrastructure` or `cancelled` and that the broker
    /// counted. They are subtracted from the tries; the result is at least 1.
    std::uint64_t outage_deliveries = 0;

    friend bool operator==(const queue_delivery&, const queue_delivery&) = default;
};

/// Returns the settlement of a message whose handling ended in `kind`. `random` in [0, 1) spreads
/// the pauses. `hint` is the retry-after of a server that the handler called, and a lower bound of
/// the pause. A deferral is at most `longest_defer`. Constant time.
[[nodiscard]] constexpr settlement settle(const settle_policy& p, const queue_delivery& d,
                                          fault_kind kind, double random, wall_time now,
                                          duration hint = {}) noexcept
{
    if (kind == fault_kind::none) return complete{};
    if (kind == fault_kind::ownership_lost || d.lock_left <= duration{}) {
        return let_lock_expire{let_lock_expire::cause::lock_lost};
    }
    if (d.lock_left <= p.to_settle) return let_lock_expire{let_lock_expire::cause::lock_short};

    const std::uint64_t count = detail::greater(d.count, 1);
    const std::uint64_t tries =
        detail::greater(saturating_sub(d.tries == 0 ? count : d.tries, d.outage_deliveries), 1);
    const bool last =
        p.max_deliveries != highest_size && count >= detail::greater(p.max_deliveries, 1);
    const dead_letter_message no_more{dead_letter_message::cause::last_delivery, kind, count,
                                      p.max_deliveries};
    const auto put_off = [&](duration by) -> settlement {
        if (last && !p.defer_renews) return no_more;
        return defer{now + detail::lesser(detail::greater(by, duration{}), p.longest_defer)};
    };

    switch (kind) {
        case fault_kind::none:
        case fault_kind::ownership_lost: break;
        case fault_kind::permanent:
            return dead_letter_message{dead_letter_message::cause::permanent, kind, tries, tries};
        case fault_kind::transient: {
            // decide() needs a steady clock, but only the length of its pause is used.
            const retry_action next = decide(p.levels, tries, kind, random, steady_time{}, hint);
            if (std::holds_alternative<give_up>(next)) {
                return dead_letter_message{dead_letter_message::cause::exhausted, kind, tries,
                                           attempts_in_all(p.levels)};
            }
            const auto* const wait = std::get_if<wait_until>(&next);
            if (wait != nullptr && p.can_defer) return put_off(wait->time - steady_time{});
            if (last) return no_more;
            if (wait != nullptr) return let_lock_expire{let_lock_expire::cause::pause};
            return abandon{};
        }
        case fault_kind::infrastructure: {
            const bool counts = last && p.release_counts;
            if (p.on_outage == settle_policy::when_down::abandon && !counts) return abandon{false};
            const bool defers =
                last ? p.defer_renews : p.on_outage == settle_policy::when_down::defer;
            if (defers && p.can_defer) {
                const auto n = static_cast<std::uint32_t>(detail::lesser(count, UINT32_MAX));
                return put_off(pause(p.levels.pauses, n, random, hint));
            }
            if (counts) return no_more;
            if (last) return abandon{false};
            return let_lock_expire{let_lock_expire::cause::outage};
        }
        case fault_kind::cancelled:
            if (!last || !p.release_counts) return abandon{false};
            if (p.can_defer) return put_off({});
            return no_more;
    }
    return let_lock_expire{let_lock_expire::cause::lock_lost};
}

/// Returns the reason of a dead letter: the limit by its name, and `reason`. At most `most` bytes,
/// cut between characters. Examples:
///
///     exhausted: transient, 24 of 24 tries (levels): timed out
///     last_delivery: infrastructure, 10 of 10 deliveries (max_deliveries): the store is down
///     permanent: no such customer
[[nodiscard]] inline std::string describe(const dead_letter_message& d, std::string_view reason,
                                          std::size_t most = 1'024)
{
    std::string line(name(d.reason));
    if (d.reason != dead_letter_message::cause::permanent) {
        line += ": ";
        line += name(d.kind);
        line += ", ";
        line += std::to_string(d.used);
        line += " of ";
        line += std::to_string(d.max_attempts);
        line += d.reason == dead_letter_message::cause::exhausted ? " tries (levels)"
                                                         : " deliveries (max_deliveries)";
    }
    if (!reason.empty()) {
        line += ": ";
        line += utf8_prefix(reason, most);
    }
    return std::string(utf8_prefix(line, most));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_SETTLE_HPP
