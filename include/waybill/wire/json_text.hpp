// SPDX-License-Identifier: MIT
//
// json_text: exact bytes of a text once it is a string in JSON.
//
// A document is sent as a string in another document more often than one would think, and quotes,
// line ends and, in ASCII, every letter with an accent take more bytes then than they had:
//
//     namespace json = waybill::wire::json;
//     json::string_size(text);                            // quotes and escapes
//     json::string_size(text, json::escapes::ascii);      // é as \u00e9
//     json::measure(text).replaced != 0;                  // it is not UTF-8
//
// What holds:
//   1. the answer for broken UTF-8 is defined: U+FFFD stands for each broken part, a part being
//      what could have begun a character, or else one byte. This is what browsers do, and what
//      nlohmann-json does if told to replace; who refuses broken text looks at `replaced`;
//   2. escapes are the fewest that JSON allows: \" \\ \b \f \n \r \t, \u00XX for other controls.
//      `ascii` adds \uXXXX for all that is not printable ASCII, DEL included, and a pair of them
//      above U+FFFF. Python's ensure_ascii leaves DEL as it is, and some encoders escape more, as
//      "/", "<" or U+2028: they need a size of their own.
//
// Sources: RFC 8259, section 7, https://www.rfc-editor.org/rfc/rfc8259; the Unicode Standard,
// section 3.9, "Substitution of Maximal Subparts".
// Proved by nlohmann-json's dump() on random text, well-formed and not, in json.prop.cpp.

#ifndef WAYBILL_WIRE_JSON_TEXT_HPP
#define WAYBILL_WIRE_JSON_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::wire::json {

/// What an encoder escapes.
enum class escapes {
    fewest,  ///< What JSON demands.
    ascii,   ///< All that is not printable ASCII, too.
};

/// What a text takes between the quotes.
struct measured {
    std::uint64_t bytes = 0;
    std::uint64_t replaced = 0;  ///< Parts that are not UTF-8, each counted as U+FFFD.

    friend bool operator==(const measured&, const measured&) = default;
};

namespace detail {

[[nodiscard]] constexpr std::uint64_t ascii_size(unsigned char c, escapes e) noexcept
{
    if (c == '"' || c == '\\') return 2;
    if (c >= 0x20U) return c == 0x7FU && e == escapes::ascii ? 6 : 1;
    return c == '\b' || c == '\t' || c == '\n' || c == '\f' || c == '\r' ? 2 : 6;
}

// What is known of a character from its first byte: how many follow, and within which bounds the
// next one is. These keep out overlong forms, surrogates and what is above U+10FFFF.
struct lead {
    unsigned follow = 0;  // 0: no first byte of a character
    unsigned char lowest = 0x80;
    unsigned char highest = 0xBF;
};

[[nodiscard]] constexpr lead lead_of(unsigned char c) noexcept
{
    if (c < 0xC2U || c > 0xF4U) return {};
    if (c < 0xE0U) return {1};
    if (c < 0xF0U) {
        return {2, static_cast<unsigned char>(c == 0xE0U ? 0xA0U : 0x80U),
                static_cast<unsigned char>(c == 0xEDU ? 0x9FU : 0xBFU)};
    }
    return {3, static_cast<unsigned char>(c == 0xF0U ? 0x90U : 0x80U),
            static_cast<unsigned char>(c == 0xF4U ? 0x8FU : 0xBFU)};
}

}  // namespace detail

/// Bytes of `text` between the quotes, and what had to be replaced. Reads it once.
[[nodiscard]] constexpr measured measure(std::string_view text,
                                         escapes e = escapes::fewest) noexcept
{
    measured m;
    for (std::size_t at = 0; at != text.size();) {
        const auto c = static_cast<unsigned char>(text[at]);
        ++at;
        if (c < 0x80U) {
            m.bytes += detail::ascii_size(c, e);
            continue;
        }
        detail::lead l = detail::lead_of(c);
        unsigned left = l.follow;
        for (; left != 0 && at != text.size(); --left, ++at) {
            const auto next = static_cast<unsigned char>(text[at]);
            if (next < l.lowest || next > l.highest) break;
            l = {l.follow};
        }
        const bool broken = l.follow == 0 || left != 0;
        if (broken) ++m.replaced;
        if (e == escapes::ascii) m.bytes += !broken && l.follow == 3 ? 12U : 6U;
        else m.bytes += broken ? 3U : l.follow + 1U;
    }
    return m;
}

/// Bytes of `text` as a string, quotes included. Reads it once.
[[nodiscard]] constexpr std::uint64_t string_size(std::string_view text,
                                                  escapes e = escapes::fewest) noexcept
{
    return saturating_add(2, json::measure(text, e).bytes);
}

}  // namespace waybill::inline v0_2::wire::json

#endif  // WAYBILL_WIRE_JSON_TEXT_HPP
