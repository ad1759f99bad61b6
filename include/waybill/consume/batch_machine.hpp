// SPDX-License-Identifier: MIT
//
// batch_machine: a batch of events and its checkpoint in one transaction, whatever fails.
//
// The machine says which step of I/O comes next and is told what came of it. It sees event numbers
// only, 0 to n-1, so every order of faults can be tried out in a test. `process_batch` drives it over
// a store; a coroutine or an event loop can do so as well:
//
//     begin -> { savepoint -> handle -> release, or undo -> dead_letter } ... -> advance -> commit
//
// What holds whatever the answers are:
//   1. effects, dead letters and checkpoint are in one transaction: all of them or none;
//   2. a fault of the store or its surroundings is never blamed on an event: all is rolled back,
//      and the whole batch is to be delivered again;
//   3. an event that fails for good leaves none of its effects, and the batch goes on without it.
//      Without savepoints the batch starts over and leaves that event out;
//   4. a commit of which nobody knows is read back: `to` with our epoch is committed, `from` is
//      not, and anything else is somebody else's;
//   5. it ends: each step moves on, is counted in the tries of one event, or rolls back.

#ifndef WAYBILL_CONSUME_BATCH_MACHINE_HPP
#define WAYBILL_CONSUME_BATCH_MACHINE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/check.hpp>

namespace waybill::inline v0_1 {

/// What to do with an event that is still transient after its last try.
enum class when_exhausted : std::uint8_t {
    redeliver,    ///< Roll back; the whole batch comes again.
    dead_letter,  ///< Park it and go on.
};

[[nodiscard]] constexpr std::string_view name(when_exhausted w) noexcept
{
    switch (w) {
        case when_exhausted::redeliver: return "redeliver";
        case when_exhausted::dead_letter: return "dead_letter";
    }
    return "?";
}

struct batch_policy {
    std::uint32_t tries = 3;  ///< Of one event within one delivery; 0 reads as 1.
    when_exhausted on_exhausted = when_exhausted::redeliver;
    bool savepoints = true;            ///< process_batch sets it to what the store can do.
    std::size_t reason_bytes = 1'024;  ///< Most bytes of a dead letter's reason.

    friend bool operator==(const batch_policy&, const batch_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const batch_policy& p) noexcept
{
    if (p.tries == 0) return config_error{"tries", 0, "must be at least", 1};
    return {};
}

/// How a delivery of a batch ended.
enum class batch_end : std::uint8_t {
    committed,  ///< Effects, dead letters and checkpoint are there.
    redeliver,  ///< None of them is. Deliver the whole batch again, after a pause.
    /// Somebody else has the partition: stop reading it. None of them is there, unless the answer to
    /// the commit got lost and somebody went on from it before it was read back.
    abandoned,
    cancelled,  ///< None of them is. The caller wanted to stop.
    unknown,    ///< Nobody can say. Load the checkpoint before anything else.
    empty,      ///< There was nothing to do.
    invalid,    ///< The events contradict the contract. Nothing was touched.
};

[[nodiscard]] constexpr std::string_view name(batch_end e) noexcept
{
    switch (e) {
        case batch_end::committed: return "committed";
        case batch_end::redeliver: return "redeliver";
        case batch_end::abandoned: return "abandoned";
        case batch_end::cancelled: return "cancelled";
        case batch_end::unknown: return "unknown";
        case batch_end::empty: return "empty";
        case batch_end::invalid: return "invalid";
    }
    return "?";
}

class batch_machine {
public:
    using action = std::variant<act::begin, act::savepoint, act::handle, act::release, act::undo,
                                act::dead_letter, act::advance, act::commit, act::rollback,
                                act::read_back, act::idle>;

    /// Takes `events` events from `from` to `to`.
    batch_machine(std::uint64_t events, std::optional<position> from, position to,
                  std::uint64_t epoch, const batch_policy& p = {})
        : policy_(p), events_(events), from_(std::move(from)), to_(std::move(to)), epoch_(epoch)
    {
        if (policy_.tries == 0) policy_.tries = 1;
        if (events_ == 0) end(batch_end::empty);
    }

    /// What comes next; `idle` once it is over.
    [[nodiscard]] action next() const
    {
        switch (step_) {
            case step::begin: return act::begin{};
            case step::savepoint: return act::savepoint{};
            case step::handle: return act::handle{event_};
            case step::release: return act::release{};
            case step::undo: return act::undo{};
            case step::dead_letter: return act::dead_letter{event_, how_, tries_};
            case step::parking: return parked_[parking_];
            case step::advance: return act::advance{};
            case step::commit: return act::commit{};
            case step::rollback: return act::rollback{};
            case step::read_back: return act::read_back{};
            case step::over: break;
        }
        return act::idle{};
    }
    [[nodiscard]] action next(steady_time) const { return next(); }

    /// A step other than those below was done, or failed.
    heard on(const done& d)
    {
        if (step_ == step::rollback) return after_rollback();
        const bool one_of_these = step_ == step::begin || step_ == step::savepoint ||
                                  step_ == step::release || step_ == step::undo ||
                                  step_ == step::dead_letter || step_ == step::parking;
        if (!one_of_these) return heard::late;
        if (d.how != fault_class::none) return fail(d.how, step_ != step::begin);
        switch (step_) {
            case step::begin: return to_event(0);
            case step::savepoint: return go(step::handle);
            case step::release: ++handled_; return to_event(event_ + 1);
            case step::undo: return after_failure();
            case step::dead_letter: ++dead_lettered_; return to_event(event_ + 1);
            case step::parking:
                ++dead_lettered_;
                return go(++parking_ == parked_.size() ? step::advance : step::parking);
            default: return heard::late;
        }
    }

    /// The handler has answered.
    heard on(const handled& h)
    {
        if (step_ != step::handle) return heard::late;
        ++tries_;
        how_ = h.how;
        switch (h.how) {
            case fault_class::none:
                if (policy_.savepoints) return go(step::release);
                ++handled_;
                return to_event(event_ + 1);
            case fault_class::transient:
                if (tries_ >= policy_.tries && policy_.on_exhausted == when_exhausted::redeliver) {
                    return fail(h.how, true);
                }
                break;
            case fault_class::permanent: break;
            case fault_class::infrastructure:
            case fault_class::ownership_lost:
            case fault_class::cancelled: return fail(h.how, true);
        }
        return go(policy_.savepoints ? step::undo : step::rollback);
    }

    /// The checkpoint was compared and set, or not.
    heard on(const advanced& a)
    {
        if (step_ != step::advance) return heard::late;
        if (a.how != fault_class::none) return fail(a.how, true);
        if (a.outcome != advance_outcome::applied) return fail(fault_class::ownership_lost, true);
        return go(step::commit);
    }

    /// The transaction has ended, or nobody knows.
    heard on(const committed& c)
    {
        if (step_ != step::commit) return heard::late;
        switch (c.outcome) {
            case commit_outcome::applied: return end(batch_end::committed);
            case commit_outcome::not_applied: return fail(fault_class::infrastructure, false);
            case commit_outcome::unknown: break;
        }
        return go(step::read_back);
    }

    /// The checkpoint as it is stored now, or why it cannot be read.
    heard on(const loaded& r)
    {
        if (step_ != step::read_back) return heard::late;
        if (r.how != fault_class::none) {
            how_ = r.how;
            return end(batch_end::unknown);
        }
        const bool same_owner = r.stored && r.stored->epoch == epoch_;
        if (same_owner && r.stored->at.sequence == to_.sequence) return end(batch_end::committed);
        const bool before = r.stored ? from_ && r.stored->at.sequence == from_->sequence : !from_;
        return fail(before ? fault_class::infrastructure : fault_class::ownership_lost, false);
    }

    template <class Event>
    heard on(const Event& e, steady_time)
    {
        return on(e);
    }

    /// How it ended, once it has.
    [[nodiscard]] std::optional<batch_end> ended() const noexcept { return end_; }
    /// The class of the fault that ended it, where one did.
    [[nodiscard]] fault_class why() const noexcept
    {
        return end_ == batch_end::committed ? fault_class::none : how_;
    }
    /// Events that took effect, and that were parked, if it is committed.
    [[nodiscard]] std::uint64_t handled_events() const noexcept { return handled_; }
    [[nodiscard]] std::uint64_t dead_lettered() const noexcept { return dead_lettered_; }
    /// How often the batch was begun anew for want of savepoints.
    [[nodiscard]] std::uint64_t replays() const noexcept { return replays_; }

    friend bool operator==(const batch_machine&, const batch_machine&) = default;

private:
    enum class step : std::uint8_t {
        begin, savepoint, handle, release, undo, dead_letter, parking, advance, commit, rollback,
        read_back, over,
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

    /// Nothing of this delivery is to stay; roll back first where a transaction is open.
    heard fail(fault_class how, bool open)
    {
        how_ = how;
        batch_end e = batch_end::redeliver;
        if (how == fault_class::ownership_lost) e = batch_end::abandoned;
        if (how == fault_class::cancelled) e = batch_end::cancelled;
        if (!open) return end(e);
        end_after_rollback_ = e;
        return go(step::rollback);
    }

    /// On to event `n`, past those that are known to fail, or to what follows the last.
    heard to_event(std::uint64_t n)
    {
        while (n < events_ && known_to_fail(n)) ++n;
        event_ = n;
        if (!policy_.savepoints) {
            tries_ = tries_of(n);
            if (n < events_) return go(step::handle);
            parking_ = 0;
            return go(parked_.empty() ? step::advance : step::parking);
        }
        tries_ = 0;
        return go(n < events_ ? step::savepoint : step::advance);
    }

    /// The event is undone: once more, or for good.
    heard after_failure()
    {
        const bool again = how_ == fault_class::transient && tries_ < policy_.tries;
        return go(again ? step::savepoint : step::dead_letter);
    }

    heard after_rollback()
    {
        if (end_after_rollback_) return end(*end_after_rollback_);
        // Without savepoints: begin anew, now knowing of this event.
        ++replays_;
        handled_ = 0;
        const bool again = how_ == fault_class::transient && tries_ < policy_.tries;
        if (again) count();
        else park();
        return go(step::begin);
    }

    void park()
    {
        auto at = parked_.begin();
        while (at != parked_.end() && at->event < event_) ++at;
        parked_.insert(at, act::dead_letter{event_, how_, tries_});
    }

    [[nodiscard]] bool known_to_fail(std::uint64_t n) const
    {
        for (const act::dead_letter& d : parked_) {
            if (d.event == n) return true;
        }
        return false;
    }

    /// Notes the tries of this event. All that failed are remembered, not only the last one: two
    /// events that fail in turns would otherwise take each other's count away for ever.
    void count()
    {
        for (retry& r : retried_) {
            if (r.event == event_) {
                r.tries = tries_;
                return;
            }
        }
        retried_.push_back({event_, tries_});
    }

    [[nodiscard]] std::uint32_t tries_of(std::uint64_t n) const
    {
        for (const retry& r : retried_) {
            if (r.event == n) return r.tries;
        }
        return 0;
    }

    struct retry {
        std::uint64_t event = 0;
        std::uint32_t tries = 0;
        friend bool operator==(const retry&, const retry&) = default;
    };

    batch_policy policy_;
    std::uint64_t events_;
    std::optional<position> from_;
    position to_;
    std::uint64_t epoch_;

    step step_ = step::begin;
    std::uint64_t event_ = 0;
    std::uint32_t tries_ = 0;                     // of event_, in this delivery
    fault_class how_ = fault_class::none;         // the last failure
    std::vector<act::dead_letter> parked_;        // without savepoints: known to fail, in order
    std::size_t parking_ = 0;
    std::vector<retry> retried_;                  // without savepoints: failed before this replay
    std::optional<batch_end> end_after_rollback_;
    std::optional<batch_end> end_;
    std::uint64_t handled_ = 0;
    std::uint64_t dead_lettered_ = 0;
    std::uint64_t replays_ = 0;
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_CONSUME_BATCH_MACHINE_HPP
