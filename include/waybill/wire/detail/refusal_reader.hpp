// SPDX-License-Identifier: MIT
//
// refusal_reader: reads one phrase of a refusal at one position of a text.
//
// Part of refusal_text.hpp.

#ifndef WAYBILL_WIRE_DETAIL_REFUSAL_READER_HPP
#define WAYBILL_WIRE_DETAIL_REFUSAL_READER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/detail/digits.hpp>
#include <waybill/wire/detail/refusal_phrases.hpp>
#include <waybill/wire/refusal_numbers.hpp>

namespace waybill::inline v0_2::wire::detail {

constexpr bool is_digit(char c) noexcept
{
    return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_word_char(char c) noexcept
{
    return is_digit(c) || is_letter(c) || c == '_';
}
constexpr bool is_name_char(char c) noexcept
{
    return is_word_char(c) || c == '.' || c == '-';
}

// The result of reading one phrase at one position. A complete phrase with an impossible number is
// not skipped: the text probably has another meaning.
enum class reading : std::uint8_t { no_match, invalid_number, numbers };

// A text that is read from its beginning. If the requested part is absent, the result is empty.
class reader {
public:
    constexpr explicit reader(std::string_view text) noexcept : rest_(text) {}

    constexpr bool skip(char c) noexcept
    {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }

    // The digits at the beginning, possibly none.
    constexpr std::string_view digits() noexcept { return take_while(is_digit); }

    // The name of a partition, as Kafka writes it.
    constexpr std::string_view partition() noexcept { return take_while(is_name_char); }

    // Returns true if a phrase may end here. A phrase must not end inside a word. After a number,
    // the text must not continue with a unit, a fraction, more digits or a mark of a shortened
    // text. A byte that is not ASCII may be part of one of these: a space inside a French number,
    // or the ellipsis character.
    constexpr bool may_end(bool after_number) const noexcept
    {
        if (rest_.empty()) return true;
        const char c = rest_.front();
        if (is_word_char(c)) return false;
        if (!after_number) return true;
        if (static_cast<unsigned char>(c) >= 0x80 || is_shortened()) return false;
        const bool joins = c == '.' || c == ',' || c == '\'' || c == '-' || c == ' ' || c == '\t';
        if (joins && rest_.size() > 1 && is_digit(rest_[1])) return false;
        return c != '%' && !((c == ' ' || c == '\t') && unit_follows());
    }

    // Returns true for a mark of a shortened text, directly or after a space: "...", "[...]",
    // "(truncated", "<truncated" and similar ones.
    constexpr bool is_shortened() const noexcept
    {
        std::size_t at = lower(0) == ' ' ? 1 : 0;
        const char c = lower(at);
        if (c == '(' || c == '[' || c == '<') ++at;
        if (lower(at) == '.' && lower(at + 1) == '.') return true;
        if (static_cast<unsigned char>(lower(at)) >= 0x80) return true;
        for (const char letter : std::string_view("truncated")) {
            if (lower(at++) != letter) return false;
        }
        return true;
    }

private:
    constexpr std::string_view take_while(bool (*belongs)(char)) noexcept
    {
        std::size_t n = 0;
        while (n < rest_.size() && belongs(rest_[n])) ++n;
        const std::string_view taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
    }

    constexpr char lower(std::size_t i) const noexcept
    {
        const char c = i < rest_.size() ? rest_[i] : ' ';
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }

    // Returns true for B, kB, MiB, K, bytes, kilobytes and similar units in any case. Reads at most
    // 24 characters: 8 blanks and 16 letters.
    constexpr bool unit_follows() const noexcept
    {
        constexpr std::size_t max_blanks = 8;
        constexpr std::size_t max_letters = 16;
        std::size_t first = 0;
        while (first < max_blanks && (lower(first) == ' ' || lower(first) == '\t')) ++first;
        std::size_t last = first;
        while (last - first < max_letters && is_letter(lower(last))) ++last;
        if (last - first > 4 && lower(last - 1) == 's') --last;
        const std::size_t letters = last - first;
        if (letters == 0) return false;
        if (letters == 1) {
            return std::string_view("bkmgtp").find(lower(first)) != std::string_view::npos;
        }
        if (letters <= 3) return lower(last - 1) == 'b';
        return lower(last - 4) == 'b' && lower(last - 3) == 'y' && lower(last - 2) == 't' &&
               lower(last - 1) == 'e';
    }

    std::string_view rest_;
};

// Returns true if a phrase may begin at `at`: at the start of a word. The n, r or t of an escaped
// line break or tab is not part of the word after it.
constexpr bool may_begin_at(std::string_view text, std::size_t at) noexcept
{
    if (at == 0 || !is_word_char(text[at - 1])) return true;
    const char c = text[at - 1];
    return at > 1 && text[at - 2] == '\\' && (c == 'n' || c == 'r' || c == 't');
}

// The value of `digits`, or nullopt if it is 0, has leading zeros or needs more than 64 bits.
constexpr std::optional<std::uint64_t> size_of(std::string_view digits) noexcept
{
    if (digits.empty() || digits.front() == '0') return std::nullopt;
    return waybill::detail::digits_in(digits);
}

// Reads the phrase `p` at the beginning of `text`. Sets `into` only if the result is `numbers`.
constexpr reading read_at(const phrase& p, std::string_view text, refusal_numbers& into) noexcept
{
    reader r(text);
    refusal_numbers found{};
    found.of = p.of;
    bool valid = true;
    bool after_number = false;
    for (std::size_t i = 0; i < p.words.size(); ++i) {
        if (p.words[i] != '%') {
            if (after_number && r.is_shortened()) return reading::no_match;
            after_number = false;
            if (!r.skip(p.words[i])) return reading::no_match;
            continue;
        }
        after_number = false;
        const char kind = p.words[++i];
        if (kind == 'w') {
            if (r.partition().empty()) return reading::no_match;
            continue;
        }
        const std::string_view digits = r.digits();
        if (digits.empty()) return reading::no_match;
        after_number = true;
        if (kind == 'n') continue;
        const std::optional<std::uint64_t> value = size_of(digits);
        valid = valid && value;
        if (kind == 'a') found.actual = value;
        else found.limit = value;
    }
    if (!r.may_end(after_number)) return reading::no_match;
    if (!valid || (found.actual && found.limit && *found.actual <= *found.limit)) {
        return reading::invalid_number;
    }
    into = found;
    return reading::numbers;
}

}  // namespace waybill::inline v0_2::wire::detail

#endif  // WAYBILL_WIRE_DETAIL_REFUSAL_READER_HPP
