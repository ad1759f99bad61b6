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
//      last event is covered, the end is `committed`, even if its commit was cancelled.
//   4. A commit with an unknown outcome is read back, and retried if it was not applied. A refused
//      commit ends the batch (`ownership_lost`), unless a late commit of this owner was the cause.
//   5. It terminates: each step makes progress, uses up a try, or stops.
// A later delivery repeats the event of the stop. It repeats other events only after a crash, a
// failed commit or a change of owner: at most `commit_every`, or more while failures wait (guide).
// A value without locks: one thread at a time.

#ifndef WAYBILL_CONSUME_AT_LEAST_ONCE_HPP
#define WAYBILL_CONSUME_AT_LEAST_ONCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of an `at_least_once_machine`, which inherits them.
struct at_least_once_machine_types : batch_machine_types {
    /// The checkpoint found after a commit whose outcome is unknown.
    enum class checkpoint_stands : std::uint8_t {
        before,     ///< At the old position: the commit was not applied.
        after,      ///< At the new position with the own epoch: the commit was applied.
        moved,      ///< Elsewhere with the own epoch: an earlier commit of this owner arrived late.
        elsewhere,  ///< Written by another owner.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(checkpoint_stands) noexcept
    {
        return "before, after, moved, elsewhere";
    }

    /// Sets the checkpoint to this event by compare-and-set: it becomes the last event done. Its
    /// result event is `advanced`.
    struct commit_to {
        std::uint64_t event = 0;
        friend bool operator==(const commit_to&, const commit_to&) = default;
    };

    /// Event: the checkpoint was read back. If `kind` is not `none`, it could not be read, and `at`
    /// is ignored.
    struct stood {
        checkpoint_stands at = checkpoint_stands::before;
        fault_kind kind = fault_kind::none;

        friend bool operator==(const stood&, const stood&) = default;
    };

    /// Classifies the checkpoint found after a commit from `from` to `to` under `epoch`. Positions
    /// are compared by sequence only.
    [[nodiscard]] static checkpoint_stands classify(const std::optional<checkpoint>& stored,
                                                    const std::optional<position>& from,
                                                    const position& to, std::uint64_t epoch)
    {
        const bool ours = stored && stored->epoch == epoch;
        if (ours && stored->at.sequence == to.sequence) return checkpoint_stands::after;
        const bool before = stored ? from && stored->at.sequence == from->sequence : !from;
        if (before) return checkpoint_stands::before;
        return ours ? checkpoint_stands::moved : checkpoint_stands::elsewhere;
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
    idempotency_options keys{};

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
        std::variant<handle, write_dead_letter, decide_all_failed, commit_to, check_commit, idle>;

    /// `events`: the number of events. If it is 0, the state machine ends at once with `empty`.
    explicit at_least_once_machine(std::uint64_t events, const at_least_once_policy& p = {})
        : policy_(p), events_(events)
    {
        if (policy_.tries == 0) policy_.tries = 1;
        if (policy_.commit_every == 0) policy_.commit_every = 1;
        if (events_ == 0) outcome(batch_outcome::empty);
    }

    /// The next action; `idle` after the end.
    [[nodiscard]] action next() const
    {
        switch (step_) {
            case step::handle: return handle{event_};
            case step::dead_letter: return failed_[written_];
            case step::decide_all_failed: return decide_all_failed{dead_ + failed_.size()};
            case step::commit: return commit_to{done_ - 1};
            case step::read_back: return check_commit{};
            case step::over: break;
        }
        return idle{};
    }
    [[nodiscard]] action next(steady_time) const { return next(); }

    /// The handler returned.
    event_result on(const handled& h)
    {
        if (step_ != step::handle) return event_result::stale;
        ++tries_;
        switch (h.kind) {
            case fault_kind::none:
                if (h.skipped) return to_event(event_ + 1);
                worked_ = true;
                // The failed events before it get their dead letters first.
                if (!failed_.empty()) return write();
                ++handled_;
                return to_event(event_ + 1);
            case fault_kind::transient:
                if (tries_ < policy_.tries) return event_result::applied;
                if (policy_.on_exhausted == batch_policy::when_exhausted::redeliver) break;
                return failed(h.kind);
            case fault_kind::permanent: return failed(h.kind);
            case fault_kind::infrastructure:
            case fault_kind::ownership_lost:
            case fault_kind::cancelled: break;
        }
        return stop(h.kind);
    }

    /// The sink acknowledged the dead letter, or failed.
    event_result on(const done& d)
    {
        if (step_ != step::dead_letter) return event_result::stale;
        if (d.kind == fault_kind::transient && ++puts_ < policy_.tries)
            return event_result::applied;
        if (d.kind != fault_kind::none) return stop(d.kind);
        ++dead_;
        puts_ = 0;
        done_ = failed_[written_++].event + 1;
        return written_ == failed_.size() ? written() : event_result::applied;
    }

    /// Decides whether a batch without any success becomes dead letters.
    event_result on(const all_failed_decided& a)
    {
        if (step_ != step::decide_all_failed) return event_result::stale;
        if (a.what == if_all_failed::go_on) return write();
        return stop(failed_.back().kind);
    }

    /// The result of the compare-and-set of the checkpoint; its outcome may be unknown.
    event_result on(const advanced& a)
    {
        if (step_ != step::commit) return event_result::stale;
        ++commits_;
        commit_how_ = a.kind;
        if (a.kind == fault_kind::none) {
            if (a.outcome == advance_outcome::applied) {
                if (policy_.check_commit == batch_policy::commit_check::unknown) return covered();
                commit_how_ = fault_kind::infrastructure;  // the fault if the read finds no commit
                return go(step::read_back);
            }
            commit_how_ = fault_kind::ownership_lost;
            // The conflict may be a commit of this owner that arrived after an earlier read.
            if (a.outcome == advance_outcome::conflict) return go(step::read_back);
        }
        if (commit_how_ == fault_kind::ownership_lost) {
            return not_covered(batch_outcome::ownership_lost, commit_how_);
        }
        if (a.kind == fault_kind::cancelled) to_end(batch_outcome::cancelled, a.kind, true);
        return go(step::read_back);
    }

    /// The checkpoint was read back, or could not be read.
    event_result on(const stood& s)
    {
        if (step_ != step::read_back) return event_result::stale;
        if (s.kind != fault_kind::none) return not_covered(batch_outcome::unknown, s.kind);
        switch (s.at) {
            case checkpoint_stands::after: return covered();
            case checkpoint_stands::before: {
                if (commits_ < policy_.tries && commit_how_ != fault_kind::cancelled) {
                    return go(step::commit);
                }
                if (stop_) return outcome(*stop_);
                // The old checkpoint is unchanged, so a refusal is a fault of the store.
                const bool refused = commit_how_ == fault_kind::ownership_lost;
                return not_covered(batch_outcome::redeliver,
                                   refused ? fault_kind::infrastructure : commit_how_);
            }
            case checkpoint_stands::moved:
                return not_covered(batch_outcome::unknown, fault_kind::infrastructure);
            case checkpoint_stands::elsewhere: break;
        }
        return not_covered(batch_outcome::ownership_lost, fault_kind::ownership_lost);
    }

    template <class Event>
    event_result on(const Event& e, steady_time)
    {
        return on(e);
    }

    /// How the batch ended; empty before the end. All values but `committed` describe the events
    /// that are not covered.
    [[nodiscard]] std::optional<batch_outcome> ended() const noexcept { return end_; }
    /// The kind of the fault that ended the batch; `none` without a fault.
    [[nodiscard]] fault_kind reason() const noexcept { return end_ ? why_ : fault_kind::none; }
    /// True if that fault came from the checkpoint, not from an event or its dead letter.
    [[nodiscard]] bool checkpoint_failed() const noexcept { return end_ && at_checkpoint_; }
    /// Number of events done, from the first on: handled, skipped, or dead letter acknowledged.
    [[nodiscard]] std::uint64_t done_events() const noexcept { return done_; }
    /// Number of done events whose commit is confirmed. They are not delivered again.
    [[nodiscard]] std::uint64_t covered_events() const noexcept { return covered_.events; }
    /// Covered events that took effect.
    [[nodiscard]] std::uint64_t handled_events() const noexcept { return covered_.handled; }
    /// Covered events with a dead letter.
    [[nodiscard]] std::uint64_t dead_lettered() const noexcept
    {
        return policy_.dead_letters.keeps == dead_letter_body::discard ? 0 : covered_.dead;
    }
    /// Covered events that failed for good and were not stored, by policy.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return covered_.dead - dead_lettered(); }
    /// The dead letters not written for dropped events, in order, at most
    /// `batch_report::max_dropped_events`. They include events that are not covered.
    [[nodiscard]] const std::vector<write_dead_letter>& dropped_events() const noexcept
    {
        return dropped_;
    }
    /// Covered events that the handler skipped.
    [[nodiscard]] std::uint64_t skipped_events() const noexcept
    {
        return covered_.events - covered_.handled - covered_.dead;
    }

    friend bool operator==(const at_least_once_machine&, const at_least_once_machine&) = default;

private:
    enum class step : std::uint8_t {
        handle,
        dead_letter,
        decide_all_failed,
        commit,
        read_back,
        over
    };

    struct counts {
        std::uint64_t events = 0;
        std::uint64_t handled = 0;
        std::uint64_t dead = 0;
        friend bool operator==(const counts&, const counts&) = default;
    };

    event_result go(step s)
    {
        step_ = s;
        return event_result::applied;
    }

    event_result outcome(batch_outcome e)
    {
        end_ = e;
        return go(step::over);
    }

    /// After the commit of the done events, the batch ends with `e`.
    void to_end(batch_outcome e, fault_kind reason, bool at_checkpoint)
    {
        stop_ = e;
        why_ = reason;
        at_checkpoint_ = at_checkpoint;
    }

    /// The commit of the done events was not confirmed.
    event_result not_covered(batch_outcome e, fault_kind reason)
    {
        to_end(e, reason, true);
        return outcome(e);
    }

    /// Goes to event `n`, or after the last event to the next step.
    event_result to_event(std::uint64_t n)
    {
        event_ = n;
        tries_ = 0;
        if (failed_.empty()) done_ = n;
        const bool last = event_ == events_;
        const bool enough = last || event_ - covered_.events >= policy_.commit_every;
        if (failed_.empty()) return go(enough ? step::commit : step::handle);
        // No event took effect so far.
        if (enough && dead_ + failed_.size() >= policy_.decide_all_failed_from)
            return go(step::decide_all_failed);
        return last ? write() : go(step::handle);
    }

    /// The event failed for good. If no event took effect yet, the cause may be a shared
    /// dependency.
    event_result failed(fault_kind kind)
    {
        failed_.push_back({event_, kind, tries_});
        if (worked_ || events_ < policy_.decide_all_failed_from) return write();
        return to_event(event_ + 1);
    }

    event_result write()
    {
        if (policy_.dead_letters.keeps != dead_letter_body::discard) return go(step::dead_letter);
        for (const write_dead_letter& d : failed_) {
            if (dropped_.size() < batch_report::max_dropped_events) dropped_.push_back(d);
        }
        dead_ += failed_.size();
        return written();
    }

    /// All failed events are acknowledged. The current event is either the last of them or
    /// succeeded.
    event_result written()
    {
        const bool last_too = failed_.back().event == event_;
        const bool last_worked = worked_ && !last_too;
        failed_.clear();
        written_ = 0;
        if (last_worked) ++handled_;
        return to_event(last_too || last_worked ? event_ + 1 : event_);
    }

    /// Stops at the current event. The done events are committed first, unless ownership is lost.
    event_result stop(fault_kind kind)
    {
        const bool lost = kind == fault_kind::ownership_lost;
        const bool wanted = kind == fault_kind::cancelled;
        to_end(wanted ? batch_outcome::cancelled : batch_outcome::redeliver, kind, false);
        if (lost) stop_ = batch_outcome::ownership_lost;
        return lost || done_ == covered_.events ? outcome(*stop_) : go(step::commit);
    }

    event_result covered()
    {
        covered_ = {done_, handled_, dead_};
        commits_ = 0;
        if (done_ == events_) to_end(batch_outcome::committed, fault_kind::none, false);
        return stop_ ? outcome(*stop_) : go(step::handle);
    }

    at_least_once_policy policy_;
    std::uint64_t events_;

    step step_ = step::handle;
    std::uint64_t event_ = 0;                 // number of the current event
    std::uint32_t tries_ = 0;                 // of the current event
    bool worked_ = false;                     // at least one event took effect
    std::vector<write_dead_letter> failed_;   // not acknowledged yet, in order
    std::vector<write_dead_letter> dropped_;  // the first dropped events
    std::size_t written_ = 0;                 // entries of failed_ that are acknowledged
    std::uint32_t puts_ = 0;                  // tries of the next dead letter
    std::uint32_t commits_ = 0;               // tries of the current commit
    std::uint64_t done_ = 0;
    std::uint64_t handled_ = 0;
    std::uint64_t dead_ = 0;
    counts covered_;
    fault_kind commit_how_ = fault_kind::none;  // result of the last commit
    std::optional<batch_outcome> stop_;         // the end after the done events are committed
    fault_kind why_ = fault_kind::none;         // the fault that belongs to the end
    bool at_checkpoint_ = false;                // why_ is a fault of the checkpoint
    std::optional<batch_outcome> end_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_AT_LEAST_ONCE_HPP
