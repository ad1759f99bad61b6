// SPDX-License-Identifier: MIT
//
// state_budget: how large a state may be, and what of it is kept free for the day when it fails.
//
// A broker takes so many bytes of state and no more. A state that fills them all cannot be written
// as failed, and then the steps behind the one that failed run: the one thing that must not happen.
// So a part of the budget is kept for what the library itself writes, the reason of a failure above
// all, and what the user keeps in a state is held to the rest:
//
//     waybill::state_budget b{.bytes = 262'144, .failure_reserve = 2'048};
//     b.for_value()                      // 260,096: for the user's own part and the envelope
//
// Whatever value is within it can be written with any progress at all, the text of a failure cut to
// what is left. With the same budget nothing else is accepted when it is read, unless it failed:
// such a state may fill the budget, and then has room for the progress that it has, and no longer
// one. Where a longer one has to be written over it, state_text.hpp says that it is too large, and
// ext/json_session.hpp leaves the value out.

#ifndef WAYBILL_SESSION_STATE_BUDGET_HPP
#define WAYBILL_SESSION_STATE_BUDGET_HPP

#include <cstdint>
#include <optional>
#include <string>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

struct state_budget {
    std::uint64_t bytes = 262'144;          ///< Of all that is stored, the envelope too.
    std::uint64_t failure_reserve = 2'048;  ///< Of these, for progress and failure.

    /// For all but these.
    [[nodiscard]] constexpr std::uint64_t for_value() const noexcept
    {
        return saturating_sub(bytes, failure_reserve);
    }

    friend bool operator==(const state_budget&, const state_budget&) = default;
};

/// The least that a failure needs: its numbers and times at their longest, and a word of its text.
inline constexpr std::uint64_t least_failure_reserve = 512;

[[nodiscard]] constexpr std::optional<config_error> check(const state_budget& b) noexcept
{
    if (b.failure_reserve < least_failure_reserve) {
        return config_error{"failure_reserve", b.failure_reserve, "must be at least",
                            least_failure_reserve};
    }
    if (b.bytes <= b.failure_reserve) {
        return config_error{"bytes", b.bytes, "must be more than failure_reserve",
                            b.failure_reserve};
    }
    return std::nullopt;
}

/// Why a state is not written: what it would take, and what there is for it.
struct state_too_large {
    std::uint64_t size = 0;
    std::uint64_t most = 0;

    friend bool operator==(const state_too_large&, const state_too_large&) = default;
};

/// One line for a log.
[[nodiscard]] inline std::string text(const state_too_large& e)
{
    return "state: too large: " + std::to_string(e.size) + " bytes, and " +
           std::to_string(e.most) + " is the most beside what is kept for a failure: "
           "raise the budget, or keep the large part elsewhere";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STATE_BUDGET_HPP
