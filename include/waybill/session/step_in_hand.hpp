// SPDX-License-Identifier: MIT
//
// step_in_hand: the message that a pipeline has in hand, and what follows from its receipt alone.

#ifndef WAYBILL_SESSION_STEP_IN_HAND_HPP
#define WAYBILL_SESSION_STEP_IN_HAND_HPP

#include <cstdint>
#include <optional>
#include <variant>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_order.hpp>

namespace waybill::inline v0_2::detail {

[[nodiscard]] constexpr std::uint32_t as_tries(std::uint64_t n) noexcept
{
    return static_cast<std::uint32_t>(lesser(n, UINT32_MAX));
}

/// What is left of the pause after so many tries, which were saved at `since`. Few brokers can keep
/// a session from all, so who has it next may have it too early. Clocks that differ do not make the
/// pause longer than it was.
[[nodiscard]] constexpr duration rest_of_pause(const retry_policy& p, std::uint64_t tries,
                                               wall_time since, wall_time now) noexcept
{
    const retry_action then =
        decide(p, as_tries(tries), fault_class::transient, 0.5, steady_time{});
    const act::wait* w = std::get_if<act::wait>(&then);
    if (w == nullptr) return {};
    const duration all = w->until - steady_time{};
    return lesser(greater(all - (now - since), duration{}), all);
}

/// Where a letter is refused for good: whether it is written without its body.
[[nodiscard]] constexpr bool drops_body(const pipeline_policy& p, const act::park& a) noexcept
{
    return p.refused == when_refused::without_body && !a.bare;
}

/// Where the state cannot be read: whether the steps wait for somebody to mend it.
[[nodiscard]] constexpr bool holds(const pipeline_policy& p, state_read found) noexcept
{
    return found == state_read::newer || p.unreadable == when_unreadable::hold;
}

struct step_in_hand : step_facts {
    wall_time wall{};        // when it was received
    steady_time received{};

    /// So many deliveries before this one have not ended it.
    [[nodiscard]] constexpr std::uint64_t died() const noexcept
    {
        return saturating_sub(deliveries, 1);
    }

    /// How often it was tried in earlier deliveries, as far as the state says.
    [[nodiscard]] constexpr std::uint64_t tried(const session_progress& s) const noexcept
    {
        return step == expected_step(*this, s) ? s.tries : 0;
    }

    /// What is left of the pause before the next try, for as long as it is waited for in hand.
    [[nodiscard]] constexpr duration pause_left(const pipeline_policy& p,
                                                const session_progress& s) const noexcept
    {
        const std::uint64_t tries = tried(s);
        if (tries == 0) return duration::lowest();
        return lesser(rest_of_pause(p.retry, tries, s.changed, wall), p.patience);
    }

    /// It was behind the session already when it came.
    [[nodiscard]] constexpr bool late(const session_progress& s) const noexcept
    {
        return step <= s.done;
    }

    /// It is behind the session now. A late one brings it no further, and does not take it back;
    /// and one that fails again, since it was not complete, is still one of those behind it.
    constexpr void pass(session_progress& s, bool parked = false) const noexcept
    {
        if (!late(s)) {
            s.done = step;
            s.tries = 0;
        }
        if (parked) s.parked = lesser(saturating_add(s.parked, 1), s.done);
    }

    /// What speaks against it before it is run. A repeated one is not run.
    [[nodiscard]] constexpr std::optional<park_reason> refused(const pipeline_policy& p,
                                                               const session_progress& s,
                                                               std::uint64_t tries) const noexcept
    {
        const bool stops = p.mode == pipeline_mode::stop_on_failure;
        if (!contradiction(*this, s).empty()) return park_reason::contradiction;
        if (is_repeated(*this, s, stops)) return {};
        if (stops && step != expected_step(*this, s)) return park_reason::gap;
        if (tries >= greater(p.retry.most, 1)) return park_reason::exhausted;
        if (died() >= greater(p.deliveries, 1)) return park_reason::ended_process;
        return {};
    }

    /// Tells the session when it is; and where it ends and began, if the numbers agree with it.
    /// Where steps may be missing, the first one says nothing.
    constexpr void tell(session_progress& s, steady_time now, bool agree,
                        bool in_order) const noexcept
    {
        if (s.begun == wall_time{}) s.begun = wall;
        s.changed = wall_at(now);
        if (agree && s.total == 0) s.total = is_last(*this, s) ? step : total;
        if (agree && in_order && s.first == 0 && first > 1 && !s.failed) s.first = first;
    }

    /// By the wall clock of the receipt; a steady clock that jumps back does not count.
    [[nodiscard]] constexpr wall_time wall_at(steady_time now) const noexcept
    {
        return wall + greater(now - received, duration{});
    }

    /// Before it is delivered again for no fault of its own: longer each time, and as long as any
    /// where nobody counts the times, or where what was refused always will be.
    [[nodiscard]] constexpr duration pause_for(fault_class how, const retry_policy& p,
                                               double draw = 0.5, duration hint = {}) const noexcept
    {
        const duration by = pause(p.pauses, as_tries(deliveries), draw, hint);
        const bool longest = deliveries == 0 || how == fault_class::permanent;
        return longest ? greater(by, p.pauses.cap) : by;
    }

    friend bool operator==(const step_in_hand&, const step_in_hand&) = default;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_STEP_IN_HAND_HPP
