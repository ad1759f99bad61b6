// SPDX-License-Identifier: MIT
//
// state_text: a session state without JSON: progress as lines of text, then bytes of the user.
//
// The options and the read errors of `text_state_codec` (session_state.hpp):
//
//     waybill::text_state_codec codec({.version = {2, 0}}, upgraded);
//     auto s = codec.decode(bytes);                       // pass nullopt if there is no state
//     if (s.outcome > waybill::state_read::ok) stop(waybill::describe(s.read));  // unreadable
//     s.value = "receipt=r17";
//     auto out = codec.encode(s);                         // or state_budget::too_large
//     if (out) store(*out);                               // and then s.stored(*out)
//
// Guarantees
//   1. Equal states have equal bytes. A state that was read is written unchanged, including lines
//      and minor versions of later programs. An earlier version is replaced by the current one.
//   2. A later major version or an unknown reason of a failure is `newer`; JSON is `corrupt`. Such
//      states are never treated as new sessions.
//   3. The user's part has at most `budget.max_value_bytes()` bytes, or `budget.bytes` if the
//      session has failed. If the session has not failed, an accepted user's part can be written
//      with any progress and any failure. The text of the failure is cut between characters. The
//      guide explains the limits for a session that has failed already.

#ifndef WAYBILL_SESSION_STATE_TEXT_HPP
#define WAYBILL_SESSION_STATE_TEXT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_2 {

/// A session state as text. The user's part has any content.
struct text_state {
    struct options;

    struct read_result;

    std::string own{};  ///< The bytes of the user.
    session_progress progress{};
    schema_version version{};  ///< The version of `own` when it was read.
    std::string later{};       ///< Lines of a later version; they are written unchanged.

    friend bool operator==(const text_state&, const text_state&) = default;
};

struct text_state::options {
    state_budget budget{};
    schema_version version{};  ///< The version in which this program writes the user's bytes.

    friend bool operator==(const options&, const options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const text_state::options& o) noexcept
{
    return validate(o.budget);
}

/// The result of reading. The state is that of a new session unless `outcome` is ok.
struct text_state::read_result {
    /// The reason why a state is not read.
    enum class problem_type : std::uint8_t {
        none,
        envelope,        ///< The envelope is wrong; its own text contains the reason.
        other_format,    ///< The state is JSON or CBOR.
        newer_version,   ///< The user's part has a later major version.
        bad_line,        ///< The checksum is right, but no version writes such a line.
        newer_reason,    ///< The session failed for a reason that this version does not know.
        no_reserve,      ///< The user's part leaves no room for a failure.
        upgrade_failed,  ///< The user's part has an older major version and was not upgraded.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(problem_type) noexcept
    {
        return "none, envelope, other_format, newer_version, bad_line, newer_reason, no_reserve, "
               "upgrade_failed";
    }

    state_read outcome = state_read::absent;
    text_state state{};
    problem_type problem = problem_type::none;
    /// The number of the wrong line, the bytes without progress, or for `newer_version` the major
    /// version read.
    std::uint64_t size = 0;
    std::uint64_t max_bytes = 0;  ///< The limit of `size`, or the major version of this program.
    opened_state envelope{};      ///< Its `body` is empty, because it was a view into the bytes.

    friend bool operator==(const read_result&, const read_result&) = default;
};

namespace detail::words {
template <>
struct line_of<text_state::read_result> : described_line {};
}  // namespace detail::words

/// One line for a log: the error and the action to take.
[[nodiscard]] inline std::string describe(const text_state::read_result& r)
{
    const std::string line = "state: " + std::string(name(r.outcome)) + ": ";
    const std::string size = std::to_string(r.size);
    const std::string limit = std::to_string(r.max_bytes);
    switch (r.problem) {
        case text_state::read_result::problem_type::none:
        case text_state::read_result::problem_type::envelope: break;
        case text_state::read_result::problem_type::other_format:
            return line + "it is " + std::string(name(r.envelope.format)) +
                   ", not text: read it with waybill/ext/json/state_codec.hpp";
        case text_state::read_result::problem_type::newer_version:
            return line + "its version is " + describe(r.envelope.version) + ", and " + limit +
                   " is the latest known version: update the program, and do not change the state";
        case text_state::read_result::problem_type::bad_line:
            return line + "the checksum matches, but " +
                   (r.size == 0 ? "there is no blank line"
                                : "waybill does not write a line like number " + size) +
                   ": find its writer, and do not treat the state as a new session";
        case text_state::read_result::problem_type::newer_reason:
            return line +
                   "it has an unknown reason of failure: "
                   "update the program, and do not change the state";
        case text_state::read_result::problem_type::no_reserve:
            return line + size + " bytes, and " + limit +
                   " is the maximum without the bytes reserved for a failure: increase the budget";
        case text_state::read_result::problem_type::upgrade_failed:
            return line + "the codec cannot make version " + limit + " from its version " +
                   describe(r.envelope.version) + ": add an upgrade to the codec";
    }
    return describe(r.envelope);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STATE_TEXT_HPP
