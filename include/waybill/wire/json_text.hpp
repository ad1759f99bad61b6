// SPDX-License-Identifier: MIT
//
// json_text: exact size in bytes of a text as a JSON string, quotes and escapes included.
//
//     namespace json = waybill::wire::json;
//     json::string_size(text);                            // quotes and escapes
//     json::string_size(text, json::escapes::ascii);      // U+00E9 as \u00e9
//     json::measure(text).replaced != 0;                  // it is not UTF-8
//
// Guarantees
//   1. Invalid UTF-8 has a defined size: each invalid part counts as U+FFFD. Such a part is the
//      longest beginning of a valid character, or else one byte. Browsers do the same, and so does
//      nlohmann-json with its error handler `replace`. To refuse invalid text, check `replaced`.
//   2. `fewest` escapes only as JSON requires: \" \\ \b \f \n \r \t, and \u00XX for other controls.
//   3. `ascii` also writes \uXXXX for each character that is not printable ASCII, DEL included, and
//      two of them above U+FFFF. Python's ensure_ascii does not escape DEL.
//   4. Encoders with more escapes ("/", "<", U+2028) have other sizes.
// Sources: RFC 8259, section 7, https://www.rfc-editor.org/rfc/rfc8259; the Unicode Standard,
// section 3.9, "Substitution of Maximal Subparts". Tested against nlohmann-json's dump() on random
// text, valid and invalid, in json.prop.cpp.

#ifndef WAYBILL_WIRE_JSON_TEXT_HPP
#define WAYBILL_WIRE_JSON_TEXT_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/detail/utf8_lead.hpp>

namespace waybill::inline v0_2::wire::json {

/// The characters that an encoder escapes.
enum class escapes : std::uint8_t {
    fewest,  ///< Only characters that JSON requires to be escaped.
    ascii,   ///< Also all characters that are not printable ASCII.
};

[[nodiscard]] constexpr std::string_view texts_of(escapes) noexcept
{
    return "fewest, ascii";
}

/// The size of a text between the quotes, in bytes.
struct measured {
    std::uint64_t bytes = 0;
    std::uint64_t replaced = 0;  ///< Number of parts that are not UTF-8; each counts as U+FFFD.

    friend bool operator==(const measured&, const measured&) = default;
};

namespace detail {

[[nodiscard]] constexpr std::uint64_t ascii_size(unsigned char c, escapes e) noexcept
{
    if (c == '"' || c == '\\') return 2;
    if (c >= 0x20U) return c == 0x7FU && e == escapes::ascii ? 6 : 1;
    return c == '\b' || c == '\t' || c == '\n' || c == '\f' || c == '\r' ? 2 : 6;
}

}  // namespace detail

/// Bytes of `text` between the quotes, and the number of replaced parts. Linear.
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
        waybill::detail::utf8_lead l = waybill::detail::utf8_lead_of(c);
        unsigned left = l.follow;
        for (; left != 0 && at != text.size(); --left, ++at) {
            const auto next = static_cast<unsigned char>(text[at]);
            if (next < l.lowest || next > l.highest) break;
            l = {l.follow};  // only the second byte has bounds of its own
        }
        const bool invalid = l.follow == 0 || left != 0;
        if (invalid) ++m.replaced;
        if (e == escapes::ascii) m.bytes += !invalid && l.follow == 3 ? 12U : 6U;
        else m.bytes += invalid ? 3U : l.follow + 1U;
    }
    return m;
}

/// Bytes of `text` as a JSON string, quotes included. Linear.
[[nodiscard]] constexpr std::uint64_t string_size(std::string_view text,
                                                  escapes e = escapes::fewest) noexcept
{
    return waybill::detail::saturating_add(2, json::measure(text, e).bytes);
}

}  // namespace waybill::inline v0_2::wire::json

#endif  // WAYBILL_WIRE_JSON_TEXT_HPP
