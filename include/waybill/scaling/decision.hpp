// SPDX-License-Identifier: MIT
//
// decision: what is done about the instances, until when, and because of which numbers.

#ifndef WAYBILL_SCALING_DECISION_HPP
#define WAYBILL_SCALING_DECISION_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/truth.hpp>

namespace waybill::inline v0_2::scaling {

enum class verdict : std::uint8_t {
    steady,  ///< As many as are wanted.
    up,      ///< There is a command for more.
    down,    ///< There is a command for fewer.
    held,    ///< More or fewer are wanted, or nobody knows; nothing is done, and `why` says why.
};

[[nodiscard]] constexpr std::string_view name(verdict v) noexcept
{
    switch (v) {
        case verdict::steady: return "steady";
        case verdict::up: return "up";
        case verdict::down: return "down";
        case verdict::held: return "held";
    }
    return "?";
}

/// What kept a change from being what was wanted, or from being made at all; or what asked for one
/// in the place of a rule, as `unknown` and `bounds` do.
enum class reason : std::uint8_t {
    nothing,
    unknown,      ///< A metric that it depends on is not known.
    pending,      ///< The last command has not been answered.
    failed,       ///< The last command failed a short while ago.
    disabled,     ///< The policy does not allow this direction.
    warming,      ///< New instances have not done their part yet.
    stabilising,  ///< It was not asked for long enough.
    flapping,     ///< With so few instances more would be asked for at once.
    rate,         ///< As much was changed lately as may be.
    cooldown,     ///< The last change was not long ago.
    active,       ///< The last instance is still needed, or was lately.
    bounds,       ///< There may be no more, or no fewer; or there were too many or too few.
};

[[nodiscard]] constexpr std::string_view name(reason r) noexcept
{
    switch (r) {
        case reason::nothing: return "nothing";
        case reason::unknown: return "unknown";
        case reason::pending: return "pending";
        case reason::failed: return "failed";
        case reason::disabled: return "disabled";
        case reason::warming: return "warming";
        case reason::stabilising: return "stabilising";
        case reason::flapping: return "flapping";
        case reason::rate: return "rate";
        case reason::cooldown: return "cooldown";
        case reason::active: return "active";
        case reason::bounds: return "bounds";
    }
    return "?";
}

/// A record of one decision. Its rows view the names of metrics in the policy, which has to last.
struct decision {
    scaling::verdict verdict = scaling::verdict::steady;
    reason why = reason::nothing;
    std::uint64_t from = 0;     ///< As many as there are. Of a ladder, which rung.
    std::uint64_t desired = 0;  ///< As many as the rules and targets ask for.
    std::uint64_t to = 0;       ///< As many as there shall be.
    wall_time now{};
    std::optional<wall_time> until{};  ///< When what holds it back ends, where that is known.
    std::optional<scaling::command> command{};  ///< Where the verdict is up or down.
    truth up = truth::no;                       ///< What the rules said.
    truth down = truth::no;
    std::vector<evidence> because{};

    // What the state has to remember of it.
    truth activation = truth::yes;
    both_ways<duration> stabilise{};
    duration warm_up{};
    bool arrived = false;  ///< There are as many as the unanswered command says.

    friend bool operator==(const decision&, const decision&) = default;
};

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_DECISION_HPP
