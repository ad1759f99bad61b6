// SPDX-License-Identifier: MIT
//
// queue_report: the outcomes of the messages that run_queue received.

#ifndef WAYBILL_QUEUE_QUEUE_REPORT_HPP
#define WAYBILL_QUEUE_QUEUE_REPORT_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// Each received message is counted in exactly one outcome. So `received` is the sum of
/// `completed`, `given_back`, `deferred`, `dead_lettered`, `left_to_lock`, `unconfirmed` and `stuck`.
/// Counts saturate.
struct [[nodiscard]] queue_report {
    /// The outcome of a delivery.
    enum class outcome : std::uint8_t {
        completed,      ///< The handler succeeded, and the queue has removed the message.
        given_back,     ///< Returned at once and not as a failure: a stop, or the breaker opened.
        deferred,       ///< Returned for a later time.
        dead_lettered,  ///< Moved to the dead letters with a reason.
        left_to_lock,   ///< The queue was not called; it delivers the message again.
        unconfirmed,    ///< The settlement failed: it was made, or the lock expires.
        stuck,          ///< Its dead letter is refused for good. It is handled again after a pause.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(outcome) noexcept
    {
        return "completed, given_back, deferred, dead_lettered, left_to_lock, unconfirmed, stuck";
    }

    /// The reason why the driver has returned.
    enum class end_reason : std::uint8_t {
        running,         ///< It has not returned, except by an exception.
        stopped,         ///< A stop request, or the time limit.
        empty,           ///< The queue was empty, and the policy wants an end then.
        queue_failed,    ///< `receive` failed for good: `permanent` or `ownership_lost`.
        invalid_policy,  ///< Nothing was done.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(end_reason) noexcept
    {
        return "running, stopped, empty, queue_failed, invalid_policy";
    }

    /// A delivery that was dead-lettered, left to its lock, unconfirmed or stuck.
    struct delivery {
        std::string id{};  ///< The `id` of the message, or its `number`; empty if it has neither.
        outcome how = outcome::completed;
        fault_kind kind = fault_kind::none;  ///< The result of the handler or of the settlement.
        std::string text{};                  ///< The reason of the dead letter, or the fault.

        friend bool operator==(const delivery&, const delivery&) = default;
    };

    /// Maximum size of `listed`.
    static constexpr std::uint64_t max_listed = 1'000;

    end_reason end = end_reason::running;
    std::uint64_t received = 0;
    std::uint64_t completed = 0;
    std::uint64_t given_back = 0;
    std::uint64_t deferred = 0;
    std::uint64_t dead_lettered = 0;
    std::uint64_t left_to_lock = 0;
    std::uint64_t unconfirmed = 0;
    std::uint64_t stuck = 0;
    /// Of `left_to_lock`: a callable threw an exception.
    std::uint64_t interrupted = 0;
    std::uint64_t outages = 0;    ///< `infrastructure` faults of the handler.
    std::uint64_t originals = 0;  ///< Of `received`: fetched with a pointer.
    /// Of `received`: a sample of those that came before the end of their deferral. If it grows, the
    /// clocks of queue and callers differ, or the queue waits less than it was asked to: `retry_for`
    /// then ends too early. Not counted if the queue has `make_due`.
    std::uint64_t early = 0;
    std::uint64_t renewals = 0;             ///< Successful renewals of locks.
    std::uint64_t failed_receives = 0;      ///< Requests for messages that failed.
    std::uint64_t failed_settlements = 0;   ///< Calls to settle that failed, with their retries.
    std::uint64_t breaker_waits = 0;        ///< Waits because of the circuit breaker.
    fault queue_fault{};                    ///< The last fault of the queue.
    std::optional<config_error> invalid{};  ///< The invalid field of the policy.
    std::vector<delivery> listed{};         ///< The first `max_listed` deliveries to check.
    std::uint64_t unlisted = 0;             ///< Further deliveries to check.

    /// The number of deliveries with this outcome.
    [[nodiscard]] std::uint64_t count_of(outcome o) const noexcept
    {
        switch (o) {
            case outcome::completed: return completed;
            case outcome::given_back: return given_back;
            case outcome::deferred: return deferred;
            case outcome::dead_lettered: return dead_lettered;
            case outcome::left_to_lock: return left_to_lock;
            case outcome::stuck: return stuck;
            case outcome::unconfirmed: break;
        }
        return unconfirmed;
    }

    friend bool operator==(const queue_report&, const queue_report&) = default;
};

/// One line: "order-7: dead_lettered: permanent: no such customer".
template <std::same_as<queue_report::delivery> D>
[[nodiscard]] std::string describe(const D& d)
{
    std::string line = d.id.empty() ? std::string("message") : d.id;
    line += ": ";
    line += name(d.how);
    if (!d.text.empty()) line += ": " + d.text;
    return line;
}

/// One line: "7 received, 5 completed, 2 dead-lettered; empty".
template <std::same_as<queue_report> R>
[[nodiscard]] std::string describe(const R& r)
{
    if (r.invalid) return std::string(name(r.end)) + ": " + describe(*r.invalid);
    std::string line = std::to_string(r.received) + " received";
    const auto add = [&line](std::uint64_t n, std::string_view text) {
        if (n == 0) return;
        line += ", " + std::to_string(n) + " ";
        line += text;
    };
    add(r.completed, "completed");
    add(r.given_back, "given back");
    add(r.deferred, "deferred");
    add(r.dead_lettered, "dead-lettered");
    add(r.left_to_lock, "left to their locks");
    add(r.unconfirmed, "unconfirmed");
    add(r.stuck, "stuck");
    add(r.early, "early");
    if (!r.queue_fault.text.empty()) line += "; the queue: " + r.queue_fault.text;
    line += "; ";
    line += name(r.end);
    return line;
}

template <>
struct detail::words::line_of<queue_report> : detail::words::described_line {};
template <>
struct detail::words::line_of<queue_report::delivery> : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_QUEUE_REPORT_HPP
