// SPDX-License-Identifier: MIT
//
// base64_digits: the base64 alphabet, and the lengths of encoded and decoded text.

#ifndef WAYBILL_CORE_DETAIL_BASE64_DIGITS_HPP
#define WAYBILL_CORE_DETAIL_BASE64_DIGITS_HPP

#include <cstdint>
#include <string_view>

namespace waybill::inline v0_2::detail {

inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The number of bytes that n base64 characters encode.
[[nodiscard]] constexpr std::uint64_t base64_bytes(std::uint64_t characters) noexcept
{
    return characters / 4 * 3 + characters % 4 * 3 / 4;
}
/// The number of base64 characters for n bytes, without padding.
[[nodiscard]] constexpr std::uint64_t base64_characters(std::uint64_t bytes) noexcept
{
    const std::uint64_t rest = bytes % 3;
    return bytes / 3 * 4 + (rest == 0 ? 0 : rest + 1);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_BASE64_DIGITS_HPP
