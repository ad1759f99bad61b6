// SPDX-License-Identifier: MIT
//
// envelope: the line in front of a stored state that tells whether it is still what was written.
//
// A state that is cut short or has a bit turned must not be taken for another one, and least of all
// for none: then a session that has failed would begin anew. So one line of text stands before the
// state's own bytes, which a broker's portal shows as they are:
//
//     waybill/1 json 00002.00000 0000000011 64e87f82
//     {"lines":3}
//
//     const std::string bytes = waybill::seal_state(waybill::state_format::json, {2, 0}, body);
//     ...
//     const auto s = waybill::open_state(bytes, 262'144);     // nullopt where there are none
//     if (s.how == waybill::state_read::ok) read(s.format, s.version, s.body);
//     else log(waybill::text(s));                             // says what to do
//
// What holds:
//   1. each beginning of what was sealed is `corrupt`, down to no bytes at all, and so is all that
//      has one bit turned, or is damaged within four bytes in a row other than the first. Of other
//      damage one in 2^32 passes;
//   2. `newer` is only what is whole: its checksum holds, and it says itself that it is of a later
//      version. Damage is never taken for a later version, nor for `absent`;
//   3. what has more bytes than the budget is not looked at;
//   4. bytes without this line that begin with a brace are a JSON state from before: `bare`. They
//      carry no checksum, and only their reader can say more.
//
// The line of version 1 is 47 bytes: "waybill/1", a word of four letters for the format, the
// version of the user's own schema (major and minor, five digits each), the body's length in ten
// digits, and CRC-32C of all the rest, line end and body too, in eight hexadecimal digits. The line
// of every later version begins with "waybill/" and a number, ends within 128 bytes, and its last
// word is the same checksum of all the rest.

#ifndef WAYBILL_SESSION_ENVELOPE_HPP
#define WAYBILL_SESSION_ENVELOPE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/crc32c.hpp>
#include <waybill/core/digits.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/session/progress.hpp>

namespace waybill::inline v0_2 {

/// What the body is.
enum class state_format : std::uint8_t { json, cbor, text };

[[nodiscard]] constexpr std::string_view name(state_format f) noexcept
{
    switch (f) {
        case state_format::json: return "json";
        case state_format::cbor: return "cbor";
        case state_format::text: return "text";
    }
    return "?";
}

/// The version of what the user keeps in a state. Who knows the same major can read it.
struct schema_version {
    std::uint16_t major = 1;
    std::uint16_t minor = 0;

    friend bool operator==(const schema_version&, const schema_version&) = default;
};

[[nodiscard]] inline std::string text(schema_version v)
{
    return std::to_string(v.major) + "." + std::to_string(v.minor);
}

namespace detail {

/// The later of two minor versions of our major one, else ours.
[[nodiscard]] constexpr schema_version written_version(schema_version read,
                                                       schema_version ours) noexcept
{
    return read.major == ours.major && read.minor > ours.minor ? read : ours;
}

}  // namespace detail

/// Why bytes are not read.
enum class envelope_problem : std::uint8_t {
    none,
    empty,           ///< There are no bytes, though there is a state.
    foreign,         ///< They begin with neither "waybill/" nor a brace.
    no_line,         ///< They begin as they should, and their first line has no end.
    too_short,       ///< There are fewer bytes than the line says.
    too_long,        ///< There are more.
    checksum,        ///< There are as many, and they are not what was written.
    bad_line,        ///< The checksum holds, and the line is none that was ever written.
    newer_envelope,  ///< The line is of a later version of waybill.
    newer_format,    ///< The word for the format is not known here.
    over_budget,
};

[[nodiscard]] constexpr std::string_view name(envelope_problem p) noexcept
{
    switch (p) {
        case envelope_problem::none: return "none";
        case envelope_problem::empty: return "empty";
        case envelope_problem::foreign: return "foreign";
        case envelope_problem::no_line: return "no_line";
        case envelope_problem::too_short: return "too_short";
        case envelope_problem::too_long: return "too_long";
        case envelope_problem::checksum: return "checksum";
        case envelope_problem::bad_line: return "bad_line";
        case envelope_problem::newer_envelope: return "newer_envelope";
        case envelope_problem::newer_format: return "newer_format";
        case envelope_problem::over_budget: return "over_budget";
    }
    return "?";
}

/// What was found. The body is a view into the bytes, and there only where `how` is ok.
struct opened_state {
    state_read how = state_read::absent;
    state_format format = state_format::json;
    schema_version version{0, 0};
    std::string_view body{};
    bool bare = false;           ///< JSON of no version, without this line and its checksum.
    envelope_problem problem = envelope_problem::none;
    std::uint64_t size = 0;      ///< Of all the bytes that there were.
    std::uint64_t expected = 0;  ///< The budget, the size that the line tells, the later version.

    friend bool operator==(const opened_state&, const opened_state&) = default;
};

/// Bytes of the line that is written, its end included.
inline constexpr std::uint64_t envelope_bytes = 47;

/// Bytes of a sealed state: 47 more than its body. The largest number where the line cannot say it.
[[nodiscard]] constexpr std::uint64_t sealed_size(std::uint64_t body) noexcept
{
    return body > 9'999'999'999 ? highest_size : body + envelope_bytes;
}

namespace detail {

inline constexpr std::string_view envelope_magic = "waybill/";
inline constexpr std::size_t envelope_most = 128;  // bytes of a line of any version, its end too
inline constexpr std::size_t envelope_sum = 8;     // digits of the checksum

/// Writes the line over the first 47 bytes, which are kept free for it; the body is behind them.
inline void put_envelope(std::string& bytes, state_format f, schema_version v)
{
    char line[] = "waybill/1 .... 00000.00000 0000000000 ........\n";
    static_assert(sizeof line == envelope_bytes + 1);
    const std::size_t size = bytes.size() - envelope_bytes;
    name(f).copy(line + 10, 4);
    put_digits(line + 15, 5, v.major);
    put_digits(line + 21, 5, v.minor);
    put_digits(line + 27, 10, size);
    bytes.replace(0, envelope_bytes, line, envelope_bytes);
    const std::string_view all = bytes;
    const std::uint32_t sum = crc32c(all.substr(46), crc32c(all.substr(0, 38)));
    put_digits(bytes.data() + 38, envelope_sum, sum, 16);
}

/// Where the line ends, which is that of any version. At 0 where it is none.
[[nodiscard]] constexpr std::size_t envelope_end(std::string_view bytes) noexcept
{
    const std::size_t end = bytes.substr(0, envelope_most).find('\n');
    const bool none = end == std::string_view::npos || end < envelope_magic.size() + envelope_sum;
    return none ? 0 : end;
}

/// Whether the last word of the line is the checksum of all the rest.
[[nodiscard]] constexpr bool envelope_holds(std::string_view bytes, std::size_t end) noexcept
{
    const std::size_t at = end - envelope_sum;
    const std::optional<std::uint64_t> sum = digits_in(bytes.substr(at, envelope_sum), 16);
    if (!sum || bytes[at - 1] != ' ') return false;
    return *sum == crc32c(bytes.substr(end), crc32c(bytes.substr(0, at)));
}

/// Reads a line of version 1 that holds into `s`. False where nobody can have written it.
[[nodiscard]] constexpr bool read_envelope(std::string_view line, opened_state& s) noexcept
{
    if (line.size() != envelope_bytes - 1) return false;
    if (line[14] != ' ' || line[20] != '.' || line[26] != ' ') return false;
    const auto major = digits_in(line.substr(15, 5));
    const auto minor = digits_in(line.substr(21, 5));
    if (!major || !minor || *major > UINT16_MAX || *minor > UINT16_MAX) return false;
    s.version = {static_cast<std::uint16_t>(*major), static_cast<std::uint16_t>(*minor)};
    for (const state_format f : {state_format::json, state_format::cbor, state_format::text}) {
        if (line.substr(10, 4) != name(f)) continue;
        s.format = f;
        return true;
    }
    s.problem = envelope_problem::newer_format;
    return true;
}

/// How many bytes a line of version 1 says there are, whether it holds or not; 0 where it does not
/// say so.
[[nodiscard]] constexpr std::uint64_t told_size(std::string_view bytes) noexcept
{
    if (bytes.size() < 37 || !bytes.starts_with("waybill/1 ")) return 0;
    const auto body = digits_in(bytes.substr(27, 10));
    return body ? sealed_size(*body) : 0;
}

[[nodiscard]] constexpr std::string_view trimmed_front(std::string_view bytes) noexcept
{
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);  // a mark that some editors put
    const std::size_t at = bytes.find_first_not_of(" \t\r\n");
    return at == std::string_view::npos ? std::string_view() : bytes.substr(at);
}

/// What is wrong with bytes that begin with "waybill/", if anything. Fills in what the line says.
[[nodiscard]] constexpr envelope_problem look_into(std::string_view bytes, opened_state& s) noexcept
{
    const std::uint64_t told = told_size(bytes);
    s.expected = told;
    const std::size_t end = envelope_end(bytes);
    if (end == 0 || !envelope_holds(bytes, end)) {
        if (bytes.size() < told) return envelope_problem::too_short;
        if (told != 0 && bytes.size() > told) return envelope_problem::too_long;
        return end == 0 ? envelope_problem::no_line : envelope_problem::checksum;
    }
    const std::string_view line = bytes.substr(0, end);
    const std::string_view rest = line.substr(envelope_magic.size());
    const std::string_view number = rest.substr(0, rest.find(' '));
    const std::optional<std::uint64_t> version = digits_in(number);
    if (!version || number.front() == '0') return envelope_problem::bad_line;
    if (*version > 1) {
        s.expected = *version;
        return envelope_problem::newer_envelope;
    }
    if (told != bytes.size() || !read_envelope(line, s)) return envelope_problem::bad_line;
    return s.problem;
}

}  // namespace detail

/// The state's bytes. Empty where the body is longer than ten digits can say.
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

/// What is in the state's bytes, of which there are none where the broker has no state.
[[nodiscard]] constexpr opened_state open_state(std::optional<std::string_view> bytes,
                                                std::uint64_t budget) noexcept
{
    opened_state s;
    if (!bytes) return s;
    s.size = bytes->size();
    if (s.size > budget) {
        s.how = state_read::too_large;
        s.problem = envelope_problem::over_budget;
        s.expected = budget;
        return s;
    }
    s.how = state_read::ok;
    const std::string_view bare = detail::trimmed_front(*bytes);
    if (bytes->empty()) {
        s.problem = envelope_problem::empty;
    } else if (bare.starts_with('{')) {
        s.bare = true;
        s.body = bare;
    } else if (!detail::envelope_magic.starts_with(bytes->substr(0, 8))) {
        s.problem = envelope_problem::foreign;
    } else {
        s.problem = detail::look_into(*bytes, s);
        if (s.problem == envelope_problem::none) s.body = bytes->substr(envelope_bytes);
    }
    if (s.problem == envelope_problem::none) return s;
    const bool later = s.problem == envelope_problem::newer_envelope ||
                       s.problem == envelope_problem::newer_format;
    s.how = later ? state_read::newer : state_read::corrupt;
    if (!later) s.version = {0, 0};
    return s;
}

namespace detail {

/// What `open_state` says of bytes that were sealed just now, without their body. They are not looked
/// through again.
[[nodiscard]] constexpr opened_state sealed_just_now(std::string_view bytes) noexcept
{
    opened_state s;
    s.how = state_read::ok;
    s.size = bytes.size();
    s.bare = !bytes.starts_with(envelope_magic);
    if (s.bare) return s;
    s.expected = s.size;
    static_cast<void>(read_envelope(bytes.substr(0, envelope_bytes - 1), s));
    return s;
}

}  // namespace detail

/// One line for a log: what is there, of what size, and what to do about it.
[[nodiscard]] inline std::string text(const opened_state& s)
{
    const std::string all = std::to_string(s.size) + " bytes";
    const std::string other = std::to_string(s.expected);
    std::string line = "state: ";
    line += name(s.how);
    switch (s.problem) {
        case envelope_problem::none:
            if (s.how == state_read::absent) return line + ": the session is new, or over";
            line += ", " + all;
            if (s.bare) return line + ", json without an envelope";
            line += ", ";
            line += name(s.format);
            return line + " of version " + text(s.version);
        case envelope_problem::over_budget:
            return line + ": " + all + ", and the budget is " + other +
                   ": raise the budget, or keep the large part elsewhere; do not write over it";
        case envelope_problem::newer_envelope:
            return line + ": " + all + " in envelope " + other +
                   ", and 1 is known here: update this program first, and leave the state alone";
        case envelope_problem::newer_format:
            return line + ": " + all + " in a format that is not known here: "
                   "update this program first, and leave the state alone";
        case envelope_problem::empty: line += ": there are no bytes"; break;
        case envelope_problem::foreign:
            line += ": " + all + " that begin neither with an envelope nor with a brace";
            break;
        case envelope_problem::no_line: line += ": " + all + ", cut short in its first line"; break;
        case envelope_problem::too_short:
            line += ": cut short, " + all + " of " + other;
            break;
        case envelope_problem::too_long:
            line += ": " + all + " where " + other + " were written";
            break;
        case envelope_problem::checksum: line += ": " + all + ", and the checksum is wrong"; break;
        case envelope_problem::bad_line:
            line += ": " + all + ", and the first line is none of waybill's";
            break;
    }
    return line + ": do not take it for a new session; keep the bytes, and clear the state by hand "
                  "when its steps are seen to";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_ENVELOPE_HPP
