// SPDX-License-Identifier: MIT
//
// batch_machine: commits a batch of events and its checkpoint in one transaction.
//
//     begin -> { savepoint -> handle -> release_savepoint, or rollback_to_savepoint and
//     write_dead_letter } ... -> [decide_all_failed] -> advance -> commit -> [check_commit]
//
// If deaths are counted, the crash record is stored and committed first, and cleared with the batch
// (the guide has the diagram). The state machine sees only event numbers, 0 to n-1. `process_batch`
// drives it over a store; a coroutine or an event loop can drive it as well. Guarantees:
//   1. Effects, dead letters and checkpoint are in one transaction: all of them or none.
//   2. A fault of the store or its environment is not blamed on an event: the batch is rolled back.
//   3. An event that fails or is skipped leaves no effects. Without savepoints, the batch restarts,
//      and leaves out the event if it was skipped or failed in its last try.
//   4. A commit with an unknown outcome is read back. `to` with the own epoch is committed; `from`
//      is not committed; any other checkpoint belongs to another owner.
//   5. No event is handled before its crash record is committed (details in the guide).
//   6. It terminates: each action makes progress, uses up a try of an event, or rolls back.
//
// A value without locks: one thread at a time.
#ifndef WAYBILL_CONSUME_BATCH_MACHINE_HPP
#define WAYBILL_CONSUME_BATCH_MACHINE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/detail/attempt_plan.hpp>
#include <waybill/consume/detail/batch_attempt.hpp>
#include <waybill/consume/detail/batch_restart.hpp>
#include <waybill/consume/detail/batch_rules.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2 {

namespace detail {
template <class Store, class I, class Handler, class Ask>
class batch_run;
}

class batch_machine : public batch_machine_types {
public:
    using action =
        variant<load_crash_record, shorten, begin, store_crash_record, clear_crash_record,
                savepoint, handle, release_savepoint, rollback_to_savepoint, write_dead_letter,
                decide_all_failed, advance, commit, rollback, check_commit, idle>;

    /// A batch of `events` events. `from` is the checkpoint before it, `to` the position of its
    /// last event. If `incarnation` is 0, no deaths are counted. Otherwise the deaths of
    /// `expired_incarnation` count (see `assignment`). If `report_returned`, the last delivery of
    /// this process returned a report: its own crash record is then not counted as a death.
    batch_machine(std::uint64_t events, const std::optional<position>& from, const position& to,
                  std::uint64_t epoch, const batch_policy& p = {}, std::uint64_t incarnation = 0,
                  std::optional<std::uint64_t> expired_incarnation = {},
                  bool report_returned = false)
        : batch_machine(events, from, to.sequence, epoch, detail::batch_rules(p, incarnation != 0),
                        incarnation, expired_incarnation, report_returned)
    {
    }

    /// The next action; `idle` after the end.
    [[nodiscard]] action next() const
    {
        switch (phase_) {
            case phase::load_record: return load_crash_record{};
            case phase::shorten: return shorten{record_.plan().events};
            case phase::begin: return begin{};
            case phase::store_record: return record_change();
            case phase::savepoint: return savepoint{};
            case phase::handle: return handle{event_};
            case phase::release: return release_savepoint{};
            case phase::roll_back_event: return rollback_to_savepoint{};
            case phase::dead_letter: return current_dead_letter();
            case phase::dead_letters_of_restart: return restart_.dead_letters()[written_count_];
            case phase::decide_all_failed:
                return decide_all_failed{dead_letter_count_ + dropped_count_};
            case phase::advance: return advance{};
            case phase::commit: return commit{};
            case phase::rollback: return rollback{};
            case phase::check_commit: return check_commit{};
            case phase::ended: break;
        }
        return idle{};
    }
    [[nodiscard]] action next(steady_time) const { return next(); }

    /// The crash record was loaded, or could not be loaded.
    event_result on(const crash_record_loaded& r)
    {
        if (phase_ != phase::load_record) return event_result::stale;
        if (restoring_record())
            return record_.is_own(r) ? enter_phase(phase::begin) : end_batch(*planned_end_);
        if (r.kind != fault_kind::none) return fail(r.kind, transaction::none);
        if (record_.is_of_later_owner(r))
            return fail(fault_kind::ownership_lost, transaction::none);
        record_.make_plan(r, from_, events_, policy_.deaths);
        return record_.plan().events < events_ ? enter_phase(phase::shorten) : go_to_begin();
    }

    /// The batch was shortened.
    event_result on(const shortened& s)
    {
        if (phase_ != phase::shorten) return event_result::stale;
        events_ = record_.plan().events;
        to_ = s.to.sequence;
        return go_to_begin();
    }

    /// An action whose result event is `done` succeeded or failed.
    event_result on(const done& d)
    {
        if (phase_ == phase::rollback) return after_rollback();
        if (!expects_done(phase_)) return event_result::stale;
        if (d.kind != fault_kind::none)
            return fail(d.kind, phase_ == phase::begin ? transaction::none : transaction::open);
        switch (phase_) {
            case phase::begin: return after_begin();
            case phase::store_record: return enter_phase(phase::commit);
            case phase::savepoint: return enter_phase(phase::handle);
            case phase::release: return after_release();
            case phase::roll_back_event: return after_failure();
            case phase::dead_letter: ++dead_letter_count_; return go_to_event(event_ + 1);
            case phase::dead_letters_of_restart:
                ++dead_letter_count_;
                return ++written_count_ == restart_.dead_letters().size() ? after_last_event()
                                                                          : event_result::applied;
            default: return event_result::stale;
        }
    }

    /// The handler returned.
    event_result on(const handled& h)
    {
        if (phase_ != phase::handle) return event_result::stale;
        if (h.kind == fault_kind::none && !h.skipped) return after_success();
        ++tries_;
        last_fault_kind_ = h.kind;
        switch (h.kind) {
            case fault_kind::none: break;
            case fault_kind::transient:
                if (tries_ >= policy_.tries &&
                    policy_.on_exhausted == batch_policy::when_exhausted::redeliver) {
                    return fail(h.kind, transaction::open);
                }
                break;
            case fault_kind::permanent: break;
            case fault_kind::infrastructure:
            case fault_kind::ownership_lost:
            case fault_kind::cancelled: return fail(h.kind, transaction::open);
        }
        return enter_phase(policy_.savepoints ? phase::roll_back_event : phase::rollback);
    }

    /// The decision about a batch in which every event failed.
    event_result on(const all_failed_decided& a)
    {
        if (phase_ != phase::decide_all_failed) return event_result::stale;
        if (a.what == batch_policy::if_all_failed::redeliver)
            return fail(fault_kind::infrastructure, transaction::open);
        return enter_phase(phase::advance);
    }

    /// The result of the compare-and-set of the checkpoint.
    event_result on(const advanced& a)
    {
        if (phase_ != phase::advance) return event_result::stale;
        if (a.kind != fault_kind::none) return fail(a.kind, transaction::open);
        if (a.outcome != advance_outcome::applied)
            return fail(fault_kind::ownership_lost, transaction::open);
        return enter_phase(policy_.crash_records ? phase::store_record : phase::commit);
    }

    /// The result of the commit; its outcome may be unknown.
    event_result on(const committed& c)
    {
        if (phase_ != phase::commit) return event_result::stale;
        if (restoring_record()) return end_batch(*planned_end_);
        if (purpose_ == purpose::storing_record) {
            if (c.outcome != commit_outcome::not_applied) record_.set_stored();
            if (c.outcome != commit_outcome::applied)
                return fail(fault_kind::infrastructure, transaction::none);
            purpose_ = purpose::batch;
            return enter_phase(phase::begin);
        }
        if (policy_.always_checks_commit || c.outcome == commit_outcome::unknown) {
            return enter_phase(phase::check_commit);
        }
        if (c.outcome == commit_outcome::applied) return end_batch(batch_outcome::committed);
        return fail(fault_kind::infrastructure, transaction::none);
    }

    /// The checkpoint was read back, or could not be read.
    event_result on(const loaded& r)
    {
        if (phase_ != phase::check_commit) return event_result::stale;
        if (r.kind != fault_kind::none) {
            last_fault_kind_ = r.kind;
            planned_end_ = batch_outcome::unknown;
            return restore_record_and_end();
        }
        const bool same_owner = r.stored && r.stored->epoch == epoch_;
        if (same_owner && r.stored->at.sequence == to_) return end_batch(batch_outcome::committed);
        const bool before = r.stored ? from_ && r.stored->at.sequence == *from_ : !from_;
        return fail(before ? fault_kind::infrastructure : fault_kind::ownership_lost,
                    transaction::none);
    }

    template <class Event>
    event_result on(const Event& e, steady_time)
    {
        return on(e);
    }

    /// The outcome of the batch; empty before the end.
    [[nodiscard]] std::optional<batch_outcome> ended() const noexcept { return end_; }
    /// The kind of the fault that ended the batch; `none` if it is committed.
    [[nodiscard]] fault_kind reason() const noexcept
    {
        return end_ == batch_outcome::committed ? fault_kind::none : last_fault_kind_;
    }
    /// Events that took effect. Only valid if the batch is committed.
    [[nodiscard]] std::uint64_t handled_events() const noexcept { return handled_count_; }
    /// Events with a dead letter. Only valid if the batch is committed.
    [[nodiscard]] std::uint64_t dead_lettered() const noexcept { return dead_letter_count_; }
    /// Events that failed and got no dead letter. Only valid if the batch is committed.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_count_; }
    /// Events that the handler skipped. Only valid if the batch is committed.
    [[nodiscard]] std::uint64_t skipped_events() const noexcept { return skipped_count_; }
    /// The dead letters not written for dropped events, in order, at most
    /// `batch_report::max_dropped_events`.
    [[nodiscard]] const std::vector<write_dead_letter>& dropped_events() const noexcept
    {
        return dropped_events_;
    }
    /// Number of events to deliver: all, unless the batch was shortened.
    [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
    /// True if the end is decided and only the crash record remains to be restored.
    [[nodiscard]] bool restoring_record() const noexcept
    {
        return purpose_ == purpose::restoring_record;
    }
    /// True if the stored crash record may be one that this delivery wrote.
    [[nodiscard]] bool may_have_stored_record() const noexcept { return record_.stored(); }
    /// Number of restarts of the batch because savepoints are missing.
    [[nodiscard]] std::uint64_t restarts() const noexcept { return restarts_; }

    friend bool operator==(const batch_machine&, const batch_machine&) = default;

private:
    // The loop of process_batch calls the transitions of successful steps directly.
    template <class Store, class I, class Handler, class Ask>
    friend class detail::batch_run;

    batch_machine(std::uint64_t events, const std::optional<position>& from, std::uint64_t to,
                  std::uint64_t epoch, const detail::batch_rules& rules, std::uint64_t incarnation,
                  std::optional<std::uint64_t> expired_incarnation, bool report_returned)
        : policy_(rules),
          events_(events),
          to_(to),
          epoch_(epoch),
          record_(incarnation, epoch, expired_incarnation, report_returned)
    {
        if (from) from_ = from->sequence;
        if (policy_.crash_records) {
            purpose_ = purpose::storing_record;
            phase_ = phase::load_record;
        }
        if (events_ == 0) end_batch(batch_outcome::empty);
    }

    enum class phase : std::uint8_t {
        load_record,
        shorten,
        begin,
        store_record,
        savepoint,
        handle,
        release,
        roll_back_event,
        dead_letter,
        dead_letters_of_restart,
        decide_all_failed,
        advance,
        commit,
        rollback,
        check_commit,
        ended,
    };
    enum class purpose : std::uint8_t { storing_record, batch, restoring_record };
    enum class transaction : std::uint8_t { none, open };

    static bool expects_done(phase p)
    {
        return p == phase::begin || p == phase::store_record || p == phase::savepoint ||
               p == phase::release || p == phase::roll_back_event || p == phase::dead_letter ||
               p == phase::dead_letters_of_restart;
    }

    event_result enter_phase(phase p)
    {
        phase_ = p;
        return event_result::applied;
    }

    event_result end_batch(batch_outcome e)
    {
        end_ = e;
        return enter_phase(phase::ended);
    }

    /// Ends the delivery without effects. Rolls back first if a transaction is open.
    event_result fail(fault_kind kind, transaction state)
    {
        if (!restoring_record()) {  // a fault while the record is restored changes nothing
            last_fault_kind_ = kind;
            planned_end_ = batch_outcome::redeliver;
            if (kind == fault_kind::ownership_lost) planned_end_ = batch_outcome::ownership_lost;
            if (kind == fault_kind::cancelled) planned_end_ = batch_outcome::cancelled;
        }
        return state == transaction::open ? enter_phase(phase::rollback) : restore_record_and_end();
    }

    /// After the end of the transaction: restores the earlier crash record if the stored one is
    /// still that of this delivery.
    event_result restore_record_and_end()
    {
        if (!record_.stored() || restoring_record()) return end_batch(*planned_end_);
        purpose_ = purpose::restoring_record;
        return enter_phase(phase::load_record);
    }

    /// Begins the first transaction. It stores the crash record, unless no event will be handled.
    event_result go_to_begin()
    {
        record_.set_last_event(to_);
        if (record_.plan().poison_message) purpose_ = purpose::batch;
        return enter_phase(phase::begin);
    }

    event_result after_begin()
    {
        if (purpose_ != purpose::batch) return enter_phase(phase::store_record);
        return record_.plan().poison_message ? dead_letter_poison_message() : go_to_event(0);
    }

    /// The handler has succeeded.
    event_result after_success()
    {
        ++tries_;
        last_fault_kind_ = fault_kind::none;
        return policy_.savepoints ? enter_phase(phase::release) : after_release();
    }

    event_result after_release()
    {
        ++handled_count_;
        return go_to_event(event_ + 1);
    }

    /// Goes to event `n`, or to the next one that is not excluded by the restart. After the last
    /// event, writes the dead letters of the restart or continues with `after_last_event`.
    event_result go_to_event(std::uint64_t n)
    {
        tries_ = 0;
        if (!policy_.savepoints) return go_to_event_of_restart(n);
        event_ = n;
        return n < events_ ? enter_phase(phase::savepoint) : after_last_event();
    }

    event_result go_to_event_of_restart(std::uint64_t n)
    {
        event_ = n = restart_.next_to_handle(n);
        tries_ = n < events_ ? restart_.tries_of(n) : 0;
        if (n < events_) return enter_phase(phase::handle);
        written_count_ = 0;
        if (restart_.dead_letters().empty()) return after_last_event();
        if (policy_.writes_dead_letters) return enter_phase(phase::dead_letters_of_restart);
        const auto& letters = restart_.dead_letters();
        const auto listed = detail::lesser(letters.size(), batch_report::max_dropped_events);
        const auto end = letters.begin() + static_cast<std::ptrdiff_t>(listed);
        dropped_events_.assign(letters.begin(), end);
        dropped_count_ = letters.size();
        return after_last_event();
    }

    /// The event was undone. Retries it, skips it, or writes its dead letter.
    event_result after_failure()
    {
        if (last_fault_kind_ == fault_kind::none) {
            ++skipped_count_;
            return go_to_event(event_ + 1);
        }
        if (last_fault_kind_ == fault_kind::transient && tries_ < policy_.tries)
            return enter_phase(phase::savepoint);
        return write_or_drop();
    }

    /// Writes the dead letter of the event. With `discard`, only counts and lists the event.
    event_result write_or_drop()
    {
        if (policy_.writes_dead_letters) return enter_phase(phase::dead_letter);
        if (dropped_events_.size() < batch_report::max_dropped_events)
            dropped_events_.push_back(current_dead_letter());
        ++dropped_count_;
        return go_to_event(event_ + 1);
    }

    /// The only event of the batch is a poison message.
    event_result dead_letter_poison_message()
    {
        event_ = 0;
        last_fault_kind_ = fault_kind::permanent;
        tries_ = record_.plan().restored->deaths;
        return write_or_drop();
    }

    event_result after_last_event()
    {
        const std::uint64_t failed = dead_letter_count_ + dropped_count_;
        const bool all_failed =
            failed != 0 && handled_count_ == 0 && !record_.plan().poison_message;
        const bool asks = policy_.decide_all_failed_from != detail::highest_size &&
                          failed >= policy_.decide_all_failed_from;
        return enter_phase(all_failed && asks ? phase::decide_all_failed : phase::advance);
    }

    event_result after_rollback()
    {
        if (planned_end_) return restore_record_and_end();
        // Without savepoints: restart the batch with what is now known about this event.
        ++restarts_;
        handled_count_ = 0;
        if (last_fault_kind_ == fault_kind::transient && tries_ < policy_.tries) {
            restart_.count(event_, tries_);
        } else if (last_fault_kind_ != fault_kind::none) {
            restart_.dead_letter(current_dead_letter());
        } else {
            restart_.skip(event_);
            ++skipped_count_;
        }
        return enter_phase(phase::begin);
    }

    write_dead_letter current_dead_letter() const
    {
        return {.event = event_,
                .kind = last_fault_kind_,
                .tries = tries_,
                .poison_message = record_.plan().poison_message};
    }

    /// The action that stores or clears the crash record in this transaction.
    action record_change() const
    {
        if (auto row = row_to_store()) return store_crash_record{*std::move(row)};
        return clear_crash_record{};
    }
    /// The crash record to store in this transaction; empty to clear it.
    std::optional<crash_record> row_to_store() const
    {
        if (purpose_ == purpose::storing_record) return record_.plan().initial;
        if (purpose_ == purpose::restoring_record) return record_.plan().restored;
        if (record_.plan().remaining_suspects == 0) return {};
        return record_.record_after_commit(to_);
    }

    detail::batch_rules policy_;
    std::uint64_t events_;
    std::optional<std::uint64_t> from_{};  // sequence of the checkpoint before
    std::uint64_t to_;
    std::uint64_t epoch_;

    purpose purpose_ = purpose::batch;  // purpose of the transaction
    phase phase_ = phase::begin;
    std::uint64_t event_ = 0;
    std::uint32_t tries_ = 0;                        // of event_, in this delivery
    fault_kind last_fault_kind_ = fault_kind::none;  // of the last failure
    detail::batch_attempt record_;
    detail::batch_restart restart_;  // only used without savepoints
    std::size_t written_count_ = 0;
    std::optional<batch_outcome> planned_end_;  // set before the rollback and the restore
    std::optional<batch_outcome> end_;
    std::uint64_t handled_count_ = 0;
    std::uint64_t dead_letter_count_ = 0;
    std::uint64_t dropped_count_ = 0;
    std::vector<write_dead_letter> dropped_events_;
    std::uint64_t skipped_count_ = 0;
    std::uint64_t restarts_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_BATCH_MACHINE_HPP
