// SPDX-License-Identifier: MIT
//
// redrive_plan: the sessions to redrive, and the reasons why others are held back, as data and as
// text for a review before anything is sent. `plan_redrive` makes the plan, `redrive` executes it.
//
//     order-17 -> order-17~1: 3 dead letters, steps 3 to 5 of 5: failed: no template
//     order-18: 2 dead letters, steps 4 to 5, held back: damaged (its first step is missing): ...
//     import-3 -> import-3~1: 3 dead letters, steps 17 to 4000 (each alone): failed: no price, and
//     2 for other reasons
//     12 dead letters of 4 sessions to send, 2 of 1 held back, 0 not selected

#ifndef WAYBILL_SESSION_REDRIVE_PLAN_HPP
#define WAYBILL_SESSION_REDRIVE_PLAN_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/detail/dead_letter_facts.hpp>
#include <waybill/session/detail/redrive_names.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_properties.hpp>

namespace waybill::inline v0_2 {

struct redrive_plan {
    struct filter;
    struct options;

    /// The reason why the dead letters of a session are not sent.
    enum class skip_reason : std::uint8_t {
        none,        ///< They are sent.
        filtered,    ///< The filter does not select them.
        no_session,  ///< They have no session id.
        /// All dead letters present were sent, and the last step is missing.
        /// `redrive_plan::options::close` ends the session without it.
        end_missing,
        /// The session has done these steps already. The operator may remove the dead letters.
        already_done,
        damaged,  ///< See the marks of the session; `redrive_plan::options::damaged` sends them.
        no_body,  ///< Bodies are elsewhere; `redrive_plan::options::fetches_bodies` sends them.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(skip_reason) noexcept
    {
        return "none, filtered, no_session, end_missing, already_done, damaged, no_body";
    }

    /// Facts about the dead letters of a session that an operator should know.
    struct session_marks {
        bool start_unknown = false;  ///< The next step of the session is unknown.
        bool head_missing = false;   ///< The next step of the session is missing.
        bool hole = false;           ///< A step between two others is missing.
        bool contradictory = false;  ///< They disagree about the end, the origin or the progress.
        /// The dead letters have no step number and are numbered in their order. If others of the
        /// session have one, those without are always held back.
        bool unnumbered = false;
        bool open = false;         ///< The last step is missing or unknown.
        bool independent = false;  ///< Each failed without stopping the session.
        bool repeated = false;     ///< Two dead letters have the same step.
        bool disordered = false;   ///< Sequence numbers are not in the order of the steps.
        /// As `disordered`, because sequence numbers wrapped at 2^48.
        bool sequence_wrapped = false;
        bool state_omitted = false;  ///< The state was too large for its dead letter.
        bool without_state = false;  ///< Steps were done, but no dead letter has the state.

        [[nodiscard]] constexpr bool damaged() const noexcept
        {
            return start_unknown || head_missing || hole || contradictory || unnumbered ||
                   state_omitted;
        }

        friend bool operator==(const session_marks&, const session_marks&) = default;
    };

    /// The properties, the message id and the body with which a dead letter is sent.
    struct planned_message {
        step_properties properties{};
        step_properties::origin origin{};
        std::string message_id{};
        std::string_view body{};  ///< As in its dead letter, which must outlive it.

        friend bool operator==(const planned_message&, const planned_message&) = default;
    };

    /// The dead letters of one session, `count` of them from `offset` on, and their new session.
    struct planned_session {
        std::uint64_t offset = 0;
        std::uint64_t count = 0;
        std::string id{};                ///< The id of the new session.
        std::uint64_t generation = 1;    ///< The number of the redrive, from 1 on.
        std::uint64_t first = 1;         ///< The first step of the new session.
        std::uint64_t total = 0;         ///< The last step of the new session; 0 if it stays open.
        std::uint64_t without_body = 0;  ///< The number of bodies to fetch.
        /// The last step sent when this redrive is finished.
        std::uint64_t last_redriven_step = 0;
        bool first_sent = false;  ///< An earlier redrive sent the first dead letter; skip it.
        bool mark_before_removal = false;  ///< Mark the first dead letter before removing others.
        bool keeps_first = false;  ///< Keep the first dead letter until the last step is sent.
        session_marks marks{};
        skip_reason reason = skip_reason::none;  ///< Why its dead letters are not sent.

        [[nodiscard]] std::uint64_t end() const noexcept
        {
            return detail::saturating_add(offset, count);
        }

        friend bool operator==(const planned_session&, const planned_session&) = default;
    };

    /// In the order of their dead letters: those to send, those held back, those not selected. In
    /// each group the session with the earliest dead letter is the first.
    std::vector<planned_session> sessions{};
    /// Dead letters to send; they come first. Skip those for which `was_sent` is true.
    std::uint64_t ready = 0;
    std::uint64_t held_back = 0;       ///< Dead letters held back; they follow those to send.
    std::uint64_t filtered = 0;        ///< Dead letters not selected by the filter; they come last.
    std::uint64_t max_id_bytes = 128;  ///< Maximum bytes of a message id.

    /// The session of a dead letter. O(log n) for n sessions. Requires: `letter` is an index into
    /// the planned dead letters.
    [[nodiscard]] const planned_session& session_of(std::uint64_t letter) const noexcept
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
        const planned_session& s = session_of(letter);
        return s.first_sent && s.offset == letter;
    }

    /// The properties with which a dead letter is sent. Requires: `letters` in the order in which
    /// `plan_redrive` left them.
    [[nodiscard]] planned_message step(std::span<const pipeline_dead_letter> letters,
                                       std::uint64_t letter) const
    {
        const planned_session& s = session_of(letter);
        const pipeline_dead_letter& l = letters[letter];
        const std::uint64_t number = s.marks.unnumbered ? letter - s.offset + 1 : l.properties.step;
        planned_message r;
        r.properties = {.session = s.id,
                        .step = number,
                        .first = s.first,
                        .total = s.marks.independent ? 0 : s.total,
                        .last = s.total != 0 && number == s.total};
        r.origin = {.session = std::string(detail::origin_session(l)),
                    .sequence = detail::origin_sequence(l),
                    .generation = s.generation,
                    .tries = detail::saturating_add(l.origin.tries, l.tries)};
        r.origin.message_id = l.origin.generation == 0 ? l.message_id : l.origin.message_id;
        if (letter == s.offset && !s.first_sent && !s.marks.independent) {
            r.origin.state = detail::latest_state(letters.subspan(s.offset, s.count));
        }
        r.message_id = detail::redriven_message_id(r.origin.session, r.origin.sequence,
                                                   s.generation, max_id_bytes);
        r.body = l.body;
        return r;
    }

    /// A dead letter of a session, marked as sent by itself: merge it into the stored one with
    /// `pipeline_dead_letter::with_mark`. A further plan does not send it again.
    [[nodiscard]] pipeline_dead_letter marked_letter(std::span<const pipeline_dead_letter> letters,
                                                     std::uint64_t letter) const
    {
        const planned_session& s = session_of(letter);
        pipeline_dead_letter l = letters[letter];
        l.last_redriven_step = s.marks.unnumbered ? letter - s.offset + 1 : l.properties.step;
        l.resume_at = s.first;
        if (s.total != 0) l.properties.total = s.total;
        return l;
    }

    /// The first dead letter of a session with `mark_before_removal`, as it must be written: merge
    /// it into the stored one with `pipeline_dead_letter::with_mark`. It contains the last step
    /// sent, and the first and last step of the session. Other dead letters with these facts may be
    /// removed by then.
    [[nodiscard]] pipeline_dead_letter marked(std::span<const pipeline_dead_letter> letters,
                                              std::uint64_t session) const
    {
        pipeline_dead_letter l = letters[sessions[session].offset];
        l.last_redriven_step = sessions[session].last_redriven_step;
        l.resume_at = sessions[session].first;
        if (sessions[session].total != 0) l.properties.total = sessions[session].total;
        return l;
    }

    friend bool operator==(const redrive_plan&, const redrive_plan&) = default;
};

/// Selects the sessions to redrive. A session is selected by the dead letter that stopped it, and
/// redriven as a whole. A session whose redrive has begun is always selected, unless `session`
/// excludes it. Dead letters of independent steps are selected one by one.
struct redrive_plan::filter {
    std::vector<dead_letter_reason> reasons{};     ///< Any of these reasons; empty selects all.
    std::uint64_t failed_step = 0;                 ///< The step that stopped; 0 selects all.
    std::uint64_t from_step = 0;                   ///< The lowest step selected.
    std::uint64_t to_step = detail::highest_size;  ///< The highest step selected.
    wall_time dead_lettered_from = wall_time::lowest();  ///< The earliest time of dead-lettering.
    wall_time dead_lettered_to = wall_time::highest();   ///< The latest time of dead-lettering.
    std::string session{};  ///< Id or original id of one session; empty selects all.

    friend bool operator==(const filter&, const filter&) = default;
};

/// Refuses a filter that selects nothing.
[[nodiscard]] constexpr std::optional<config_error> validate(const redrive_plan::filter& f) noexcept
{
    if (f.to_step < f.from_step) {
        return config_error{"filter.to_step", f.to_step, "must be at least filter.from_step",
                            f.from_step};
    }
    if (f.failed_step != 0 && f.failed_step < f.from_step) {
        return config_error{"filter.failed_step", f.failed_step,
                            "must be at least filter.from_step", f.from_step};
    }
    if (f.failed_step > f.to_step) {
        return config_error{"filter.failed_step", f.failed_step, "must be at most filter.to_step",
                            f.to_step};
    }
    if (f.dead_lettered_to < f.dead_lettered_from) {
        const duration to = f.dead_lettered_to.since_epoch();
        const duration from = f.dead_lettered_from.since_epoch();
        std::string_view rule = "nanoseconds since 1970 must be at least filter.dead_lettered_from";
        if (from < duration{}) {
            rule =
                "nanoseconds since 1970 must be at least filter.dead_lettered_from, which is minus";
        }
        return config_error{"filter.dead_lettered_to", detail::magnitude(to), rule,
                            detail::magnitude(from), to < duration{}};
    }
    return {};
}

/// The treatment of incomplete sessions, and limits of the table and the broker.
struct redrive_plan::options {
    /// Send also damaged sessions (`redrive_plan::session_marks::damaged`): steps are missing,
    /// contradictory or unknown, or the state was too large. The new session begins with the first
    /// step present and ends with the last one. At a missing step its pipeline stops again.
    bool damaged = false;
    /// If the last step is missing, make the last one present the end of the session. If false,
    /// the new session stays open, and steps dead-lettered later go to the same new session. If an
    /// earlier redrive has sent a total, that total stays; a sweep finds the remaining state.
    bool close = false;
    /// The sender fetches bodies that are not in their dead letters. If false, a session that
    /// needs them is held back.
    bool fetches_bodies = false;
    /// The table removes up to this many dead letters of one session in one atomic request: all or
    /// none. An Azure table removes 100. A session with at most this many dead letters gets no mark
    /// before they are removed.
    ///
    /// Warning: keep 1 for a table without atomic writes, even if a request accepts more. With a
    /// larger number, a crash during the removal leaves dead letters without a mark. The next plan
    /// then treats steps that were sent as lost or as never sent.
    std::uint64_t removed_at_once = 1;
    std::uint64_t max_id_bytes = 128;  ///< Maximum bytes of new session and message ids; >= 80.

    friend bool operator==(const options&, const options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(
    const redrive_plan::options& o) noexcept
{
    if (o.max_id_bytes >= detail::min_redriven_bytes) return {};
    return config_error{"max_id_bytes", o.max_id_bytes, "must be at least",
                        detail::min_redriven_bytes};
}

/// The marks as text, for example "open, disordered".
template <std::same_as<redrive_plan::session_marks> T>
[[nodiscard]] std::string describe(const T& m)
{
    std::string line;
    const auto append_if = [&](bool condition, std::string_view text) {
        if (!condition) return;
        if (!line.empty()) line += ", ";
        line += text;
    };
    append_if(m.start_unknown, "the next step is unknown");
    append_if(m.head_missing, "its first step is missing");
    append_if(m.hole, "a step is missing");
    append_if(m.contradictory, "contradictory");
    append_if(m.unnumbered, "without steps");
    append_if(m.open, "open");
    append_if(m.independent, "each alone");
    append_if(m.repeated, "a step is repeated");
    append_if(m.disordered, "disordered");
    append_if(m.sequence_wrapped, "sequence numbers wrapped");
    append_if(m.state_omitted, "its state was too large for the dead letter");
    append_if(m.without_state, "without its state");
    return line;
}

/// Describes one session of a plan. Requires: `letters` in the order in which `plan_redrive` left
/// them.
template <std::same_as<redrive_plan::planned_session> T>
[[nodiscard]] std::string describe(const T& s, std::span<const pipeline_dead_letter> letters)
{
    const auto part = letters.subspan(s.offset, s.count);
    std::string line = part.empty() ? std::string() : part.front().properties.session;
    if (s.reason == redrive_plan::skip_reason::none) line += " -> " + s.id;
    line += ": " + detail::counted_noun(s.count, "dead letter");
    if (!part.empty() && !s.marks.unnumbered) {
        const std::uint64_t first = part.front().properties.step;
        const std::uint64_t last = part.back().properties.step;
        line += first == last ? ", step " : ", steps ";
        line += std::to_string(first);
        if (first != last) line += " to " + std::to_string(last);
        const bool ends =
            s.reason == redrive_plan::skip_reason::none && s.total != 0 && !s.marks.independent;
        if (ends) line += " of " + std::to_string(s.total);
    }
    if (s.without_body != 0)
        line += ", " + std::to_string(s.without_body) +
                (s.without_body == 1 ? " body" : " bodies") + " to fetch";
    const std::string marks = describe(s.marks);
    if (s.reason != redrive_plan::skip_reason::none)
        line += ", held back: " + std::string(name(s.reason));
    if (!marks.empty()) line += " (" + marks + ")";
    const pipeline_dead_letter* first_cause = nullptr;
    std::uint64_t other_causes = 0;
    for (const pipeline_dead_letter& l : part) {
        if (!l.is_cause()) continue;
        if (first_cause == nullptr) first_cause = &l;
        if (l.reason != first_cause->reason || l.text != first_cause->text) ++other_causes;
    }
    if (first_cause == nullptr) return line;
    line += ": ";
    line += name(first_cause->reason);
    if (!first_cause->text.empty()) line += ": " + first_cause->text;
    // In a session that stops, the other causes follow from the first.
    if (!s.marks.independent || other_causes == 0) return line;
    line += ", and " + std::to_string(other_causes);
    return line + (other_causes == 1 ? " for another reason" : " for other reasons");
}

/// Describes the plan in one line: numbers of dead letters and sessions.
template <std::same_as<redrive_plan> T>
[[nodiscard]] std::string describe(const T& p)
{
    std::uint64_t ready_sessions = 0;
    std::uint64_t held_sessions = 0;
    for (const redrive_plan::planned_session& s : p.sessions) {
        if (s.reason == redrive_plan::skip_reason::none) ++ready_sessions;
        else if (s.reason != redrive_plan::skip_reason::filtered) ++held_sessions;
    }
    return detail::counted_noun(p.ready, "dead letter") + " of " +
           detail::counted_noun(ready_sessions, "session") + " to send, " +
           std::to_string(p.held_back) + " of " + std::to_string(held_sessions) + " held back, " +
           std::to_string(p.filtered) + " not selected";
}

/// Describes each session that the filter selects in a line, and the plan in the last line. For a
/// dry run, or to list the sessions that have stopped and the reasons. Requires: `letters` in the
/// order in which `plan_redrive` left them.
template <std::same_as<redrive_plan> T>
[[nodiscard]] std::string describe(const T& p, std::span<const pipeline_dead_letter> letters)
{
    std::string lines;
    for (const redrive_plan::planned_session& s : p.sessions) {
        if (s.reason != redrive_plan::skip_reason::filtered) lines += describe(s, letters) + '\n';
    }
    return lines + describe(p);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_PLAN_HPP
