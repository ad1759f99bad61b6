// SPDX-License-Identifier: MIT
//
// held_lock: the lock of the message that run_queue has in hand.

#ifndef WAYBILL_QUEUE_DETAIL_HELD_LOCK_HPP
#define WAYBILL_QUEUE_DETAIL_HELD_LOCK_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/queue/detail/queue_abilities.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>

namespace waybill::inline v0_2::detail {

/// The clock of a run. Its steady time never goes back, so a lock is never assumed to last longer.
template <class Clock>
class forward_clock {
    Clock& clock_;  // first, because the exception specification of now() names it

public:
    explicit forward_clock(Clock& clock) : clock_(clock) {}

    [[nodiscard]] steady_time now() noexcept(noexcept(clock_.now()))
    {
        latest_ = later(latest_, clock_.now());
        return latest_;
    }
    [[nodiscard]] wall_time wall_now() { return clock_.wall_now(); }
    [[nodiscard]] double random() { return clock_.random(); }
    [[nodiscard]] bool stop_requested() { return clock_.stop_requested(); }
    [[nodiscard]] bool sleep_until(steady_time t) { return clock_.sleep_until(t); }

private:
    steady_time latest_ = steady_time::lowest();
};

/// The options of the renewals of one lock. They are valid for each valid policy.
[[nodiscard]] constexpr lock_renewal_types::config renewal_config(const queue_policy& p) noexcept
{
    lock_renewal_types::config c;
    c.lock = p.lock;
    c.answer_timeout = lesser(c.answer_timeout, p.lock * 0.25);
    c.pauses.base = lesser(c.pauses.base, p.lock * 0.05);
    c.max_duration = p.max_handling;
    return c;
}

/// The lock of a message, and that of its pointer if it has one.
template <class Q, class Clock>
class held_lock {
    using message = typename Q::message;
    using pointer = typename pointer_of<Q>::type;

public:
    held_lock(Q& queue, message& m, pointer* p, const queue_policy& policy, Clock& clock,
              steady_time requested, queue_report& report)
        : queue_(queue),
          message_(m),
          pointer_(p),
          lock_(policy.lock),
          clock_(clock),
          report_(report),
          renewal_(renewal_config(policy))
    {
        renewal_.on(lock_renewal::lock_taken{reported_lock()}, requested);
        set_end(requested);
    }

    /// Renews if that is due, with one call. True if the lock is held.
    [[nodiscard]] bool keep()
    {
        if constexpr (renews<Q, message>) {
            const lock_renewal::action next = renewal_.next(clock_.now());
            if (const auto* r = get_if<lock_renewal::renew>(&next)) (void)renew(r->attempt);
        }
        return !renewal_.ended(clock_.now());
    }

    /// Renews at once, so that a repeated call of the handler has the whole lock. False if the lock
    /// cannot be renewed any more, or if the renewal fails.
    [[nodiscard]] bool renew_now()
        requires renews<Q, message>
    {
        return !renewal_.ended(clock_.now()) && renew(renewal_.attempts() + 1);
    }

    /// When `keep` is due.
    [[nodiscard]] steady_time next_keep()
    {
        const steady_time now = clock_.now();
        const lock_renewal::action next = renewal_.next(now);
        const auto* const wait = get_if<wait_until>(&next);
        return wait == nullptr ? now : wait->time;
    }

    [[nodiscard]] duration left() { return renewal_.left(clock_.now()); }

    /// "the lock ended at 2024-02-29T12:00:00Z, 5s before the settlement"; empty if it is held.
    /// `event` follows the word "before".
    [[nodiscard]] std::string end_before(std::string_view event)
    {
        const steady_time now = clock_.now();
        if (renewal_.left(now) > duration{}) return {};
        const duration elapsed = greater(now - end_, duration{});
        std::string line = "the lock ";
        line += is_lost_ ? "was refused at its renewal at " : "ended at ";
        line += to_text(clock_.wall_now() - elapsed);
        line += ", " + to_text(elapsed) + " before ";
        line += event;
        return line;
    }

private:
    [[nodiscard]] std::optional<duration> reported_lock() const
    {
        if constexpr (reports_lock<message>) return duration{message_.locked_for};
        else return {};
    }

    void set_end(steady_time requested) { end_ = requested + reported_lock().value_or(lock_); }

    bool renew(std::uint32_t attempt)
    {
        const double random = clock_.random();
        const steady_time requested = clock_.now();
        renewal_.on(lock_renewal::renewal_started{attempt, random}, requested);
        fault f = queue_.renew(message_, lock_);
        if constexpr (renews<Q, pointer>) {
            // A pointer whose lock is lost is received again, and finds its message locked.
            if (f.ok() && pointer_ != nullptr) (void)queue_.renew(*pointer_, lock_);
        }
        if (f.ok()) {
            ++report_.renewals;
            const event_result e =
                renewal_.on(lock_renewal::lock_renewed{attempt, reported_lock()}, clock_.now());
            if (e == event_result::applied) set_end(requested);
        } else {
            const steady_time now = clock_.now();
            renewal_.on(lock_renewal::renewal_failed{attempt, f.kind, random, {}}, now);
            if (f.kind == fault_kind::ownership_lost && now < end_) {
                is_lost_ = true;
                end_ = now;
            }
            report_.queue_fault = f;
        }
        return f.ok();
    }

    Q& queue_;
    message& message_;
    pointer* pointer_;
    duration lock_;
    Clock& clock_;
    queue_report& report_;
    lock_renewal renewal_;
    steady_time end_{};     // of the lock, or of the renewal that the queue has refused
    bool is_lost_ = false;  // by such a renewal
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_HELD_LOCK_HPP
