// SPDX-License-Identifier: MIT
//
// redrive_plan: the sessions that come back, and what each of their letters is sent with.
//
// plan_redrive.hpp makes it and says what holds.

#ifndef WAYBILL_SESSION_REDRIVE_PLAN_HPP
#define WAYBILL_SESSION_REDRIVE_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/saturating.hpp>
#include <waybill/session/redrive_names.hpp>
#include <waybill/session/redrive_session.hpp>
#include <waybill/session/stamp_properties.hpp>
#include <waybill/session/step_letter.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// What the letters of a session, in their order, know of its state: that of whoever saw it last.
/// A session that came back and has done nothing in between knows no more than what it came with:
/// where its first message was never taken, its state is one that began without it.
[[nodiscard]] inline std::string_view state_of(std::span<const step_letter> session) noexcept
{
    const step_letter& first = session.front();
    const step_letter* last = nullptr;
    for (const step_letter& l : session) {
        if (l.state.empty()) continue;
        if (last == nullptr || l.resume_at > last->resume_at) last = &l;
    }
    if (last == nullptr) return first.origin.state;
    const bool none_done = last->resume_at <= first.stamp.first;
    return none_done && !first.origin.state.empty() ? first.origin.state : last->state;
}

}  // namespace detail

/// What a letter is sent with.
struct redrive_step {
    step_stamp stamp{};
    step_origin origin{};
    std::string message_id{};

    friend bool operator==(const redrive_step&, const redrive_step&) = default;
};

struct redrive_plan {
    std::vector<redrive_session> sessions{};  ///< In the order of their letters.
    std::uint64_t ready = 0;     ///< Letters to be sent, unless `was_sent`; they come first.
    std::uint64_t held = 0;      ///< Letters held back, behind them.
    std::uint64_t filtered = 0;  ///< Letters that were not asked for, at the end.
    std::uint64_t most_id_bytes = 128;

    /// The session of a letter. Requires: it is one of those letters.
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

    /// Whether a redrive before this one has sent a letter, so that it is not sent again.
    [[nodiscard]] bool was_sent(std::uint64_t letter) const noexcept
    {
        const redrive_session& s = session_of(letter);
        return s.first_sent && s.offset == letter;
    }

    /// What to send a letter with. Requires: the letters as the plan has left them.
    [[nodiscard]] redrive_step step(std::span<const step_letter> letters,
                                    std::uint64_t letter) const
    {
        const redrive_session& s = session_of(letter);
        const step_letter& l = letters[letter];
        const std::uint64_t number = s.marks.unstamped ? letter - s.offset + 1 : l.stamp.step;
        redrive_step r;
        r.stamp = {s.id, number, s.first, s.marks.alone ? 0 : s.total,
                   s.total != 0 && number == s.total};
        r.origin = {std::string(detail::origin_session(l)), detail::origin_sequence(l),
                    s.generation, saturating_add(l.origin.tries, l.tries)};
        r.origin.message_id = l.origin.generation == 0 ? l.message_id : l.origin.message_id;
        if (letter == s.offset && !s.first_sent && !s.marks.alone) {
            r.origin.state = detail::state_of(letters.subspan(s.offset, s.count));
        }
        r.message_id = redriven_message_id(r.origin.session, r.origin.sequence, s.generation,
                                           most_id_bytes);
        return r;
    }

    /// The first letter of a session that `marks_first`, as it is to be written (`merged_mark`): how
    /// far the session was sent, and where it begins and ends, which perhaps only letters said that
    /// are gone by then.
    [[nodiscard]] step_letter marked(std::span<const step_letter> letters,
                                     std::uint64_t session) const
    {
        step_letter l = letters[sessions[session].offset];
        l.sent_to = sessions[session].sent_to;
        l.resume_at = sessions[session].first;
        if (sessions[session].total != 0) l.stamp.total = sessions[session].total;
        return l;
    }

    friend bool operator==(const redrive_plan&, const redrive_plan&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_PLAN_HPP
