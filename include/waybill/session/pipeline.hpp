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
//   4. An infrastructure fault does not count as an attempt, and the session is given back. It
//      counts only if the broker counts no deliveries and the outcome could not be saved.
//   5. The next holder repeats an unconfirmed call. Steps take effect at least once.
//   6. If the step `first` is missing, the failed state is not cleared: that step may still arrive
//      and must not run.
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

#include <waybill/core/act.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/session/detail/step_in_hand.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_order.hpp>

namespace waybill::inline v0_2 {

/// The state machine for one session: it decides each call for the message in hand.
class pipeline : public pipeline_types {
public:
    using action = variant<load_state, execute, save_state, write_dead_letter, complete,
                           clear_state, give_back, wait_until, idle>;

    explicit pipeline(detail::no_options = {}) : pipeline(pipeline_policy{}) {}
    explicit pipeline(const pipeline_policy& p) : policy_(p) {}

    /// The next action. `idle`: receive the next message; if the pipeline is over, there is no
    /// further action.
    [[nodiscard]] action next(steady_time now) const
    {
        if (is_pausing(now)) return wait_until{not_before_};
        switch (phase_) {
            case phase::load: return load_state{};
            case phase::execute:
                return execute{.step = facts_.step,
                               .tries = detail::saturating_add(
                                   detail::greater(tries_, facts_.earlier_deliveries()), 1)};
            case phase::save:
                return save_state{.keep_old_value = save_purpose_ != save_purpose::step_done};
            case phase::dead_letter: return dead_letter_;
            case phase::complete: return complete{};
            case phase::clear: return clear_state{};
            case phase::give_back: return give_back{not_before_, give_back_reason_};
            case phase::idle:
            case phase::over: break;
        }
        return idle{};
    }

    event_result on(state_loaded s, steady_time now)
    {
        if (phase_ != phase::load) return event_result::stale;
        if (s.kind == fault_kind::ownership_lost) return end_with_lost_lock();
        facts_.deliveries = s.deliveries;
        if (s.kind != fault_kind::none) return give_back_unconfirmed(s.kind, now);
        found_ = s.found;
        if (found_ > state_read::ok) reason_text_ = utf8_prefix(s.reason, policy_.reason_bytes);
        progress_ = found_ == state_read::ok ? std::move(s.progress) : session_progress{};
        return enter_idle_phase();
    }

    /// Takes the next message. `stale` unless the pipeline is idle; the caller then gives the
    /// message back.
    event_result on(const step_received& m, steady_time now)
    {
        if (phase_ != phase::idle) return event_result::stale;
        facts_ = {m.facts, m.wall, now};
        not_before_ = steady_time::lowest();
        running_ = false;
        dead_letter_ = {};
        tries_ = facts_.earlier_tries(progress_);
        ended_.reset();
        if (found_ != state_read::absent && found_ != state_read::ok) {
            if (!detail::holds_steps(policy_, found_))
                return start_dead_letter({.reason = dead_letter_reason::unreadable});
            return give_back_session(fault_kind::none, now + policy_.retry.pauses.cap,
                                     step_outcome::state_unreadable);
        }
        if (facts_.by_arrival) {
            facts_.step = detail::number_by_arrival(facts_, progress_);
            tries_ = facts_.earlier_tries(progress_);
        }
        if (progress_.failed) return dead_letter_after_failure(*progress_.failed, now);
        if (const auto reason = facts_.refusal_reason(policy_, progress_, tries_)) {
            return fail(*reason, {}, tries_, now);
        }
        if (detail::is_repeated(facts_, progress_, stops_on_failure()))
            return complete_message(step_outcome::repeated);
        not_before_ = now + facts_.pause_left(policy_, progress_);
        return begin_attempt(now);
    }

    event_result on(const step_begun&, steady_time now)
    {
        if (phase_ != phase::execute || is_pausing(now)) return event_result::stale;
        if (!running_) {
            running_ = true;
            return event_result::applied;
        }
        const std::uint64_t tries = detail::saturating_add(tries_, 1);
        if (tries >= detail::greater(policy_.retry.max_attempts, 1)) {
            const event_result result =
                fail(dead_letter_reason::exhausted, "its call threw an exception", tries, now);
            running_ = false;
            return result;
        }
        tries_ = tries;
        running_ = false;
        return begin_attempt(now);
    }

    event_result on(const executed& e, steady_time now)
    {
        if (phase_ != phase::execute || is_pausing(now)) return event_result::stale;
        running_ = false;
        switch (e.reason.kind) {
            case fault_kind::none: return succeed(now);
            case fault_kind::ownership_lost: return end_with_lost_lock();
            case fault_kind::cancelled: return postpone(e.reason.kind, now, now);
            case fault_kind::infrastructure: {
                const duration delay =
                    facts_.pause_for(e.reason.kind, policy_.retry, e.random, e.retry_after);
                return postpone(e.reason.kind, now + delay, now);
            }
            case fault_kind::permanent:
                return fail(dead_letter_reason::failed, e.reason.text,
                            detail::saturating_add(tries_, 1), now);
            case fault_kind::transient: break;
        }
        const std::uint64_t tries = detail::saturating_add(tries_, 1);
        const retry_action decision = decide(policy_.retry, detail::clamped_tries(tries),
                                             e.reason.kind, e.random, now, e.retry_after);
        if (holds_alternative<give_up>(decision)) {
            return fail(dead_letter_reason::exhausted, e.reason.text, tries, now);
        }
        tries_ = tries;
        const auto* const wait = get_if<wait_until>(&decision);
        const steady_time until = wait != nullptr ? wait->time : now;
        const bool too_long = until - now > policy_.max_wait_in_hand && !is_counted_already();
        if (stopping_ || too_long) return postpone(e.reason.kind, until, now);
        not_before_ = until;
        return begin_attempt(now);
    }

    event_result on(const state_saved& s, steady_time now)
    {
        if (phase_ != phase::save || is_pausing(now)) return event_result::stale;
        if (s.kind == fault_kind::ownership_lost) return end_with_lost_lock();
        if (save_purpose_ == save_purpose::attempts) return enter_phase(phase::give_back);
        if (s.kind == fault_kind::none) {
            found_ = state_read::ok;
            if (save_purpose_ == save_purpose::failure || save_purpose_ == save_purpose::arrival)
                return enter_phase(phase::dead_letter);
            if (save_purpose_ == save_purpose::attempt_start) {
                return stopping_ ? postpone(fault_kind::cancelled, now, now)
                                 : enter_phase(phase::execute);
            }
            return complete_message(save_purpose_ == save_purpose::step_done
                                        ? step_outcome::done
                                        : step_outcome::dead_lettered);
        }
        if (save_purpose_ == save_purpose::step_done && s.kind == fault_kind::permanent) {
            return fail(dead_letter_reason::failed, detail::refused_state_text(s.reason),
                        detail::saturating_add(tries_, 1), now);
        }
        return give_back_unconfirmed(s.kind, now);
    }

    event_result on(const step_dead_lettered& p, steady_time now)
    {
        if (phase_ != phase::dead_letter) return event_result::stale;
        if (p.kind == fault_kind::ownership_lost) return end_with_lost_lock();
        if (p.kind == fault_kind::permanent && detail::drops_body(policy_, dead_letter_)) {
            dead_letter_.without_body = true;
            return event_result::applied;
        }
        if (p.kind != fault_kind::none) return give_back_unconfirmed(p.kind, now);
        if (save_count_after_dead_letter_) return save(save_purpose::dead_letter_count, now);
        return complete_message(step_outcome::dead_lettered);
    }

    /// If completion is not confirmed, the state is not cleared: the message could be delivered
    /// again without it.
    event_result on(const completed& c, steady_time now)
    {
        if (phase_ != phase::complete) return event_result::stale;
        if (c.kind == fault_kind::ownership_lost) return end_with_lost_lock();
        if (c.kind != fault_kind::none)
            return give_back_unconfirmed(c.kind, now, step_outcome::lost);
        ended_ = pending_outcome_;
        const bool clears = found_ == state_read::ok && detail::ends_session(facts_, progress_);
        return clears ? enter_phase(phase::clear) : enter_idle_phase();
    }

    event_result on(const state_cleared& c, steady_time)
    {
        if (phase_ != phase::clear) return event_result::stale;
        if (c.kind != fault_kind::none) return enter_phase(phase::over);
        found_ = state_read::absent;
        progress_ = {};
        return enter_idle_phase();
    }

    event_result on(const given_back&, steady_time)
    {
        if (phase_ != phase::give_back) return event_result::stale;
        ended_ = pending_outcome_;
        return enter_phase(phase::over);
    }

    event_result on(const lock_lost&, steady_time)
    {
        return over() ? event_result::stale : end_with_lost_lock();
    }

    event_result on(const stop_requested&, steady_time now)
    {
        if (phase_ == phase::over || stopping_) return event_result::stale;
        stopping_ = true;
        if (phase_ == phase::load || phase_ == phase::idle) return enter_phase(phase::over);
        return is_pausing(now) ? postpone(fault_kind::cancelled, not_before_, now)
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
    [[nodiscard]] bool over() const noexcept { return phase_ == phase::over; }
    /// True if a message is in hand, the state is to be cleared, or the session is to be given
    /// back.
    [[nodiscard]] bool busy() const noexcept
    {
        return phase_ > phase::idle && phase_ < phase::over;
    }
    /// True if the next action is for the message in hand: `busy` without `clear_state` and
    /// `give_back`.
    [[nodiscard]] bool in_hand() const noexcept { return busy() && phase_ < phase::clear; }
    /// True if the call for `execute` has begun and `executed` has not been reported.
    [[nodiscard]] bool running() const noexcept { return running_; }
    /// The message that was received last.
    [[nodiscard]] const step_facts& message() const noexcept { return facts_; }
    /// The reason for the dead letter of the message in hand. Valid until the next event.
    [[nodiscard]] std::string_view reason() const noexcept
    {
        const bool state_unreadable = dead_letter_.reason == dead_letter_reason::unreadable;
        if (state_unreadable && reason_text_.empty()) return waybill::describe(found_);
        if (progress_.failed) return progress_.failed->text;
        return reason_text_;
    }

    friend bool operator==(const pipeline&, const pipeline&) = default;

private:
    /// `busy` and `in_hand` depend on this order.
    enum class phase : std::uint8_t {
        load,
        idle,
        execute,
        save,
        dead_letter,
        complete,
        clear,
        give_back,
        over
    };
    /// The change of the progress that a `save_state` writes.
    enum class save_purpose : std::uint8_t {
        attempt_start,      // an attempt, or a number by arrival, that begins after the save
        step_done,          // the step is done
        attempts,           // the attempts so far; the session is then given back
        failure,            // the failure that stops the session
        dead_letter_count,  // an independent step is dead-lettered, and the session continues
        arrival,            // the number of a message of a failed session, which has none itself
    };

    event_result enter_phase(phase p)
    {
        phase_ = p;
        return event_result::applied;
    }

    event_result complete_message(step_outcome e)
    {
        pending_outcome_ = e;
        return enter_phase(phase::complete);
    }

    event_result enter_idle_phase() { return enter_phase(stopping_ ? phase::over : phase::idle); }

    event_result end_with_lost_lock()
    {
        if (phase_ != phase::clear && phase_ != phase::idle) ended_ = step_outcome::lost;
        return enter_phase(phase::over);
    }

    event_result give_back_session(fault_kind kind, steady_time until,
                                   step_outcome e = step_outcome::given_back)
    {
        pending_outcome_ = e;
        give_back_reason_ = kind;
        not_before_ = until;
        return enter_phase(phase::give_back);
    }

    event_result give_back_unconfirmed(fault_kind kind, steady_time now,
                                       step_outcome e = step_outcome::given_back)
    {
        return give_back_session(kind, now + facts_.pause_for(kind, policy_.retry), e);
    }

    /// True if the next action is the start of an attempt, or its save, and the pause before it has
    /// not ended.
    bool is_pausing(steady_time now) const
    {
        const bool saves_start =
            phase_ == phase::save && save_purpose_ == save_purpose::attempt_start;
        return now < not_before_ && (saves_start || phase_ == phase::execute);
    }

    /// Starts an attempt. If the broker does not count deliveries, the attempt is saved first,
    /// after its pause. Exception: the attempts of a step that the session has counted already are
    /// not saved. A number by arrival is saved before the second delivery. If the broker then
    /// dead-letters the message itself, the next message is detected as a gap.
    event_result begin_attempt(steady_time now)
    {
        const bool counts_attempts = facts_.deliveries == 0;
        const bool saves_number = facts_.deliveries > 1 && facts_.is_new_arrival(progress_);
        if (is_counted_already() || (!counts_attempts && !saves_number))
            return enter_phase(phase::execute);
        progress_before_attempt_ = progress_;
        const steady_time start = now < not_before_ ? not_before_ : now;
        return save_attempts(save_purpose::attempt_start,
                             detail::saturating_add(tries_, counts_attempts ? 1 : 0), start);
    }

    /// Gives the session back until `until`. Before that, saves the attempts if the state does not
    /// contain them. If each attempt is saved at its start, this save records its end. After a
    /// fault that is not transient, the attempt does not count, and the progress before it is
    /// saved.
    event_result postpone(fault_kind kind, steady_time until, steady_time now)
    {
        const bool attempt_begun = !is_pausing(now);
        give_back_session(kind, until);  // `save` below enters its own phase before `give_back`
        if (is_counted_already()) return event_result::applied;
        if (facts_.deliveries == 0) {
            if (kind != fault_kind::transient) progress_ = progress_before_attempt_;
            return attempt_begun ? save(save_purpose::attempts, now) : event_result::applied;
        }
        if (tries_ == facts_.earlier_tries(progress_)) return event_result::applied;
        return save_attempts(save_purpose::attempts, tries_, now);
    }

    event_result save_attempts(save_purpose purpose, std::uint64_t tries, steady_time now)
    {
        // Missing steps count as done, because the state stores the attempts of step `done` + 1.
        if (facts_.step > detail::expected_step(facts_, progress_))
            progress_.done = facts_.step - 1;
        progress_.tries = tries;
        return save(purpose, now);
    }

    event_result save(save_purpose purpose, steady_time now)
    {
        const bool numbers_agree = dead_letter_.reason != dead_letter_reason::contradiction;
        const bool in_order = stops_on_failure();
        facts_.update_progress(progress_, now, numbers_agree, in_order);
        if (purpose == save_purpose::dead_letter_count) facts_.mark_dead_lettered(progress_);
        save_purpose_ = purpose;
        return enter_phase(phase::save);
    }

    bool is_counted_already() const { return facts_.is_counted_already(progress_); }

    event_result succeed(steady_time now)
    {
        if (is_counted_already()) return complete_message(step_outcome::done);
        progress_before_attempt_ = progress_;
        facts_.mark_done(progress_);
        return save(save_purpose::step_done, now);
    }

    /// Fails the message in hand. `reported` is the error text of the handler; if it is empty, the
    /// text is generated. All allocations happen before the first change.
    event_result fail(dead_letter_reason reason, std::string_view reported, std::uint64_t tries,
                      steady_time now)
    {
        const std::string generated =
            reported.empty() ? describe(reason, facts_, progress_) : std::string();
        std::string text(
            utf8_prefix(reported.empty() ? generated : reported, policy_.reason_bytes));
        // The store refused the state: the changes of the step are dropped.
        if (phase_ == phase::save) progress_ = progress_before_attempt_;
        if (reason == dead_letter_reason::ended_process)
            tries = detail::greater(tries, facts_.earlier_deliveries());
        start_dead_letter({.reason = reason,
                           .cause = facts_.sequence,
                           .cause_step = facts_.step,
                           .tries = tries});
        if (!stops_on_failure()) {
            // Contradictory numbers identify no step of the session, so the state does not change.
            save_count_after_dead_letter_ = reason != dead_letter_reason::contradiction;
            reason_text_ = std::move(text);
            return event_result::applied;
        }
        const wall_time at = facts_.wall_at(now);
        progress_.failed = session_progress::failure{facts_.step, facts_.sequence, reason,
                                                     tries,       std::move(text), at};
        progress_.tries = 0;
        return save(save_purpose::failure, now);
    }

    /// Dead-letters a message of a failed session. If the message that caused the failure is
    /// delivered again, it keeps its reason and attempts. A number by arrival is saved first: each
    /// dead letter of the session needs its own.
    event_result dead_letter_after_failure(const session_progress::failure& f, steady_time now)
    {
        const bool is_cause = f.sequence == facts_.sequence && f.step == facts_.step;
        start_dead_letter({.reason = is_cause ? f.reason : dead_letter_reason::session_failed,
                           .cause = f.sequence,
                           .cause_step = f.step,
                           .tries = is_cause ? f.tries : 0});
        return facts_.is_new_arrival(progress_) ? save(save_purpose::arrival, now)
                                                : event_result::applied;
    }

    event_result start_dead_letter(const write_dead_letter& a)
    {
        save_count_after_dead_letter_ = false;
        dead_letter_ = a;
        dead_letter_.independent = !stops_on_failure();
        return enter_phase(phase::dead_letter);
    }

    bool stops_on_failure() const
    {
        return policy_.mode == pipeline_policy::pipeline_mode::stop_on_failure;
    }

    pipeline_policy policy_;
    phase phase_ = phase::load;
    save_purpose save_purpose_ = save_purpose::step_done;
    state_read found_ = state_read::absent;
    fault_kind give_back_reason_ = fault_kind::none;  // the fault for `give_back`
    bool stopping_ = false;
    bool running_ = false;                       // the call for `execute` has begun
    bool save_count_after_dead_letter_ = false;  // save the count when it is written
    session_progress progress_;
    session_progress progress_before_attempt_;  // before the last attempt
    detail::step_in_hand facts_;
    steady_time not_before_ = steady_time::lowest();  // the end of the pause
    std::uint64_t tries_ = 0;  // ended attempts of the step in hand, saved or not
    write_dead_letter dead_letter_;
    std::string reason_text_;
    // The outcome once the current actions are confirmed.
    step_outcome pending_outcome_ = step_outcome::done;
    std::optional<step_outcome> ended_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PIPELINE_HPP
