// SPDX-License-Identifier: MIT
//
// resubmit_run: sends one dead letter and removes it. Part of resubmit.

#ifndef WAYBILL_CONSUME_DETAIL_RESUBMIT_RUN_HPP
#define WAYBILL_CONSUME_DETAIL_RESUBMIT_RUN_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/consume/detail/checked_stores.hpp>
#include <waybill/consume/detail/dead_letter_loop.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/detail/driver_call.hpp>
#include <waybill/core/detail/send_pace.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::detail {

/// Refuses a send function of a wrong type.
template <class Send>
struct checked_resubmit_send {
    static constexpr bool takes_id = std::invocable<Send&, const dead_letter&, std::string_view>;
    static constexpr bool takes_letter = takes_id || std::invocable<Send&, const dead_letter&>;
    static constexpr bool returns_fault =
        !takes_letter || driver_callable<Send, const dead_letter&> ||
        driver_callable<Send, const dead_letter&, std::string_view>;
    static constexpr bool ok = takes_letter && returns_fault;

    static_assert(takes_letter,
                  "resubmit: the send function must accept a const dead_letter&, or "
                  "a const dead_letter& and its message id");
    static_assert(returns_fault,
                  "resubmit: the send function must return a fault, a fault_kind, "
                  "a result<void>, a call_answer or nothing, and not bool");
};

template <class Store, class Send, class Clock>
class resubmit_run {
    static_assert(checked_dead_letter_queue<Store>::ok && checked_resubmit_send<Send>::ok);

public:
    resubmit_run(Store& store, Send& send, Clock& clock, const dead_letter::run_policy& policy,
                 dead_letter::run_report& report)
        : store_(store),
          send_(send),
          clock_(clock),
          policy_(policy),
          report_(report),
          pace_(policy.max_per_second)
    {
    }

    /// Sends the dead letter unless an earlier attempt has sent it, then removes it.
    [[nodiscard]] letter_attempt try_one(const dead_letter& listed)
    {
        if (!sent_) {
            const auto found = store_.find(listed.key, listed.at.sequence);
            if (!found) return {letter_state::retry, found.error()};
            if (!*found) return counted(report_.absent);
            if ((*found)->kept != dead_letter_body::body && !policy_.fetches_bodies)
                return counted(report_.gone);
            if (clock_.stop_requested() || !pace_.wait(clock_)) return {letter_state::stopped};
            call_fault f = send(**found);
            if (f.reason.kind == fault_kind::permanent) return {letter_state::refused, f.reason};
            if (f.reason.kind == fault_kind::cancelled) return {letter_state::stopped};
            if (!f.reason.ok()) return {letter_state::retry, std::move(f.reason), f.retry_after};
            sent_ = true;
        }
        fault f = remove(listed);
        if (!f.ok()) return {letter_state::retry, std::move(f)};
        sent_ = false;
        return counted(report_.done);
    }

    /// The dead letter is not settled. If its message was sent, it can be sent again.
    void leave() noexcept
    {
        if (sent_) ++report_.in_doubt;
        sent_ = false;
    }

private:
    [[nodiscard]] static letter_attempt counted(std::uint64_t& counter)
    {
        ++counter;
        return {letter_state::settled};
    }

    /// Calls the send function. Counts an unknown outcome, also of an exception.
    [[nodiscard]] call_fault send(const dead_letter& d)
    {
        struct attempt {
            dead_letter::run_report& report;
            bool in_doubt = true;
            ~attempt()
            {
                if (in_doubt) ++report.in_doubt;
            }
        };
        attempt guard{report_};
        call_fault f = call(d);
        guard.in_doubt = f.reason.kind == fault_kind::infrastructure;
        return f;
    }

    [[nodiscard]] call_fault call(const dead_letter& d)
    {
        if constexpr (checked_resubmit_send<Send>::takes_id) {
            const std::string id = idempotency_key(d.key, d.at.sequence);
            return driver_call(send_, d, std::string_view(id));
        } else {
            return driver_call(send_, d);
        }
    }

    /// Removes a dead letter whose message was sent. If another caller has removed it, that is a
    /// success.
    [[nodiscard]] fault remove(const dead_letter& d)
    {
        auto tx = store_.begin();
        if (!tx) return tx.error();
        const auto was_there = store_.remove(*tx, d.key, d.at.sequence);
        if (!was_there) return was_there.error();
        if (!*was_there) return {};
        const auto done = tx->commit();
        if (done && *done == commit_outcome::applied) return {};
        const auto stored = store_.find(d.key, d.at.sequence);
        if (!stored) return stored.error();
        if (!*stored) return {};
        return done ? infrastructure("commit not confirmed") : done.error();
    }

    Store& store_;
    Send& send_;
    Clock& clock_;
    const dead_letter::run_policy& policy_;
    dead_letter::run_report& report_;
    send_pace pace_;
    bool sent_ = false;  // the message of the current dead letter
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_RESUBMIT_RUN_HPP
