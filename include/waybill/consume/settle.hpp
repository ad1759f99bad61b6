// SPDX-License-Identifier: MIT
//
// settle: what to tell a queue about a message, after what became of it.
//
//     waybill::queue_delivery d{.count = m.deliveries, .lock_left = m.lock_left(),
//                               .outage_deliveries = outages.count_of(m.id)};
//     waybill::match(waybill::settle(policy, d, f.how, dice(), now),
//         [&](act::complete)              { queue.remove(m); },
//         [&](act::abandon a)             { queue.give_back(m, a.failed); },
//         [&](act::defer d)               { queue.give_back_at(m, d.until); },
//         [&](act::dead_letter_message d) { queue.park(m, waybill::text(d, f.text)); },
//         [&](act::leave)                 {});                // tell it nothing: the lock runs out
//
// A pure function. What it sees to:
//   1. before the last delivery that the broker allows is used up, the message is parked by us: a
//      broker that does so itself cannot say why;
//   2. what a message needs and cannot have is not the message's fault. Given back at once it would
//      be delivered at once, and all of its deliveries be used up within a second. So it is kept
//      until its lock expires, is deferred, or is given back if that does not count. On the last
//      delivery it is deferred if that renews the deliveries, else given back if that does not
//      count. check() of policy and queue reports the longest outage that a message survives;
//   3. a lock that is lost, or too short for a call, is left alone: by the time of the call
//      another consumer may have the message. Only success is reported: at worst it is refused;
//   4. a delivery in an outage uses up no try, if the caller passes the number of such deliveries.
//      The caller adds 1 after each delivery that ended in `infrastructure` or `cancelled` and that
//      the broker counts. It stores the number in a table, by the message's id, or in a property
//      of the message. `leave` changes no property; AMQP's `modified`, abandon and defer of Service
//      Bus, and a copy can. A lost number makes those deliveries tries again.
//
// What the answers are elsewhere:
//
//                  SQS                          AMQP 1.0, Service Bus              AMQP 0-9-1
//     complete     DeleteMessage                accepted                           ack
//     abandon      ChangeMessageVisibility 0    modified, delivery-failed          nack, requeue
//       not failed   the same, and it counts    released, which does not count     the same
//     defer        ChangeMessageVisibility      modified, undeliverable-here, and  publish a copy,
//                    by the rest of the time,     its number into the deferral       to come late,
//                    12 hours after it was        book before that; or a scheduled   then ack
//                    received at the most         copy, then accepted
//     dead letter  SendMessage to the other     rejected, with reason and text     publish a copy,
//                    queue, then DeleteMessage                                       then ack
//
// Service Bus: abandon of its SDKs counts, `released` does not (Azure/amqpnetlite issue 342). What
// is two calls is safe in that order only, and doubled by a crash between them.

#ifndef WAYBILL_CONSUME_SETTLE_HPP
#define WAYBILL_CONSUME_SETTLE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <waybill/core/check.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

/// Why a message is parked.
enum class parked_for : std::uint8_t {
    permanent,      ///< No retry can help it.
    exhausted,      ///< It was tried as often as the levels allow.
    last_delivery,  ///< The broker would park it now, and could not say why. It may be good.
};

[[nodiscard]] constexpr std::string_view name(parked_for p) noexcept
{
    switch (p) {
        case parked_for::permanent: return "permanent";
        case parked_for::exhausted: return "exhausted";
        case parked_for::last_delivery: return "last_delivery";
    }
    return "?";
}

/// Why the queue is told nothing.
enum class left_for : std::uint8_t {
    outage,      ///< What the message needs is down: its lock is let run out.
    pause,       ///< The queue cannot put it off, and the lock is as long a pause as there is.
    lock_short,  ///< There is not time enough to tell it.
    lock_lost,   ///< The broker has it already.
};

[[nodiscard]] constexpr std::string_view name(left_for l) noexcept
{
    switch (l) {
        case left_for::outage: return "outage";
        case left_for::pause: return "pause";
        case left_for::lock_short: return "lock_short";
        case left_for::lock_lost: return "lock_lost";
    }
    return "?";
}

namespace act {

/// The message has taken effect: remove it.
struct complete {
    friend bool operator==(const complete&, const complete&) = default;
};

/// Give it back now. Where it has not failed that is not to count, if the broker can tell.
struct abandon {
    bool failed = true;
    friend bool operator==(const abandon&, const abandon&) = default;
};

/// Give it back, for nobody before `until`.
struct defer {
    wall_time until{};
    friend bool operator==(const defer&, const defer&) = default;
};

/// Park it with the reason. `used` of `most` is what is used up: tries, or deliveries.
struct dead_letter_message {
    parked_for why = parked_for::permanent;
    fault_class how = fault_class::permanent;
    std::uint64_t used = 0;
    std::uint64_t most = 0;
    friend bool operator==(const dead_letter_message&, const dead_letter_message&) = default;
};

/// Tell the queue nothing. It delivers the message again when the lock has run out.
struct leave {
    left_for why = left_for::outage;
    friend bool operator==(const leave&, const leave&) = default;
};

}  // namespace act

using settlement = std::variant<act::complete, act::abandon, act::defer, act::dead_letter_message,
                                act::leave>;

/// What is told about a message, without the rest.
enum class settle_kind : std::uint8_t { complete, abandon, defer, dead_letter };

inline constexpr settle_kind settle_kinds[] = {settle_kind::complete, settle_kind::abandon,
                                               settle_kind::defer, settle_kind::dead_letter};

[[nodiscard]] constexpr std::string_view name(settle_kind k) noexcept
{
    switch (k) {
        case settle_kind::complete: return "complete";
        case settle_kind::abandon: return "abandon";
        case settle_kind::defer: return "defer";
        case settle_kind::dead_letter: return "dead_letter";
    }
    return "?";
}

/// The kind of what is to be told; none where the queue is told nothing.
[[nodiscard]] constexpr std::optional<settle_kind> kind_of(const settlement& s) noexcept
{
    if (std::holds_alternative<act::complete>(s)) return settle_kind::complete;
    if (std::holds_alternative<act::abandon>(s)) return settle_kind::abandon;
    if (std::holds_alternative<act::defer>(s)) return settle_kind::defer;
    if (std::holds_alternative<act::dead_letter_message>(s)) return settle_kind::dead_letter;
    return {};
}

/// What becomes of a message while what it needs is down.
enum class when_down : std::uint8_t {
    leave,    ///< Keep it until its lock runs out.
    defer,    ///< Put it off.
    abandon,  ///< Give it back at once: for a queue that does not count that.
};

[[nodiscard]] constexpr std::string_view name(when_down w) noexcept
{
    switch (w) {
        case when_down::leave: return "leave";
        case when_down::defer: return "defer";
        case when_down::abandon: return "abandon";
    }
    return "?";
}

/// The retries of messages, and the limits of their queue. The defaults are for a queue with a lock
/// of 90 seconds: a message is retried for a day, by a first delivery and 960 more.
struct settle_policy {
    /// For transient failures: each retry is a delivery. By default `max_deliveries` is the limit,
    /// and the pauses grow from about 1 s to a drawn value of 100 to 150 s.
    retry_levels levels{.immediate = 0,
                        .delayed = retry_levels::unlimited,
                        .pauses = {.base = duration::seconds(1),
                                   .cap = duration::seconds(150),
                                   .spread = jitter::around}};
    /// As set at the queue; `highest_size` where it has none. A new queue mostly allows fewer:
    /// Service Bus 10, a quorum queue of RabbitMQ 4 the first and 20 more. If this is more than the
    /// queue's maximum, the broker itself dead-letters, without a reason.
    std::uint64_t max_deliveries = 961;
    duration to_settle = duration::seconds(1);  ///< So long a call may take.
    when_down on_outage = when_down::leave;
    bool can_defer = true;                         ///< It can keep a message from all until a time,
    duration longest_defer = duration::highest();  ///< which is so far off at the most,
    bool defer_renews = false;   ///< and counts its deliveries anew: a copy takes its place.
    bool release_counts = true;  ///< What is given back without a failure is counted all the same.

    friend bool operator==(const settle_policy&, const settle_policy&) = default;
};

namespace detail {

/// A deferred copy takes the message's place, and its deliveries are counted from 1.
[[nodiscard]] constexpr bool renews_deliveries(const settle_policy& p) noexcept
{
    return p.can_defer && p.defer_renews;
}

/// Whether the levels promise tries for which there are no deliveries, or never end.
[[nodiscard]] constexpr std::optional<config_error> check_levels(const settle_policy& p) noexcept
{
    const std::uint64_t tries = attempts_in_all(p.levels);
    const bool renews = renews_deliveries(p);
    if (tries == highest_size && (renews || p.max_deliveries == highest_size)) {
        return config_error{"levels.delayed", p.levels.delayed,
                            "must be less than unlimited, as deliveries have no limit",
                            retry_levels::unlimited};
    }
    if (renews && p.levels.immediate >= p.max_deliveries) {
        return config_error{"levels.immediate", p.levels.immediate,
                            "must be less than max_deliveries", p.max_deliveries};
    }
    if (!renews && tries != highest_size && tries > p.max_deliveries) {
        return config_error{"levels", tries,
                            "tries in all must be at most max_deliveries, or delayed unlimited",
                            p.max_deliveries};
    }
    return check(p.levels);
}

}  // namespace detail

[[nodiscard]] constexpr std::optional<config_error> check(const settle_policy& p) noexcept
{
    if (p.max_deliveries == 0) return config_error{"max_deliveries", 0, "must be at least", 1};
    if (p.to_settle < duration{}) {
        return config_error{"to_settle", detail::magnitude(p.to_settle),
                            "nanoseconds must be at least", 0, true};
    }
    if (p.can_defer && p.longest_defer <= duration{}) {
        return config_error{"longest_defer", detail::magnitude(p.longest_defer),
                            "nanoseconds must be more than", 0, p.longest_defer < duration{}};
    }
    if (!p.can_defer && p.on_outage == when_down::defer) {
        return config_error{"can_defer", 0, "must be true, as on_outage defers", 1};
    }
    if (p.release_counts && p.on_outage == when_down::abandon && p.max_deliveries != highest_size) {
        return config_error{"release_counts", 1, "must be false, as on_outage abandons", 0};
    }
    return detail::check_levels(p);
}

/// A policy checked against the terms of its queue.
struct settle_check {
    std::optional<config_error> error{};  ///< The first field that cannot work.
    /// The longest outage that dead-letters no message, if settle() gets `outage_deliveries`: from
    /// a first delivery to the beginning of the last one. If `on_outage` defers, each pause has its
    /// lowest draw, which is 0 with full jitter.
    duration longest_outage{};
    /// The same if settle() does not get it: each delivery in the outage uses up a try.
    duration longest_uncounted_outage{};
    std::uint64_t max_deliveries = 0;  ///< The policy's or the queue's, whichever is less.
    std::uint64_t max_tries = 0;       ///< Of the levels; `highest_size` if they set no limit.
    delivery_end by = delivery_end::deliveries;  ///< The limit of `longest_outage`.

    friend bool operator==(const settle_check&, const settle_check&) = default;
};

/// One line for a log, as in "survives an outage of 24h: max_deliveries is 961".
[[nodiscard]] inline std::string text(const settle_check& c)
{
    if (c.error) return text(*c.error);
    std::string line = "survives an outage of ";
    if (c.longest_outage == duration::highest()) {
        line += "any length";
    } else {
        line += text(c.longest_outage);
        line += ": ";
        line += c.by == delivery_end::time_to_live
                    ? std::string("time_to_live ends it")
                    : "max_deliveries is " + std::to_string(c.max_deliveries);
    }
    if (c.longest_uncounted_outage < c.longest_outage) {
        line += "; of " + text(c.longest_uncounted_outage);
        line += " if outage_deliveries is not passed: levels allow ";
        line += std::to_string(c.max_tries) + " tries";
    }
    return line;
}

namespace detail {

/// From the n-th delivery in an outage to the next one.
[[nodiscard]] constexpr duration outage_hold(const settle_policy& p, const delivery_terms& t,
                                             std::uint32_t n, double draw) noexcept
{
    duration hold{};
    if (p.on_outage == when_down::leave) hold = t.lock;
    if (p.on_outage == when_down::defer) {
        hold = lesser(pause(p.levels.pauses, n, draw), p.longest_defer);
    }
    return greater(hold, duration{});
}

/// From the first delivery in an outage to the n-th, at the lowest draws. Pauses that still grow
/// after 2,000 deliveries, the most that Service Bus allows, are taken to grow no further.
[[nodiscard]] constexpr duration until_delivery(const settle_policy& p, const delivery_terms& t,
                                                std::uint64_t n) noexcept
{
    constexpr std::uint32_t summed = 2'000;
    if (n == highest_size) return duration::highest();
    const duration full = outage_hold(p, t, UINT32_MAX, 0.0);
    duration at{};
    for (std::uint32_t i = 1; i < n; ++i) {
        const duration hold = outage_hold(p, t, i, 0.0);
        if (hold == full || i == summed) return at + times(hold, n - i);
        at = at + hold;
    }
    return at;
}

}  // namespace detail

/// Whether the policy fits the queue, and the longest outage that both survive.
[[nodiscard]] constexpr settle_check check(const settle_policy& p, const delivery_terms& t) noexcept
{
    settle_check c;
    c.max_deliveries = greater(lesser(p.max_deliveries, t.max_deliveries), 1);
    c.max_tries = attempts_in_all(p.levels);
    c.error = check(p);
    if (!c.error) c.error = check(t);
    if (!c.error && p.max_deliveries > t.max_deliveries) {
        c.error = config_error{"max_deliveries", p.max_deliveries,
                               "must be at most the queue's, delivery.max_deliveries",
                               t.max_deliveries};
    }
    if (!c.error && p.to_settle >= t.lock) {
        c.error = config_error{"to_settle", detail::magnitude(p.to_settle),
                               "nanoseconds must be less than delivery.lock",
                               detail::magnitude(t.lock)};
    }

    // There is no last delivery if a deferral renews them, or if a release is not counted.
    const bool endless = p.max_deliveries <= t.max_deliveries &&
                         (detail::renews_deliveries(p) || !p.release_counts);
    c.longest_outage = detail::until_delivery(p, t, endless ? highest_size : c.max_deliveries);
    const duration live = greater(t.time_to_live, duration{});
    if (live < c.longest_outage) {
        const duration last_hold = detail::outage_hold(p, t, UINT32_MAX, 1.0);
        c.longest_outage = greater(live - last_hold, duration{});
        c.by = delivery_end::time_to_live;
    }
    const bool counted = p.on_outage != when_down::abandon || p.release_counts;
    const std::uint64_t tries = counted ? c.max_tries : highest_size;
    c.longest_uncounted_outage = lesser(c.longest_outage, detail::until_delivery(p, t, tries));
    return c;
}

/// One delivery of a message. SQS (ApproximateReceiveCount) and the SDKs of Service Bus count from
/// 1; the delivery-count of AMQP itself says how many there were before, and needs one more.
struct queue_delivery {
    std::uint64_t count = 1;  ///< Deliveries by the broker, this one counted; 0 reads as 1.
    /// Of the message in all, where copies, or several tries a delivery, make that another number;
    /// 0 reads as `count`.
    std::uint64_t tries = 0;
    duration lock_left = duration::highest();  ///< As judged on one's own steady clock.
    /// Earlier deliveries, counted by the broker, that ended in `infrastructure` or `cancelled`:
    /// subtracted from the tries. If there are no more tries than that, this one is the first.
    std::uint64_t outage_deliveries = 0;

    friend bool operator==(const queue_delivery&, const queue_delivery&) = default;
};

/// What to tell the queue about a message that was handled and ended in `how`. `draw` in [0, 1)
/// spreads the pauses; `hint` is a "come back after" of what the handler called.
[[nodiscard]] constexpr settlement settle(const settle_policy& p, const queue_delivery& d,
                                          fault_class how, double draw, wall_time now,
                                          duration hint = {}) noexcept
{
    if (how == fault_class::none) return act::complete{};
    if (how == fault_class::ownership_lost || d.lock_left <= duration{}) {
        return act::leave{left_for::lock_lost};
    }
    if (d.lock_left <= p.to_settle) return act::leave{left_for::lock_short};

    const std::uint64_t count = greater(d.count, 1);
    const std::uint64_t tries =
        greater(saturating_sub(d.tries == 0 ? count : d.tries, d.outage_deliveries), 1);
    const bool last = p.max_deliveries != highest_size && count >= greater(p.max_deliveries, 1);
    const act::dead_letter_message no_more{parked_for::last_delivery, how, count, p.max_deliveries};
    const auto put_off = [&](duration by) -> settlement {
        if (last && !p.defer_renews) return no_more;
        return act::defer{now + lesser(greater(by, duration{}), p.longest_defer)};
    };

    switch (how) {
        case fault_class::none:
        case fault_class::ownership_lost: break;
        case fault_class::permanent:
            return act::dead_letter_message{parked_for::permanent, how, tries, tries};
        case fault_class::transient: {
            // The pause is the same on any clock.
            const retry_action next = decide(p.levels, tries, how, draw, steady_time{}, hint);
            if (std::holds_alternative<act::give_up>(next)) {
                return act::dead_letter_message{parked_for::exhausted, how, tries,
                                                attempts_in_all(p.levels)};
            }
            const auto* const wait = std::get_if<act::wait>(&next);
            if (wait != nullptr && p.can_defer) return put_off(wait->until - steady_time{});
            if (last) return no_more;
            if (wait != nullptr) return act::leave{left_for::pause};
            return act::abandon{};
        }
        case fault_class::infrastructure: {
            const bool counts = last && p.release_counts;
            if (p.on_outage == when_down::abandon && !counts) return act::abandon{false};
            const bool defers = last ? p.defer_renews : p.on_outage == when_down::defer;
            if (defers && p.can_defer) {
                const auto n = static_cast<std::uint32_t>(lesser(count, UINT32_MAX));
                return put_off(pause(p.levels.pauses, n, draw, hint));
            }
            if (counts) return no_more;
            if (last) return act::abandon{false};
            return act::leave{left_for::outage};
        }
        case fault_class::cancelled:
            if (!last || !p.release_counts) return act::abandon{false};
            if (p.can_defer) return put_off({});
            return no_more;
    }
    return act::leave{left_for::lock_lost};
}

/// The reason to park it with: the limit by its name, and `why`. As in "exhausted: transient, 24 of
/// 24 tries (levels): timed out", "last_delivery: infrastructure, 10 of 10 deliveries
/// (max_deliveries): the store is down", "permanent: no such customer". At most `most` bytes, and
/// cut between characters.
[[nodiscard]] inline std::string text(const act::dead_letter_message& d, std::string_view why,
                                      std::size_t most = 1'024)
{
    std::string line(name(d.why));
    if (d.why != parked_for::permanent) {
        line += ": ";
        line += name(d.how);
        line += ", ";
        line += std::to_string(d.used);
        line += " of ";
        line += std::to_string(d.most);
        line += d.why == parked_for::exhausted ? " tries (levels)" : " deliveries (max_deliveries)";
    }
    if (!why.empty()) {
        line += ": ";
        line += utf8_prefix(why, most);
    }
    return std::string(utf8_prefix(line, most));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_SETTLE_HPP
