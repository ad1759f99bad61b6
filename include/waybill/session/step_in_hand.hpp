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
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_order.hpp>

namespace waybill::inline v0_1::detail {

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

struct step_in_hand : step_facts {
    wall_time wall{};        // when it was received
    steady_time received{};

    /// So many deliveries before this one have not ended it.
    [[nodiscard]] constexpr std::uint64_t died() const noexcept
    {
        return saturating_sub(deliveries, 1);
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

    /// By the wall clock of the receipt; a steady clock that jumps back does not count.
    [[nodiscard]] constexpr wall_time wall_at(steady_time now) const noexcept
    {
        return wall + greater(now - received, duration{});
    }

    /// Before it is delivered again for no fault of its own.
    [[nodiscard]] constexpr duration short_pause(const retry_policy& p, double draw = 0.5,
                                                 duration hint = {}) const noexcept
    {
        return pause(p.pauses, as_tries(greater(deliveries, 1)), draw, hint);
    }

    friend bool operator==(const step_in_hand&, const step_in_hand&) = default;
};

}  // namespace waybill::inline v0_1::detail

#endif  // WAYBILL_SESSION_STEP_IN_HAND_HPP
