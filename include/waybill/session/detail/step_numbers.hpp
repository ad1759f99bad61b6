// SPDX-License-Identifier: MIT
//
// step_numbers: compares the numbers of a message with the progress of its session.
//
// Pure functions. They do not rely on the delivery order alone: a broker that dead-letters a step
// delivers the next one. A sender may number steps wrongly or run twice.

#ifndef WAYBILL_SESSION_DETAIL_STEP_NUMBERS_HPP
#define WAYBILL_SESSION_DETAIL_STEP_NUMBERS_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2::detail {

/// The contradiction in the numbers of a message, alone or with the progress of its session, as
/// text; empty if there is none.
[[nodiscard]] constexpr std::string_view contradiction(const step_facts& m,
                                                       const session_progress& p) noexcept
{
    if (m.by_arrival && m.step == 0)
        return "it has no step number, but earlier messages of its session have one";
    if (!m.by_arrival && p.arrived != 0)
        return "it has a step number, but earlier messages of its session have none";
    if (m.step == 0 || m.first == 0) return "steps are numbered from 1 on";
    if (m.step < m.first) return "it is before the first step";
    if (m.total != 0 && m.step > m.total) return "it is after the last step";
    if (m.last && m.total != 0 && m.step != m.total)
        return "it is marked as the last step, but the total is greater";
    if (p.total != 0 && m.total != 0 && m.total != p.total) return "the session has another total";
    if (p.total != 0 && m.step > p.total) return "the session has ended before it";
    if (p.total != 0 && m.last && m.step != p.total) return "the session has another last step";
    if (p.first != 0 && m.first != p.first) return "the session has another first step";
    if (p.done != 0 && m.first > p.done) return "the session began before its first step";
    return {};
}

/// The number of the next step if steps must be in order.
[[nodiscard]] constexpr std::uint64_t expected_step(const step_facts& m,
                                                    const session_progress& p) noexcept
{
    return p.done == 0 ? m.first : saturating_add(p.done, 1);
}

/// The number of a message without a step number. A redelivered message has the number that it had.
/// 0 if earlier messages of the session have step numbers.
[[nodiscard]] constexpr std::uint64_t number_by_arrival(const step_facts& m,
                                                        const session_progress& p) noexcept
{
    if (p.arrived != 0)
        return m.sequence == p.arrived_sequence ? p.arrived : saturating_add(p.arrived, 1);
    const bool has_numbers = p.done != 0 || p.total != 0 || p.tries != 0 || p.failed;
    return has_numbers ? 0 : 1;
}

/// True if the session has already done this step. If `in_order`, all steps up to `done` are done.
/// Independent steps may be missing or late, so only step `done` itself is known to be done. Only
/// this step is redelivered after a fault: a message is completed before the next one is received.
/// If `p.tries` is not 0, step `done` may be a skipped step, and the result is false.
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

/// True if the state can be removed after this message: it is the last one, and its numbers do not
/// contradict the progress. False if the session failed with a gap or a contradiction before any
/// step was done. Step `first` may then still arrive, and the failed state must prevent its run.
[[nodiscard]] constexpr bool ends_session(const step_facts& m, const session_progress& p) noexcept
{
    if (!is_last(m, p) || !contradiction(m, p).empty()) return false;
    if (!p.failed || p.done != 0) return true;
    return p.failed->reason != dead_letter_reason::gap &&
           p.failed->reason != dead_letter_reason::contradiction;
}

/// The error text of a step that succeeded, but whose state the store permanently refuses. `reason`
/// is the error text of the store.
[[nodiscard]] inline std::string refused_state_text(std::string_view reason)
{
    std::string line = "the store permanently refuses the state after this step";
    if (!reason.empty()) line.append(": ").append(reason);
    return line;
}

/// The next step of the session: the step after the last one that is done. If no step is done, the
/// first step according to the message that stopped the session. 0 (unknown) for other messages,
/// and for a message whose step is before its first step.
[[nodiscard]] inline std::uint64_t resume_step(const step_properties& message, bool stopped_session,
                                               const session_progress& p) noexcept
{
    if (p.done != 0) return saturating_add(p.done, 1);
    return stopped_session && message.first <= message.step ? message.first : 0;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_STEP_NUMBERS_HPP
