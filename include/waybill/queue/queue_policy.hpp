// SPDX-License-Identifier: MIT
//
// queue_policy: how run_queue locks, retries and paces the messages of a queue.
//
//     constexpr waybill::queue_policy policy{.lock = 90s, .retry_for = 24h};
//     static_assert(!waybill::validate(policy));
//
// The guide has a table of the defaults and their effects.

#ifndef WAYBILL_QUEUE_QUEUE_POLICY_HPP
#define WAYBILL_QUEUE_QUEUE_POLICY_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/circuit_breaker.hpp>

namespace waybill::inline v0_2 {

struct queue_policy {
    /// The copy of a message that takes its place, for queues that schedule copies.
    struct scheduled_copy {
        std::string id{};           ///< Made by scheduled_id. The same after a crash.
        std::string original_id{};  ///< Of the first message. The copy has it as a property.
        std::uint64_t tries = 0;    ///< Tries until now. The `tries` of the received copy.
        duration delay{};           ///< The time after which the copy becomes visible.

        friend bool operator==(const scheduled_copy&, const scheduled_copy&) = default;
    };

    /// The lock of the message in hand: the second argument of a handler, if it has one.
    class message_lock {
    public:
        template <class Held>
        explicit message_lock(Held& held)
            : held_(&held),
              keep_([](void* h) { return static_cast<Held*>(h)->keep(); }),
              left_([](void* h) { return static_cast<Held*>(h)->left(); })
        {
        }
        /// Renews the lock if that is due. False if the lock is lost, has expired, or has been kept
        /// for `max_handling`: the handler must stop. Call it between the steps of a handler, at
        /// least once in a third of the lock.
        [[nodiscard]] bool keep() { return keep_(held_); }
        /// The time for which the lock is certainly still held.
        [[nodiscard]] duration left() { return left_(held_); }

    private:
        void* held_;
        bool (*keep_)(void*);
        duration (*left_)(void*);
    };

    /// The lock duration of a received message, more than `to_settle`. If the queue has a lock of
    /// its own, at most that lock, unless its messages have `locked_for`.
    duration lock = duration::seconds(60);
    /// The shortest time for which transient faults of a message are retried, if the queue makes
    /// the requested pauses. Then the message is dead-lettered. `highest()` has no limit.
    duration retry_for = duration::seconds(86'400);
    /// The pauses of deferred messages. By default they grow from about 1 s to 100 to 150 s.
    backoff pauses{.base = duration::seconds(1),
                   .cap = duration::seconds(150),
                   .spread = backoff::jitter::around};
    /// The maximum that is configured at the queue; 2^64 - 1 if it has none. The defaults of
    /// brokers are low: 10 in Service Bus.
    std::uint64_t max_deliveries = detail::highest_size;
    /// The deliveries of a message in a row that may end without a settlement, at least 1. The next
    /// one is dead-lettered without a call of the handler. Reasons are a message that ends its
    /// process, and a handler that outlasts its lock. Queues that defer by themselves or with
    /// pointers need the member `crashes`, see the guide. 2^64 - 1 has no limit.
    std::uint64_t max_crashes = 5;
    /// The key of the ids of copies, for queues that schedule copies: at least 16 random bytes that
    /// senders do not know. All consumers of a queue have the same key. If it changes, a message in
    /// hand may be copied twice. It must outlive the call.
    std::string_view copy_key{};
    /// Maximum duration of a call to the queue, at least 0. With at most this left of a lock, only
    /// a success is reported to the queue.
    duration to_settle = duration::seconds(1);
    /// Time between two requests to an empty queue, more than 0. The time that `receive` itself
    /// waits is subtracted.
    duration poll_interval = duration::seconds(1);
    /// The longest time for which the lock of a message is renewed, more than 0. In an outage a
    /// message is kept for this time in each delivery but the first, if each delivery counts. This
    /// requires a queue with `renew`, a breaker, and `max_deliveries`.
    duration max_handling = duration::seconds(600);
    /// Gets the results of the handler. While it is open, nothing is received. Its `timeout` must
    /// be longer than the handler takes. It must outlive the call.
    circuit_breaker* breaker = nullptr;
    /// If true, the driver returns when the queue is empty and nothing is deferred. If the queue
    /// has no call `empty`, only messages that this call deferred are known.
    bool stop_when_empty = false;

    friend bool operator==(const queue_policy&, const queue_policy&) = default;
};

/// The first invalid field. A lock that is too short for a call to the queue is invalid. So are
/// pauses that can all be zero: no number of retries then lasts for `retry_for`.
/// `validate<my_queue>(policy)` also checks that `retry_for` fits `max_deliveries` of that queue.
[[nodiscard]] constexpr std::optional<config_error> validate(const queue_policy& p) noexcept
{
    const auto above_zero = [](std::string_view field, duration d) -> std::optional<config_error> {
        if (d > duration{}) return {};
        return config_error{field, detail::magnitude(d), "nanoseconds must be more than", 0,
                            d < duration{}};
    };
    const auto at_least_zero = [](std::string_view field,
                                  duration d) -> std::optional<config_error> {
        if (d >= duration{}) return {};
        return config_error{field, detail::magnitude(d), "nanoseconds must be at least", 0, true};
    };
    if (auto bad = above_zero("queue_policy.lock", p.lock)) return bad;
    if (auto bad = at_least_zero("queue_policy.retry_for", p.retry_for)) return bad;
    if (auto bad = validate(p.pauses)) return bad;
    const bool limited = p.retry_for != duration::highest() && p.retry_for != duration{};
    if (limited && pause(p.pauses, UINT32_MAX, 0.0) <= duration{}) {
        return config_error{"queue_policy.pauses.spread",
                            static_cast<std::uint64_t>(p.pauses.spread),
                            "must not be full (2), because such pauses may be 0 and retry_for is "
                            "limited; use around",
                            static_cast<std::uint64_t>(backoff::jitter::around)};
    }
    if (p.max_deliveries == 0)
        return config_error{"queue_policy.max_deliveries", 0, "must be at least", 1};
    if (p.max_crashes == 0)
        return config_error{"queue_policy.max_crashes", 0, "must be at least", 1};
    if (auto bad = at_least_zero("queue_policy.to_settle", p.to_settle)) return bad;
    if (p.to_settle >= p.lock) {
        return config_error{"queue_policy.to_settle", detail::magnitude(p.to_settle),
                            "nanoseconds must be less than queue_policy.lock",
                            detail::magnitude(p.lock)};
    }
    if (auto bad = above_zero("queue_policy.poll_interval", p.poll_interval)) return bad;
    return above_zero("queue_policy.max_handling", p.max_handling);
}

/// One line for a log. Example: "lock 1m30s, retries for 24h, pauses of 1s to 2m30s".
template <std::same_as<queue_policy> P>
[[nodiscard]] std::string describe(const P& p)
{
    std::string line = "lock " + to_text(p.lock);
    line += p.retry_for == duration::highest() ? std::string(", retries without limit")
                                               : ", retries for " + to_text(p.retry_for);
    line += ", pauses of " + to_text(p.pauses.base) + " to " + to_text(p.pauses.cap);
    if (p.max_deliveries != detail::highest_size)
        line += ", at most " + std::to_string(p.max_deliveries) + " deliveries";
    if (p.breaker != nullptr) line += ", with a circuit breaker";
    if (p.stop_when_empty) line += ", until the queue is empty";
    return line;
}

template <>
struct detail::words::line_of<queue_policy> : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_QUEUE_POLICY_HPP
