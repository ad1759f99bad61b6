// SPDX-License-Identifier: MIT
//
// progress_text: the progress of a session as lines of text, for states without JSON.
//
//     waybill/1 text 00001.00000 0000000091 c886cb30
//     done 2
//     total 5
//     failed 3 17 exhausted 5 2024-02-29T12:00:00Z no printer answers
//
//     receipt=r17
//
// Each line has a word and its value. A blank line separates them from the user's own bytes. This
// header handles the lines; text_state_codec.hpp reads and writes the whole state. Guarantees:
//   1. Equal progress gives equal lines: fixed order, no line for a value of 0, one form of
//      numbers and times. Other forms are refused. More words: `tries`, `parked`, `begun`,
//      `changed`.
//   2. The error text stays in its line: backslashes are doubled, a line end is \n, other control
//      characters are \x and two digits. Reading restores it byte for byte.
//   3. Lines of later versions follow these lines and are kept. `first` and `arrived` are such
//      lines for versions that do not know them.

#ifndef WAYBILL_SESSION_DETAIL_PROGRESS_TEXT_HPP
#define WAYBILL_SESSION_DETAIL_PROGRESS_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/digits.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2::detail {

/// Maximum bytes of the lines without the error text. tests/unit/session/progress_text.test.cpp
/// computes it from the longest numbers, times and reason.
inline constexpr std::uint64_t max_progress_lines_bytes = 328;

/// The reason with this name; nullopt if only a later version knows it.
[[nodiscard]] constexpr std::optional<dead_letter_reason> dead_letter_reason_in(
    std::string_view word) noexcept
{
    for (std::uint8_t n = 0; name(static_cast<dead_letter_reason>(n)) != "?"; ++n) {
        if (name(static_cast<dead_letter_reason>(n)) == word)
            return static_cast<dead_letter_reason>(n);
    }
    return std::nullopt;
}

/// The bytes of a character after escaping, and those of a text.
[[nodiscard]] constexpr std::uint64_t escaped_size(char c) noexcept
{
    if (c == '\\' || c == '\n') return 2;
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F ? 4 : 1;
}

[[nodiscard]] constexpr std::uint64_t escaped_size(std::string_view text) noexcept
{
    std::uint64_t n = 0;
    for (const char c : text) n += escaped_size(c);
    return n;
}

/// The longest prefix with at most `max_bytes` bytes when escaped, cut between UTF-8 characters.
[[nodiscard]] constexpr std::string_view escaped_prefix(std::string_view text,
                                                        std::uint64_t max_bytes) noexcept
{
    std::size_t n = 0;
    for (; n != text.size() && escaped_size(text[n]) <= max_bytes; ++n)
        max_bytes -= escaped_size(text[n]);
    return utf8_prefix(text, n);
}

inline void append_escaped(std::string& to, std::string_view text)
{
    for (const char c : text) {
        const std::uint64_t size = escaped_size(c);
        if (size == 1) {
            to += c;
            continue;
        }
        to += '\\';
        if (size == 2) {
            to += c == '\n' ? 'n' : c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        to += 'x';
        to += "0123456789abcdef"[byte / 16U];
        to += "0123456789abcdef"[byte % 16U];
    }
}

/// Reverses `append_escaped`. Accepts every form of escape; the caller compares the input with the
/// written form.
[[nodiscard]] inline std::string unescaped(std::string_view line)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(line.size());
    for (std::size_t n = 0; n != line.size(); ++n) {
        const std::string_view next = line.substr(n + 1, 3);
        if (line[n] != '\\' || next.empty()) {
            out += line[n];
        } else if (next.size() == 3 && next[0] == 'x') {
            const std::size_t high = digits.find(next[1]);
            const std::size_t low = digits.find(next[2]);
            out += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
            n += 3;
        } else {
            out += next[0] == 'n' ? '\n' : next[0];
            ++n;
        }
    }
    return out;
}

inline constexpr std::string_view progress_words[] = {
    "done", "total", "parked", "tries", "begun", "changed", "failed", "first", "arrived"};

/// Removes and returns the characters before the next space, and removes the space.
[[nodiscard]] constexpr std::string_view take_word(std::string_view& line) noexcept
{
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size() == line.size() ? line.size() : word.size() + 1);
    return word;
}

[[nodiscard]] constexpr bool is_progress_word(std::string_view word) noexcept
{
    for (const std::string_view known : progress_words) {
        if (known == word) return true;
    }
    return false;
}

/// Removes the next word and parses it as a 64-bit number. False if it is not a number.
[[nodiscard]] constexpr bool take_number(std::string_view& line, std::uint64_t& to) noexcept
{
    const std::optional<std::uint64_t> n = digits_in(take_word(line));
    to = n.value_or(0);
    return n.has_value();
}

[[nodiscard]] constexpr bool take_time(std::string_view& line, wall_time& to)
{
    const std::optional<wall_time> t = parse_wall_time(take_word(line));
    if (t) to = *t;
    return t.has_value();
}

/// The result of reading the lines of a progress.
enum class progress_lines : std::uint8_t {
    ok,
    corrupt,  ///< A line that is never written, or that is not at its place.
    newer,    ///< The session failed for a reason that only a later version knows.
};

/// The progress that was read, and the lines of later versions.
struct read_progress {
    progress_lines outcome = progress_lines::ok;
    session_progress progress{};
    std::string_view later{};  ///< Whole lines, as a view into the input.
    std::uint64_t line = 0;    ///< The line of the first error, from 1; 0 if there is none.

    friend bool operator==(const read_progress&, const read_progress&) = default;
};

/// The progress as lines. The error text is cut to `max_text_bytes` bytes, counted when escaped.
[[nodiscard]] inline std::string write_progress(const session_progress& p,
                                                std::uint64_t max_text_bytes = highest_size)
{
    std::string out;
    const auto number = [&](std::string_view word, std::uint64_t n) {
        if (n == 0) return;
        out += word;
        out += ' ';
        out += std::to_string(n);
        out += '\n';
    };
    const auto time = [&](std::string_view word, wall_time t) {
        if (t == wall_time()) return;
        out += word;
        out += ' ';
        out += to_text(t);
        out += '\n';
    };
    number("done", p.done);
    number("total", p.total);
    number("parked", p.dead_lettered);
    number("tries", p.tries);
    time("begun", p.begun);
    time("changed", p.changed);
    if (p.failed) {
        const session_progress::failure& f = *p.failed;
        out += "failed ";
        out += std::to_string(f.step) + ' ' + std::to_string(f.sequence) + ' ';
        out += name(f.reason);
        out += ' ' + std::to_string(f.tries) + ' ' + to_text(f.at) + ' ';
        detail::append_escaped(out, detail::escaped_prefix(f.text, max_text_bytes));
        out += '\n';
    }
    number("first", p.first);
    if (p.arrived != 0) {
        out += "arrived ";
        out += std::to_string(p.arrived) + ' ' + std::to_string(p.arrived_sequence) + '\n';
    }
    return out;
}

[[nodiscard]] inline progress_lines read_failure(std::string_view line, session_progress& p)
{
    session_progress::failure f;
    if (!take_number(line, f.step) || !take_number(line, f.sequence)) {
        return progress_lines::corrupt;
    }
    const std::string_view reason = take_word(line);
    if (!take_number(line, f.tries) || !take_time(line, f.at) || reason.empty()) {
        return progress_lines::corrupt;
    }
    const std::optional<dead_letter_reason> known = dead_letter_reason_in(reason);
    if (!known) return progress_lines::newer;
    f.reason = *known;
    f.text = unescaped(line);
    p.failed = static_cast<session_progress::failure&&>(f);
    return progress_lines::ok;
}

/// Reads one line that begins with a known word.
[[nodiscard]] inline progress_lines read_line(std::string_view line, session_progress& p)
{
    const std::string_view word = take_word(line);
    if (word == "failed") return read_failure(line, p);
    bool parsed = false;
    if (word == "done") parsed = take_number(line, p.done);
    if (word == "total") parsed = take_number(line, p.total);
    if (word == "parked") parsed = take_number(line, p.dead_lettered);
    if (word == "tries") parsed = take_number(line, p.tries);
    if (word == "begun") parsed = take_time(line, p.begun);
    if (word == "changed") parsed = take_time(line, p.changed);
    if (word == "first") parsed = take_number(line, p.first);
    if (word == "arrived")
        parsed = take_number(line, p.arrived) && take_number(line, p.arrived_sequence);
    return parsed && line.empty() ? progress_lines::ok : progress_lines::corrupt;
}

/// The first line without its end, or all of the text if it has no line end.
[[nodiscard]] constexpr std::string_view first_line(std::string_view lines) noexcept
{
    return lines.substr(0, lines.find('\n'));
}

/// True for whole lines without blank lines and without a known word at the beginning.
[[nodiscard]] constexpr bool are_later_lines(std::string_view lines) noexcept
{
    if (!lines.empty() && lines.back() != '\n') return false;
    while (!lines.empty()) {
        std::string_view line = first_line(lines);
        lines.remove_prefix(line.size() + 1);
        if (line.empty() || is_progress_word(take_word(line))) return false;
    }
    return true;
}

/// Reads the lines of a progress, each with its line end, and the lines of later versions after
/// them. Linear time.
[[nodiscard]] inline read_progress read_progress_lines(std::string_view lines)
{
    read_progress r;
    std::string_view rest = lines;
    const auto refused = [&r](progress_lines outcome) {
        r.outcome = outcome;
        r.progress = {};
        r.later = {};
        return r;
    };
    while (!rest.empty()) {
        const std::string_view line = detail::first_line(rest);
        std::string_view unparsed = line;
        if (!detail::is_progress_word(detail::take_word(unparsed))) break;
        ++r.line;
        if (line.size() == rest.size()) return refused(progress_lines::corrupt);
        const progress_lines outcome = detail::read_line(line, r.progress);
        if (outcome != progress_lines::ok) return refused(outcome);
        rest.remove_prefix(line.size() + 1);
    }
    // Refuse any order or form other than the written one. The error is in the first line that
    // differs.
    const std::string written = write_progress(r.progress);
    if (written != lines.substr(0, lines.size() - rest.size())) {
        r.line = 1;
        for (std::size_t n = 0; n != written.size() && written[n] == lines[n]; ++n) {
            if (written[n] == '\n') ++r.line;
        }
        return refused(progress_lines::corrupt);
    }
    ++r.line;
    if (!detail::are_later_lines(rest)) return refused(progress_lines::corrupt);
    r.later = rest;
    r.line = 0;
    return r;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_PROGRESS_TEXT_HPP
