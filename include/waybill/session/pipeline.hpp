// SPDX-License-Identifier: MIT
//
// pipeline: a state machine that runs the steps of one session in order, for one lock holder.
//
//     auto made = waybill::make<waybill::pipeline>(policy);       // for one lock of a session
//     if (!made) return refuse(waybill::describe(made.error()));
//     waybill::pipeline& pipe = *made;
//
// Guarantees (process_step.hpp is the driver; the guide shows the loop and the order of actions)
//   1. A failure is in the state before any message of the session is settled. The state is cleared
//      after the last message is complete. The process may end at any time.
//   2. After a failure, a gap or contradictory numbers no step runs. Independent steps do.
//   3. An unreadable state is not an absent one. No step runs, and the state is not overwritten.
//   4. An infrastructure fault is not an attempt; the session is released. Exception: the broker
//      counts no deliveries and no call could save the outcome.
//   5. The next holder repeats an unconfirmed call. Steps take effect at least once.
//   6. If the step `first` is missing, the failed state stays. That step may come and must not run.
//
// A sweep is required (sweep.hpp): a crash between `complete` and `clear_state` leaves a state.
// A value without locks: one thread at a time.

#ifndef WAYBILL_SESSION_PIPELINE_HPP
#define WAYBILL_SESSION_PIPELINE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/session/detail/step_in_hand.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_order.hpp>

namespace waybill::inline v0_2 {

class pipeline : public pipeline_types {
public:
    using action = std::variant<load_state, execute, save_state, write_dead_letter, complete,
                                clear_state, give_back, wait_until, idle>;

    explicit pipeline(const pipeline_policy& p = {}) : policy_(p) {}

    /// The next action. `idle`: receive the next message, or nothing if the pipeline is over.
    [[nodiscard]] action next(steady_time now) const
    {
        if (pauses(now)) return wait_until{not_before_};
        switch (step_) {
            case step::load: return load_state{};
            case step::execute:
                return execute{facts_.step,
                               detail::saturating_add(detail::greater(tries_, facts_.died()), 1)};
            case step::save: return save_state{saving_ != saving::done};
            case step::dead_letter: return dead_letter_;
            case step::complete: return complete{};
            case step::clear: return clear_state{};
            case step::back: return give_back{not_before_, how_};
            case step::idle: case step::over: break;
        }
        return idle{};
    }

    event_result on(state_loaded s, steady_time now)
    {
        if (step_ != step::load) return event_result::stale;
        if (s.kind == fault_kind::ownership_lost) return lose();
        facts_.deliveries = s.deliveries;
        if (s.kind != fault_kind::none) return unsure(s.kind, now);
        found_ = s.found;
        if (found_ > state_read::ok) text_ = utf8_prefix(s.reason, policy_.reason_bytes);
        progress_ = found_ == state_read::ok ? std::move(s.progress) : session_progress{};
        return go_on();
    }

    /// Takes the next message. `stale` unless the pipeline is idle; the caller then gives the
    /// message back.
    event_result on(const step_received& m, steady_time now)
    {
        if (step_ != step::idle) return event_result::stale;
        facts_ = {m.facts, m.wall, now};
        not_before_ = steady_time::lowest();
        running_ = false;
        dead_letter_ = {};
        tries_ = facts_.tried(progress_);
        ended_.reset();
        if (found_ != state_read::absent && found_ != state_read::ok) {
            if (!detail::holds(policy_, found_))
                return start_dead_letter(dead_letter_reason::unreadable, 0, 0, 0);
            return give_back_session(fault_kind::none, now + policy_.retry.pauses.cap,
                                     step_outcome::state_unreadable);
        }
        if (progress_.failed) return park_behind(*progress_.failed);
        if (const auto reason = facts_.refused(policy_, progress_, tries_)) {
            return fail(*reason, {}, tries_, now);
        }
        if (detail::is_repeated(facts_, progress_, stops()))
            return remove_message(step_outcome::repeated);
        not_before_ = now + facts_.pause_left(policy_, progress_);
        return begin(now);
    }

    event_result on(const step_begun&, steady_time now)
    {
        if (step_ != step::execute || pauses(now)) return event_result::stale;
        if (!running_) {
            running_ = true;
            return event_result::applied;
        }
        const std::uint64_t tries = detail::saturating_add(tries_, 1);
        if (tries >= detail::greater(policy_.retry.max_attempts, 1)) {
            const event_result h =
                fail(dead_letter_reason::exhausted, "its call threw an exception", tries, now);
            running_ = false;
            return h;
        }
        tries_ = tries;
        running_ = false;
        return begin(now);
    }

    event_result on(const executed& e, steady_time now)
    {
        if (step_ != step::execute || pauses(now)) return event_result::stale;
        running_ = false;
        switch (e.reason.kind) {
            case fault_kind::none: return succeed(now);
            case fault_kind::ownership_lost: return lose();
            case fault_kind::cancelled: return put_off(e.reason.kind, now, now);
            case fault_kind::infrastructure: {
                const auto by =
                    facts_.pause_for(e.reason.kind, policy_.retry, e.random, e.retry_after);
                return put_off(e.reason.kind, now + by, now);
            }
            case fault_kind::permanent:
                return fail(dead_letter_reason::failed, e.reason.text,
                            detail::saturating_add(tries_, 1), now);
            case fault_kind::transient: break;
        }
        const std::uint64_t tries = detail::saturating_add(tries_, 1);
        const retry_action then = decide(policy_.retry, detail::as_tries(tries), e.reason.kind,
                                         e.random, now, e.retry_after);
        if (std::holds_alternative<give_up>(then)) {
            return fail(dead_letter_reason::exhausted, e.reason.text, tries, now);
        }
        tries_ = tries;
        const auto* const w = std::get_if<wait_until>(&then);
        const steady_time until = w != nullptr ? w->time : now;
        const bool too_long = until - now > policy_.max_wait_in_hand && !late();
        if (stopping_ || too_long) return put_off(e.reason.kind, until, now);
        not_before_ = until;
        return begin(now);
    }

    event_result on(const state_saved& s, steady_time now)
    {
        if (step_ != step::save || pauses(now)) return event_result::stale;
        if (s.kind == fault_kind::ownership_lost) return lose();
        if (saving_ == saving::tries) return go(step::back);
        if (s.kind == fault_kind::none) {
            found_ = state_read::ok;
            if (saving_ == saving::failed) return go(step::dead_letter);
            if (saving_ == saving::begun) {
                return stopping_ ? put_off(fault_kind::cancelled, now, now) : go(step::execute);
            }
            return remove_message(saving_ == saving::done ? step_outcome::done
                                                          : step_outcome::dead_lettered);
        }
        if (saving_ == saving::done && s.kind == fault_kind::permanent) {
            return fail(dead_letter_reason::failed, detail::never_taken(s.reason),
                        detail::saturating_add(tries_, 1), now);
        }
        return unsure(s.kind, now);
    }

    event_result on(const step_dead_lettered& p, steady_time now)
    {
        if (step_ != step::dead_letter) return event_result::stale;
        if (p.kind == fault_kind::ownership_lost) return lose();
        if (p.kind == fault_kind::permanent && detail::drops_body(policy_, dead_letter_)) {
            dead_letter_.bare = true;
            return event_result::applied;
        }
        if (p.kind != fault_kind::none) return unsure(p.kind, now);
        if (counts_parked_) return save(saving::parked, now);
        return remove_message(step_outcome::dead_lettered);
    }

    /// If completion is not confirmed, the state is not cleared: the message could be delivered
    /// again without it.
    event_result on(const completed& c, steady_time now)
    {
        if (step_ != step::complete) return event_result::stale;
        if (c.kind == fault_kind::ownership_lost) return lose();
        if (c.kind != fault_kind::none) return unsure(c.kind, now, step_outcome::lost);
        ended_ = end_;
        const bool clears = found_ == state_read::ok && detail::ends_session(facts_, progress_);
        return clears ? go(step::clear) : go_on();
    }

    event_result on(const state_cleared& c, steady_time)
    {
        if (step_ != step::clear) return event_result::stale;
        if (c.kind != fault_kind::none) return go(step::over);
        found_ = state_read::absent;
        progress_ = {};
        return go_on();
    }

    event_result on(const given_back&, steady_time)
    {
        if (step_ != step::back) return event_result::stale;
        ended_ = end_;
        return go(step::over);
    }

    event_result on(const lock_lost&, steady_time) { return over() ? event_result::stale : lose(); }

    event_result on(const stop_requested&, steady_time now)
    {
        if (step_ == step::over || stopping_) return event_result::stale;
        stopping_ = true;
        if (step_ == step::load || step_ == step::idle) return go(step::over);
        return pauses(now) ? put_off(fault_kind::cancelled, not_before_, now)
                           : event_result::applied;
    }

    /// The progress in the state. If `save_state` is the next action: the progress to write.
    [[nodiscard]] const session_progress& progress() const noexcept { return progress_; }
    /// The result of the last read, write or removal of the state.
    [[nodiscard]] state_read found() const noexcept { return found_; }
    /// The outcome of the last message. Empty while a message is in hand and before the first one.
    [[nodiscard]] std::optional<step_outcome> ended() const noexcept { return ended_; }
    /// True if the pipeline has no further action. Close the session. The next lock needs a new
    /// pipeline.
    [[nodiscard]] bool over() const noexcept { return step_ == step::over; }
    /// True if a message is in hand, the state is to be cleared, or the session is to be given
    /// back.
    [[nodiscard]] bool busy() const noexcept { return step_ > step::idle && step_ < step::over; }
    /// True if the next action is for the message in hand: `busy` without `clear_state` and
    /// `give_back`.
    [[nodiscard]] bool in_hand() const noexcept { return busy() && step_ < step::clear; }
    /// True if the call for `execute` has begun and `executed` has not been reported.
    [[nodiscard]] bool running() const noexcept { return running_; }
    /// The message that was received last.
    [[nodiscard]] const step_facts& message() const noexcept { return facts_; }
    /// The reason for the dead letter of the message in hand. Valid until the next event.
    [[nodiscard]] std::string_view reason() const noexcept
    {
        const bool unread = dead_letter_.reason == dead_letter_reason::unreadable;
        if (unread && text_.empty()) return waybill::describe(found_);
        if (progress_.failed) return progress_.failed->text;
        return text_;
    }

    friend bool operator==(const pipeline&, const pipeline&) = default;

private:
    enum class step : std::uint8_t {
        load,
        idle,
        execute,
        save,
        dead_letter,
        complete,
        clear,
        back,
        over
    };
    enum class saving : std::uint8_t { begun, done, tries, failed, parked };

    event_result go(step s)
    {
        step_ = s;
        return event_result::applied;
    }

    event_result remove_message(step_outcome e)
    {
        end_ = e;
        return go(step::complete);
    }

    event_result go_on() { return go(stopping_ ? step::over : step::idle); }

    event_result lose()
    {
        if (step_ != step::clear && step_ != step::idle) ended_ = step_outcome::lost;
        return go(step::over);
    }

    event_result give_back_session(fault_kind kind, steady_time until,
                                   step_outcome e = step_outcome::given_back)
    {
        end_ = e;
        how_ = kind;
        not_before_ = until;
        return go(step::back);
    }

    event_result unsure(fault_kind kind, steady_time now, step_outcome e = step_outcome::given_back)
    {
        return give_back_session(kind, now + facts_.pause_for(kind, policy_.retry), e);
    }

    /// True if the step is to run, or to be saved before it runs, and its pause is not over.
    bool pauses(steady_time now) const
    {
        const bool begins = step_ == step::save && saving_ == saving::begun;
        return now < not_before_ && (begins || step_ == step::execute);
    }

    /// If the broker does not count deliveries, each attempt is saved after its pause, before it
    /// starts. A late step is never saved before it starts.
    event_result begin(steady_time now)
    {
        if (facts_.deliveries != 0 || late()) return go(step::execute);
        before_ = progress_;
        const steady_time begins = now < not_before_ ? not_before_ : now;
        return save_tries(saving::begun, detail::saturating_add(tries_, 1), begins);
    }

    /// Gives the session back and saves the attempts if the state does not have them. If each
    /// attempt is saved at its start, this save also reports its end. Unless the fault is
    /// transient, it undoes all changes that the start of the attempt made to the progress.
    event_result put_off(fault_kind kind, steady_time until, steady_time now)
    {
        const bool begun = !pauses(now);
        give_back_session(kind, until);
        if (late()) return event_result::applied;
        if (facts_.deliveries == 0) {
            if (kind != fault_kind::transient) progress_ = before_;
            return begun ? save(saving::tries, now) : event_result::applied;
        }
        if (tries_ == facts_.tried(progress_)) return event_result::applied;
        return save_tries(saving::tries, tries_, now);
    }

    event_result save_tries(saving what, std::uint64_t tries, steady_time now)
    {
        // Steps that were left out count as done. Otherwise the attempts would be those of another
        // step.
        if (facts_.step > detail::expected_step(facts_, progress_))
            progress_.done = facts_.step - 1;
        progress_.tries = tries;
        return save(what, now);
    }

    event_result save(saving what, steady_time now)
    {
        facts_.tell(progress_, now, dead_letter_.reason != dead_letter_reason::contradiction,
                    stops());
        if (what == saving::parked) facts_.pass(progress_, true);
        saving_ = what;
        return go(step::save);
    }

    bool late() const { return facts_.late(progress_); }

    event_result succeed(steady_time now)
    {
        if (late()) return remove_message(step_outcome::done);
        before_ = progress_;
        facts_.pass(progress_);
        return save(saving::done, now);
    }

    /// Fails the message in hand. All that may throw happens before the first change.
    event_result fail(dead_letter_reason reason, std::string_view said, std::uint64_t tries,
                      steady_time now)
    {
        const std::string made = said.empty() ? describe(reason, facts_, progress_) : std::string();
        std::string told(utf8_prefix(said.empty() ? made : said, policy_.reason_bytes));
        if (step_ == step::save) progress_ = before_;
        if (reason == dead_letter_reason::ended_process)
            tries = detail::greater(tries, facts_.died());
        start_dead_letter(reason, facts_.sequence, facts_.step, tries);
        if (!stops()) {
            counts_parked_ = reason != dead_letter_reason::contradiction;
            text_ = std::move(told);
            return event_result::applied;
        }
        const wall_time at = facts_.wall_at(now);
        progress_.failed = step_failure{facts_.step, facts_.sequence, reason,
                                                          tries,       std::move(told), at};
        progress_.tries = 0;
        return save(saving::failed, now);
    }

    /// Dead-letters a message of a failed session. If the message that caused the failure is
    /// delivered again, it keeps its reason and attempts.
    event_result park_behind(const step_failure& f)
    {
        const bool cause = f.sequence == facts_.sequence && f.step == facts_.step;
        return start_dead_letter(cause ? f.reason : dead_letter_reason::session_failed, f.sequence,
                                 f.step, cause ? f.tries : 0);
    }

    event_result start_dead_letter(dead_letter_reason reason, std::uint64_t cause,
                                   std::uint64_t cause_step, std::uint64_t tries)
    {
        counts_parked_ = false;
        dead_letter_ = {reason, cause, cause_step, tries, false, !stops()};
        return go(step::dead_letter);
    }

    bool stops() const { return policy_.mode == pipeline_policy::pipeline_mode::stop_on_failure; }

    pipeline_policy policy_;
    step step_ = step::load;
    saving saving_ = saving::done;
    state_read found_ = state_read::absent;
    fault_kind how_ = fault_kind::none;  // the fault for `give_back`
    bool stopping_ = false;
    bool running_ = false;
    bool counts_parked_ = false;  // the state counts the dead letter after it is written
    session_progress progress_;
    session_progress before_;  // before the last attempt
    detail::step_in_hand facts_;
    steady_time not_before_ = steady_time::lowest();
    std::uint64_t tries_ = 0;  // ended attempts of the step in hand, saved or not
    write_dead_letter dead_letter_;
    std::string text_;
    step_outcome end_ = step_outcome::done;  // the outcome once the current actions are confirmed
    std::optional<step_outcome> ended_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PIPELINE_HPP
