// SPDX-License-Identifier: MIT
//
// redrive_session: the dead letters of one session in a redrive plan, and the filter, options and
// marks that decide if they are sent. Used by plan_redrive.hpp.

#ifndef WAYBILL_SESSION_REDRIVE_SESSION_HPP
#define WAYBILL_SESSION_REDRIVE_SESSION_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/config_error.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>

namespace waybill::inline v0_2 {

/// Selects the sessions to redrive. A session is selected by the dead letter that stopped it, and
/// redriven as a whole. A session whose redrive has begun is always selected, unless `session`
/// excludes it. Dead letters of independent steps are selected one by one.
struct redrive_filter {
    std::vector<dead_letter_reason> reasons{};  ///< Any of these reasons; empty selects all.
    std::uint64_t from_step = 0;           ///< The lowest step selected.
    std::uint64_t to_step = highest_size;  ///< The highest step selected.
    wall_time dead_lettered_from = wall_time::lowest();  ///< The earliest time of dead-lettering.
    wall_time dead_lettered_to = wall_time::highest();   ///< The latest time of dead-lettering.
    std::string session{};  ///< Id or original id of one session; empty selects all.

    friend bool operator==(const redrive_filter&, const redrive_filter&) = default;
};

/// How to redrive incomplete sessions, and limits of the table and the broker.
struct redrive_options {
    /// Send also damaged sessions (`redrive_marks::damaged`): steps are missing, contradictory or
    /// unknown, or the state was too large. The new session begins with the first step present and
    /// ends with the last one. At a missing step its pipeline stops again.
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

    friend bool operator==(const redrive_options&, const redrive_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const redrive_options& o) noexcept
{
    if (o.max_id_bytes >= 80) return {};
    return config_error{"max_id_bytes", o.max_id_bytes, "must be at least", 80};
}

/// Why the dead letters of a session are not sent.
enum class skip_reason : std::uint8_t {
    none,        ///< They are sent.
    filtered,    ///< The filter does not select them.
    no_session,  ///< They have no session id.
    waiting,     ///< All present were sent. `redrive_options::close` gives up the missing end.
    behind,      ///< Their session has done these steps. Remove them if you agree.
    damaged,     ///< See the marks of the session; `redrive_options::damaged` sends them.
    no_body,     ///< Bodies are elsewhere; `redrive_options::fetches_bodies` sends them.
};

[[nodiscard]] constexpr std::string_view texts_of(skip_reason) noexcept
{
    return "no, filtered, no_session, waiting, behind, damaged, no_body";
}

/// Facts about the dead letters of a session that an operator should know.
struct redrive_marks {
    bool start_unknown = false;  ///< The next step of the session is unknown.
    bool head_missing = false;   ///< The next step of the session is missing.
    bool hole = false;           ///< A step between two others is missing.
    bool contradictory = false;  ///< They disagree about the end, the origin or the progress.
    /// The dead letters have no step number and are numbered in their order. If others of the
    /// session have one, those without are always held back.
    bool unnumbered = false;
    bool open = false;           ///< The last step is missing or unknown.
    bool alone = false;          ///< Each failed without stopping the session.
    bool repeated = false;       ///< Two dead letters have the same step.
    bool disordered = false;     ///< Sequence numbers are not in the order of the steps.
    bool rolled_over = false;    ///< As `disordered`, because sequence numbers wrapped at 2^48.
    bool state_cut = false;      ///< The state was too large for its dead letter.
    bool without_state = false;  ///< Steps were done, but no dead letter has the state.

    [[nodiscard]] constexpr bool damaged() const noexcept
    {
        return start_unknown || head_missing || hole || contradictory || unnumbered || state_cut;
    }

    friend bool operator==(const redrive_marks&, const redrive_marks&) = default;
};

/// The dead letters of one session, `count` of them from `offset` on, and their new session.
struct redrive_session {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
    std::string id{};               ///< The id of the new session.
    std::uint64_t generation = 1;   ///< The number of the redrive, from 1 on.
    std::uint64_t first = 1;        ///< The first step of the new session.
    std::uint64_t total = 0;        ///< The last step of the new session; 0 if it stays open.
    std::uint64_t without_body = 0; ///< The number of bodies to fetch.
    std::uint64_t sent_to = 0;      ///< The last step sent when this redrive is finished.
    bool first_sent = false;        ///< An earlier redrive sent the first dead letter; skip it.
    bool marks_first = false;       ///< Mark the first dead letter before removing others.
    bool keeps_first = false;       ///< Keep the first dead letter until the last step is sent.
    redrive_marks marks{};
    skip_reason held = skip_reason::none;

    [[nodiscard]] std::uint64_t end() const noexcept { return saturating_add(offset, count); }

    friend bool operator==(const redrive_session&, const redrive_session&) = default;
};

/// The marks as text, for example "open, disordered".
[[nodiscard]] inline std::string describe(const redrive_marks& m)
{
    std::string line;
    const auto say = [&](bool is, std::string_view what) {
        if (!is) return;
        if (!line.empty()) line += ", ";
        line += what;
    };
    say(m.start_unknown, "nobody knows where it stands");
    say(m.head_missing, "its first step is missing");
    say(m.hole, "a step is missing");
    say(m.contradictory, "contradictory");
    say(m.unnumbered, "without steps");
    say(m.open, "open");
    say(m.alone, "each alone");
    say(m.repeated, "a step twice");
    say(m.disordered, "disordered");
    say(m.rolled_over, "numbers rolled over");
    say(m.state_cut, "its state was too large to be kept");
    say(m.without_state, "without its state");
    return line;
}

namespace detail {

[[nodiscard]] inline bool is_asked_for(const pipeline_dead_letter& l, const redrive_filter& f)
{
    bool reason = f.reasons.empty();
    for (const dead_letter_reason r : f.reasons) reason = reason || r == l.reason;
    return reason && l.properties.step >= f.from_step && l.properties.step <= f.to_step &&
           l.dead_lettered_at >= f.dead_lettered_from && l.dead_lettered_at <= f.dead_lettered_to;
}

/// The id of the first session, from which all ids are derived.
[[nodiscard]] inline std::string_view origin_session(const pipeline_dead_letter& l) noexcept
{
    return l.origin.generation == 0 ? l.properties.session : l.origin.session;
}

[[nodiscard]] inline std::uint64_t origin_sequence(const pipeline_dead_letter& l) noexcept
{
    return l.origin.generation == 0 ? l.sequence : l.origin.sequence;
}

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_SESSION_HPP
