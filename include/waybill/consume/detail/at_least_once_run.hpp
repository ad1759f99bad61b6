// SPDX-License-Identifier: MIT
//
// at_least_once_run: the loop of process_at_least_once. It executes the actions of an
// `at_least_once_machine` with the stores and the handler of the caller. The machine inherits most
// of its actions and events from `batch_machine_types` (batch_steps.hpp).

#ifndef WAYBILL_CONSUME_DETAIL_AT_LEAST_ONCE_RUN_HPP
#define WAYBILL_CONSUME_DETAIL_AT_LEAST_ONCE_RUN_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/dead_letter.hpp>
#include <waybill/consume/detail/batch_order.hpp>
#include <waybill/consume/detail/batch_run.hpp>
#include <waybill/consume/detail/handler_exceptions.hpp>
#include <waybill/consume/detail/kept_body.hpp>
#include <waybill/consume/detail/refused_checkpoint.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

template <class Checkpoints, class Letters, class I, class Handler, class Ask>
class at_least_once_run {
    using machine = at_least_once_machine;

public:
    at_least_once_run(Checkpoints& checkpoints, Letters& letters, const assignment& mine,
                      ordered_batch<I> b, Handler& handler, wall_time now,
                      const at_least_once_policy& p, Ask& ask)
        : checkpoints_(checkpoints),
          letters_(letters),
          assignment_(mine),
          exceptions_(mine, p.tries == 0 ? 1 : p.tries, b),
          event_at_(b.first),
          handler_(handler),
          ask_(ask),
          now_(now),
          dead_letters_(p.dead_letters),
          keys_(mine.key, p.keys),
          committed_position_(mine.from),
          machine_(b.events, supported_policy(p))
    {
    }

    at_least_once_report run()
    {
        while (!machine_.ended()) {
            perform_action();
            if (machine_.committed_events() != committed_count_) {
                committed_count_ = machine_.committed_events();
                committed_position_ = attempted_position_;
            }
        }
        constexpr bool stored_record = false;  // this driver writes no crash records
        exceptions_.on_report(stored_record, committed_count_ != 0);
        return report();
    }

private:
    void perform_action()
    {
        match(
            machine_.next(),
            [&](machine::handle a) {
                const event_outcome o = handle(*event_at_(a.event));
                const fault_kind kind = o.reason.kind;
                if (kind == fault_kind::none) reason_texts_.erase(a.event);
                else store_event_fault(a.event, o.reason);
                machine_.on(machine::handled{kind, o.skipped});
            },
            [&](machine::write_dead_letter a) {
                machine_.on(machine::done{record_fault(letters_.put(letter(a)), event_fault_)});
            },
            [&](machine::decide_all_failed a) {
                auto last_failed = reason_texts_.end();
                event_fault_.text = (--last_failed)->second;
                machine_.on(machine::all_failed_decided{detail::decide_with(ask_, a.failed)});
            },
            [&](machine::commit_to a) { commit_to(a.event); },
            [&](machine::check_commit) { check_commit(); }, [](idle) {});
    }

    void commit_to(std::uint64_t event)
    {
        attempted_position_ = waybill::position_of(*event_at_(event));
        commit_fault_ = {};
        const auto r = checkpoints_.commit(assignment_.key, committed_position_,
                                           attempted_position_, assignment_.epoch);
        const fault_kind kind = record_fault(r, commit_fault_);
        if (r && *r != advance_outcome::applied) {
            commit_fault_ = detail::refused_checkpoint(*r, committed_position_, assignment_.epoch);
        }
        machine_.on(machine::advanced{r ? *r : advance_outcome::conflict, kind});
    }

    void check_commit()
    {
        const auto r = checkpoints_.load(assignment_.key);
        const fault_kind kind = record_fault(r, commit_fault_);
        const auto found =
            r ? machine::classify(*r, committed_position_, attempted_position_, assignment_.epoch)
              : machine::checkpoint_found::before;
        if (found == machine::checkpoint_found::elsewhere) {
            commit_fault_ = ownership_lost("another owner has written the checkpoint");
        } else if (found == machine::checkpoint_found::earlier_commit) {
            commit_fault_ = infrastructure("an earlier commit was applied late");
        } else if (r && commit_fault_.ok()) {
            commit_fault_ = infrastructure("the store confirmed a commit that it does not contain");
        }
        machine_.on(machine::commit_checked{found, kind});
    }

    static at_least_once_policy supported_policy(at_least_once_policy p)
    {
        if (std::is_same_v<Ask, no_outage_check>) p.decide_all_failed_from = highest_size;
        return p;
    }

    template <class E>
    event_outcome handle(const E& e)
    {
        const auto sequence = static_cast<std::uint64_t>(e.sequence);
        if (exceptions_.is_excluded(sequence)) return exceptions_.reason();
        auto call = exceptions_.begin_call(sequence);
        event_outcome o = handler_(e, keys_(sequence));
        call.returned();
        return o;
    }

    /// Stores the fault of a failed call and returns its kind.
    template <class T>
    static fault_kind record_fault(const result<T>& r, fault& reason)
    {
        if (r) return fault_kind::none;
        reason = r.error();
        return reason.kind;
    }

    /// Stores the last fault of an event. Its dead letter may be written after other events were
    /// handled.
    void store_event_fault(std::uint64_t event, const fault& f)
    {
        event_fault_ = {f.kind, bounded_reason(f.text, dead_letters_)};
        reason_texts_.insert_or_assign(event, event_fault_.text);
    }

    dead_letter letter(const machine::write_dead_letter& a)
    {
        const fault reason{a.kind, reason_texts_[a.event]};
        const auto& e = *event_at_(a.event);
        const bool excluded = exceptions_.is_excluded(static_cast<std::uint64_t>(e.sequence));
        const std::uint32_t tries = excluded ? exceptions_.exception_count() : a.tries;
        return make_dead_letter(assignment_.key, e, reason, tries, now_, dead_letters_);
    }

    at_least_once_report report()
    {
        at_least_once_report r{.outcome = *machine_.ended(), .reached = committed_position_};
        r.handled = machine_.handled_events();
        r.dead_lettered = machine_.dead_lettered();
        r.dropped = machine_.dropped();
        for (const machine::write_dead_letter& d : machine_.dropped_events()) {
            if (d.event >= machine_.committed_events()) break;
            r.dropped_events.push_back(
                {waybill::position_of(*event_at_(d.event)), {d.kind, reason_texts_[d.event]}});
        }
        r.skipped = machine_.skipped_events();
        r.not_committed = machine_.done_events() - machine_.committed_events();
        if (r.outcome != batch_outcome::committed) {
            r.reason = std::move(machine_.checkpoint_failed() ? commit_fault_ : event_fault_);
            r.reason.kind = machine_.reason();
        }
        return r;
    }

    Checkpoints& checkpoints_;
    Letters& letters_;
    const assignment& assignment_;
    handler_exceptions exceptions_;  // before the members that read the batch, which it may cut
    batch_cursor<I> event_at_;
    Handler& handler_;
    Ask& ask_;
    wall_time now_;
    dead_letter_options dead_letters_;
    idempotency_keys keys_;
    std::optional<position> committed_position_;  // of the last confirmed commit
    position attempted_position_;                 // of the last attempted commit
    at_least_once_machine machine_;
    std::uint64_t committed_count_ = 0;
    fault event_fault_;   // the fault of the last failed event or dead letter
    fault commit_fault_;  // the fault of the last commit
    std::map<std::uint64_t, std::string> reason_texts_;  // of failed events, by event number
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_AT_LEAST_ONCE_RUN_HPP
