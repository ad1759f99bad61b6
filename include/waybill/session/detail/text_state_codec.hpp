// SPDX-License-Identifier: MIT
//
// text_state_codec: writes and reads a state in the text format. Internals of the class
// `text_state_codec` in session_state.hpp. The guide has the format, state_text.hpp the guarantees.

#ifndef WAYBILL_SESSION_DETAIL_TEXT_STATE_CODEC_HPP
#define WAYBILL_SESSION_DETAIL_TEXT_STATE_CODEC_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/detail/progress_text.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/session/state_text.hpp>

namespace waybill::inline v0_2::detail {

static_assert(max_progress_lines_bytes <= state_budget::min_failure_reserve);

/// The size of a state without the lines of its progress: envelope, `later` bytes of later lines,
/// blank line, and `own` bytes of the user.
[[nodiscard]] constexpr std::uint64_t value_bytes(std::uint64_t later, std::uint64_t own) noexcept
{
    constexpr std::uint64_t blank_line_bytes = 1;
    return saturating_add(saturating_add(envelope_bytes + blank_line_bytes, later), own);
}

/// The lines of the body before its blank line; nullopt if there is no blank line.
[[nodiscard]] constexpr std::optional<std::string_view> lines_of(std::string_view body) noexcept
{
    if (body.starts_with('\n')) return body.substr(0, 0);  // no lines: the blank line is the first
    const std::size_t end = body.find("\n\n");
    if (end == std::string_view::npos) return std::nullopt;
    return body.substr(0, end + 1);
}

inline void set_read_error(text_state::read_result& r, state_read outcome,
                           text_state::read_result::problem_type p, std::uint64_t size = 0,
                           std::uint64_t max_bytes = 0)
{
    r.outcome = outcome;
    r.problem = p;
    r.size = size;
    r.max_bytes = max_bytes;
}

inline void read_text_body(std::string_view body, const text_state::options& o,
                           text_state::read_result& r)
{
    const std::optional<std::string_view> lines = lines_of(body);
    if (!lines)
        return set_read_error(r, state_read::corrupt,
                              text_state::read_result::problem_type::bad_line);
    read_progress p = read_progress_lines(*lines);
    if (p.outcome == progress_lines::newer) {
        return set_read_error(r, state_read::newer,
                              text_state::read_result::problem_type::newer_reason, p.line);
    }
    if (p.outcome == progress_lines::corrupt) {
        return set_read_error(r, state_read::corrupt,
                              text_state::read_result::problem_type::bad_line, p.line);
    }
    const std::string_view own = body.substr(lines->size() + 1);
    const std::uint64_t value = value_bytes(p.later.size(), own.size());
    if (!p.progress.failed && value > o.budget.max_value_bytes()) {
        return set_read_error(r, state_read::too_large,
                              text_state::read_result::problem_type::no_reserve, value,
                              o.budget.max_value_bytes());
    }
    r.state.own = own;
    r.state.later = p.later;
    r.state.progress = static_cast<session_progress&&>(p.progress);
    r.state.version = r.envelope.version;
}

/// Reads a state. `bytes` is nullopt if there is no state; the result is `absent` then.
[[nodiscard]] inline text_state::read_result read_text_state(std::optional<std::string_view> bytes,
                                                             const text_state::options& o = {})
{
    text_state::read_result r;
    r.state.version = o.version;
    r.envelope = open_state(bytes, o.budget.bytes);
    const std::string_view body = r.envelope.body;
    r.envelope.body = {};
    r.outcome = r.envelope.outcome;
    if (r.outcome == state_read::absent) return r;
    const schema_version v = r.envelope.version;
    if (r.outcome != state_read::ok) {
        r.problem = text_state::read_result::problem_type::envelope;
    } else if (r.envelope.format != state_format::text) {
        detail::set_read_error(r, state_read::corrupt,
                               text_state::read_result::problem_type::other_format);
    } else if (v.major > o.version.major) {
        detail::set_read_error(r, state_read::newer,
                               text_state::read_result::problem_type::newer_version, v.major,
                               o.version.major);
    } else {
        detail::read_text_body(body, o, r);
    }
    return r;
}

/// Reads a state. `carried_state` is `step_properties::origin::state` of the message. If there is
/// no state and `carried_state` is not empty, the session was redriven. It begins with the user's
/// part of `carried_state`, and `outcome` is `absent`. If `carried_state` cannot be read or its
/// user's part is too large, the result contains that error.
[[nodiscard]] inline text_state::read_result read_text_state(std::optional<std::string_view> bytes,
                                                             const text_state::options& o,
                                                             std::string_view carried_state)
{
    text_state::read_result r = read_text_state(bytes, o);
    if (r.outcome != state_read::absent || carried_state.empty()) return r;
    r = read_text_state(carried_state, o);
    if (r.outcome != state_read::ok) return r;
    r.state.progress = {};
    r.state.later = {};
    const std::uint64_t value = detail::value_bytes(0, r.state.own.size());
    if (value > o.budget.max_value_bytes()) {  // the state of a failed session may be larger
        r.state = {};
        detail::set_read_error(r, state_read::too_large,
                               text_state::read_result::problem_type::no_reserve, value,
                               o.budget.max_value_bytes());
        return r;
    }
    r.outcome = state_read::absent;
    r.envelope = {};
    return r;
}

/// The lines of a later version; empty if `later` cannot be the result of reading.
[[nodiscard]] inline std::string_view later_lines_to_write(const text_state& s) noexcept
{
    return are_later_lines(s.later) ? std::string_view(s.later) : std::string_view();
}

/// The size of a state with the complete text of its failure. `write_text_state` cuts that text if
/// the budget is smaller.
[[nodiscard]] inline std::uint64_t text_state_size(const text_state& s)
{
    const std::uint64_t value =
        detail::value_bytes(detail::later_lines_to_write(s).size(), s.own.size());
    return saturating_add(value, write_progress(s.progress).size());
}

/// Writes a state. If the user's part was accepted before the failure, a failure can always be
/// written. `later` is omitted if it cannot be the result of reading.
[[nodiscard]] inline result<std::string, state_budget::too_large> write_text_state(
    const text_state& s, const text_state::options& o = {})
{
    const std::string_view later = detail::later_lines_to_write(s);
    const std::uint64_t value = detail::value_bytes(later.size(), s.own.size());
    const std::uint64_t max_bytes = s.progress.failed ? o.budget.bytes : o.budget.max_value_bytes();
    if (value > max_bytes) return unexpected(state_budget::too_large{value, max_bytes});

    // If the user's part was accepted before the failure, all lines without the error text fit into
    // the reserve. The error text is cut to the bytes that are left.
    std::string lines = write_progress(s.progress, 0);
    if (s.progress.failed) {
        const std::uint64_t size_without_text = saturating_add(value, lines.size());
        if (size_without_text > max_bytes)
            return unexpected(state_budget::too_large{size_without_text, max_bytes});
        lines = write_progress(s.progress, max_bytes - size_without_text);
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

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_TEXT_STATE_CODEC_HPP
