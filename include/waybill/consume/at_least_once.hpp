// SPDX-License-Identifier: MIT
//
// at_least_once_machine: handles a batch whose effects share no transaction with the checkpoint.
//
//     { handle -> [dead_letter] } ... -> commit_to -> [check_commit]
//
// The state machine sees only event numbers, 0 to n-1. `process_at_least_once` drives it.
// Guarantees (tests/enumerate/consume/at_least_once.test.cpp tries all faults at all calls):
//   1. The checkpoint never passes an unhandled event or an unacknowledged dead letter.
//   2. Events are handled in order, each after the previous one is handled, skipped or failed.
//   3. An infrastructure fault stops the delivery and is not blamed on an event. The done events
//      before it are committed, and the rest is delivered again. Cancelling does the same. If the
//      last event is committed, the end is `committed`, even if its commit was cancelled.
//   4. A commit with an unknown outcome is read back, and retried if it was not applied. A refused
//      commit ends the batch (`ownership_lost`), unless a late commit of this owner was the cause.
//   5. It terminates: each action makes progress, uses up a try, or is the last one.
// A later delivery repeats the event of the stop. It repeats other events only after a crash, a
// failed commit or a change of owner: at most `commit_every`, or more while failures wait (guide).
// A value without locks: one thread at a time.

#ifndef WAYBILL_CONSUME_AT_LEAST_ONCE_HPP
#define WAYBILL_CONSUME_AT_LEAST_ONCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of an `at_least_once_machine`, which inherits them.
struct at_least_once_machine_types : batch_machine_types {
    /// The checkpoint found after a commit whose outcome is unknown.
    enum class checkpoint_found : std::uint8_t {
        before,  ///< At the old position: the commit was not applied.
        after,   ///< At the new position with the own epoch: the commit was applied.
        /// Elsewhere with the own epoch: an earlier commit of this owner arrived late.
        earlier_commit,
        elsewhere,  ///< Written by another owner.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(checkpoint_found) noexcept
    {
        return "before, after, earlier_commit, elsewhere";
    }

    /// Sets the checkpoint to this event by compare-and-set: it becomes the last event done. Its
    /// result event is `advanced`.
    struct commit_to {
        std::uint64_t event = 0;
        friend bool operator==(const commit_to&, const commit_to&) = default;
    };

    /// Event: the checkpoint was read back. If `kind` is not `none`, it could not be read, and `at`
    /// is ignored.
    struct commit_checked {
        checkpoint_found at = checkpoint_found::before;
        fault_kind kind = fault_kind::none;

        friend bool operator==(const commit_checked&, const commit_checked&) = default;
    };

    /// Classifies the checkpoint found after a commit from `from` to `to` under `epoch`. Positions
    /// are compared by sequence only.
    [[nodiscard]] static checkpoint_found classify(const std::optional<checkpoint>& stored,
                                                   const std::optional<position>& from,
                                                   const position& to, std::uint64_t epoch)
    {
        const bool ours = stored && stored->epoch == epoch;
        if (ours && stored->at.sequence == to.sequence) return checkpoint_found::after;
        const bool before = stored ? from && stored->at.sequence == from->sequence : !from;
        if (before) return checkpoint_found::before;
        return ours ? checkpoint_found::earlier_commit : checkpoint_found::elsewhere;
    }

    friend bool operator==(const at_least_once_machine_types&,
                           const at_least_once_machine_types&) = default;
};

struct at_least_once_policy {
    /// Maximum number of tries of one event, of one dead letter and of one commit. 0 counts as 1.
    std::uint32_t tries = 3;
    batch_policy::when_exhausted on_exhausted = batch_policy::when_exhausted::redeliver;
    /// Commits after this many events, and after the last event. 0 counts as 1.
    std::uint64_t commit_every = detail::highest_size;
    /// If this many events failed and none took effect, the caller is asked before they become dead
    /// letters. The question comes at the end, or when `commit_every` events are not yet committed.
    /// 2^64 - 1: no question; each dead letter is written at once.
    std::uint64_t decide_all_failed_from = 2;
    dead_letter_options dead_letters{};
    batch_policy::commit_check check_commit = batch_policy::commit_check::unknown;
    idempotency_keys::options keys{};

    friend bool operator==(const at_least_once_policy&, const at_least_once_policy&) = default;
};

/// `make` does not create this state machine: its constructor also needs the number of events.
[[nodiscard]] constexpr std::optional<config_error> validate(const at_least_once_policy& p) noexcept
{
    if (p.tries == 0) return config_error{"tries", 0, "must be at least", 1};
    if (p.commit_every == 0) return config_error{"commit_every", 0, "must be at least", 1};
    if (p.decide_all_failed_from == 0)
        return config_error{"decide_all_failed_from", 0, "must be at least", 1};
    return validate(p.keys);
}

class at_least_once_machine : public at_least_once_machine_types {
public:
    using action =
        variant<handle, write_dead_letter, decide_all_failed, commit_to, check_commit, idle>;

    /// `events`: the number of events. If it is 0, the state machine ends at once with `empty`.
    explicit at_least_once_machine(std::uint64_t events, const at_least_once_policy& p = {})
        : policy_(p), event_count_(events)
    {
        if (policy_.tries == 0) policy_.tries = 1;
        if (policy_.commit_every == 0) policy_.commit_every = 1;
        if (event_count_ == 0) end_batch(batch_outcome::empty);
    }

    /// The next action; `idle` after the end.
    [[nodiscard]] action next() const
    {
        switch (phase_) {
            case phase::handle: return handle{event_};
            case phase::dead_letter: return failed_events_[acknowledged_count_];
            case phase::decide_all_failed:
                return decide_all_failed{dead_letter_count_ + failed_events_.size()};
            case phase::commit: return commit_to{done_count_ - 1};
            case phase::check_commit: return check_commit{};
            case phase::ended: break;
        }
        return idle{};
    }
    [[nodiscard]] action next(steady_time) const { return next(); }

    /// The handler returned.
    event_result on(const handled& h)
    {
        if (phase_ != phase::handle) return event_result::stale;
        ++tries_;
        switch (h.kind) {
            case fault_kind::none:
                if (h.skipped) return go_to_event(event_ + 1);
                any_took_effect_ = true;
                // The failed events before it get their dead letters first.
                if (!failed_events_.empty()) return write_dead_letters();
                ++handled_count_;
                return go_to_event(event_ + 1);
            case fault_kind::transient:
                if (tries_ < policy_.tries) return event_result::applied;
                if (policy_.on_exhausted == batch_policy::when_exhausted::redeliver) break;
                return record_failed_event(h.kind);
            case fault_kind::permanent: return record_failed_event(h.kind);
            case fault_kind::infrastructure:
            case fault_kind::ownership_lost:
            case fault_kind::cancelled: break;
        }
        return stop(h.kind);
    }

    /// The sink acknowledged the dead letter, or failed.
    event_result on(const done& d)
    {
        if (phase_ != phase::dead_letter) return event_result::stale;
        if (d.kind == fault_kind::transient && ++dead_letter_tries_ < policy_.tries)
            return event_result::applied;
        if (d.kind != fault_kind::none) return stop(d.kind);
        ++dead_letter_count_;
        dead_letter_tries_ = 0;
        done_count_ = failed_events_[acknowledged_count_++].event + 1;
        return acknowledged_count_ == failed_events_.size() ? dead_letters_done()
                                                            : event_result::applied;
    }

    /// The caller's decision about failed events, if no event took effect.
    event_result on(const all_failed_decided& a)
    {
        if (phase_ != phase::decide_all_failed) return event_result::stale;
        if (a.what == batch_policy::if_all_failed::go_on) return write_dead_letters();
        return stop(failed_events_.back().kind);
    }

    /// The result of the compare-and-set of the checkpoint; its outcome may be unknown.
    event_result on(const advanced& a)
    {
        if (phase_ != phase::commit) return event_result::stale;
        ++commit_tries_;
        commit_fault_kind_ = a.kind;
        if (a.kind == fault_kind::none) {
            if (a.outcome == advance_outcome::applied) {
                if (policy_.check_commit == batch_policy::commit_check::unknown)
                    return commit_confirmed();
                // The fault if the read finds no commit.
                commit_fault_kind_ = fault_kind::infrastructure;
                return enter_phase(phase::check_commit);
            }
            commit_fault_kind_ = fault_kind::ownership_lost;
            // The conflict may be a commit of this owner that arrived after an earlier read.
            if (a.outcome == advance_outcome::conflict) return enter_phase(phase::check_commit);
        }
        if (commit_fault_kind_ == fault_kind::ownership_lost) {
            return end_uncommitted(batch_outcome::ownership_lost, commit_fault_kind_);
        }
        if (a.kind == fault_kind::cancelled)
            plan_end(batch_outcome::cancelled, a.kind, fault_source::checkpoint);
        return enter_phase(phase::check_commit);
    }

    /// The checkpoint was read back, or could not be read.
    event_result on(const commit_checked& s)
    {
        if (phase_ != phase::check_commit) return event_result::stale;
        if (s.kind != fault_kind::none) return end_uncommitted(batch_outcome::unknown, s.kind);
        switch (s.at) {
            case checkpoint_found::after: return commit_confirmed();
            case checkpoint_found::before: {
                if (commit_tries_ < policy_.tries && commit_fault_kind_ != fault_kind::cancelled) {
                    return enter_phase(phase::commit);
                }
                if (planned_end_) return end_batch(*planned_end_);
                // The old checkpoint is unchanged, so a refusal is a fault of the store.
                const bool refused = commit_fault_kind_ == fault_kind::ownership_lost;
                return end_uncommitted(batch_outcome::redeliver,
                                       refused ? fault_kind::infrastructure : commit_fault_kind_);
            }
            case checkpoint_found::earlier_commit:
                return end_uncommitted(batch_outcome::unknown, fault_kind::infrastructure);
            case checkpoint_found::elsewhere: break;
        }
        return end_uncommitted(batch_outcome::ownership_lost, fault_kind::ownership_lost);
    }

    template <class Event>
    event_result on(const Event& e, steady_time)
    {
        return on(e);
    }

    /// The outcome of the batch; empty before the end. All values but `committed` describe the
    /// events that are not committed.
    [[nodiscard]] std::optional<batch_outcome> ended() const noexcept { return end_; }
    /// The kind of the fault that ended the batch; `none` without a fault.
    [[nodiscard]] fault_kind reason() const noexcept
    {
        return end_ ? end_fault_kind_ : fault_kind::none;
    }
    /// True if that fault came from the checkpoint, not from an event or its dead letter.
    [[nodiscard]] bool checkpoint_failed() const noexcept
    {
        return end_ && end_fault_source_ == fault_source::checkpoint;
    }
    /// Number of events done, from the first on: handled, skipped, or dead letter acknowledged.
    [[nodiscard]] std::uint64_t done_events() const noexcept { return done_count_; }
    /// Number of done events whose commit is confirmed. They are not delivered again.
    [[nodiscard]] std::uint64_t committed_events() const noexcept { return committed_.events; }
    /// Committed events that took effect.
    [[nodiscard]] std::uint64_t handled_events() const noexcept { return committed_.handled; }
    /// Committed events with a dead letter.
    [[nodiscard]] std::uint64_t dead_lettered() const noexcept
    {
        return policy_.dead_letters.keeps == dead_letter_body::discard ? 0 : committed_.failed;
    }
    /// Committed events that failed and got no dead letter (`dead_letter_body::discard`).
    [[nodiscard]] std::uint64_t dropped() const noexcept
    {
        return committed_.failed - dead_lettered();
    }
    /// The dead letters not written for dropped events, in order, at most
    /// `batch_report::max_dropped_events`. They include events that are not committed.
    [[nodiscard]] const std::vector<write_dead_letter>& dropped_events() const noexcept
    {
        return dropped_;
    }
    /// Committed events that the handler skipped.
    [[nodiscard]] std::uint64_t skipped_events() const noexcept
    {
        return committed_.events - committed_.handled - committed_.failed;
    }

    friend bool operator==(const at_least_once_machine&, const at_least_once_machine&) = default;

private:
    enum class phase : std::uint8_t {
        handle,
        dead_letter,
        decide_all_failed,
        commit,
        check_commit,
        ended,
    };

    /// The source of the fault that ends the batch.
    enum class fault_source : std::uint8_t { none, event, checkpoint };

    struct counts {
        std::uint64_t events = 0;
        std::uint64_t handled = 0;
        std::uint64_t failed = 0;  ///< With a dead letter, or dropped.
        friend bool operator==(const counts&, const counts&) = default;
    };

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

    /// Sets the outcome with which the batch ends after the commit of the done events.
    void plan_end(batch_outcome e, fault_kind reason, fault_source source)
    {
        planned_end_ = e;
        end_fault_kind_ = reason;
        end_fault_source_ = source;
    }

    /// Ends the batch now, because the commit of the done events was not confirmed.
    event_result end_uncommitted(batch_outcome e, fault_kind reason)
    {
        plan_end(e, reason, fault_source::checkpoint);
        return end_batch(e);
    }

    /// Continues with event `n`. Before that, a commit or the question about the failed events
    /// comes if it is due.
    event_result go_to_event(std::uint64_t n)
    {
        event_ = n;
        tries_ = 0;
        if (failed_events_.empty()) done_count_ = n;
        const bool last = event_ == event_count_;
        const bool commit_due = last || event_ - committed_.events >= policy_.commit_every;
        if (failed_events_.empty()) return enter_phase(commit_due ? phase::commit : phase::handle);
        // Events that failed are still waiting, so no event took effect yet.
        if (commit_due &&
            dead_letter_count_ + failed_events_.size() >= policy_.decide_all_failed_from)
            return enter_phase(phase::decide_all_failed);
        return last ? write_dead_letters() : enter_phase(phase::handle);
    }

    /// The last try of the event failed. If no event took effect yet, the cause may be a shared
    /// dependency.
    event_result record_failed_event(fault_kind kind)
    {
        failed_events_.push_back({.event = event_, .kind = kind, .tries = tries_});
        if (any_took_effect_ || event_count_ < policy_.decide_all_failed_from)
            return write_dead_letters();
        return go_to_event(event_ + 1);
    }

    /// Writes the dead letters of `failed_events_`. With `discard`, only counts and lists them.
    event_result write_dead_letters()
    {
        if (policy_.dead_letters.keeps != dead_letter_body::discard)
            return enter_phase(phase::dead_letter);
        for (const write_dead_letter& d : failed_events_) {
            if (dropped_.size() < batch_report::max_dropped_events) dropped_.push_back(d);
        }
        dead_letter_count_ += failed_events_.size();
        return dead_letters_done();
    }

    /// All dead letters of `failed_events_` are acknowledged or dropped. The current event is the
    /// last of them, succeeded, or is not handled yet.
    event_result dead_letters_done()
    {
        const bool last_failed = failed_events_.back().event == event_;
        const bool last_took_effect = any_took_effect_ && !last_failed;
        failed_events_.clear();
        acknowledged_count_ = 0;
        if (last_took_effect) ++handled_count_;
        return go_to_event(last_failed || last_took_effect ? event_ + 1 : event_);
    }

    /// Stops at the current event. The done events are committed first, unless ownership is lost.
    event_result stop(fault_kind kind)
    {
        const bool lost = kind == fault_kind::ownership_lost;
        const bool cancelled = kind == fault_kind::cancelled;
        plan_end(cancelled ? batch_outcome::cancelled : batch_outcome::redeliver, kind,
                 fault_source::event);
        if (lost) planned_end_ = batch_outcome::ownership_lost;
        return lost || done_count_ == committed_.events ? end_batch(*planned_end_)
                                                        : enter_phase(phase::commit);
    }

    event_result commit_confirmed()
    {
        committed_ = {
            .events = done_count_, .handled = handled_count_, .failed = dead_letter_count_};
        commit_tries_ = 0;
        if (done_count_ == event_count_)
            plan_end(batch_outcome::committed, fault_kind::none, fault_source::none);
        return planned_end_ ? end_batch(*planned_end_) : enter_phase(phase::handle);
    }

    at_least_once_policy policy_;
    std::uint64_t event_count_;

    phase phase_ = phase::handle;
    std::uint64_t event_ = 0;                       // number of the current event
    std::uint32_t tries_ = 0;                       // of the current event
    bool any_took_effect_ = false;                  // at least one event took effect
    std::vector<write_dead_letter> failed_events_;  // without dead letter yet, in order
    std::vector<write_dead_letter> dropped_;        // the first dropped events
    std::size_t acknowledged_count_ = 0;            // dead letters written of failed_events_
    std::uint32_t dead_letter_tries_ = 0;           // tries of the next dead letter
    std::uint32_t commit_tries_ = 0;                // tries of the current commit
    std::uint64_t done_count_ = 0;
    std::uint64_t handled_count_ = 0;
    std::uint64_t dead_letter_count_ = 0;  // dropped events included
    counts committed_;
    fault_kind commit_fault_kind_ = fault_kind::none;  // of the last commit
    std::optional<batch_outcome> planned_end_;         // after the commit of the done events
    fault_kind end_fault_kind_ = fault_kind::none;     // of the planned end or the end
    fault_source end_fault_source_ = fault_source::none;
    std::optional<batch_outcome> end_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_AT_LEAST_ONCE_HPP
