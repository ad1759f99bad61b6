// SPDX-License-Identifier: MIT
//
// step_order: texts for dead letters: why a step did not run, and why a state cannot be read.

#ifndef WAYBILL_SESSION_STEP_ORDER_HPP
#define WAYBILL_SESSION_STEP_ORDER_HPP

#include <string>
#include <string_view>

#include <waybill/session/detail/step_numbers.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The text of a dead letter without an error text of the handler: a limit is reached, or the
/// numbers of the step are wrong.
[[nodiscard]] inline std::string describe(dead_letter_reason reason, const step_facts& m,
                                          const session_progress& p)
{
    std::string line = "step " + std::to_string(m.step);
    switch (reason) {
        case dead_letter_reason::gap:
            line +=
                " arrived, but step " + std::to_string(detail::expected_step(m, p)) + " is missing";
            return p.done == 0 ? line + ", or its session has ended" : line;
        case dead_letter_reason::contradiction:
            if (m.step == 0 && m.total == 0 && !m.by_arrival)
                return "its step properties cannot be read: send it with write_step_properties";
            if (m.by_arrival || p.arrived != 0)
                return line.append(": ").append(detail::contradiction(m, p));
            line += " of " + std::to_string(m.total) + " from " + std::to_string(m.first) + ": ";
            line += detail::contradiction(m, p);
            if (p.done == 0 && p.total == 0 && p.first == 0) return line;
            line += " (session: " + std::to_string(p.done) + " done";
            if (p.total != 0) line += " of " + std::to_string(p.total);
            if (p.first != 0) line += " from " + std::to_string(p.first);
            return line + ")";
        case dead_letter_reason::exhausted:
            return line + " was tried " + std::to_string(p.tries) + " times in other deliveries";
        case dead_letter_reason::ended_process:
            return line + " was delivered " + std::to_string(m.deliveries) +
                   " times, and no delivery completed it";
        case dead_letter_reason::failed:
        case dead_letter_reason::session_failed:
        case dead_letter_reason::unreadable:
        case dead_letter_reason::broker: break;
    }
    return line.append(" is dead-lettered: ").append(name(reason));
}

/// The reason why a state cannot be read, for the dead letters of its session.
[[nodiscard]] constexpr std::string_view describe(state_read s) noexcept
{
    switch (s) {
        case state_read::newer:
            return "a later version of waybill wrote the state of its session: update the program";
        case state_read::corrupt: return "the state of its session is corrupt";
        case state_read::too_large:
            return "the state of its session is larger than the budget: increase the budget";
        case state_read::absent:
        case state_read::ok: break;
    }
    return "the state of its session can be read";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STEP_ORDER_HPP
