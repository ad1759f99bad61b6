// SPDX-License-Identifier: MIT
//
// envelope: the first line of a stored session state. It detects damage and later versions.
//
//     auto s = codec.decode(bytes);                        // each codec writes and checks the line
//     log(waybill::describe(s.read.envelope));             // the problem, and the action to take
//
// Guarantees
//   1. Every proper prefix of sealed bytes, the empty one included, is `corrupt`. So are bytes with
//      one flipped bit, and bytes that differ only within four consecutive bytes, the first byte
//      excluded. Other damage stays undetected with probability 2^-32.
//   2. `newer` requires a valid checksum and a later version or unknown format in the line. Damaged
//      bytes are never `newer` and never `absent`.
//   3. Bytes over the budget are not examined.
//   4. Bytes that begin with a brace, after an optional byte order mark and white space, are JSON
//      without an envelope and its checksum: `without_envelope`.
//
// Cost: linear time. Writing allocates once, reading never. Byte format: see the guide.

#ifndef WAYBILL_SESSION_ENVELOPE_HPP
#define WAYBILL_SESSION_ENVELOPE_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/detail/described.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/session/progress.hpp>

namespace waybill::inline v0_2 {

/// The format of the body.
enum class state_format : std::uint8_t { json, cbor, text };

[[nodiscard]] constexpr std::string_view texts_of(state_format) noexcept
{
    return "json, cbor, text";
}

/// The version of the user's schema. A program reads all states with its own major version.
struct schema_version {
    std::uint16_t major = 1;
    std::uint16_t minor = 0;

    friend bool operator==(const schema_version&, const schema_version&) = default;
};

namespace detail::words {
template <>
struct line_of<schema_version> : described_line {};
}  // namespace detail::words

[[nodiscard]] inline std::string describe(schema_version v)
{
    return std::to_string(v.major) + "." + std::to_string(v.minor);
}

namespace detail {

/// The version to write. `current` is the version of this program. A state that was read with the
/// same major and a later minor version keeps its version.
[[nodiscard]] constexpr schema_version written_version(schema_version read,
                                                       schema_version current) noexcept
{
    return read.major == current.major && read.minor > current.minor ? read : current;
}

}  // namespace detail

/// The result of reading the line. `body` is a view into the bytes; it is empty unless `outcome` is
/// ok.
struct opened_state {
    /// The reason why bytes were not read.
    enum class problem_type : std::uint8_t {
        none,
        empty,           ///< The state exists and has no bytes.
        foreign,         ///< The bytes begin with neither "waybill/" nor a brace.
        no_line,         ///< The bytes begin with "waybill/", and the first line has no end.
        too_short,       ///< The state has fewer bytes than the line states.
        too_long,        ///< The state has more bytes than the line states.
        checksum,        ///< The checksum does not match the bytes.
        bad_line,        ///< The checksum matches, and no version of waybill writes such a line.
        newer_envelope,  ///< A later version of waybill wrote the line.
        newer_format,    ///< The word for the format is unknown.
        over_budget,     ///< The state has more bytes than the budget.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(problem_type) noexcept
    {
        return "none, empty, foreign, no_line, too_short, too_long, checksum, bad_line, "
               "newer_envelope, newer_format, over_budget";
    }

    state_read outcome = state_read::absent;
    state_format format = state_format::json;
    schema_version version{0, 0};
    std::string_view body{};
    bool without_envelope = false;  ///< JSON without envelope: no checksum, version 0.0.
    problem_type problem = problem_type::none;
    std::uint64_t size = 0;  ///< Bytes stored, envelope included.
    /// The budget, the size stated by the line, or the later envelope version.
    std::uint64_t expected = 0;

    friend bool operator==(const opened_state&, const opened_state&) = default;
};

namespace detail {

/// The damage of a corrupt state, for `describe`.
[[nodiscard]] inline std::string damage_of(const opened_state& s)
{
    const std::string stored = std::to_string(s.size) + " bytes";
    const std::string expected = std::to_string(s.expected);
    switch (s.problem) {
        case opened_state::problem_type::empty: return ": the state is empty (0 bytes)";
        case opened_state::problem_type::foreign:
            return ": " + stored + " that begin with neither an envelope nor {";
        case opened_state::problem_type::no_line:
            return ": " + stored + ", truncated in the first line";
        case opened_state::problem_type::too_short:
            return ": truncated, " + stored + " instead of " + expected;
        case opened_state::problem_type::too_long: return ": " + stored + " instead of " + expected;
        case opened_state::problem_type::checksum:
            return ": " + stored + ", and the checksum does not match";
        case opened_state::problem_type::bad_line:
            return ": " + stored + ", and the first line is not valid";
        default: return {};
    }
}

}  // namespace detail

namespace detail::words {
template <>
struct line_of<opened_state> : described_line {};
}  // namespace detail::words

/// One line for a log: the result, the size and the action to take.
[[nodiscard]] inline std::string describe(const opened_state& s)
{
    const std::string stored = std::to_string(s.size) + " bytes";
    const std::string expected = std::to_string(s.expected);
    std::string line = "state: ";
    line += name(s.outcome);
    switch (s.problem) {
        case opened_state::problem_type::none:
            if (s.outcome == state_read::absent) return line + ": the session is new or has ended";
            line += ", " + stored;
            if (s.without_envelope) return line + ", json without an envelope";
            line += ", ";
            line += name(s.format);
            return line + " of version " + describe(s.version);
        case opened_state::problem_type::over_budget:
            return line + ": " + stored + ", but the budget is " + expected +
                   ": increase the budget, or store the large part elsewhere; do not overwrite the "
                   "state";
        case opened_state::problem_type::newer_envelope:
            return line + ": " + stored + " in envelope " + expected +
                   ", but this program reads only envelope 1: update the program, and do not "
                   "change "
                   "the state";
        case opened_state::problem_type::newer_format:
            return line + ": " + stored +
                   " in an unknown format: "
                   "update the program, and do not change the state";
        default: break;
    }
    line += detail::damage_of(s);
    return line +
           ": do not treat it as a new session; save the bytes, check its steps, and then "
           "clear the state by hand";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_ENVELOPE_HPP
