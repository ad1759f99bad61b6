// SPDX-License-Identifier: MIT
//
// redrive_plan: the sessions to redrive, and the properties with which each dead letter is sent.
//
// `plan_redrive` returns it; its guarantees are in plan_redrive.hpp.

#ifndef WAYBILL_SESSION_REDRIVE_PLAN_HPP
#define WAYBILL_SESSION_REDRIVE_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/saturating.hpp>
#include <waybill/session/detail/redrive_names.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/redrive_session.hpp>
#include <waybill/session/step_properties.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// The last known state of a session whose dead letters are given in their order. The dead letter
/// with the highest `resume_at` has the latest state. If a redriven session has completed no step,
/// that state may lack the one sent with the first message; `origin.state` is returned instead.
[[nodiscard]] inline std::string_view state_of(
    std::span<const pipeline_dead_letter> session) noexcept
{
    const pipeline_dead_letter& first = session.front();
    const pipeline_dead_letter* last = nullptr;
    for (const pipeline_dead_letter& l : session) {
        if (l.state.empty()) continue;
        if (last == nullptr || l.resume_at > last->resume_at) last = &l;
    }
    if (last == nullptr) return first.origin.state;
    const bool none_done = last->resume_at <= first.properties.first;
    return none_done && !first.origin.state.empty() ? first.origin.state : last->state;
}

}  // namespace detail

/// The properties and the message id with which a dead letter is sent.
struct redrive_step {
    step_properties properties{};
    step_origin origin{};
    std::string message_id{};

    friend bool operator==(const redrive_step&, const redrive_step&) = default;
};

struct redrive_plan {
    std::vector<redrive_session> sessions{};  ///< In the order of their dead letters.
    std::uint64_t ready = 0;     ///< Dead letters to send; they come first. Skip if `was_sent`.
    std::uint64_t held = 0;      ///< Dead letters held back; they follow those to send.
    std::uint64_t filtered = 0;  ///< Dead letters not selected by the filter; they come last.
    std::uint64_t max_id_bytes = 128;  ///< Maximum bytes of a message id.

    /// The session of a dead letter. O(log n) for n sessions. Requires: `letter` is an index into
    /// the planned dead letters.
    [[nodiscard]] const redrive_session& session_of(std::uint64_t letter) const noexcept
    {
        std::size_t low = 0;
        for (std::size_t n = sessions.size(); n > 1;) {
            const std::size_t half = n / 2;
            if (sessions[low + half].offset <= letter) low += half;
            n -= half;
        }
        return sessions[low];
    }

    /// True if an earlier redrive has sent this dead letter; it must not be sent again.
    [[nodiscard]] bool was_sent(std::uint64_t letter) const noexcept
    {
        const redrive_session& s = session_of(letter);
        return s.first_sent && s.offset == letter;
    }

    /// The properties with which a dead letter is sent. Requires: `letters` in the order in which
    /// `plan_redrive` left them.
    [[nodiscard]] redrive_step step(std::span<const pipeline_dead_letter> letters,
                                    std::uint64_t letter) const
    {
        const redrive_session& s = session_of(letter);
        const pipeline_dead_letter& l = letters[letter];
        const std::uint64_t number = s.marks.unnumbered ? letter - s.offset + 1 : l.properties.step;
        redrive_step r;
        r.properties = {s.id, number, s.first, s.marks.alone ? 0 : s.total,
                   s.total != 0 && number == s.total};
        r.origin = {std::string(detail::origin_session(l)), detail::origin_sequence(l),
                    s.generation, saturating_add(l.origin.tries, l.tries)};
        r.origin.message_id = l.origin.generation == 0 ? l.message_id : l.origin.message_id;
        if (letter == s.offset && !s.first_sent && !s.marks.alone) {
            r.origin.state = detail::state_of(letters.subspan(s.offset, s.count));
        }
        r.message_id = detail::redriven_message_id(r.origin.session, r.origin.sequence,
                                                   s.generation, max_id_bytes);
        return r;
    }

    /// The first dead letter of a session with `marks_first`, as it must be written: merge it into
    /// the stored one with `merged_mark`. It contains how far the session was sent, and its first
    /// and last step. Other dead letters with these facts may be removed by then.
    [[nodiscard]] pipeline_dead_letter marked(std::span<const pipeline_dead_letter> letters,
                                              std::uint64_t session) const
    {
        pipeline_dead_letter l = letters[sessions[session].offset];
        l.sent_to = sessions[session].sent_to;
        l.resume_at = sessions[session].first;
        if (sessions[session].total != 0) l.properties.total = sessions[session].total;
        return l;
    }

    friend bool operator==(const redrive_plan&, const redrive_plan&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_PLAN_HPP
