// SPDX-License-Identifier: MIT
//
// ext/json/decoded_state: a decoded session state: the user's value, the progress, and the unknown
// fields that the next `encode` has to keep. state_codec.hpp reads and writes it.

#ifndef WAYBILL_EXT_JSON_DECODED_STATE_HPP
#define WAYBILL_EXT_JSON_DECODED_STATE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/crc32c.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_budget.hpp>

namespace waybill::inline v0_2 {

/// The reason why a state was not read, or why only its failure was read.
enum class json_state_problem : std::uint8_t {
    none,
    envelope,      ///< The envelope is invalid: describe(opened_state) has the details.
    other_format,  ///< The body is text, not JSON or CBOR.
    syntax,        ///< The body is not valid JSON or CBOR, or has a text that is not UTF-8.
    too_deep,      ///< More than `max_state_depth` nested objects and arrays.
    duplicate,     ///< An object contains the same name twice.
    not_an_object,
    bad_progress,    ///< The member "waybill" or `"IsFailedSession"` is invalid or newer.
    newer_version,   ///< The user's major version is later than the version of this program.
    upgrade_failed,  ///< The user's part has an older version, and its upgrade failed.
    bad_value,       ///< The user's type cannot be read from the user's part.
    no_reserve,      ///< The user's part leaves too few bytes for a failure.
};

[[nodiscard]] constexpr std::string_view texts_of(json_state_problem) noexcept
{
    return "none, envelope, other_format, syntax, too_deep, duplicate, not_an_object, "
           "bad_progress, newer_version, upgrade_failed, bad_value, no_reserve";
}

namespace detail {

/// The unknown fields of the user's part, see detail/unknown_fields.hpp. They depend on the user's
/// part and its type only.
struct unknown_user_fields {
    bool found = false;  ///< False until they are needed: finding them costs as much as writing.
    nlohmann::json fields{};
    nlohmann::json known{};

    /// Always true: equal user's parts have equal unknown fields.
    friend bool operator==(const unknown_user_fields&, const unknown_user_fields&) { return true; }
};

/// Facts about the stored state that the next `encode` needs.
struct state_as_read {
    nlohmann::json user{};  ///< The user's part after its upgrade; null if there was none.
    unknown_user_fields user_fields{};
    nlohmann::json unknown_fields{};  ///< Progress fields that only later versions know.
    bool unreadable = false;          ///< True if the value could not be read from the user's part.
    std::uint64_t size = 0;           ///< Size of the state as read or stored, in bytes.
    std::uint64_t checksum = 0;       ///< Checksum of these bytes, see `checksum_of`.
    std::string stored_bytes{};  ///< The bytes last passed to `stored`; empty if there are none.

    /// Keeps size and checksum of the bytes of a state.
    void set_size_and_checksum(std::string_view bytes) noexcept
    {
        size = bytes.size();
        checksum = checksum_of(bytes);
    }

    /// True if `bytes` has this size and checksum.
    [[nodiscard]] bool matches(std::string_view bytes) const noexcept
    {
        return bytes.size() == size && checksum_of(bytes) == checksum;
    }

    /// The eight checksum digits of the envelope, one per byte. Without an envelope: CRC-32C of all
    /// bytes.
    [[nodiscard]] static std::uint64_t checksum_of(std::string_view all) noexcept
    {
        if (all.size() < envelope_bytes || !all.starts_with("waybill/1 ")) return crc32c(all);
        std::uint64_t digits = 0;
        for (const char c : all.substr(envelope_layout::checksum_at, checksum_digits)) {
            digits = digits << 8U | static_cast<unsigned char>(c);
        }
        return digits;
    }

    friend bool operator==(const state_as_read&, const state_as_read&) = default;
};

}  // namespace detail

/// A decoded state. The caller may change `value` and `progress`. They begin as those of a new
/// session and remain so if `outcome` is neither `absent` nor `ok`.
template <class T>
struct decoded_state {
    state_read outcome = state_read::absent;
    T value{};
    session_progress progress{};
    schema_version version{};  ///< Version of the user's part as it was read.
    json_state_problem problem = json_state_problem::none;
    std::string reason{};     ///< The invalid part and its path.
    opened_state envelope{};  ///< Its body is empty: it was a view into the bytes.
    detail::state_as_read read{};

    /// Makes `bytes` the stored state. `changed` then compares with them. A failure that cannot be
    /// written with the value is written with the user's part of these bytes. The bytes are copied.
    void stored(std::string_view bytes)
    {
        outcome = state_read::ok;
        envelope = detail::sealed_just_now(bytes);
        read.set_size_and_checksum(bytes);
        read.stored_bytes = bytes;
        // Unknown fields of a failure that no longer exists must not be added to the next failure.
        auto* unknown = read.unknown_fields.get_ptr<nlohmann::json::object_t*>();
        if (unknown && !progress.failed) unknown->erase("failed");
    }

    friend bool operator==(const decoded_state&, const decoded_state&) = default;
};

/// One line for a log: the state that was found and the action to take.
template <class T>
[[nodiscard]] std::string describe(const decoded_state<T>& s)
{
    using enum json_state_problem;
    if (s.problem == none || s.problem == envelope) return describe(s.envelope);
    std::string line = "state: ";
    line += name(s.outcome);
    line += ": ";
    const bool read = s.outcome == state_read::ok;
    const auto failed_note = read ? "; the session has failed, and its state is kept as it is" : "";
    constexpr std::string_view keep =
        ": do not treat the session as new; keep the bytes, and find the program that wrote them";
    switch (s.problem) {
        case none:
        case envelope: break;
        case other_format:
            return line +
                   "its body is text, not JSON: read it with `text_state_codec` of "
                   "waybill/session/session_state.hpp";
        case syntax:
            return line.append("its body cannot be parsed: ").append(s.reason).append(keep);
        case too_deep: return line.append("it is nested too deep: ").append(s.reason).append(keep);
        case duplicate:
            return line.append("an object has a name twice: ").append(s.reason).append(keep);
        case not_an_object:
            return line.append("expected an object, found ").append(s.reason).append(keep);
        case bad_progress:
            if (s.outcome != state_read::newer) return line.append(s.reason).append(keep);
            return line + s.reason + ": update the program, and do not change the state";
        case newer_version:
            return line + "its version is " + s.reason +
                   " is the latest known version: update the program, and do not change the state";
        case upgrade_failed:
            return line.append("its upgrade failed, ").append(s.reason).append(failed_note);
        case bad_value:
            line += "the value cannot be read: " + s.reason +
                    ": give new fields a default "
                    "(NLOHMANN_DEFINE_TYPE_..._WITH_DEFAULT), or add a version and an upgrade";
            return line.append(failed_note);
        case no_reserve:
            return line + s.reason +
                   " is the maximum without the bytes reserved for a failure: "
                   "increase the budget, or store the large part elsewhere";
    }
    return line;
}

struct state_unwritten {
    /// The reason why a state cannot be written.
    enum class problem_type : std::uint8_t {
        none,
        not_read,       ///< The stored state was not read and must not be overwritten.
        not_an_object,  ///< The JSON of the value is not an object.
        reserved_name,  ///< The value has a member of its own with a reserved name.
        not_finite,     ///< A number that JSON cannot represent: it would be read as null.
        not_utf8,       ///< A text or a name that is not UTF-8.
        not_json,       ///< Binary data, which only CBOR can represent.
        subtype,        ///< Binary data with a subtype: CBOR writes a tag, and tags are not read.
        too_deep,
        threw,  ///< The user's to_json or from_json threw.
        too_large,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(problem_type) noexcept
    {
        return "none, not_read, not_an_object, reserved_name, not_finite, not_utf8, not_json, "
               "subtype, too_deep, threw, too_large";
    }

    problem_type problem = problem_type::none;
    std::uint64_t size = 0;       ///< The bytes needed, if too large.
    std::uint64_t max_bytes = 0;  ///< The bytes available, if too large.
    std::string reason{};         ///< The path of the invalid part, or the text of the exception.

    friend bool operator==(const state_unwritten&, const state_unwritten&) = default;
};

/// One line for a log.
[[nodiscard]] inline std::string describe(const state_unwritten& e)
{
    std::string line = "state: not written: ";
    switch (e.problem) {
        case state_unwritten::problem_type::none: break;
        case state_unwritten::problem_type::not_read:
            return line + "the stored state could not be read, and is not overwritten: " + e.reason;
        case state_unwritten::problem_type::not_an_object:
            return line + "its JSON must be an object, and is " + e.reason +
                   ": store a struct or a map";
        case state_unwritten::problem_type::reserved_name:
            return line + "the member " + e.reason + " is reserved: rename it";
        case state_unwritten::problem_type::not_finite:
            return line + e.reason + " is not finite, and JSON has no such number: omit it";
        case state_unwritten::problem_type::not_utf8:
            return line + e.reason + " is not UTF-8: store it as base64, or as a list of numbers";
        case state_unwritten::problem_type::not_json:
            return line + e.reason + " is binary, which JSON cannot represent: use cbor or base64";
        case state_unwritten::problem_type::subtype:
            return line + e.reason + " is binary with a subtype: store the subtype as a field";
        case state_unwritten::problem_type::too_deep:
            return line + e.reason + " is nested too deep: the maximum is " +
                   std::to_string(detail::max_state_depth) + " levels";
        case state_unwritten::problem_type::threw: return line + "its to_json threw: " + e.reason;
        case state_unwritten::problem_type::too_large:
            return describe(state_budget::too_large{e.size, e.max_bytes});
    }
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_DECODED_STATE_HPP
