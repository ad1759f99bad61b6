// SPDX-License-Identifier: MIT
//
// decision: a scaling decision with its reason, its duration and the numbers that led to it.

#ifndef WAYBILL_SCALING_DECISION_HPP
#define WAYBILL_SCALING_DECISION_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/tribool.hpp>

namespace waybill::inline v0_2::scaling {

using v0_2::name;

enum class verdict : std::uint8_t {
    steady,  ///< No change is needed.
    up,      ///< `command` adds instances.
    down,    ///< `command` removes instances.
    held,    ///< A change is wanted or its need is unknown, but not made; see `why`.
};

[[nodiscard]] constexpr std::string_view texts_of(verdict) noexcept
{
    return "steady, up, down, held";
}

/// The reason why a change is smaller than wanted or is not made. `unknown` and `bounds` may also
/// be the reason for a change that no rule requests.
enum class reason : std::uint8_t {
    nothing,
    unknown,      ///< A metric that the decision depends on is unknown.
    pending,      ///< The last command has no result yet.
    failed,       ///< The last command failed less than `after_failure` ago.
    disabled,     ///< The policy does not allow this direction.
    warming,      ///< New instances are warming up.
    stabilising,  ///< The change has not been wanted for long enough.
    flapping,     ///< With fewer instances, a rule or target would request more at once.
    rate,         ///< The rate limit is reached.
    cooldown,     ///< The cooldown after the last change has not ended.
    active,       ///< The last instance is needed, or was needed less than `zero_after` ago.
    bounds,       ///< The number of instances is at a bound or outside the bounds.
};

[[nodiscard]] constexpr std::string_view texts_of(reason) noexcept
{
    return "nothing, unknown, pending, failed, disabled, warming, stabilising, flapping, rate, "
           "cooldown, active, bounds";
}

/// A record of one decision. Its rows view metric names in the policy, which must outlive it.
struct decision {
    scaling::verdict verdict = scaling::verdict::steady;
    reason why = reason::nothing;
    /// The current number of instances; with a ladder, the current tier.
    std::uint64_t from = 0;
    /// The number that rules and targets request.
    std::uint64_t desired = 0;
    /// The number of instances after this decision.
    std::uint64_t to = 0;
    wall_time now{};
    /// The time at which `why` ends, if known.
    std::optional<wall_time> until{};
    /// Set if the verdict is up or down.
    std::optional<scaling::command> command{};
    /// The result of the rules up.
    tribool up = tribool::no;
    /// The result of the rule down.
    tribool down = tribool::no;
    /// The comparisons that were made, one row each.
    std::vector<evidence> reasons{};

    // Input of `state::on`.
    tribool activation = tribool::yes;
    per_direction<duration> stabilise{};
    duration warm_up{};
    bool arrived = false;  ///< The number of instances equals the target of the pending command.
    /// A target or the rule down has a metric that `activation` does not compare, and needs an
    /// instance or is unknown.
    bool needed = false;

    /// True if `before` had the same verdict, reason and numbers. For a log without repetitions.
    [[nodiscard]] constexpr bool repeats(const decision& before) const noexcept
    {
        return verdict == before.verdict && why == before.why && from == before.from &&
               to == before.to;
    }

    friend bool operator==(const decision&, const decision&) = default;
};

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_DECISION_HPP
