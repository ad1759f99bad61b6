// SPDX-License-Identifier: MIT
//
// base64_text: bytes as characters that any text may hold, three bytes in four characters.
//
// The alphabet of RFC 4648, section 4, without the = at the end: it says nothing, and metadata is
// short of room. There is one way to write a text, and any other is not read.

#ifndef WAYBILL_CORE_BASE64_TEXT_HPP
#define WAYBILL_CORE_BASE64_TEXT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace waybill::inline v0_2 {

namespace detail {

inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace detail

/// How many bytes fit into so many characters, and how many characters hold so many bytes.
[[nodiscard]] constexpr std::uint64_t base64_bytes(std::uint64_t characters) noexcept
{
    return characters / 4 * 3 + characters % 4 * 3 / 4;
}
[[nodiscard]] constexpr std::uint64_t base64_characters(std::uint64_t bytes) noexcept
{
    const std::uint64_t rest = bytes % 3;
    return bytes / 3 * 4 + (rest == 0 ? 0 : rest + 1);
}

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
            text += detail::base64_digits[bits >> count & 63U];
        }
    }
    if (count != 0) text += detail::base64_digits[bits << (6 - count) & 63U];
    return text;
}

/// The bytes, or nothing where no bytes are written that way.
[[nodiscard]] inline std::optional<std::string> from_base64(std::string_view text)
{
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const std::string_view::size_type digit = detail::base64_digits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xFFU);
    }
    if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_BASE64_TEXT_HPP
