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
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

namespace detail {

inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace detail

/// RFC 4648, with padding.
[[nodiscard]] inline std::string base64(std::string_view bytes)
{
    std::string written;
    written.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const bool there = i + k < bytes.size();
            group = group << 8U | (there ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            const bool there = i + k < bytes.size() + 1;
            const std::size_t digit = group >> (18U - 6U * k) & 63U;
            written += there ? detail::base64_digits[digit] : '=';
        }
    }
    return written;
}

/// The bytes that `written` stands for; empty if it is not base64, or could not come from `base64`.
[[nodiscard]] inline std::optional<std::string> bytes_in_base64(std::string_view written)
{
    if (written.size() % 4 != 0) return {};
    std::string bytes;
    bytes.reserve(written.size() / 4 * 3);
    for (std::size_t i = 0; i < written.size(); i += 4) {
        const bool last = i + 4 == written.size();
        std::size_t padding = 0;
        if (last && written[i + 3] == '=') padding = written[i + 2] == '=' ? 2 : 1;
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            std::size_t digit = 0;
            if (k < 4 - padding) {
                digit = detail::base64_digits.find(written[i + k]);
                if (digit == std::string_view::npos) return {};
            }
            group = group << 6U | static_cast<std::uint32_t>(digit);
        }
        for (std::size_t k = 0; k < 3 - padding; ++k) {
            bytes += static_cast<char>(static_cast<unsigned char>(group >> (16U - 8U * k)));
        }
        // Bits that stand for no byte are zero, so that there is one way to write each.
        if (padding != 0 && (group & (padding == 1 ? 0xFFU : 0xFFFFU)) != 0) return {};
    }
    return bytes;
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_EXT_JSON_TEXT_HPP
