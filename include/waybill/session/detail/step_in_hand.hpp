// SPDX-License-Identifier: MIT
//
// step_in_hand: the message that a pipeline processes, and decisions that depend only on it, the
// policy and the progress of its session.

#ifndef WAYBILL_SESSION_DETAIL_STEP_IN_HAND_HPP
#define WAYBILL_SESSION_DETAIL_STEP_IN_HAND_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_order.hpp>

namespace waybill::inline v0_2::detail {

[[nodiscard]] constexpr std::uint32_t clamped_tries(std::uint64_t n) noexcept
{
    return static_cast<std::uint32_t>(lesser(n, UINT32_MAX));
}

/// The random number for pauses without randomness, in [0, 1).
inline constexpr double middle_of_jitter = 0.5;

/// The rest of the pause after `tries` tries, if the last one was saved at `since`. Few brokers can
/// delay a session for all consumers, so the next holder may receive it before the pause ends. The
/// result is at most the whole pause, even if clocks differ.
[[nodiscard]] constexpr duration rest_of_pause(const retry_policy& p, std::uint64_t tries,
                                               wall_time since, wall_time now) noexcept
{
    const steady_time start{};
    const retry_action decision =
        decide(p, clamped_tries(tries), fault_kind::transient, middle_of_jitter, start);
    const wait_until* wait = get_if<wait_until>(&decision);
    if (wait == nullptr) return {};
    const duration whole_pause = wait->time - start;
    return lesser(greater(whole_pause - (now - since), duration{}), whole_pause);
}

/// True if a permanently refused dead letter is to be written again without its body.
[[nodiscard]] constexpr bool drops_body(const pipeline_policy& p,
                                        const pipeline_types::write_dead_letter& a) noexcept
{
    return p.refused == pipeline_policy::when_refused::without_body && !a.without_body;
}

/// True if the steps of a session with the unreadable state `found` wait, until a
/// program can read it or it is repaired.
[[nodiscard]] constexpr bool holds_steps(const pipeline_policy& p, state_read found) noexcept
{
    return found == state_read::newer || p.unreadable == pipeline_policy::when_unreadable::hold;
}

/// A received message, and the decisions for it.
struct step_in_hand : step_facts {
    wall_time wall{};        // when the message was received
    steady_time received{};  // the same time on the steady clock

    /// The number of earlier deliveries; each of them ended without completing the message.
    [[nodiscard]] constexpr std::uint64_t earlier_deliveries() const noexcept
    {
        return saturating_sub(deliveries, 1);
    }

    /// The number of tries in earlier deliveries, according to the state.
    [[nodiscard]] constexpr std::uint64_t earlier_tries(const session_progress& s) const noexcept
    {
        return step == expected_step(*this, s) ? s.tries : 0;
    }

    /// The rest of the pause before the next try, at most `max_wait_in_hand`; the lowest duration
    /// if the step was not tried.
    [[nodiscard]] constexpr duration pause_left(const pipeline_policy& p,
                                                const session_progress& s) const noexcept
    {
        const std::uint64_t tries = earlier_tries(s);
        if (tries == 0) return duration::lowest();
        return lesser(rest_of_pause(p.retry, tries, s.changed, wall), p.max_wait_in_hand);
    }

    /// True if the session has done this step or a later one. Call it before `mark_done`.
    [[nodiscard]] constexpr bool is_counted_already(const session_progress& s) const noexcept
    {
        return step <= s.done;
    }

    /// Records that this step is done. A late step changes nothing.
    constexpr void mark_done(session_progress& s) const noexcept
    {
        if (is_counted_already(s)) return;
        s.done = step;
        s.tries = 0;
    }

    /// Records that this step is done and dead-lettered. Each failure of a late step is counted
    /// again, but `dead_lettered` is at most `done`.
    constexpr void mark_dead_lettered(session_progress& s) const noexcept
    {
        mark_done(s);
        s.dead_lettered = lesser(saturating_add(s.dead_lettered, 1), s.done);
    }

    /// The reason to dead-letter the step without running it; nullopt if it runs or is repeated. A
    /// repeated step is completed without running it.
    [[nodiscard]] constexpr std::optional<dead_letter_reason> refusal_reason(
        const pipeline_policy& p, const session_progress& s, std::uint64_t tries) const noexcept
    {
        const bool in_order = p.mode == pipeline_policy::pipeline_mode::stop_on_failure;
        if (!contradiction(*this, s).empty()) return dead_letter_reason::contradiction;
        if (is_repeated(*this, s, in_order)) return {};
        if (in_order && step != expected_step(*this, s)) return dead_letter_reason::gap;
        if (tries >= greater(p.retry.max_attempts, 1)) return dead_letter_reason::exhausted;
        if (earlier_deliveries() >= greater(p.max_deliveries, 1))
            return dead_letter_reason::ended_process;
        return {};
    }

    /// Updates the times in the progress. If `numbers_agree` (no contradiction), also writes the
    /// number of the last step, and with `in_order` that of the first step.
    constexpr void update_progress(session_progress& s, steady_time now, bool numbers_agree,
                                   bool in_order) const noexcept
    {
        if (s.begun == wall_time{}) s.begun = wall;
        s.changed = wall_at(now);
        if (numbers_agree && s.total == 0) s.total = is_last(*this, s) ? step : total;
        if (is_new_arrival(s)) {
            s.arrived = step;
            s.arrived_sequence = sequence;
        }
        if (numbers_agree && in_order && s.first == 0 && first > 1 && !s.failed) s.first = first;
    }

    /// True if the message has a new number, by its arrival.
    [[nodiscard]] constexpr bool is_new_arrival(const session_progress& s) const noexcept
    {
        return by_arrival && step > s.arrived;
    }

    /// The wall time at `now`, from the wall time of receipt. If the steady clock jumps back, it is
    /// the time of receipt.
    [[nodiscard]] constexpr wall_time wall_at(steady_time now) const noexcept
    {
        return wall + greater(now - received, duration{});
    }

    /// The pause before redelivery after a fault that the step did not cause. Grows with each
    /// delivery. At least `pauses.cap` if the broker does not count deliveries or the refusal is
    /// permanent.
    [[nodiscard]] constexpr duration pause_for(fault_kind kind, const retry_policy& p,
                                               double random = middle_of_jitter,
                                               duration hint = {}) const noexcept
    {
        const duration usual_pause = pause(p.pauses, clamped_tries(deliveries), random, hint);
        const bool at_least_cap = deliveries == 0 || kind == fault_kind::permanent;
        return at_least_cap ? greater(usual_pause, p.pauses.cap) : usual_pause;
    }

    friend bool operator==(const step_in_hand&, const step_in_hand&) = default;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_STEP_IN_HAND_HPP
