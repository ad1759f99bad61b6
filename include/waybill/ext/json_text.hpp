// SPDX-License-Identifier: MIT
//
// ext/json_text: bytes as JSON text, whatever they are.
//
// A JSON string is UTF-8, and a library that writes one throws at anything else. Bytes from
// a broker may be anything. So each text is written as it is where it can be, and as base64 under
// another name where it cannot.

#ifndef WAYBILL_EXT_JSON_TEXT_HPP
#define WAYBILL_EXT_JSON_TEXT_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/base64_text.hpp>

namespace waybill::inline v0_1 {

/// Whether all of `text` is UTF-8 as RFC 3629 has it: nothing overlong, no surrogates, none beyond
/// U+10FFFF.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned first = byte(i++);
        if (first < 0x80) continue;
        if (first < 0xC2 || first > 0xF4) return false;
        const std::size_t more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        if (text.size() - i < more) return false;
        // The first of them tells overlong forms, surrogates and what is too large.
        const unsigned second = byte(i);
        const unsigned lowest = first == 0xE0 ? 0xA0U : first == 0xF0 ? 0x90U : 0x80U;
        const unsigned highest = first == 0xED ? 0x9FU : first == 0xF4 ? 0x8FU : 0xBFU;
        if (second < lowest || second > highest) return false;
        for (std::size_t k = 1; k < more; ++k) {
            if ((byte(i + k) & 0xC0U) != 0x80U) return false;
        }
        i += more;
    }
    return true;
}

/// RFC 4648, with padding.
[[nodiscard]] inline std::string base64(std::string_view bytes)
{
    std::string written = to_base64(bytes);
    while (written.size() % 4 != 0) written += '=';
    return written;
}

/// The bytes that `written` stands for; empty if it is not base64, or could not come from `base64`.
[[nodiscard]] inline std::optional<std::string> bytes_in_base64(std::string_view written)
{
    if (written.size() % 4 != 0) return {};
    for (int padding = 0; padding != 2 && written.ends_with('='); ++padding) {
        written.remove_suffix(1);
    }
    return from_base64(written);
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_EXT_JSON_TEXT_HPP
