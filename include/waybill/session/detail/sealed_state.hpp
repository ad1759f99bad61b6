// SPDX-License-Identifier: MIT
//
// sealed_state: writes and reads the envelope of a stored state: one line, then the body.
//
//     const std::string bytes = detail::seal_state(waybill::state_format::json, {2, 0}, body);
//     ...
//     const auto s = detail::open_state(bytes, 262'144);      // pass nullopt if there is no state
//     if (s.outcome == waybill::state_read::ok) read(s.format, s.version, s.body);
//     else log(waybill::describe(s));                         // with the action to take
//
// The guide has the format, envelope.hpp the guarantees.

#ifndef WAYBILL_SESSION_DETAIL_SEALED_STATE_HPP
#define WAYBILL_SESSION_DETAIL_SEALED_STATE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/crc32c.hpp>
#include <waybill/core/detail/digits.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>

namespace waybill::inline v0_2::detail {

/// Bytes of the envelope line, line end included.
inline constexpr std::uint64_t envelope_bytes = 47;

/// Maximum bytes of a body: the largest size that the ten digits in the line can state.
inline constexpr std::uint64_t max_sealed_body_bytes = 9'999'999'999;

/// Bytes of a sealed state: `body` + 47. `highest_size` if `body` has more than ten digits.
[[nodiscard]] constexpr std::uint64_t sealed_size(std::uint64_t body) noexcept
{
    return body > max_sealed_body_bytes ? highest_size : body + envelope_bytes;
}

inline constexpr std::string_view envelope_magic = "waybill/";
/// Maximum bytes of the line in any version, line end included.
inline constexpr std::size_t max_envelope_bytes = 128;
inline constexpr std::size_t checksum_digits = 8;  ///< Hexadecimal digits of the checksum.
inline constexpr std::uint64_t checksum_base = 16;

/// Offsets in the line "waybill/1 json 00001.00000 0000000123 0123abcd": format, version of the
/// user's part, size of the body and checksum. A blank or dot precedes each of them.
struct envelope_layout {
    static constexpr std::size_t format_at = 10, format_digits = 4;
    static constexpr std::size_t major_at = 15, minor_at = 21, version_digits = 5;
    static constexpr std::size_t size_at = 27, size_digits = 10;
    static constexpr std::size_t checksum_at = 38;
};

/// Writes the line to the first 47 bytes, which the caller has reserved. The body follows them.
inline void put_envelope(std::string& bytes, state_format f, schema_version v)
{
    char line[] = "waybill/1 .... 00000.00000 0000000000 ........\n";
    static_assert(sizeof line == envelope_bytes + 1);
    const std::size_t size = bytes.size() - envelope_bytes;
    using at = envelope_layout;
    name(f).copy(line + at::format_at, at::format_digits);
    put_digits(line + at::major_at, at::version_digits, v.major);
    put_digits(line + at::minor_at, at::version_digits, v.minor);
    put_digits(line + at::size_at, at::size_digits, size);
    bytes.replace(0, envelope_bytes, line, envelope_bytes);
    const std::string_view all = bytes;
    const std::string_view line_end_and_body = all.substr(at::checksum_at + checksum_digits);
    const std::uint32_t checksum =
        crc32c(line_end_and_body, crc32c(all.substr(0, at::checksum_at)));
    put_digits(bytes.data() + at::checksum_at, checksum_digits, checksum, checksum_base);
}

/// The position of the line end, in every version. 0 if there is no line end or the line is too
/// short.
[[nodiscard]] constexpr std::size_t envelope_end(std::string_view bytes) noexcept
{
    const std::size_t end = bytes.substr(0, max_envelope_bytes).find('\n');
    const bool no_line =
        end == std::string_view::npos || end < envelope_magic.size() + checksum_digits;
    return no_line ? 0 : end;
}

/// True if the last word of the line is the checksum of all other bytes. `end` is the position of
/// the line end.
[[nodiscard]] constexpr bool has_valid_state_checksum(std::string_view bytes,
                                                      std::size_t end) noexcept
{
    const std::size_t at = end - checksum_digits;
    const std::optional<std::uint64_t> checksum =
        digits_in(bytes.substr(at, checksum_digits), checksum_base);
    if (!checksum || bytes[at - 1] != ' ') return false;
    return *checksum == crc32c(bytes.substr(end), crc32c(bytes.substr(0, at)));
}

/// Reads a version 1 line with a valid checksum into `s`. False if version 1 never writes such a
/// line.
[[nodiscard]] constexpr bool read_envelope(std::string_view line, opened_state& s) noexcept
{
    if (line.size() != envelope_bytes - 1) return false;
    using at = envelope_layout;
    if (line[at::major_at - 1] != ' ' || line[at::minor_at - 1] != '.' ||
        line[at::size_at - 1] != ' ') {
        return false;
    }
    const auto major = digits_in(line.substr(at::major_at, at::version_digits));
    const auto minor = digits_in(line.substr(at::minor_at, at::version_digits));
    if (!major || !minor || *major > UINT16_MAX || *minor > UINT16_MAX) return false;
    s.version = {static_cast<std::uint16_t>(*major), static_cast<std::uint16_t>(*minor)};
    for (const state_format f : {state_format::json, state_format::cbor, state_format::text}) {
        if (line.substr(at::format_at, at::format_digits) != name(f)) continue;
        s.format = f;
        return true;
    }
    s.problem = opened_state::problem_type::newer_format;
    return true;
}

/// The total size in bytes that a version 1 line states, even if its checksum is wrong. 0 if it
/// states none.
[[nodiscard]] constexpr std::uint64_t stated_size(std::string_view bytes) noexcept
{
    using at = envelope_layout;
    if (bytes.size() < at::size_at + at::size_digits || !bytes.starts_with("waybill/1 ")) return 0;
    const auto body = digits_in(bytes.substr(at::size_at, at::size_digits));
    return body ? sealed_size(*body) : 0;
}

/// The bytes without a UTF-8 byte order mark, which some editors add, and without leading white
/// space.
[[nodiscard]] constexpr std::string_view trimmed_front(std::string_view bytes) noexcept
{
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
    const std::size_t at = bytes.find_first_not_of(" \t\r\n");
    return at == std::string_view::npos ? std::string_view() : bytes.substr(at);
}

/// Checks bytes that begin with "waybill/", and copies version, format and stated size into `s`.
[[nodiscard]] constexpr opened_state::problem_type check_envelope(std::string_view bytes,
                                                                  opened_state& s) noexcept
{
    const std::uint64_t stated = stated_size(bytes);
    s.expected = stated;
    const std::size_t end = envelope_end(bytes);
    if (end == 0 || !has_valid_state_checksum(bytes, end)) {
        if (bytes.size() < stated) return opened_state::problem_type::too_short;
        if (stated != 0 && bytes.size() > stated) return opened_state::problem_type::too_long;
        return end == 0 ? opened_state::problem_type::no_line
                        : opened_state::problem_type::checksum;
    }
    const std::string_view line = bytes.substr(0, end);
    const std::string_view rest = line.substr(envelope_magic.size());
    const std::string_view number = rest.substr(0, rest.find(' '));
    const std::optional<std::uint64_t> version = digits_in(number);
    if (!version || number.front() == '0') return opened_state::problem_type::bad_line;
    if (*version > 1) {
        s.expected = *version;
        return opened_state::problem_type::newer_envelope;
    }
    if (stated != bytes.size() || !read_envelope(line, s))
        return opened_state::problem_type::bad_line;
    return s.problem;
}

/// The bytes to store. Empty if the body has more than 9,999,999,999 bytes. Linear time.
[[nodiscard]] inline std::string seal_state(state_format f, schema_version v, std::string_view body)
{
    std::string bytes;
    if (sealed_size(body.size()) == highest_size) return bytes;
    bytes.reserve(envelope_bytes + body.size());
    bytes.assign(envelope_bytes, ' ');
    bytes += body;
    detail::put_envelope(bytes, f, v);
    return bytes;
}

/// Reads a stored state of at most `budget` bytes, envelope included. `bytes` is nullopt if the
/// broker or store has no state. Linear time, no allocation.
[[nodiscard]] constexpr opened_state open_state(std::optional<std::string_view> bytes,
                                                std::uint64_t budget) noexcept
{
    opened_state s;
    if (!bytes) return s;
    s.size = bytes->size();
    if (s.size > budget) {
        s.outcome = state_read::too_large;
        s.problem = opened_state::problem_type::over_budget;
        s.expected = budget;
        return s;
    }
    s.outcome = state_read::ok;
    const std::string_view trimmed = detail::trimmed_front(*bytes);
    if (bytes->empty()) {
        s.problem = opened_state::problem_type::empty;
    } else if (trimmed.starts_with('{')) {
        s.without_envelope = true;
        s.body = trimmed;
    } else if (!detail::envelope_magic.starts_with(bytes->substr(0, envelope_magic.size()))) {
        // A truncated magic is not foreign: it is the beginning of an envelope.
        s.problem = opened_state::problem_type::foreign;
    } else {
        s.problem = detail::check_envelope(*bytes, s);
        if (s.problem == opened_state::problem_type::none) s.body = bytes->substr(envelope_bytes);
    }
    if (s.problem == opened_state::problem_type::none) return s;
    const bool newer = s.problem == opened_state::problem_type::newer_envelope ||
                       s.problem == opened_state::problem_type::newer_format;
    s.outcome = newer ? state_read::newer : state_read::corrupt;
    if (!newer) s.version = {0, 0};
    return s;
}

/// The result of `open_state` for the bytes that `seal_state` has just returned, without the body.
/// It does not verify the checksum.
[[nodiscard]] constexpr opened_state sealed_just_now(std::string_view bytes) noexcept
{
    opened_state s;
    s.outcome = state_read::ok;
    s.size = bytes.size();
    s.without_envelope = !bytes.starts_with(envelope_magic);
    if (s.without_envelope) return s;
    s.expected = s.size;
    static_cast<void>(read_envelope(bytes.substr(0, envelope_bytes - 1), s));
    return s;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_SEALED_STATE_HPP
