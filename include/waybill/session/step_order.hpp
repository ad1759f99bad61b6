// SPDX-License-Identifier: MIT
//
// step_order: compares the numbers of a message with the progress of its session.
//
// Pure functions. The order of a broker is not trusted alone: a broker that dead-letters a step
// continues with the next one, and a sender may be wrong or run twice.

#ifndef WAYBILL_SESSION_STEP_ORDER_HPP
#define WAYBILL_SESSION_STEP_ORDER_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/saturating.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// The contradiction in the numbers of a message, alone or with the progress of its session, as
/// text; empty if there is none.
[[nodiscard]] constexpr std::string_view contradiction(const step_facts& m,
                                                       const session_progress& p) noexcept
{
    if (m.step == 0 || m.first == 0) return "steps are numbered from 1 on";
    if (m.step < m.first) return "it is before the first step";
    if (m.total != 0 && m.step > m.total) return "it is after the last step";
    if (m.last && m.total != 0 && m.step != m.total) return "it is called the last, and is not";
    if (p.total != 0 && m.total != 0 && m.total != p.total) return "the session has another total";
    if (p.total != 0 && m.step > p.total) return "the session has ended before it";
    if (p.total != 0 && m.last && m.step != p.total) return "the session has another last step";
    if (p.first != 0 && m.first != p.first) return "the session has another first step";
    if (p.done != 0 && m.first > p.done) return "the session began before what it calls the first";
    return {};
}

/// The number of the next step if steps must be in order.
[[nodiscard]] constexpr std::uint64_t expected_step(const step_facts& m,
                                                    const session_progress& p) noexcept
{
    return p.done == 0 ? m.first : saturating_add(p.done, 1);
}

/// True if the session has done the step before. If `in_order`, these are all steps up to `done`.
/// Independent steps may be missing or late, so only `done` itself is certain. Only that step is
/// redelivered after a fault, because a message is completed before the next one is received. If
/// the next step has tries, `done` itself may have been skipped; the result is false.
[[nodiscard]] constexpr bool is_repeated(const step_facts& m, const session_progress& p,
                                         bool in_order) noexcept
{
    if (in_order) return m.step <= p.done;
    return p.done != 0 && m.step == p.done && p.tries == 0;
}

/// True if no step follows this message.
[[nodiscard]] constexpr bool is_last(const step_facts& m, const session_progress& p) noexcept
{
    const std::uint64_t total = greater(m.total, p.total);
    return total == 0 ? m.last : m.step >= total;
}

/// True if the state can be removed after this message: it is the last one, and no message follows
/// that needs the state. False if `first` is missing, because it may still arrive.
[[nodiscard]] constexpr bool ends_session(const step_facts& m, const session_progress& p) noexcept
{
    if (!is_last(m, p) || !contradiction(m, p).empty()) return false;
    if (!p.failed || p.done != 0) return true;
    return p.failed->reason != dead_letter_reason::gap &&
           p.failed->reason != dead_letter_reason::contradiction;
}

}  // namespace detail

/// The reason for dead-lettering as text, if no handler has reported one: for limits that are
/// reached and for wrong numbers.
[[nodiscard]] inline std::string describe(dead_letter_reason reason, const step_facts& m,
                                          const session_progress& p)
{
    std::string line = "step " + std::to_string(m.step);
    switch (reason) {
        case dead_letter_reason::gap:
            line +=
                " came, and step " + std::to_string(detail::expected_step(m, p)) + " is missing";
            return p.done == 0 ? line + ", or its session is over" : line;
        case dead_letter_reason::contradiction:
            if (m.step == 0 && m.total == 0) return "it has no step properties that can be read";
            line += " of " + std::to_string(m.total) + " from " + std::to_string(m.first) + ": ";
            return line.append(detail::contradiction(m, p));
        case dead_letter_reason::exhausted:
            return line + " was tried " + std::to_string(p.tries) + " times in other deliveries";
        case dead_letter_reason::ended_process:
            return line + " was delivered " + std::to_string(m.deliveries) +
                   " times, and no delivery has ended it";
        case dead_letter_reason::failed:
        case dead_letter_reason::session_failed:
        case dead_letter_reason::unreadable:
        case dead_letter_reason::broker: break;
    }
    return line.append(" is parked: ").append(name(reason));
}

namespace detail {

/// The reason of a step that succeeded but whose state is refused for good; `reason` is that of the
/// store.
[[nodiscard]] inline std::string never_taken(std::string_view reason)
{
    std::string line = "the state that it leaves is never taken";
    if (!reason.empty()) line.append(": ").append(reason);
    return line;
}

}  // namespace detail

/// Why a state cannot be read, for the dead letters of its session.
[[nodiscard]] constexpr std::string_view describe(state_read s) noexcept
{
    switch (s) {
        case state_read::newer: return "a later version has written the state of its session";
        case state_read::corrupt: return "the state of its session is not what was written";
        case state_read::too_large: return "the state of its session is larger than the budget";
        case state_read::absent:
        case state_read::ok: break;
    }
    return "the state of its session can be read";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STEP_ORDER_HPP
