// SPDX-License-Identifier: MIT
//
// batch_run: the loop of process_batch. It executes the actions of a `batch_machine` with the store
// and the handler of the caller.

#ifndef WAYBILL_CONSUME_DETAIL_BATCH_RUN_HPP
#define WAYBILL_CONSUME_DETAIL_BATCH_RUN_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/dead_letter.hpp>
#include <waybill/consume/detail/batch_order.hpp>
#include <waybill/consume/detail/handler_exceptions.hpp>
#include <waybill/consume/detail/refused_checkpoint.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// No callback. If all events of a batch failed, they become dead letters.
struct no_outage_check {};

/// A callback that decides about a batch of which `n` events failed and none took effect.
template <class A>
concept asked_if_all_failed =
    std::same_as<A, no_outage_check> || requires(A& ask, std::uint64_t n) {
        { ask(n) } -> std::convertible_to<batch_policy::if_all_failed>;
    };

/// A callback that can end a batch early. Before each event except the first, `keep_going` decides
/// whether the batch goes on, or commits the events done.
template <class A>
concept watched_batch = requires(A& ask) {
    { ask.keep_going() } -> std::convertible_to<bool>;
};

/// The decision of the callback; `go_on` without a callback.
template <class Ask>
[[nodiscard]] batch_policy::if_all_failed decide_with([[maybe_unused]] Ask& ask,
                                                      [[maybe_unused]] std::uint64_t failed)
{
    if constexpr (std::is_same_v<Ask, no_outage_check>) {
        return batch_policy::if_all_failed::go_on;
    } else {
        return ask(failed);
    }
}

template <class Store, class I, class Handler, class Ask>
class batch_run {
    using transaction = typename Store::transaction;

public:
    /// May cut `b`. The delivery fills the empty report `r`, except `repeated`.
    batch_run(Store& store, const assignment& mine, ordered_batch<I>& b, Handler& handler,
              wall_time now, const batch_policy& p, Ask& ask, batch_report& r)
        : store_(store),
          assignment_(mine),
          exceptions_(mine, exception_limit(mine, p), b),
          event_at_(b.first),
          events_(b.events),
          last_event_(b.last_event),
          handler_(handler),
          decide_(ask),
          now_(now),
          policy_(p),
          report_(r),
          machine_(events_, mine.from, sequence_of(last_event_), mine.epoch,
                   supported_rules(mine, p), mine.incarnation, mine.expired_incarnation,
                   exceptions_.returned_before())
    {
    }

    void run()
    {
        while (machine_.phase_ != batch_machine::phase::ended) step();
        exceptions_.on_report(machine_.may_have_stored_record(),
                              machine_.ended() == batch_outcome::committed);
        complete_report();
    }

private:
    /// If this many deliveries in a row ended with an exception of the handler, the event that
    /// threw becomes a dead letter. 0 if crash records count the exceptions.
    static std::uint32_t exception_limit(const assignment& mine, const batch_policy& p)
    {
        const bool uses_crash_records =
            crash_record_store<Store> && p.crash_records && mine.incarnation != 0;
        if (uses_crash_records) return 0;
        return p.deaths == 0 ? 1U : p.deaths;
    }

    /// The policy without the parts that the store or the caller does not support.
    static batch_rules supported_rules(const assignment& mine, const batch_policy& p)
    {
        batch_rules r(p, mine.incarnation != 0);
        r.savepoints = r.savepoints && savepoint_scope<transaction>;
        r.crash_records = r.crash_records && crash_record_store<Store>;
        if (std::is_same_v<Ask, no_outage_check>) r.decide_all_failed_from = highest_size;
        return r;
    }

    static std::uint64_t sequence_of(const I& at)
    {
        return static_cast<std::uint64_t>((*at).sequence);
    }

    /// Executes the next action. If it succeeds, the next two may follow. The actions of a batch
    /// without faults do not pass through the variant of all actions, and their success goes
    /// directly to the next phase.
    void step()
    {
        using phase = batch_machine::phase;
        switch (machine_.phase_) {
            case phase::load_record: return load_record();
            case phase::begin: return begin();
            case phase::savepoint:
                if (is_cut() || !set_savepoint()) return;
                [[fallthrough]];
            case phase::handle:
                if (!machine_.policy_.savepoints && is_cut()) return;
                handle(machine_.event_);
                if (machine_.phase_ != phase::release) return;
                [[fallthrough]];
            case phase::release: return release();
            case phase::advance: return advance();
            case phase::store_record:
                if (!change_record()) return;
                [[fallthrough]];
            case phase::commit: return commit();
            default: return on_batch_action(machine_.next());
        }
    }

    /// Ends the batch before the next event if the callback requests it. The events after the cut
    /// are not delivered. A search for a poison message needs the whole batch. After a restart, a
    /// batch is cut only after all events that were handled before.
    bool is_cut()
    {
        if constexpr (!watched_batch<Ask>) {
            return false;
        } else {
            batch_machine& m = machine_;
            const bool may_be_cut = m.event_ > last_handled_ && !m.record_.plan().restored &&
                                    exceptions_.exception_count() == 0;
            if (!may_be_cut || decide_.keep_going()) return false;
            last_event_ = event_at_(m.event_ - 1);
            m.to_ = sequence_of(last_event_);
            m.events_ = m.event_;
            m.go_to_event(m.event_);
            return true;
        }
    }

    void on_batch_action(const batch_machine::action& next)
    {
        match(
            next,
            [&](batch_machine::shorten a) {
                last_event_ = event_at_(a.events - 1);
                machine_.on(batch_machine::shortened{waybill::position_of(*last_event_)});
            },
            [&](batch_machine::rollback_to_savepoint) {
                if constexpr (savepoint_scope<transaction>)
                    machine_.on(batch_machine::done{record_fault(tx_->rollback_to_savepoint())});
            },
            [&](batch_machine::write_dead_letter a) {
                machine_.on(batch_machine::done{record_fault(put(letter(a)))});
                reason_texts_.erase(a.event);
            },
            [&](batch_machine::decide_all_failed a) {
                machine_.on(batch_machine::all_failed_decided{decision_on_all_failed(a.failed)});
            },
            [&](batch_machine::rollback) { rollback(); },
            [&](batch_machine::check_commit) { check_commit(); },
            [](const auto&) {});  // `step` executes the others
    }

    void begin()
    {
        auto begun = store_.begin();
        if (!begun) return report_fault(begun);
        tx_.emplace(*std::move(begun));
        machine_.after_begin();
    }

    /// Returns true on success, like `set_savepoint`.
    bool change_record()
    {
        if constexpr (!crash_record_store<Store>) {
            return false;
        } else {
            const auto row = machine_.row_to_store();
            const auto r = row ? store_.store_crash_record(*tx_, assignment_.key, *row)
                               : store_.clear_crash_record(*tx_, assignment_.key);
            if (r) machine_.enter_phase(batch_machine::phase::commit);
            else report_fault(r);
            return r.has_value();
        }
    }

    void advance()
    {
        detail::store_position(*last_event_, report_.reached.emplace());
        const auto r = store_.advance(*tx_, assignment_.key, assignment_.from, *report_.reached,
                                      assignment_.epoch);
        if (r && *r == advance_outcome::applied) {
            using phase = batch_machine::phase;
            const bool has_record = machine_.policy_.crash_records;
            machine_.enter_phase(has_record ? phase::store_record : phase::commit);
            return;
        }
        if (r) {
            report_.reason = detail::refused_checkpoint(*r, assignment_.from, assignment_.epoch);
        }
        machine_.on(batch_machine::advanced{r ? *r : advance_outcome::conflict, record_fault(r)});
    }

    void commit()
    {
        const auto r = tx_->commit();
        commit_confirmed_ = r && *r == commit_outcome::applied;
        if (!commit_confirmed_) set_infrastructure_fault("commit not confirmed");
        record_fault(r);
        tx_.reset();
        machine_.on(batch_machine::committed{r ? *r : commit_outcome::unknown});
    }

    void rollback()
    {
        if (tx_) tx_->rollback();
        tx_.reset();
        machine_.on(batch_machine::done{});
    }

    void check_commit()
    {
        auto r = store_.load(assignment_.key);
        const fault_kind kind = record_fault(r);
        if (r && commit_confirmed_)
            set_infrastructure_fault("the store confirmed a commit that it does not contain");
        machine_.on(batch_machine::loaded{kind == fault_kind::none ? *r : std::nullopt, kind});
    }

    void load_record()
    {
        if constexpr (crash_record_store<Store>) {
            const auto r = store_.load_crash_record(assignment_.key);
            if (r && !*r && !machine_.restoring_record()) {
                machine_.record_.plan_all(machine_.from_, events_);
                machine_.go_to_begin();
                return;
            }
            batch_machine::crash_record_loaded loaded{r ? *r : std::nullopt, record_fault(r)};
            if (machine_.restoring_record()) {
                machine_.on(loaded);
                return;
            }
            if (loaded.found) loaded.within = events_up_to(loaded.found->to);
            machine_.on(loaded);
            if (r && machine_.ended()) {  // the record is of a later owner
                report_.reason = ownership_lost("the crash record has the higher epoch " +
                                                std::to_string(loaded.found->epoch));
            }
        }
    }

    /// The number of events with a sequence of at most `to`.
    [[nodiscard]] std::uint64_t events_up_to(std::uint64_t to)
    {
        std::uint64_t n = 0;
        while (n != events_ && static_cast<std::uint64_t>((*event_at_(n)).sequence) <= to) ++n;
        return n;
    }

    bool set_savepoint()
    {
        if constexpr (!savepoint_scope<transaction>) {
            return false;
        } else {
            const auto r = tx_->savepoint();
            if (r) machine_.enter_phase(batch_machine::phase::handle);
            else report_fault(r);
            return r.has_value();
        }
    }

    void release()
    {
        if constexpr (savepoint_scope<transaction>) {
            const auto r = tx_->release_savepoint();
            if (!r) return report_fault(r);
            machine_.after_release();
        }
    }

    void handle(std::uint64_t event)
    {
        const auto& e = *event_at_(event);
        const auto sequence = static_cast<std::uint64_t>(e.sequence);
        if (exceptions_.is_excluded(sequence)) return report_handled(event, exceptions_.reason());
        auto call = exceptions_.begin_call(sequence);
        if constexpr (watched_batch<Ask>) last_handled_ = greater(last_handled_, event);
        const auto result = handler_(*tx_, e);
        call.returned();
        if constexpr (std::is_same_v<decltype(result), const fault>) {
            report_handled(event, result);  // without a copy into an event_outcome
        } else {
            const event_outcome o = result;
            report_handled(event, o.reason, o.skipped);
        }
    }

    /// Reports the failure of a call.
    template <class T>
    void report_fault(const result<T>& r)
    {
        machine_.on(batch_machine::done{record_fault(r)});
    }

    /// Stores the fault of a failed call and returns its kind.
    template <class T>
    fault_kind record_fault(const result<T>& r)
    {
        return r ? fault_kind::none : store_fault(r.error());
    }

    // Not inlined: with g++ 12, the object file is 3 KiB smaller (bench/object_size).
    WAYBILL_NOINLINE fault_kind store_fault(const fault& f)
    {
        if (!machine_.restoring_record())
            report_.reason = {f.kind, bounded_reason(f.text, policy_.dead_letters)};
        return f.kind;
    }

    void set_infrastructure_fault(std::string text)
    {
        if (!machine_.restoring_record()) report_.reason = infrastructure(std::move(text));
    }

    /// Reports the result of the handler to the state machine. Stores the fault for the dead
    /// letter, which may be written only after a restart.
    void report_handled(std::uint64_t event, const fault& f, bool skipped = false)
    {
        if (f.kind == fault_kind::none && !skipped) machine_.after_success();
        else report_not_handled(event, f, skipped);
    }

    // Not inlined: with clang 14, an event without a fault takes 80 instead of 99 instructions
    // (bench/consume, batches of 100).
    WAYBILL_NOINLINE void report_not_handled(std::uint64_t event, const fault& f, bool skipped)
    {
        if (f.kind != fault_kind::none) {
            report_.reason = {f.kind, bounded_reason(f.text, policy_.dead_letters)};
            // A report lists only the first dropped events.
            const bool unlisted =
                policy_.dead_letters.keeps == dead_letter_body::discard &&
                machine_.dropped_events().size() == batch_report::max_dropped_events;
            if (!unlisted) reason_texts_.insert_or_assign(event, report_.reason.text);
        }
        machine_.on(batch_machine::handled{f.kind, skipped});
    }

    /// The fault of a failed event, with its stored text.
    [[nodiscard]] fault fault_of(const batch_machine::write_dead_letter& a) const
    {
        fault reason{a.kind, {}};
        if (const auto known = reason_texts_.find(a.event); known != reason_texts_.end())
            reason.text = known->second;
        if (a.poison_message) {
            reason.text = "its handler did not return " + std::to_string(a.tries) +
                          " times: it threw an exception or its process ended";
        }
        return reason;
    }

    dead_letter letter(const batch_machine::write_dead_letter& a)
    {
        const auto& e = *event_at_(a.event);
        const bool excluded = exceptions_.is_excluded(static_cast<std::uint64_t>(e.sequence));
        const std::uint32_t tries = excluded ? exceptions_.exception_count() : a.tries;
        return make_dead_letter(assignment_.key, e, fault_of(a), tries, now_, policy_.dead_letters);
    }

    /// Writes a dead letter. If the store permanently refuses it, for example for its size, writes
    /// it without its body. Otherwise a failure that cannot be recorded would block the partition
    /// forever.
    result<void> put(dead_letter d)
    {
        auto written = store_.put(*tx_, d);
        if (written || written.error().kind != fault_kind::permanent || d.body.empty())
            return written;
        d.body.clear();
        d.kept = dead_letter_body::pointer;
        return store_.put(*tx_, d);
    }

    batch_policy::if_all_failed decision_on_all_failed(std::uint64_t failed)
    {
        const batch_policy::if_all_failed decision = detail::decide_with(decide_, failed);
        if (decision != batch_policy::if_all_failed::go_on) {
            set_infrastructure_fault("each of " + std::to_string(failed) +
                                     " events failed, the last: " + report_.reason.text);
        }
        return decision;
    }

    void complete_report()
    {
        batch_report& r = report_;
        r.outcome = *machine_.ended();
        r.not_delivered = exceptions_.removed_count() + events_ - machine_.events();
        if (r.outcome == batch_outcome::committed) {
            if (!r.reason.ok()) r.reason = {};  // of a failed event
            r.handled = machine_.handled_events();
            r.dead_lettered = machine_.dead_lettered();
            r.dropped = machine_.dropped();
            for (const batch_machine::write_dead_letter& d : machine_.dropped_events()) {
                r.dropped_events.push_back(
                    {waybill::position_of(*event_at_(d.event)), fault_of(d)});
            }
            r.skipped = machine_.skipped_events();
        } else {
            r.reached.reset();
            r.reason.kind = machine_.reason();
        }
    }

    Store& store_;
    const assignment& assignment_;
    handler_exceptions exceptions_;  // before the members that read the batch, which it may cut
    batch_cursor<I> event_at_;
    std::uint64_t events_;
    I last_event_;  // of the events to deliver
    Handler& handler_;
    Ask& decide_;
    wall_time now_;
    const batch_policy& policy_;
    batch_report& report_;  // its reason is the last fault
    batch_machine machine_;
    std::optional<transaction> tx_;
    std::uint64_t last_handled_ = 0;  // the highest number of an event passed to the handler
    bool commit_confirmed_ = false;   // the store confirmed the last commit
    std::map<std::uint64_t, std::string> reason_texts_;  // of failed events, by event number
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_BATCH_RUN_HPP
