// SPDX-License-Identifier: MIT
//
// at_least_once_run: the loop of process_at_least_once. It executes the actions of an
// `at_least_once_machine` with the stores and the handler of the caller.

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
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/dead_letter.hpp>
#include <waybill/consume/detail/batch_order.hpp>
#include <waybill/consume/detail/batch_run.hpp>
#include <waybill/consume/detail/handler_exceptions.hpp>
#include <waybill/consume/detail/kept_body.hpp>
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
public:
    at_least_once_run(Checkpoints& checkpoints, Letters& letters, const assignment& mine,
                      ordered_batch<I> b, Handler& handler, wall_time now,
                      const at_least_once_policy& p, Ask& ask)
        : checkpoints_(checkpoints), letters_(letters), mine_(mine),
          exceptions_(mine, p.tries == 0 ? 1 : p.tries, b), at_(b.first), handler_(handler),
          ask_(ask), now_(now), dead_letters_(p.dead_letters), keys_(mine.key, p.keys),
          from_(mine.from), machine_(b.events, as_can_be(p))
    {
    }

    at_least_once_report run()
    {
        while (!machine_.ended()) {
            step();
            if (machine_.covered_events() != covered_) {
                covered_ = machine_.covered_events();
                from_ = to_;
            }
        }
        exceptions_.returns(false, covered_ != 0);
        return report();
    }

private:
    void step()
    {
        match(
            machine_.next(),
            [&](batch_machine::handle a) {
                const event_outcome o = handle(*at_(a.event));
                const fault_kind kind = o.reason.kind;
                if (kind == fault_kind::none) reasons_.erase(a.event);
                if (kind != fault_kind::none) remember(a.event, o.reason);
                machine_.on(batch_machine::handled{kind, o.skipped});
            },
            [&](batch_machine::write_dead_letter a) {
                machine_.on(batch_machine::done{seen(letters_.put(letter(a)), why_)});
            },
            [&](batch_machine::decide_all_failed a) {
                // The reason of the last event that failed.
                why_.text = reasons_.rbegin()->second;
                machine_.on(batch_machine::all_failed_decided{detail::asked(ask_, a.failed)});
            },
            [&](at_least_once_machine::commit_to a) { commit_to(a.event); },
            [&](batch_machine::check_commit) { check_commit(); }, [](idle) {});
    }

    void commit_to(std::uint64_t event)
    {
        to_ = waybill::position_of(*at_(event));
        commit_why_ = {};
        const auto r = checkpoints_.commit(mine_.key, from_, to_, mine_.epoch);
        const fault_kind kind = seen(r, commit_why_);
        if (r && *r != advance_outcome::applied) {
            commit_why_ = ownership_lost("checkpoint " + std::string(name(*r)));
        }
        machine_.on(batch_machine::advanced{r ? *r : advance_outcome::conflict, kind});
    }

    void check_commit()
    {
        const auto r = checkpoints_.load(mine_.key);
        const fault_kind kind = seen(r, commit_why_);
        const auto where = r ? at_least_once_machine::classify(*r, from_, to_, mine_.epoch)
                             : at_least_once_machine::checkpoint_stands::before;
        if (where == at_least_once_machine::checkpoint_stands::elsewhere) {
            commit_why_ = ownership_lost("another owner has written the checkpoint");
        } else if (where == at_least_once_machine::checkpoint_stands::moved) {
            commit_why_ = infrastructure("an earlier commit was applied late");
        } else if (r && commit_why_.ok()) {
            commit_why_ = infrastructure("the store confirmed a commit that it does not contain");
        }
        machine_.on(at_least_once_machine::stood{where, kind});
    }

    static at_least_once_policy as_can_be(at_least_once_policy p)
    {
        if (std::is_same_v<Ask, no_outage_check>) p.decide_all_failed_from = highest_size;
        return p;
    }

    template <class E>
    event_outcome handle(const E& e)
    {
        const auto sequence = static_cast<std::uint64_t>(e.sequence);
        if (exceptions_.found(sequence)) return exceptions_.reason();
        return exceptions_.during(sequence,
                                  [&]() -> event_outcome { return handler_(e, keys_(sequence)); });
    }

    /// Stores the fault of a failed call and returns its kind. An error of kind `none` counts as
    /// `infrastructure`.
    template <class T>
    static fault_kind seen(const result<T>& r, fault& reason)
    {
        if (r) return fault_kind::none;
        reason = r.error();
        if (reason.kind == fault_kind::none) reason.kind = fault_kind::infrastructure;
        return reason.kind;
    }

    /// Stores the last fault of an event. Its dead letter may be written after other events were
    /// handled.
    void remember(std::uint64_t event, const fault& f)
    {
        why_ = {f.kind, bounded_reason(f.text, dead_letters_)};
        reasons_.insert_or_assign(event, why_.text);
    }

    dead_letter letter(const batch_machine::write_dead_letter& a)
    {
        const fault reason{a.kind, reasons_[a.event]};
        const auto& e = *at_(a.event);
        const bool threw = exceptions_.found(static_cast<std::uint64_t>(e.sequence));
        const std::uint32_t tries = threw ? exceptions_.tries() : a.tries;
        return make_dead_letter(mine_.key, e, reason, tries, now_, dead_letters_);
    }

    at_least_once_report report()
    {
        at_least_once_report r{.outcome = *machine_.ended(), .reached = from_};
        r.handled = machine_.handled_events();
        r.dead_lettered = machine_.dead_lettered();
        r.dropped = machine_.dropped();
        for (const batch_machine::write_dead_letter& d : machine_.dropped_events()) {
            if (d.event >= machine_.covered_events()) break;
            r.dropped_events.push_back(
                {waybill::position_of(*at_(d.event)), {d.kind, reasons_[d.event]}});
        }
        r.skipped = machine_.skipped_events();
        r.uncovered = machine_.done_events() - machine_.covered_events();
        if (r.outcome != batch_outcome::committed) {
            r.reason = std::move(machine_.checkpoint_failed() ? commit_why_ : why_);
            r.reason.kind = machine_.reason();
        }
        return r;
    }

    Checkpoints& checkpoints_;
    Letters& letters_;
    const assignment& mine_;
    handler_exceptions exceptions_;
    batch_cursor<I> at_;
    Handler& handler_;
    Ask& ask_;
    wall_time now_;
    dead_letter_options dead_letters_;
    idempotency_keys keys_;
    std::optional<position> from_;  // of the last confirmed commit
    position to_;                   // of the last attempted commit
    at_least_once_machine machine_;
    std::uint64_t covered_ = 0;
    fault why_;         // the fault of the last failed event or dead letter
    fault commit_why_;  // the fault of the last commit
    std::map<std::uint64_t, std::string> reasons_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_AT_LEAST_ONCE_RUN_HPP
