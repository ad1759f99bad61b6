// SPDX-License-Identifier: MIT
//
// redrive_run: one call of redrive_all.

#ifndef WAYBILL_SESSION_DETAIL_REDRIVE_RUN_HPP
#define WAYBILL_SESSION_DETAIL_REDRIVE_RUN_HPP

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/driver_call.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/detail/send_pace.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/pipeline_dead_letter_store.hpp>
#include <waybill/session/plan_redrive.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/redrive_report.hpp>

namespace waybill::inline v0_2::detail {

/// Refuses a table without a required call, with one sentence for each call.
template <class S>
struct checked_pipeline_dead_letter_store {
    using letters = std::span<const pipeline_dead_letter>;

    static constexpr bool lists = requires(S& s) {
        { s.list() } -> std::same_as<result<std::vector<pipeline_dead_letter>>>;
    };
    static constexpr bool upserts = requires(S& s, const pipeline_dead_letter& l) {
        { s.upsert(l) } -> std::same_as<fault>;
    };
    static constexpr bool marks = requires(S& s, letters all) {
        { s.mark(all) } -> std::same_as<fault>;
    };
    static constexpr bool removes = requires(S& s, letters all) {
        { s.remove(all) } -> std::same_as<fault>;
    };
    static constexpr bool ok = lists && upserts && marks && removes;

    static_assert(lists,
                  "dead letters: list() must exist and return "
                  "result<std::vector<pipeline_dead_letter>>");
    static_assert(upserts, "dead letters: upsert(letter) must exist and return a fault");
    static_assert(marks, "dead letters: mark(span of letters) must exist and return a fault");
    static_assert(removes, "dead letters: remove(span of letters) must exist and return a fault");
};

/// Refuses a send function of a wrong type.
template <class Send>
struct checked_redrive_send {
    using message = const redrive_plan::planned_message&;

    static constexpr bool takes_letter =
        std::invocable<Send&, message, const pipeline_dead_letter&>;
    static constexpr bool takes_message = takes_letter || std::invocable<Send&, message>;
    static constexpr bool returns_fault =
        !takes_message || driver_callable<Send, message> ||
        driver_callable<Send, message, const pipeline_dead_letter&>;
    static constexpr bool ok = takes_message && returns_fault;

    static_assert(takes_message,
                  "redrive_all: the send function must accept a "
                  "const redrive_plan::planned_message& (if it does, its body does "
                  "not compile: see the errors above)");
    static_assert(returns_fault,
                  "redrive_all: the send function must return a fault, a "
                  "fault_kind, a result<void>, a call_answer or nothing, and not "
                  "bool");
};

template <class Store, class Send, class Clock>
class redrive_run {
    static_assert(checked_pipeline_dead_letter_store<Store>::ok && checked_redrive_send<Send>::ok);
    using report_type = redrive_types::redrive_report;
    using outcome_type = redrive_types::redrive_outcome;
    // std::vector<pipeline_dead_letter>. It depends on the table, so that reading this header
    // instantiates no conversion to a span.
    using letters_type = std::remove_cvref_t<decltype(*std::declval<Store&>().list())>;
    using letter_type = typename letters_type::value_type;

public:
    redrive_run(Store& store, Send& send, Clock& clock, const redrive_policy& policy,
                report_type& report)
        : store_(store),
          send_(send),
          clock_(clock),
          policy_(policy),
          report_(report),
          pace_(policy.max_per_second)
    {
        report_.outcome = outcome_type::running;
        report_.reason = {};
    }

    void run(const redrive_plan::filter& filter)
    {
        if (const auto bad = validate(filter)) return stop(permanent(describe(*bad)));
        if (const auto bad = validate(policy_)) return stop(permanent(describe(*bad)));
        if (!list()) return;
        redrive_plan::options options = policy_.options;
        if constexpr (requires { std::uint64_t{store_.removed_at_once()}; }) {
            const std::uint64_t at_once = store_.removed_at_once();
            options.removed_at_once = greater(options.removed_at_once, at_once);
        }
        plan_ = plan_redrive(letters_, filter, options);
        report_.held_back = plan_.held_back;
        report_.filtered = plan_.filtered;

        redrive machine(plan_, policy_);
        while (!machine.over()) {
            if (!step(machine)) return;
        }
        report_.outcome = machine.outcome();
        if (machine.outcome() == outcome_type::stopped) report_.reason = std::move(last_fault_);
    }

private:
    void stop(fault reason)
    {
        report_.outcome = outcome_type::stopped;
        report_.reason = std::move(reason);
    }

    /// Reads all dead letters. False if the call ends without them.
    [[nodiscard]] bool list()
    {
        for (std::uint32_t tries = 1;; ++tries) {
            if (clock_.stop_requested()) return false;
            auto listed = store_.list();
            if (listed) {
                letters_ = *std::move(listed);
                return true;
            }
            const retry_action next =
                decide(policy_.retry, tries, listed.error().kind, clock_.random(), clock_.now());
            if (holds_alternative<give_up>(next)) {
                stop(std::move(listed).error());
                return false;
            }
            const auto* wait = get_if<wait_until>(&next);
            if (wait && !clock_.sleep_until(wait->time)) return false;
        }
    }

    /// Performs the next action. False after a stop request.
    [[nodiscard]] bool step(redrive& machine)
    {
        if (clock_.stop_requested()) return false;
        return match(
            machine.next(clock_.now()),
            [&](const redrive_types::resubmit& a) {
                redrive_types::resubmitted r;
                if (!resubmit(a, r)) return false;
                machine.on(r, clock_.now());
                return true;
            },
            [&](const redrive_types::mark_sent& a) {
                machine.on(redrive_types::sessions_marked{mark(a)}, clock_.now());
                return true;
            },
            [&](const redrive_types::remove_dead_letters& a) {
                machine.on(remove(a), clock_.now());
                return true;
            },
            [&](const wait_until& w) { return clock_.sleep_until(w.time); },
            [&](idle) { return true; });
    }

    /// Sends each dead letter and records it before the next one. False after a stop request.
    [[nodiscard]] bool resubmit(const redrive_types::resubmit& a, redrive_types::resubmitted& r)
    {
        for (; r.accepted != a.count; ++r.accepted) {
            const std::uint64_t letter = a.offset + r.accepted;
            if (letters_[letter].last_redriven_step != 0) continue;  // sent by an earlier call
            if (unrecorded_ != letter) {
                if (clock_.stop_requested() || !pace_.wait(clock_)) return false;
                call_fault f = send(letter);
                if (f.reason.kind == fault_kind::cancelled) return false;
                if (!f.reason.ok()) {
                    r.kind = f.reason.kind;
                    r.retry_after = f.retry_after;
                    keep(std::move(f.reason), r.kind == fault_kind::permanent, letter);
                    return true;
                }
                unrecorded_ = letter;
            }
            r.kind = record(letter);
            if (r.kind != fault_kind::none) return true;
            unrecorded_ = none;
        }
        return true;
    }

    /// Calls the send function. Counts an unknown outcome, also of an exception.
    [[nodiscard]] call_fault send(std::uint64_t letter)
    {
        struct attempt {
            report_type& report;
            bool in_doubt = true;
            ~attempt()
            {
                if (in_doubt) ++report.in_doubt;
            }
        };
        const redrive_plan::planned_message m = plan_.step(letters_, letter);
        attempt guard{report_};
        call_fault f = call(m, letters_[letter]);
        guard.in_doubt = f.reason.kind == fault_kind::infrastructure;
        if (f.reason.ok()) ++report_.sent;
        return f;
    }

    [[nodiscard]] call_fault call(const redrive_plan::planned_message& m,
                                  const pipeline_dead_letter& l)
    {
        if constexpr (checked_redrive_send<Send>::takes_letter) return driver_call(send_, m, l);
        else return driver_call(send_, m);
    }

    /// Records that a dead letter was sent.
    [[nodiscard]] fault_kind record(std::uint64_t letter)
    {
        const letter_type marked = plan_.marked_letter(letters_, letter);
        fault f = store_.mark(std::span<const letter_type>(&marked, 1));
        const fault_kind kind = f.kind;
        if (kind == fault_kind::none)
            letters_[letter].last_redriven_step = marked.last_redriven_step;
        keep(std::move(f), kind == fault_kind::permanent, letter);
        return kind;
    }

    [[nodiscard]] fault_kind mark(const redrive_types::mark_sent& a)
    {
        letters_type marked;
        for (std::uint64_t s = a.session; s != a.session + a.count; ++s) {
            if (plan_.sessions[s].mark_before_removal) marked.push_back(plan_.marked(letters_, s));
        }
        fault f = store_.mark(marked);
        const fault_kind kind = f.kind;
        const bool refused = kind == fault_kind::permanent && a.count == 1;
        keep(std::move(f), refused, plan_.sessions[a.session].offset);
        return kind;
    }

    [[nodiscard]] redrive_types::dead_letters_removed remove(
        const redrive_types::remove_dead_letters& a)
    {
        const std::span<const letter_type> letters(letters_);
        fault f = store_.remove(letters.subspan(a.offset, a.count));
        const fault_kind kind = f.kind;
        if (kind == fault_kind::none) report_.removed += a.count;
        keep(std::move(f), false, 0);
        return {kind == fault_kind::none ? a.count : 0, kind};
    }

    /// Keeps a fault for the report.
    void keep(fault f, bool refused, std::uint64_t letter)
    {
        if (f.ok()) return;
        if (refused) {
            const pipeline_dead_letter& l = letters_[letter];
            report_.refused.push_back({.session = l.properties.session,
                                       .step = l.properties.step,
                                       .sequence = l.sequence,
                                       .reason = f});
        }
        last_fault_ = std::move(f);
    }

    static constexpr std::uint64_t none = highest_size;

    Store& store_;
    Send& send_;
    Clock& clock_;
    const redrive_policy& policy_;
    report_type& report_;
    send_pace pace_;
    letters_type letters_;
    redrive_plan plan_;
    std::uint64_t unrecorded_ = none;  // the dead letter that is accepted, but not recorded yet
    fault last_fault_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_REDRIVE_RUN_HPP
