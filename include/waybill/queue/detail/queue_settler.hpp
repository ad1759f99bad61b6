// SPDX-License-Identifier: MIT
//
// queue_settler: the calls that settle the message in hand of run_queue.

#ifndef WAYBILL_QUEUE_DETAIL_QUEUE_SETTLER_HPP
#define WAYBILL_QUEUE_DETAIL_QUEUE_SETTLER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/queue/detail/held_lock.hpp>
#include <waybill/queue/detail/queue_abilities.hpp>
#include <waybill/queue/detail/queue_handler.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>
#include <waybill/queue/scheduled_id.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settlement.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2::detail {

/// Makes a call at most three times. `has_time(pause)` is true if the lock lasts for that pause and
/// another call. After a stop request no further call is made.
template <class Clock, class Call, class HasTime>
[[nodiscard]] fault call_to_settle(Clock& clock, queue_report& report, Call&& call,
                                   HasTime&& has_time)
{
    constexpr std::uint32_t max_calls = 3;
    constexpr backoff pauses{.base = duration::milliseconds(200),
                             .cap = duration::seconds(2),
                             .spread = backoff::jitter::equal};
    for (std::uint32_t n = 1;; ++n) {
        fault f = call();
        if (f.ok()) return f;
        report.failed_settlements = saturating_add(report.failed_settlements, 1);
        report.queue_fault = f;
        if (!is_worth_a_retry(f.kind) || n == max_calls) return f;
        const duration wait = pause(pauses, n, clock.random());
        if (!has_time(wait) || !clock.sleep_until(clock.now() + wait)) return f;
    }
}

template <class Q, class Clock>
struct pointer_settler {
    Q& queue;
    typename pointer_of<Q>::type& pointer;
    Clock& clock;
    queue_report& report;

    /// If it fails, the pointer is received again, and finds no message.
    void complete()
    {
        (void)settle([&]() -> fault { return queue.complete(pointer); });
    }

    /// Another pointer to the same message takes its place. Its deliveries count from 1. A crash
    /// between the calls leaves both. False if no pointer is scheduled: this one is left to its
    /// lock.
    bool replace(duration delay)
    {
        const auto tries = static_cast<std::uint64_t>(pointer.tries);
        const auto call = [&]() -> fault { return queue.schedule_pointer(pointer, tries, delay); };
        if (!settle(call).ok()) return false;
        complete();
        return true;
    }

    template <class Call>
    [[nodiscard]] fault settle(Call&& call)
    {
        return call_to_settle(clock, report, call, [](duration) { return true; });
    }
};

template <class Q, class Clock>
class queue_settler {
    using message = typename Q::message;
    using pointer = typename pointer_of<Q>::type;
    using abilities = queue_abilities<Q>;
    using lock_type = held_lock<Q, Clock>;
    using outcome = queue_report::outcome;

public:
    /// `tries` are those of the pointer that returned the message, or 0.
    queue_settler(Q& queue, message& m, pointer* p, std::uint64_t tries, lock_type& lock,
                  const queue_policy& policy, Clock& clock, queue_report& report)
        : queue_(queue),
          message_(m),
          pointer_(p),
          tries_(tries),
          lock_(lock),
          policy_(policy),
          clock_(clock),
          report_(report)
    {
    }

    /// Settles the message, then its pointer, and records the outcome.
    /// `called` is true if the handler was called.
    outcome settle(const settlement& s, const fault& reason, bool called,
                   delivery_record<queue_report>& record)
    {
        outcome how = outcome::left_to_lock;
        std::string text = reason.text;
        const std::string lock_end = lock_.end_before("the settlement");
        bool is_refused = false;  // the dead letter, for good
        fault failure;
        match(
            s,
            [&](complete) {
                how = outcome::completed;
                failure = call([&]() -> fault { return queue_.complete(message_); });
            },
            [&](abandon a) {
                how = outcome::given_back;
                failure = call([&]() -> fault { return give_back(a.failed); });
            },
            [&](waybill::defer d) {
                how = outcome::deferred;
                failure = hold_back(d.delay, reason.kind == fault_kind::transient);
            },
            [&](const dead_letter_message& d) {
                how = outcome::dead_lettered;
                text = waybill::describe(d, reason.text);
                failure = bury(text);
                is_refused = failure.kind == fault_kind::permanent;
            },
            [&](let_lock_expire l) {
                text = name(l.reason);
                if (called && !lock_end.empty()) text += ": " + lock_end;
                if (!reason.text.empty()) text += ": " + reason.text;
            });
        if (is_refused && pause_for_good_refusal()) {
            how = outcome::stuck;
            settle_pointer(how);
            record.end(
                how, reason.kind,
                "the queue refuses the dead letter: " + failure.text + "; its reason: " + text);
            return how;
        }
        if (failure.ok()) {
            if (how != outcome::left_to_lock) settle_pointer(how);
            visible_at_ = later(visible_at_, clock_.now());
            if (how == outcome::left_to_lock) visible_at_ = visible_at_ + lock_.left();
            record.end(how, reason.kind, std::move(text));
            return how;
        }
        how = outcome::unconfirmed;
        if (!lock_end.empty()) {
            // The queue may have another name for it.
            failure.text = lock_end + ": " + failure.text;
            report_.queue_fault.text = failure.text;
        }
        visible_at_ = later(visible_at_, clock_.now() + lock_.left());
        record.end(how, failure.kind, std::move(failure.text));
        return how;
    }

    /// When the message becomes visible again, if it was not completed or dead-lettered.
    [[nodiscard]] steady_time visible_at() const noexcept { return visible_at_; }

private:
    template <class Call>
    [[nodiscard]] fault call(Call&& c)
    {
        return call_to_settle(clock_, report_, c, [&](duration wait) {
            return lock_.left() > wait + policy_.to_settle;
        });
    }

    /// Stores a dead letter. If it is refused for good, as one that is too large, the reason is
    /// shortened, and then the body replaced by a reference if the queue can do that.
    [[nodiscard]] fault bury(std::string_view reason)
    {
        constexpr std::size_t short_bytes = 128;
        fault f = call([&]() -> fault { return queue_.dead_letter(message_, reason); });
        const std::string_view shortened = utf8_prefix(reason, short_bytes);
        if (f.kind == fault_kind::permanent && shortened.size() != reason.size())
            f = call([&]() -> fault { return queue_.dead_letter(message_, shortened); });
        if constexpr (dead_letters_by_reference<Q>) {
            if (f.kind != fault_kind::permanent) return f;
            f = call(
                [&]() -> fault { return queue_.dead_letter_by_reference(message_, shortened); });
        }
        return f;
    }

    /// Defers the message for the longest pause, or for its lock if the queue cannot defer. False if
    /// that fails.
    [[nodiscard]] bool pause_for_good_refusal()
    {
        if (!abilities::can_defer) {
            visible_at_ = clock_.now() + lock_.left();
            return true;
        }
        const duration longest = pause(policy_.pauses, UINT32_MAX, clock_.random());
        return hold_back(longest, false).ok();
    }

    [[nodiscard]] fault give_back(bool failed)
    {
        if constexpr (abandons_uncounted<Q>) return queue_.abandon(message_, failed);
        else return queue_.abandon(message_);
    }

    [[nodiscard]] fault hold_back(duration delay, bool failed)
    {
        if constexpr (abilities::by_pointer) {
            // A pointer that is visible before the lock ends may find its message not deferred.
            delay = greater(delay, lock_.left());
            visible_at_ = clock_.now() + delay;
            const std::uint64_t tries = saturating_add(tries_, failed ? 1 : 0);
            fault f =
                call([&]() -> fault { return queue_.schedule_pointer(message_, tries, delay); });
            if (!f.ok()) return f;
            return call([&]() -> fault { return queue_.defer(message_); });
        } else if constexpr (abilities::by_copy) {
            visible_at_ = clock_.now() + delay;
            return replace_by_copy(delay, failed);
        } else if constexpr (defers_uncounted<Q>) {
            visible_at_ = clock_.now() + delay;
            return call([&]() -> fault { return queue_.defer(message_, delay, failed); });
        } else if constexpr (defers_counted<Q>) {
            visible_at_ = clock_.now() + delay;
            return call([&]() -> fault { return queue_.defer(message_, delay); });
        } else {
            return {};  // settle() defers no message of a queue that cannot
        }
    }

    /// First the copy, then the message: a crash between the calls repeats both, and the broker
    /// drops the second copy by its id.
    [[nodiscard]] fault replace_by_copy(duration delay, bool failed)
    {
        const std::string_view id = message_.id;
        const std::string_view original = message_.original_id;
        const auto number = static_cast<std::uint64_t>(message_.number);
        const auto count = static_cast<std::uint64_t>(message_.deliveries);
        const auto tries = saturating_add(static_cast<std::uint64_t>(message_.tries),
                                          failed ? count : saturating_sub(count, 1));
        const queue_policy::scheduled_copy copy{scheduled_id(policy_.copy_key, number, id),
                                                std::string(original.empty() ? id : original),
                                                tries, delay};
        fault f = call([&]() -> fault { return queue_.schedule_copy(message_, copy); });
        if (!f.ok()) return f;
        return call([&]() -> fault { return queue_.complete(message_); });
    }

    void settle_pointer(outcome how)
    {
        if constexpr (abilities::by_pointer) {
            if (pointer_ == nullptr) return;
            pointer_settler<Q, Clock> settler{queue_, *pointer_, clock_, report_};
            if (how == outcome::given_back) settler.replace(duration{});
            else settler.complete();
        }
    }

    Q& queue_;
    message& message_;
    pointer* pointer_;
    std::uint64_t tries_;
    lock_type& lock_;
    const queue_policy& policy_;
    Clock& clock_;
    queue_report& report_;
    steady_time visible_at_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_QUEUE_SETTLER_HPP
