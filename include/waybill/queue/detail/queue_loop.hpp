// SPDX-License-Identifier: MIT
//
// queue_loop: receives, handles and settles one message after the other. Part of run_queue.

#ifndef WAYBILL_QUEUE_DETAIL_QUEUE_LOOP_HPP
#define WAYBILL_QUEUE_DETAIL_QUEUE_LOOP_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/queue/detail/held_lock.hpp>
#include <waybill/queue/detail/queue_abilities.hpp>
#include <waybill/queue/detail/queue_handler.hpp>
#include <waybill/queue/detail/queue_settler.hpp>
#include <waybill/queue/message_queue.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settlement.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/retry/scoped_permit.hpp>

namespace waybill::inline v0_2::detail {

template <class Q, class Handler, class OutsideClock>
class queue_loop {
    using message = typename Q::message;
    using pointer = typename pointer_of<Q>::type;
    using abilities = queue_abilities<Q>;
    using clock_type = forward_clock<OutsideClock>;
    using lock_type = held_lock<Q, clock_type>;
    using checked_handler = checked_queue_handler<Handler, message>;

public:
    queue_loop(Q& queue, Handler& handler, const queue_policy& policy, OutsideClock& clock,
               queue_report& report)
        : queue_(queue),
          handler_(handler),
          policy_(policy),
          settle_policy_(settle_policy_of<Q>(policy)),
          outage_policy_(settle_policy_),
          clock_(clock),
          report_(report)
    {
        // A delivery that uses up nothing may also be the last one.
        if (abilities::defers_free) outage_policy_.defer_renews = true;
    }

    void run()
    {
        report_.end = queue_report::end_reason::running;
        report_.invalid = check_for_queue<Q>(policy_);
        if (report_.invalid) return end(queue_report::end_reason::invalid_policy);
        while (report_.end == queue_report::end_reason::running) step();
    }

private:
    void end(queue_report::end_reason reason) noexcept { report_.end = reason; }

    void sleep_until(steady_time t)
    {
        if (!clock_.sleep_until(t)) end(queue_report::end_reason::stopped);
    }

    /// One request to the queue with its message, or one wait.
    void step()
    {
        if (clock_.stop_requested()) return end(queue_report::end_reason::stopped);
        const steady_time now = clock_.now();
        if (policy_.breaker != nullptr && policy_.breaker->room(now) == 0)
            return wait_for_breaker(now);
        if constexpr (makes_due<Q>) end_deferrals_after_outage();
        if constexpr (abilities::by_pointer) {
            if (pairs_are_due(now) && receive_original(now)) return;
            if (report_.end != queue_report::end_reason::running) return;
            if (clock_.stop_requested()) return end(queue_report::end_reason::stopped);
        }
        receive_message(clock_.now());
    }

    /// Records a result of the handler. A success after an outage that has opened the circuit
    /// breaker: the dependency is back.
    void note_outage(fault_kind kind)
    {
        if (kind == fault_kind::none && std::exchange(has_outage_, false)) is_over_ = true;
        if (kind != fault_kind::infrastructure || policy_.breaker == nullptr) return;
        const auto state = policy_.breaker->state(clock_.now());
        if (state != circuit_breaker::circuit_state::closed) has_outage_ = true;
    }

    void end_deferrals_after_outage()
        requires makes_due<Q>
    {
        if (!is_over_) return;
        fault f = queue_.make_due();
        is_over_ = !f.ok() && is_worth_a_retry(f.kind);
        if (!f.ok()) report_.queue_fault = std::move(f);
    }

    void wait_for_breaker(steady_time now)
    {
        report_.breaker_waits = saturating_add(report_.breaker_waits, 1);
        sleep_until(breaker_change(now));
    }

    /// When the circuit breaker may allow calls again.
    [[nodiscard]] steady_time breaker_change(steady_time now) const
    {
        const steady_time next = policy_.breaker->next_change(now);
        const bool known = now < next && next != steady_time::highest();
        return known ? next : now + policy_.poll_interval;
    }

    void receive_message(steady_time requested)
    {
        result<std::optional<message>> received = queue_.receive(policy_.lock);
        if (!received) return receive_failed(std::move(received).error());
        consecutive_failures_ = 0;
        if (!*received) return nothing_received(requested);
        handle(**received, nullptr, 0, requested);
    }

    void nothing_received(steady_time requested)
    {
        if (policy_.stop_when_empty && is_empty()) return end(queue_report::end_reason::empty);
        steady_time next = requested + policy_.poll_interval;
        if (abilities::by_pointer) next = earlier(next, later(next_pair_, requested));
        if (clock_.now() < next) sleep_until(next);
    }

    [[nodiscard]] bool is_empty()
    {
        if constexpr (reports_empty<Q>) {
            if (clock_.stop_requested()) return false;
            result<bool> r = queue_.empty();
            if (r) return *r;
            report_.queue_fault = std::move(r).error();
            return false;
        } else {
            return !(clock_.now() < deferred_until_);
        }
    }

    void receive_failed(fault f)
    {
        const fault_kind kind = f.kind;
        report_.failed_receives = saturating_add(report_.failed_receives, 1);
        report_.queue_fault = std::move(f);
        if (kind == fault_kind::cancelled) return end(queue_report::end_reason::stopped);
        if (!is_worth_a_retry(kind)) return end(queue_report::end_reason::queue_failed);
        if (consecutive_failures_ != UINT32_MAX) ++consecutive_failures_;
        constexpr backoff pauses{.base = duration::milliseconds(500),
                                 .cap = duration::seconds(30),
                                 .spread = backoff::jitter::equal};
        sleep_until(clock_.now() + pause(pauses, consecutive_failures_, clock_.random()));
    }

    /// After each change of the breaker's state, due originals are requested first.
    [[nodiscard]] bool pairs_are_due(steady_time now)
    {
        const std::uint64_t generation =
            policy_.breaker == nullptr ? 0 : policy_.breaker->generation(now);
        if (std::exchange(breaker_generation_, generation) != generation) next_pair_ = now;
        return !(now < next_pair_);
    }

    /// False if no pointer was received.
    bool receive_original(steady_time requested)
    {
        auto received = queue_.receive_pointer(policy_.lock);
        next_pair_ = requested + policy_.poll_interval;
        if (!received) {
            receive_failed(std::move(received).error());
            return true;
        }
        if (!*received) return false;
        next_pair_ = requested;
        pointer& p = **received;
        const auto deliveries = static_cast<std::uint64_t>(p.deliveries);
        if (clock_.stop_requested()) return settler(p).replace(duration{}), true;
        auto original = queue_.receive_deferred(p, policy_.lock);
        if (original && !*original) {
            // The message is gone, or its consumer has scheduled the pointer and will defer the
            // message now. After the first lock of the pointer, that consumer has no lock.
            if (deliveries > 1) settler(p).complete();
            return true;
        }
        // Before the pointer reaches the maximum of deliveries that is configured at its queue.
        constexpr std::uint64_t max_deliveries = 4;
        const bool is_replaced = deliveries > max_deliveries && settler(p).replace(policy_.lock);
        if (!original) {
            // The pointer is left to its lock, so that other pairs are received meanwhile.
            const fault_kind kind = original.error().kind;
            report_.failed_receives = saturating_add(report_.failed_receives, 1);
            report_.queue_fault = std::move(original).error();
            if (kind != fault_kind::transient) next_pair_ = clock_.now() + policy_.poll_interval;
            return true;
        }
        report_.originals = saturating_add(report_.originals, 1);
        handle(**original, is_replaced ? nullptr : &p, static_cast<std::uint64_t>(p.tries),
               requested);
        return true;
    }

    /// `p` and `tries` are the pointer of the message and its tries, or null and 0.
    void handle(message& m, pointer* p, std::uint64_t tries, steady_time requested)
    {
        const std::string id = id_of_message(m);
        if (id == watched_id_ && requested < watched_until_)
            report_.early = saturating_add(report_.early, 1);
        delivery_record<queue_report> record(report_, id);
        lock_type lock(queue_, m, p, policy_, clock_, requested, report_);
        const queue_delivery d = delivery_of(m, tries);
        const handled h = result_of(m, d, lock);
        const settlement s = settlement_of(d, h, lock);
        if (holds_alternative<let_lock_expire>(s) && h.retry_after > duration{})
            keep_for_server(h, lock);
        queue_settler<Q, clock_type> settler(queue_, m, p, tries, lock, policy_, clock_, report_);
        const queue_report::outcome how = settler.settle(s, h.reason, called_, record);
        // If the message becomes visible again, the queue is not empty until then.
        if (how != queue_report::outcome::completed && how != queue_report::outcome::dead_lettered)
            deferred_until_ = later(deferred_until_, settler.visible_at());
        if (how == queue_report::outcome::deferred || how == queue_report::outcome::stuck) {
            if (abilities::by_pointer) next_pair_ = earlier(next_pair_, settler.visible_at());
            watch(id, settler.visible_at());
        }
        if (how == queue_report::outcome::given_back)  // it would be received again at once
            sleep_until(clock_.now() + policy_.poll_interval);
    }

    /// Remembers one deferral until its end.
    void watch(const std::string& id, steady_time until)
    {
        const bool is_free = id == watched_id_ || !(clock_.now() < watched_until_);
        if (makes_due<Q> || !abilities::can_defer || !is_free) return;
        watched_id_ = id;
        watched_until_ = until - policy_.to_settle;  // the queue may round the delay
    }

    /// The result of the handler, or the reason why it was not called. In an outage, from the
    /// second delivery of a message on, the message is kept and handled again. So the outage uses
    /// up no further delivery.
    [[nodiscard]] handled result_of(message& m, const queue_delivery& d, lock_type& lock)
    {
        handled h = call_handler(m, d, lock);
        if constexpr (!abilities::defers_free && renews<Q, message>) {
            const bool is_limited = policy_.max_deliveries != highest_size;
            if (policy_.breaker == nullptr || !is_limited || d.count < 2 || !called_) return h;
            while (h.reason.kind == fault_kind::infrastructure && wait_in_hand(h, lock)) {
                handled next = call_handler(m, d, lock);
                if (called_) h = std::move(next);
            }
        }
        return h;
    }

    /// Waits until the handler may be called again, and keeps the lock. False if the message has to
    /// be settled before.
    [[nodiscard]] bool wait_in_hand(const handled& h, lock_type& lock)
    {
        const auto n = static_cast<std::uint32_t>(lesser(consecutive_outages_, UINT32_MAX));
        steady_time next = clock_.now();
        if (policy_.breaker->room(next) != 0)
            next = next + pause(policy_.pauses, n, clock_.random(), h.retry_after);
        else report_.breaker_waits = saturating_add(report_.breaker_waits, 1);
        for (;;) {
            if (clock_.stop_requested() || !lock.keep()) return false;
            const duration rest = lock.left() - policy_.to_settle * 2;  // time for a call
            if (rest <= duration{}) return false;
            const steady_time now = clock_.now();
            const bool passes = policy_.breaker->room(now) != 0;
            if (passes && next <= now) return lock.renew_now();
            const steady_time wanted = passes ? next : later(next, breaker_change(now));
            if (!clock_.sleep_until(earlier(wanted, earlier(lock.next_keep(), now + rest))))
                return false;
        }
    }

    /// The message is not deferred until the end of the server's delay. So nothing is received until
    /// then, and the lock is renewed if it ends earlier.
    void keep_for_server(const handled& h, lock_type& lock)
    {
        steady_time now = clock_.now();
        const steady_time end = now + pause(policy_.pauses, 1, clock_.random(), h.retry_after);
        for (; now + lock.left() < end; now = clock_.now()) {
            steady_time next = end;
            if constexpr (renews<Q, message>)
                if (lock.keep()) next = earlier(end, lock.next_keep());
            if (!clock_.sleep_until(next)) return;
        }
    }

    /// The result of the handler, or why it was not called.
    [[nodiscard]] handled call_handler(message& m, const queue_delivery& d, lock_type& lock)
    {
        called_ = false;
        unhandled_ = limit_reached(m, d);
        if (unhandled_) return {transient(lost_delivery_text), {}};
        if (clock_.stop_requested()) return {cancelled("a stop was requested"), {}};
        if (!lock.keep()) {
            std::string text = lock.end_before("the handler");
            if (text.empty()) text = "max_handling ended before the handler";
            return {ownership_lost(std::move(text)), {}};
        }
        if (const duration left = lock.left(); left <= policy_.to_settle) {
            return {ownership_lost("the lock had " + to_text(left) +
                                   " left before the handler: must be more than to_settle, " +
                                   to_text(policy_.to_settle)),
                    {}};
        }
        queue_policy::message_lock argument(lock);
        if (policy_.breaker == nullptr) return call(m, argument);
        const double random = clock_.random();
        auto permit = scoped_permit(
            *policy_.breaker, [this]() noexcept(noexcept(clock_.now())) { return clock_.now(); });
        if (!permit) return {cancelled("the circuit breaker is open"), {}};
        handled h = call(m, argument);
        permit.record(h.reason.kind, random);
        note_outage(h.reason.kind);
        return h;
    }

    [[nodiscard]] handled call(const message& m, queue_policy::message_lock& argument)
    {
        called_ = true;
        handled h;
        if constexpr (std::is_void_v<typename checked_handler::result_type>)
            checked_handler::call(handler_, m, argument);
        else h = handled_as(checked_handler::call(handler_, m, argument));
        if (h.reason.kind == fault_kind::infrastructure) {
            report_.outages = saturating_add(report_.outages, 1);
            consecutive_outages_ = saturating_add(consecutive_outages_, 1);
        }
        if (h.reason.kind == fault_kind::none) consecutive_outages_ = 0;
        return h;
    }

    static constexpr const char* lost_delivery_text =
        defers_uncounted<Q> || abandons_uncounted<Q>
            ? "the last delivery before this one ended without a settlement, as after a crash, or "
              "the queue ignores `failed`"
            : "the last delivery before this one ended without a settlement, as after a crash";

    /// The limit that a message has reached before its handler is called. The settlement of the
    /// last permitted try dead-letters the message. So the delivery before this one ended without a
    /// settlement, or the queue ignores `failed`.
    [[nodiscard]] std::optional<dead_letter_message> limit_reached(const message& m,
                                                                   const queue_delivery& d) const
    {
        using cause = dead_letter_message::cause;
        constexpr fault_kind kind = fault_kind::transient;
        const std::uint64_t max_deliveries = settle_policy_.max_deliveries;
        if (d.count > max_deliveries)
            return dead_letter_message{cause::last_delivery, kind, d.count, max_deliveries};
        const std::uint64_t crashes = crashes_of(m);
        if (abilities::counts_crashes && crashes >= policy_.max_crashes)
            return dead_letter_message{cause::crashes, kind, crashes, policy_.max_crashes};
        const std::uint64_t tries =
            saturating_sub(d.tries, saturating_add(d.outage_deliveries, crashes));
        if (counts_tries && tries > max_tries())
            return dead_letter_message{cause::exhausted, kind, tries, max_tries()};
        return {};
    }

    /// The deliveries directly before this one that ended without a settlement; 0 if unknown.
    [[nodiscard]] static std::uint64_t crashes_of(const message& m)
    {
        if constexpr (!abilities::counts_crashes) return 0;
        else if constexpr (reports_crashes<message>) return static_cast<std::uint64_t>(m.crashes);
        else return saturating_sub(static_cast<std::uint64_t>(m.deliveries), 1);
    }

    /// True if outages do not add to the tries of a message.
    static constexpr bool counts_tries =
        abilities::defers_free || requires(const message& m) { m.outage_deliveries; };

    /// A valid message survives some crashes, even if the policy allows no retry.
    [[nodiscard]] std::uint64_t max_tries() const
    {
        constexpr std::uint64_t min_crashes = 10;  // the default of Service Bus for deliveries
        return greater(settle_policy_.levels.max_attempts(), min_crashes);
    }

    [[nodiscard]] static queue_delivery delivery_of(const message& m, std::uint64_t pointer_tries)
    {
        queue_delivery d;
        d.count = greater(static_cast<std::uint64_t>(m.deliveries), 1);
        d.tries = d.count;
        if constexpr (abilities::by_copy)
            d.tries = saturating_add(d.count, static_cast<std::uint64_t>(m.tries));
        if constexpr (abilities::by_pointer) d.tries = saturating_add(d.count, pointer_tries);
        if constexpr (requires { static_cast<std::uint64_t>(m.outage_deliveries); })
            d.outage_deliveries = static_cast<std::uint64_t>(m.outage_deliveries);
        return d;
    }

    [[nodiscard]] settlement settlement_of(queue_delivery d, const handled& h, lock_type& lock)
    {
        const fault_kind kind = h.reason.kind;
        d.lock_left = lock.left();
        if (unhandled_ && d.lock_left > policy_.to_settle) return *unhandled_;
        const bool is_outage = kind == fault_kind::infrastructure || kind == fault_kind::cancelled;
        // If a deferral uses up no delivery, the count of a message does not grow in an outage. Its
        // pauses would not grow either.
        if (kind == fault_kind::infrastructure && abilities::defers_free)
            d.count = greater(d.count, consecutive_outages_);
        return settle_with(is_outage ? outage_policy_ : settle_policy_, d, h);
    }

    [[nodiscard]] settlement settle_with(const settle_policy& p, const queue_delivery& d,
                                         const handled& h)
    {
        return settle(p, d, h.reason.kind, clock_.random(), h.retry_after);
    }

    auto settler(pointer& p) { return pointer_settler<Q, clock_type>{queue_, p, clock_, report_}; }

    Q& queue_;
    Handler& handler_;
    const queue_policy& policy_;
    settle_policy settle_policy_;
    settle_policy outage_policy_;  // after a fault that is not the message's
    clock_type clock_;
    queue_report& report_;
    std::uint32_t consecutive_failures_ = 0;  // of `receive`
    std::uint64_t consecutive_outages_ = 0;   // of the handler
    std::uint64_t breaker_generation_ = 0;
    bool has_outage_ = false;  // that has opened the circuit breaker
    bool is_over_ = false;     // such an outage, and its deferrals are not ended yet
    steady_time next_pair_ = steady_time::lowest();
    steady_time deferred_until_ = steady_time::lowest();
    std::string watched_id_{};  // of a deferred message
    steady_time watched_until_ = steady_time::lowest();
    std::optional<dead_letter_message>
        unhandled_;        // the limit that the message in hand has reached
    bool called_ = false;  // the handler, for the message in hand
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_QUEUE_LOOP_HPP
