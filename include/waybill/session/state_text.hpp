// SPDX-License-Identifier: MIT
//
// state_text: a session's state without JSON: the progress as lines, and bytes of the user's own.
//
//     waybill::text_state_options o{.version = {2, 0}};
//     auto s = waybill::read_text_state(bytes, o);              // nullopt where there are none
//     if (s.how > waybill::state_read::ok) stop(waybill::text(s));
//     if (s.state.version.major == 1) s.state.own = upgraded(s.state.own);
//     s.state.own = "receipt=r17";
//     auto out = waybill::write_text_state(s.state, o);    // result<std::string, state_too_large>
//     if (out && *out != bytes) store(*out);
//
// What holds:
//   1. the same state is always the same bytes. What was read is written again as it was, lines and
//      minor versions of later programs included; only an earlier version becomes ours;
//   2. a major version above ours, or a reason that is not known here, is `newer`; JSON, of which
//      this reader knows nothing, is `corrupt` and says so. Neither is taken for a new session;
//   3. the user's part is held to the budget without its reserve, when it is written and when it is
//      read; of a session that has failed, to all of the budget. So whatever is accepted of one
//      that has not failed can be written with any progress, and as failed with any text, which is
//      cut between two characters to what is left. What had failed when it was read can be written
//      again with the same progress; with one of longer numbers or times only if there is room.

#ifndef WAYBILL_SESSION_STATE_TEXT_HPP
#define WAYBILL_SESSION_STATE_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/progress_text.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_2 {

struct text_state_options {
    state_budget budget{};
    schema_version version{};  ///< Of the user's own bytes, as this program writes them.

    friend bool operator==(const text_state_options&, const text_state_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const text_state_options& o) noexcept
{
    return check(o.budget);
}

struct text_state {
    std::string own{};           ///< The user's bytes, whatever they are.
    session_progress progress{};
    schema_version version{};    ///< Of `own`, as it was read.
    std::string later{};         ///< Lines of a later version, to be written as they were read.

    friend bool operator==(const text_state&, const text_state&) = default;
};

/// Why a state is not read, if its envelope is right.
enum class text_state_problem : std::uint8_t {
    none,
    envelope,       ///< It is not: the envelope's own text says why.
    other_format,   ///< It is JSON or CBOR.
    newer_version,  ///< The user's part has a major version above ours.
    bad_line,       ///< A line that is never written, in a state that is whole.
    newer_reason,   ///< It failed for a reason that is not known here.
    no_reserve,     ///< The user's part leaves no room for a failure.
    upgrade_failed, ///< The user's part has a major version below ours, and stays so.
};

[[nodiscard]] constexpr std::string_view name(text_state_problem p) noexcept
{
    switch (p) {
        case text_state_problem::none: return "none";
        case text_state_problem::envelope: return "envelope";
        case text_state_problem::other_format: return "other_format";
        case text_state_problem::newer_version: return "newer_version";
        case text_state_problem::bad_line: return "bad_line";
        case text_state_problem::newer_reason: return "newer_reason";
        case text_state_problem::no_reserve: return "no_reserve";
        case text_state_problem::upgrade_failed: return "upgrade_failed";
    }
    return "?";
}

/// What was found. The state is a new one unless `how` is ok.
struct text_state_read {
    state_read how = state_read::absent;
    text_state state{};
    text_state_problem problem = text_state_problem::none;
    std::uint64_t size = 0;   ///< The line that is wrong, or the user's part where it is too large.
    std::uint64_t most = 0;   ///< What it was held against.
    opened_state envelope{};  ///< Without its body, which was a view into the bytes.

    friend bool operator==(const text_state_read&, const text_state_read&) = default;
};

namespace detail {

static_assert(progress_lines_most <= least_failure_reserve);

/// All but the lines of the progress.
[[nodiscard]] constexpr std::uint64_t value_bytes(std::uint64_t later, std::uint64_t own) noexcept
{
    return saturating_add(saturating_add(envelope_bytes + 1, later), own);
}

/// The body up to the blank line, whole lines; nothing where there is no blank line.
[[nodiscard]] constexpr std::optional<std::string_view> lines_of(std::string_view body) noexcept
{
    if (body.starts_with('\n')) return body.substr(0, 0);
    const std::size_t end = body.find("\n\n");
    if (end == std::string_view::npos) return std::nullopt;
    return body.substr(0, end + 1);
}

inline void refuse(text_state_read& r, state_read how, text_state_problem p,
                   std::uint64_t size = 0, std::uint64_t most = 0)
{
    r.how = how;
    r.problem = p;
    r.size = size;
    r.most = most;
}

inline void read_text_body(std::string_view body, const text_state_options& o, text_state_read& r)
{
    const std::optional<std::string_view> lines = lines_of(body);
    if (!lines) return refuse(r, state_read::corrupt, text_state_problem::bad_line);
    read_progress p = read_progress_lines(*lines);
    if (p.how == progress_lines::newer) {
        return refuse(r, state_read::newer, text_state_problem::newer_reason, p.line);
    }
    if (p.how == progress_lines::corrupt) {
        return refuse(r, state_read::corrupt, text_state_problem::bad_line, p.line);
    }
    const std::string_view own = body.substr(lines->size() + 1);
    const std::uint64_t value = value_bytes(p.later.size(), own.size());
    if (!p.progress.failed && value > o.budget.for_value()) {
        return refuse(r, state_read::too_large, text_state_problem::no_reserve, value,
                      o.budget.for_value());
    }
    r.state.own = own;
    r.state.later = p.later;
    r.state.progress = static_cast<session_progress&&>(p.progress);
    r.state.version = r.envelope.version;
}

}  // namespace detail

/// What is in the state's bytes, of which there are none where the broker has no state.
[[nodiscard]] inline text_state_read read_text_state(std::optional<std::string_view> bytes,
                                                     const text_state_options& o = {})
{
    text_state_read r;
    r.state.version = o.version;
    r.envelope = open_state(bytes, o.budget.bytes);
    const std::string_view body = r.envelope.body;
    r.envelope.body = {};
    r.how = r.envelope.how;
    if (r.how == state_read::absent) return r;
    const schema_version v = r.envelope.version;
    if (r.how != state_read::ok) {
        r.problem = text_state_problem::envelope;
    } else if (r.envelope.format != state_format::text) {
        detail::refuse(r, state_read::corrupt, text_state_problem::other_format);
    } else if (v.major > o.version.major) {
        detail::refuse(r, state_read::newer, text_state_problem::newer_version, v.major,
                       o.version.major);
    } else {
        detail::read_text_body(body, o, r);
    }
    return r;
}

/// The same where a session may have been redriven: one that has no state yet begins with the
/// user's part of the state that came with its first message (`step_origin::state`), and `how` is
/// `absent` all the same.
[[nodiscard]] inline text_state_read read_text_state(std::optional<std::string_view> bytes,
                                                     const text_state_options& o,
                                                     std::string_view came)
{
    text_state_read r = read_text_state(bytes, o);
    if (r.how != state_read::absent || came.empty()) return r;
    r = read_text_state(came, o);
    if (r.how != state_read::ok) return r;
    r.state.progress = {};
    r.state.later = {};
    const std::uint64_t value = detail::value_bytes(0, r.state.own.size());
    if (value > o.budget.for_value()) {  // one that has failed may be larger
        r.state = {};
        detail::refuse(r, state_read::too_large, text_state_problem::no_reserve, value,
                       o.budget.for_value());
        return r;
    }
    r.how = state_read::absent;
    r.envelope = {};
    return r;
}

namespace detail {

/// Those lines of a later version that somebody can have read.
[[nodiscard]] inline std::string_view written_later(const text_state& s) noexcept
{
    return are_later_lines(s.later) ? std::string_view(s.later) : std::string_view();
}

}  // namespace detail

/// Bytes of the state with the whole text of its failure. Fewer are written where the budget is
/// less than that.
[[nodiscard]] inline std::uint64_t text_state_size(const text_state& s)
{
    const std::uint64_t value = detail::value_bytes(detail::written_later(s).size(), s.own.size());
    return saturating_add(value, write_progress(s.progress).size());
}

/// The state's bytes. A failure is always written where the user's part was accepted before it.
/// Lines in `later` that nobody can have read are left out.
[[nodiscard]] inline result<std::string, state_too_large> write_text_state(
    const text_state& s, const text_state_options& o = {})
{
    const std::string_view later = detail::written_later(s);
    const std::uint64_t value = detail::value_bytes(later.size(), s.own.size());
    const std::uint64_t most = s.progress.failed ? o.budget.bytes : o.budget.for_value();
    if (value > most) return unexpected(state_too_large{value, most});

    // The reserve takes all lines but the text; only what is kept for it is told by the budget.
    std::string lines = write_progress(s.progress, 0);
    if (s.progress.failed) {
        const std::uint64_t all = saturating_add(value, lines.size());
        if (all > most) return unexpected(state_too_large{all, most});
        lines = write_progress(s.progress, most - all);
    }
    std::string bytes;
    bytes.reserve(value + lines.size());
    bytes.assign(envelope_bytes, ' ');
    bytes += lines;
    bytes += later;
    bytes += '\n';
    bytes += s.own;
    detail::put_envelope(bytes, state_format::text, detail::written_version(s.version, o.version));
    return bytes;
}

/// One line for a log: what is there, and what to do about it.
[[nodiscard]] inline std::string text(const text_state_read& r)
{
    const std::string line = "state: " + std::string(name(r.how)) + ": ";
    const std::string size = std::to_string(r.size);
    const std::string most = std::to_string(r.most);
    switch (r.problem) {
        case text_state_problem::none:
        case text_state_problem::envelope: break;
        case text_state_problem::other_format:
            return line + "it is " + std::string(name(r.envelope.format)) +
                   ", and text is read here: read it with waybill/ext/json_session.hpp";
        case text_state_problem::newer_version:
            return line + "its version is " + text(r.envelope.version) + ", and " + most +
                   " is known here: update this program first, and leave the state alone";
        case text_state_problem::bad_line:
            return line + "it is whole, but " +
                   (r.size == 0 ? "has no blank line"
                                : "waybill never writes a line like number " + size) +
                   ": find out who writes it, and do not take it for a new session";
        case text_state_problem::newer_reason:
            return line + "it has failed for a reason that is not known here: "
                   "update this program first, and leave the state alone";
        case text_state_problem::no_reserve:
            return line + size + " bytes, and " + most +
                   " is the most beside what is kept for a failure: raise the budget";
        case text_state_problem::upgrade_failed:
            return line + "nothing makes version " + most + " of its version " +
                   text(r.envelope.version) + ": give the codec an upgrade that does";
    }
    return text(r.envelope);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STATE_TEXT_HPP
