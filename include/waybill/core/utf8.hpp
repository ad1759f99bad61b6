// SPDX-License-Identifier: MIT
//
// utf8: checks whether a text is valid UTF-8.

#ifndef WAYBILL_CORE_UTF8_HPP
#define WAYBILL_CORE_UTF8_HPP

#include <cstddef>
#include <string_view>

namespace waybill::inline v0_2 {

/// True if `text` is valid UTF-8 as defined by RFC 3629: no overlong forms, no surrogates, no code
/// point above U+10FFFF. Linear.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned first = byte(i++);
        if (first < 0x80) continue;
        if (first < 0xC2 || first > 0xF4) return false;
        const std::size_t more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        if (text.size() - i < more) return false;
        // The second byte shows overlong forms, surrogates and values above U+10FFFF.
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

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_UTF8_HPP
