// SPDX-License-Identifier: MIT
//
// redrive_session: what is to become of the letters of one session, and why they may have to wait.
//
// Part of plan_redrive.hpp, where it is told how it is used.

#ifndef WAYBILL_SESSION_REDRIVE_SESSION_HPP
#define WAYBILL_SESSION_REDRIVE_SESSION_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/step_letter.hpp>

namespace waybill::inline v0_2 {

/// Which sessions are redriven. One is if the letter that stopped it is like this, and all of its
/// letters go: those behind it have no reasons of their own.
struct redrive_filter {
    std::vector<park_reason> reasons{};  ///< Any of these; all where there are none.
    std::uint64_t from_step = 0;
    std::uint64_t to_step = highest_size;
    wall_time parked_from = wall_time::lowest();
    wall_time parked_to = wall_time::highest();
    std::string session{};  ///< This one, by its id or its original id; all where it is empty.

    friend bool operator==(const redrive_filter&, const redrive_filter&) = default;
};

/// What to do about sessions that are not whole.
struct redrive_options {
    /// Send also those whose steps are missing, contradict each other or are unknown, and those
    /// whose state is not here. They are given the first and the last step that is there; at a hole
    /// their pipeline stops again.
    bool damaged = false;
    /// Where the end is not among the letters, make the last one there the end. Otherwise the new
    /// session stays open for it: the rest may still come, and goes to the same new session. One
    /// that was told of an end before keeps waiting for that, until a sweep finds its state.
    bool close = false;
    /// The sender fetches bodies that are not in their letters.
    bool fetches_bodies = false;
    /// The table removes up to this many letters of one session in one atomic request: all of them or
    /// none. An Azure table removes 100. A session of at most this many letters gets no mark before
    /// its letters are removed.
    ///
    /// Warning: keep 1 for a table without atomic writes, however many letters one request takes.
    /// With a larger number a crash in the middle of the removal leaves letters without a mark, and
    /// the next plan takes steps that were sent for steps that are lost or were never sent.
    std::uint64_t removed_at_once = 1;
    std::uint64_t most_id_bytes = 128;

    friend bool operator==(const redrive_options&, const redrive_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const redrive_options& o) noexcept
{
    if (o.most_id_bytes >= 80) return {};
    return config_error{"most_id_bytes", o.most_id_bytes, "must be at least", 80};
}

/// Why letters are not sent.
enum class held_back : std::uint8_t {
    no,          ///< They are.
    filtered,    ///< They are not what was asked for.
    no_session,  ///< They came without a session.
    waiting,     ///< All that is there was sent. The rest is still to come, or `close` gives it up.
    behind,      ///< Their session says that these steps are done. Remove them, if you agree.
    damaged,     ///< See the marks of the session; `redrive_options::damaged` sends them.
    no_body,     ///< Bodies are not in the letters; `redrive_options::fetches_bodies` sends them.
};

[[nodiscard]] constexpr std::string_view name(held_back h) noexcept
{
    switch (h) {
        case held_back::no: return "no";
        case held_back::filtered: return "filtered";
        case held_back::no_session: return "no_session";
        case held_back::waiting: return "waiting";
        case held_back::behind: return "behind";
        case held_back::damaged: return "damaged";
        case held_back::no_body: return "no_body";
    }
    return "?";
}

/// What is remarkable about the letters of a session.
struct redrive_marks {
    bool start_unknown = false;  ///< Nobody knows where the session stands.
    bool head_missing = false;   ///< The step at which the session stands is not there.
    bool hole = false;           ///< A step between two others is not there.
    bool contradictory = false;  ///< They disagree about the end, or about where they were before.
    bool unstamped = false;      ///< They have no step, and are numbered as they stand. Where others
                                 ///< of their session have one they stay, whatever is said.
    bool open = false;           ///< The end is not there, or nobody knows it.
    bool alone = false;          ///< Each failed by itself; steps between them were done.
    bool repeated = false;       ///< Two letters have the same step.
    bool disordered = false;     ///< They came in another order than that of their steps.
    bool rolled_over = false;    ///< The same, since the broker's numbers went round.
    bool state_cut = false;      ///< Its state was too large to come with its letters.
    bool without_state = false;  ///< Steps of it are done, and no letter has what they have left.

    [[nodiscard]] constexpr bool damaged() const noexcept
    {
        return start_unknown || head_missing || hole || contradictory || unstamped || state_cut;
    }

    friend bool operator==(const redrive_marks&, const redrive_marks&) = default;
};

/// The letters of one session, `count` of them from `offset` on, and the session they become.
struct redrive_session {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
    std::string id{};               ///< Of the new session.
    std::uint64_t generation = 1;   ///< Which redrive it is.
    std::uint64_t first = 1;        ///< Where the new session begins: where the old one stands.
    std::uint64_t total = 0;        ///< The step that ends it; 0 where it stays open.
    std::uint64_t without_body = 0; ///< So many bodies are to be fetched.
    std::uint64_t sent_to = 0;      ///< Sent up to this step, once it is done.
    bool first_sent = false;        ///< The first letter was sent before, and is not sent again.
    bool marks_first = false;       ///< `sent_to` is written to it before others are removed,
    bool keeps_first = false;       ///< and that one stays, until the end is sent.
    redrive_marks marks{};
    held_back held = held_back::no;

    [[nodiscard]] std::uint64_t end() const noexcept { return saturating_add(offset, count); }

    friend bool operator==(const redrive_session&, const redrive_session&) = default;
};

/// The marks as words, as in "open, disordered".
[[nodiscard]] inline std::string text(const redrive_marks& m)
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
    say(m.unstamped, "without steps");
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

[[nodiscard]] inline bool is_asked_for(const step_letter& l, const redrive_filter& f)
{
    bool reason = f.reasons.empty();
    for (const park_reason r : f.reasons) reason = reason || r == l.reason;
    return reason && l.stamp.step >= f.from_step && l.stamp.step <= f.to_step &&
           l.parked >= f.parked_from && l.parked <= f.parked_to;
}

/// The id of its first session, from which all names follow.
[[nodiscard]] inline std::string_view origin_session(const step_letter& l) noexcept
{
    return l.origin.generation == 0 ? l.stamp.session : l.origin.session;
}

[[nodiscard]] inline std::uint64_t origin_sequence(const step_letter& l) noexcept
{
    return l.origin.generation == 0 ? l.sequence : l.origin.sequence;
}

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_SESSION_HPP
