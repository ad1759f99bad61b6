// SPDX-License-Identifier: MIT
//
// base64_text: converts bytes to base64 text and back.
//
// Three bytes become four characters of the RFC 4648, section 4 alphabet. There is no padding (=):
// it carries no information, and metadata fields are small. Each byte string has exactly one
// encoding; any other text is refused.
//
// Cost: linear; at most one allocation for the result.

#ifndef WAYBILL_CORE_DETAIL_BASE64_TEXT_HPP
#define WAYBILL_CORE_DETAIL_BASE64_TEXT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/base64_digits.hpp>

namespace waybill::inline v0_2::detail {

/// The base64 text of `bytes`, without padding.
[[nodiscard]] inline std::string to_base64(std::string_view bytes)
{
    std::string text;
    text.reserve(base64_characters(bytes.size()));
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (count += 8; count >= 6;) {
            count -= 6;
            text += base64_digits[bits >> count & 63U];
        }
    }
    if (count != 0) text += base64_digits[bits << (6 - count) & 63U];
    return text;
}

/// The decoded bytes. Empty if the text is not an encoding that `to_base64` produces.
[[nodiscard]] inline std::optional<std::string> from_base64(std::string_view text)
{
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const std::string_view::size_type digit = base64_digits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xFFU);
    }
    // The last character may have bits that belong to no byte. They must be 0.
    if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_BASE64_TEXT_HPP
