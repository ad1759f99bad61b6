// SPDX-License-Identifier: MIT
//
// refusal_text: the numbers in a refusal, where the service writes them into its text.
//
// A refusal that says how large the batch was and how large it may be saves a search: one attempt
// teaches what bisecting takes ten for. Most brokers do say it, but only in words:
//
//     using waybill::wire::dialect;
//     auto n = waybill::wire::read_refusal(dialect::azure_amqp, error.description);
//     if (n && n->of == extent::request) s.on(refused{attempt, n->actual, n->limit}, now);
//     else s.on(refused{attempt}, now);      // numbers of one item say nothing about the batch
//
// The texts are no contract, so nothing here is clever:
//   1. A known phrase has to stand there whole, letter by letter, wherever in the text. Two numbers
//      that happen to stand in a text say nothing.
//   2. Numbers are plain decimals of at most 64 bits: no sign, no separators, no leading zero, no
//      unit behind. The limit is not 0, and the actual size is above it; otherwise no answer.
//      Where the number may have been cut, as the dots behind it say, there is none, either.
//   3. A text that says it twice, as many do, has to say the same twice; otherwise no answer.
//   4. Linear in the length of the text, nothing allocated, nothing read beyond the end.
//
// So a change of the words costs the numbers and nothing else. What a client puts around them, as
// "An error occurred (...) when calling ...: " or "(Service: Sqs, Status Code: 400, ...)", does not
// matter. What cannot be seen: a text that was cut in the middle of its last number and does not
// say so, where that ends the phrase; give it the text before any log shortens it. And whose
// refusal it is: gRPC says the same of a response that was too large.

#ifndef WAYBILL_WIRE_REFUSAL_TEXT_HPP
#define WAYBILL_WIRE_REFUSAL_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/digits.hpp>
#include <waybill/wire/refusal_phrases.hpp>

namespace waybill::inline v0_2::wire {

/// What a refusal said. At least one of the two is there.
struct refusal_numbers {
    std::optional<std::uint64_t> actual{};  ///< How large it was, as the service counted.
    std::optional<std::uint64_t> limit{};   ///< How large it may be.
    extent of = extent::request;

    friend bool operator==(const refusal_numbers&, const refusal_numbers&) = default;
};

namespace detail {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_word(char c) noexcept { return is_digit(c) || is_letter(c) || c == '_'; }
constexpr bool is_name(char c) noexcept { return is_word(c) || c == '.' || c == '-'; }

// What an attempt to read at one place came to. A phrase that is whole and has an impossible number
// in it is not passed over: it is a sign that the text means something else.
enum class reading : std::uint8_t { nothing, impossible, numbers };

// A text that is read from the front. Whoever takes what is not there gets nothing.
class reader {
public:
    constexpr explicit reader(std::string_view text) noexcept : rest_(text) {}

    constexpr bool skip(char c) noexcept
    {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }

    // The digits at the front, or nothing.
    constexpr std::string_view digits() noexcept
    {
        return take_while(is_digit);
    }

    // The name of a partition, as Kafka writes it.
    constexpr std::string_view partition() noexcept
    {
        return take_while(is_name);
    }

    // Whether a phrase may end here: in no word, and after a number before no unit, no fraction, no
    // further digits and no sign that the text was cut. A byte that is not ASCII may be part of one
    // of these, as the space within a French number or the one character that is three dots.
    constexpr bool ends(bool after_number) const noexcept
    {
        if (rest_.empty()) return true;
        const char c = rest_.front();
        if (is_word(c)) return false;
        if (!after_number) return true;
        if (static_cast<unsigned char>(c) >= 0x80 || cut()) return false;
        const bool joins = c == '.' || c == ',' || c == '\'' || c == '-' || c == ' ' || c == '\t';
        if (joins && rest_.size() > 1 && is_digit(rest_[1])) return false;
        return c != '%' && !((c == ' ' || c == '\t') && unit_follows());
    }

    // "...", "[...]", "(truncated", "<truncated" and their like, after a space or at once.
    constexpr bool cut() const noexcept
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

    // B, kB, MiB, K, bytes, kilobytes and their like, in any case; a few characters are looked at.
    constexpr bool unit_follows() const noexcept
    {
        std::size_t first = 0;
        while (first < 8 && (lower(first) == ' ' || lower(first) == '\t')) ++first;
        std::size_t last = first;
        while (last - first < 16 && is_letter(lower(last))) ++last;
        if (last - first > 4 && lower(last - 1) == 's') --last;
        const std::size_t letters = last - first;
        if (letters == 0) return false;
        if (letters == 1) return std::string_view("bkmgtp").find(lower(first)) < 6;
        if (letters <= 3) return lower(last - 1) == 'b';
        return lower(last - 4) == 'b' && lower(last - 3) == 'y' && lower(last - 2) == 't' &&
               lower(last - 1) == 'e';
    }

    std::string_view rest_;
};

// Whether a phrase may begin there: at the start of a word, where an n, r or t that is part of an
// escaped line break or tab ends one.
constexpr bool begins_at(std::string_view text, std::size_t at) noexcept
{
    if (at == 0 || !is_word(text[at - 1])) return true;
    const char c = text[at - 1];
    return at > 1 && text[at - 2] == '\\' && (c == 'n' || c == 'r' || c == 't');
}

// The value of some digits, unless it is 0, has leading zeros or more than 64 bits.
constexpr std::optional<std::uint64_t> size_of(std::string_view digits) noexcept
{
    if (digits.empty() || digits.front() == '0') return std::nullopt;
    return waybill::detail::digits_in(digits);
}

// Reads one phrase at the front of `text`.
constexpr reading read_at(const phrase& p, std::string_view text, refusal_numbers& into) noexcept
{
    reader r(text);
    refusal_numbers found{};
    found.of = p.of;
    bool possible = true;
    bool number = false;
    for (std::size_t i = 0; i < p.words.size(); ++i) {
        if (p.words[i] != '%') {
            if (number && r.cut()) return reading::nothing;
            number = false;
            if (!r.skip(p.words[i])) return reading::nothing;
            continue;
        }
        number = false;
        const char kind = p.words[++i];
        if (kind == 'w') {
            if (r.partition().empty()) return reading::nothing;
            continue;
        }
        const std::string_view digits = r.digits();
        if (digits.empty()) return reading::nothing;
        number = true;
        if (kind == 'n') continue;
        const std::optional<std::uint64_t> value = size_of(digits);
        possible = possible && value;
        (kind == 'a' ? found.actual : found.limit) = value;
    }
    if (!r.ends(number)) return reading::nothing;
    if (!possible || (found.actual && found.limit && *found.actual <= *found.limit)) {
        return reading::impossible;
    }
    into = found;
    return reading::numbers;
}

}  // namespace detail

/// What a refusal says in the words of a service, or nothing.
[[nodiscard]] constexpr std::optional<refusal_numbers> read_refusal(dialect d,
                                                                    std::string_view text) noexcept
{
    std::optional<refusal_numbers> answer{};
    for (const detail::phrase& p : detail::phrases_of(d)) {
        const std::string_view head = p.words.substr(0, p.words.find('%'));
        for (std::size_t at = text.find(head); at != std::string_view::npos;
             at = text.find(head, at + 1)) {
            if (!detail::begins_at(text, at)) continue;
            refusal_numbers found{};
            const detail::reading how = detail::read_at(p, text.substr(at), found);
            if (how == detail::reading::nothing) continue;
            if (how == detail::reading::impossible) return std::nullopt;
            if (answer && *answer != found) return std::nullopt;
            answer = found;
        }
    }
    return answer;
}

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_REFUSAL_TEXT_HPP
