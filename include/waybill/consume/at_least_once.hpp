// SPDX-License-Identifier: MIT
//
// at_least_once_machine: a batch of events whose effects share no transaction with the checkpoint.
//
// A mail that was sent is sent, whatever becomes of the checkpoint. So each event is handled at
// least once, and the order of the steps sees to it that none is passed over:
//
//     { handle -> dead_letter, if it failed for good } ... -> commit_to -> read_back, if in doubt
//
// The machine sees event numbers only, 0 to n-1; `process_at_least_once` drives it. What holds
// whatever the answers are:
//   1. the checkpoint never passes an event that was not handled, or whose dead letter the sink has
//      not acknowledged;
//   2. events are handled in order, and none before the one in front of it is done;
//   3. a fault of the surroundings stops at its event and is never blamed on it: what is done
//      before it is committed, and the rest is to be delivered again from there. Cancelling does
//      the same, so what is done is not done once more after a restart. A batch that is covered to
//      its last event is `committed`, even if somebody cancelled its commit;
//   4. a commit of which nobody knows is read back, and tried again where it is not there. One that
//      is refused ends it, since somebody else has the partition; but for a commit of ours that has
//      arrived late, which is found by its epoch, and does no harm;
//   5. it ends: each step moves on, is counted in some tries, or stops.
//
// An event is handled again, in a later delivery, only after a crash, after a stop that the
// checkpoint could not follow, or by another owner who took over: those since the last confirmed
// commit, `commit_every` of them at the most, and the one at which it stopped. While none has
// worked, failures wait, and with them what follows; with that many, somebody is asked. Only as
// long as fewer than `ask_from` have failed more may wait. All faults at all calls are tried in
// tests/enumerate/consume/at_least_once.test.cpp.
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
#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Make this event the last one done: compare and set the checkpoint. Answered by `advanced`.
struct commit_to {
    std::uint64_t event = 0;
    friend bool operator==(const commit_to&, const commit_to&) = default;
};

}  // namespace act

/// Where a checkpoint stands that was to be moved, and nobody knows whether it was.
enum class checkpoint_stands : std::uint8_t {
    before,     ///< Where it stood: the commit is not there.
    after,      ///< Where it was to be moved, with our epoch: the commit is there.
    moved,      ///< Elsewhere, with our epoch: an earlier commit of ours has arrived late.
    elsewhere,  ///< Somebody else has written it.
};

[[nodiscard]] constexpr std::string_view name(checkpoint_stands s) noexcept
{
    switch (s) {
        case checkpoint_stands::before: return "before";
        case checkpoint_stands::after: return "after";
        case checkpoint_stands::moved: return "moved";
        case checkpoint_stands::elsewhere: return "elsewhere";
    }
    return "?";
}

/// What a stored checkpoint says of a commit of ours, `from` there `to` here.
[[nodiscard]] inline checkpoint_stands stands(const std::optional<checkpoint>& stored,
                                              const std::optional<position>& from,
                                              const position& to, std::uint64_t epoch)
{
    const bool ours = stored && stored->epoch == epoch;
    if (ours && stored->at.sequence == to.sequence) return checkpoint_stands::after;
    const bool before = stored ? from && stored->at.sequence == from->sequence : !from;
    if (before) return checkpoint_stands::before;
    return ours ? checkpoint_stands::moved : checkpoint_stands::elsewhere;
}

/// The checkpoint that was read back stands here; `how` says why it could not be read.
struct stood {
    checkpoint_stands at = checkpoint_stands::before;
    fault_class how = fault_class::none;

    friend bool operator==(const stood&, const stood&) = default;
};

struct at_least_once_policy {
    std::uint32_t tries = 3;  ///< Of one event, one dead letter, one commit; 0 reads as 1.
    when_exhausted on_exhausted = when_exhausted::redeliver;
    /// Commits after so many events, too, and not only at the end; 0 reads as 1.
    std::uint64_t commit_every = highest_size;
    /// With so many failures, and not one event that took effect, somebody is asked before they
    /// become dead letters: at the end, and before more than `commit_every` events wait for it.
    /// `highest_size`: nobody ever is, and each is written at once.
    std::uint64_t ask_from = 2;
    std::size_t reason_bytes = 1'024;  ///< Most bytes of a dead letter's reason.
    letter_keeps keeps = letter_keeps::body;
    std::uint64_t body_bytes = highest_size;  ///< A larger body is summed up.
    std::uint64_t summary_bytes = 256;
    when_read_back read_back = when_read_back::unknown;
    idempotency_options keys{};

    friend bool operator==(const at_least_once_policy&, const at_least_once_policy&) = default;
};

/// The machine needs the number of events as well, so it is made by its constructor, not by `make`.
[[nodiscard]] constexpr std::optional<config_error> check(const at_least_once_policy& p) noexcept
{
    if (p.tries == 0) return config_error{"tries", 0, "must be at least", 1};
    if (p.commit_every == 0) return config_error{"commit_every", 0, "must be at least", 1};
    if (p.ask_from == 0) return config_error{"ask_from", 0, "must be at least", 1};
    return check(p.keys);
}

class at_least_once_machine {
public:
    using action = std::variant<act::handle, act::dead_letter, act::ask, act::commit_to,
                                act::read_back, act::idle>;

    /// Takes `events` events.
    explicit at_least_once_machine(std::uint64_t events, const at_least_once_policy& p = {})
        : policy_(p), events_(events)
    {
        if (policy_.tries == 0) policy_.tries = 1;
        if (policy_.commit_every == 0) policy_.commit_every = 1;
        if (events_ == 0) end(batch_end::empty);
    }

    /// What comes next; `idle` once it is over.
    [[nodiscard]] action next() const
    {
        switch (step_) {
            case step::handle: return act::handle{event_};
            case step::dead_letter: return failed_[written_];
            case step::ask: return act::ask{dead_ + failed_.size()};
            case step::commit: return act::commit_to{done_ - 1};
            case step::read_back: return act::read_back{};
            case step::over: break;
        }
        return act::idle{};
    }
    [[nodiscard]] action next(steady_time) const { return next(); }

    /// The handler has answered.
    heard on(const handled& h)
    {
        if (step_ != step::handle) return heard::late;
        ++tries_;
        switch (h.how) {
            case fault_class::none:
                if (h.skipped) return to_event(event_ + 1);
                worked_ = true;
                // Those before it that failed are done first.
                if (!failed_.empty()) return write();
                ++handled_;
                return to_event(event_ + 1);
            case fault_class::transient:
                if (tries_ < policy_.tries) return heard::taken;
                if (policy_.on_exhausted == when_exhausted::redeliver) break;
                return failed(h.how);
            case fault_class::permanent: return failed(h.how);
            case fault_class::infrastructure:
            case fault_class::ownership_lost:
            case fault_class::cancelled: break;
        }
        return stop(h.how);
    }

    /// The sink has acknowledged the dead letter, or has not.
    heard on(const done& d)
    {
        if (step_ != step::dead_letter) return heard::late;
        if (d.how == fault_class::transient && ++puts_ < policy_.tries) return heard::taken;
        if (d.how != fault_class::none) return stop(d.how);
        ++dead_;
        puts_ = 0;
        done_ = failed_[written_++].event + 1;
        return written_ == failed_.size() ? written() : heard::taken;
    }

    /// Whether a batch in which nothing has worked may become dead letters.
    heard on(const answered& a)
    {
        if (step_ != step::ask) return heard::late;
        if (a.what == if_all_failed::go_on) return write();
        return stop(failed_.back().how);
    }

    /// The checkpoint was compared and set, or not, or nobody knows.
    heard on(const advanced& a)
    {
        if (step_ != step::commit) return heard::late;
        ++commits_;
        commit_how_ = a.how;
        if (a.how == fault_class::none) {
            if (a.outcome == advance_outcome::applied) {
                if (policy_.read_back == when_read_back::unknown) return covered();
                commit_how_ = fault_class::infrastructure;  // if it is not there
                return go(step::read_back);
            }
            commit_how_ = fault_class::ownership_lost;
            // What is in the way may be ours, too: a commit that arrived after it was looked for.
            if (a.outcome == advance_outcome::conflict) return go(step::read_back);
        }
        if (commit_how_ == fault_class::ownership_lost) {
            return not_covered(batch_end::abandoned, commit_how_);
        }
        if (a.how == fault_class::cancelled) to_end(batch_end::cancelled, a.how, true);
        return go(step::read_back);
    }

    /// The checkpoint as it stands now, or why it cannot be read.
    heard on(const stood& s)
    {
        if (step_ != step::read_back) return heard::late;
        if (s.how != fault_class::none) return not_covered(batch_end::unknown, s.how);
        switch (s.at) {
            case checkpoint_stands::after: return covered();
            case checkpoint_stands::before: {
                if (commits_ < policy_.tries && commit_how_ != fault_class::cancelled) {
                    return go(step::commit);
                }
                if (stop_) return end(*stop_);
                // What is refused where nothing is in the way is a fault of the store.
                const bool refused = commit_how_ == fault_class::ownership_lost;
                return not_covered(batch_end::redeliver,
                                   refused ? fault_class::infrastructure : commit_how_);
            }
            case checkpoint_stands::moved:
                return not_covered(batch_end::unknown, fault_class::infrastructure);
            case checkpoint_stands::elsewhere: break;
        }
        return not_covered(batch_end::abandoned, fault_class::ownership_lost);
    }

    template <class Event>
    heard on(const Event& e, steady_time)
    {
        return on(e);
    }

    /// How it ended, once it has. All but `committed` is about the events that are not covered.
    [[nodiscard]] std::optional<batch_end> ended() const noexcept { return end_; }
    /// The class of the fault that it ended so for, where there was one,
    [[nodiscard]] fault_class why() const noexcept { return end_ ? why_ : fault_class::none; }
    /// and whether that was a fault of the checkpoint, not of an event or its dead letter.
    [[nodiscard]] bool checkpoint_failed() const noexcept { return end_ && at_checkpoint_; }
    /// So many events from the first on are done: handled, skipped, or acknowledged dead letters.
    [[nodiscard]] std::uint64_t done_events() const noexcept { return done_; }
    /// For so many of them the commit is confirmed: they do not come again. These are
    [[nodiscard]] std::uint64_t covered_events() const noexcept { return covered_.events; }
    /// those that were handled, are dead letters, were kept nowhere by policy, and were skipped.
    [[nodiscard]] std::uint64_t handled_events() const noexcept { return covered_.handled; }
    [[nodiscard]] std::uint64_t dead_lettered() const noexcept
    {
        return policy_.keeps == letter_keeps::nothing ? 0 : covered_.dead;
    }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return covered_.dead - dead_lettered(); }
    /// The unwritten dead letters of dropped events, in order, at most `max_dropped_events`. Events
    /// that are not covered are included.
    [[nodiscard]] const std::vector<act::dead_letter>& dropped_events() const noexcept
    {
        return dropped_;
    }
    [[nodiscard]] std::uint64_t skipped_events() const noexcept
    {
        return covered_.events - covered_.handled - covered_.dead;
    }

    friend bool operator==(const at_least_once_machine&, const at_least_once_machine&) = default;

private:
    enum class step : std::uint8_t { handle, dead_letter, ask, commit, read_back, over };

    struct counts {
        std::uint64_t events = 0;
        std::uint64_t handled = 0;
        std::uint64_t dead = 0;
        friend bool operator==(const counts&, const counts&) = default;
    };

    heard go(step s)
    {
        step_ = s;
        return heard::taken;
    }

    heard end(batch_end e)
    {
        end_ = e;
        return go(step::over);
    }

    /// To end so, for this, once what is done is committed.
    void to_end(batch_end e, fault_class why, bool at_checkpoint)
    {
        stop_ = e;
        why_ = why;
        at_checkpoint_ = at_checkpoint;
    }

    /// The checkpoint does not follow.
    heard not_covered(batch_end e, fault_class why)
    {
        to_end(e, why, true);
        return end(e);
    }

    /// On to event `n`, or to what follows the last.
    heard to_event(std::uint64_t n)
    {
        event_ = n;
        tries_ = 0;
        if (failed_.empty()) done_ = n;
        const bool last = event_ == events_;
        const bool enough = last || event_ - covered_.events >= policy_.commit_every;
        if (failed_.empty()) return go(enough ? step::commit : step::handle);
        // None has worked.
        if (enough && dead_ + failed_.size() >= policy_.ask_from) return go(step::ask);
        return last ? write() : go(step::handle);
    }

    /// The event has failed for good. As long as none has worked it may be what all of them need.
    heard failed(fault_class how)
    {
        failed_.push_back({event_, how, tries_});
        if (worked_ || events_ < policy_.ask_from) return write();
        return to_event(event_ + 1);
    }

    heard write()
    {
        if (policy_.keeps != letter_keeps::nothing) return go(step::dead_letter);
        for (const act::dead_letter& d : failed_) {
            if (dropped_.size() < max_dropped_events) dropped_.push_back(d);
        }
        dead_ += failed_.size();
        return written();
    }

    /// All that failed so far are acknowledged. The event may be the last of them, or have worked.
    heard written()
    {
        const bool last_too = failed_.back().event == event_;
        const bool last_worked = worked_ && !last_too;
        failed_.clear();
        written_ = 0;
        if (last_worked) ++handled_;
        return to_event(last_too || last_worked ? event_ + 1 : event_);
    }

    /// Nothing beyond the events that are done; these are committed, unless somebody else has them.
    heard stop(fault_class how)
    {
        const bool lost = how == fault_class::ownership_lost;
        const bool wanted = how == fault_class::cancelled;
        to_end(wanted ? batch_end::cancelled : batch_end::redeliver, how, false);
        if (lost) stop_ = batch_end::abandoned;
        return lost || done_ == covered_.events ? end(*stop_) : go(step::commit);
    }

    /// The commit is confirmed.
    heard covered()
    {
        covered_ = {done_, handled_, dead_};
        commits_ = 0;
        if (done_ == events_) to_end(batch_end::committed, fault_class::none, false);
        return stop_ ? end(*stop_) : go(step::handle);
    }

    at_least_once_policy policy_;
    std::uint64_t events_;

    step step_ = step::handle;
    std::uint64_t event_ = 0;              // is being handled
    std::uint32_t tries_ = 0;              // of it
    bool worked_ = false;                  // any event has
    std::vector<act::dead_letter> failed_; // not acknowledged yet, in order
    std::vector<act::dead_letter> dropped_; // the first of the dropped events
    std::size_t written_ = 0;              // so many of them are, by now
    std::uint32_t puts_ = 0;               // of the next of them
    std::uint32_t commits_ = 0;            // of the same events
    std::uint64_t done_ = 0;
    std::uint64_t handled_ = 0;
    std::uint64_t dead_ = 0;
    counts covered_;
    fault_class commit_how_ = fault_class::none;  // how the checkpoint has answered last
    std::optional<batch_end> stop_;               // to end so once what is done is committed,
    fault_class why_ = fault_class::none;         // for this,
    bool at_checkpoint_ = false;                  // where it was
    std::optional<batch_end> end_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_AT_LEAST_ONCE_HPP
