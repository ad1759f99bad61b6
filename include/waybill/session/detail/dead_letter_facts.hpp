// SPDX-License-Identifier: MIT
//
// dead_letter_facts: the origin of a dead letter, and the state with which its session stopped.

#ifndef WAYBILL_SESSION_DETAIL_DEAD_LETTER_FACTS_HPP
#define WAYBILL_SESSION_DETAIL_DEAD_LETTER_FACTS_HPP

#include <cstdint>
#include <span>
#include <string_view>

#include <waybill/session/pipeline_dead_letter.hpp>

namespace waybill::inline v0_2::detail {

/// The id of the session in which the message was sent first. All ids of redrives are derived from
/// it.
[[nodiscard]] inline std::string_view origin_session(const pipeline_dead_letter& l) noexcept
{
    return l.origin.generation == 0 ? l.properties.session : l.origin.session;
}

/// The sequence number of the message in that session.
[[nodiscard]] inline std::uint64_t origin_sequence(const pipeline_dead_letter& l) noexcept
{
    return l.origin.generation == 0 ? l.sequence : l.origin.sequence;
}

/// The last known state of a session whose dead letters are given in their order. The dead letter
/// with the highest `resume_at` has the latest state. Exception: if a redriven session has done no
/// step, that state can lack the content sent with its first message. The result is then
/// `origin.state` of that message.
[[nodiscard]] inline std::string_view latest_state(
    std::span<const pipeline_dead_letter> session) noexcept
{
    const pipeline_dead_letter& first = session.front();
    const pipeline_dead_letter* latest = nullptr;
    for (const pipeline_dead_letter& l : session) {
        if (l.state.empty()) continue;
        if (latest == nullptr || l.resume_at > latest->resume_at) latest = &l;
    }
    if (latest == nullptr) return first.origin.state;
    const bool none_done = latest->resume_at <= first.properties.first;
    return none_done && !first.origin.state.empty() ? first.origin.state : latest->state;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_DEAD_LETTER_FACTS_HPP
