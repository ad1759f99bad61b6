// SPDX-License-Identifier: MIT
//
// digits: writes unsigned integers to fields of fixed width, and reads them.
//
// A sign, a space, an empty field or a value of more than 64 bits is refused.

#ifndef WAYBILL_CORE_DETAIL_DIGITS_HPP
#define WAYBILL_CORE_DETAIL_DIGITS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// Writes the last `digits` digits of n to `to`, with leading zeros. `base` is 10 or 16.
constexpr void put_digits(char* to, std::size_t digits, std::uint64_t n, std::uint64_t base = 10)
{
    for (; digits != 0; n /= base) to[--digits] = "0123456789abcdef"[n % base];
}

/// The value of `all`, which must consist of digits only (a to f in lower case). Leading zeros are
/// allowed. Empty if `all` is empty, has another character or exceeds 64 bits.
[[nodiscard]] constexpr std::optional<std::uint64_t> digits_in(std::string_view all,
                                                               std::uint64_t base = 10) noexcept
{
    std::uint64_t n = 0;
    constexpr std::size_t always_fit = 15;  // 15 digits of base 16 have 60 bits
    const bool may_be_too_large = all.size() > always_fit;
    for (const char c : all) {
        std::uint64_t digit = base;
        if (c >= '0' && c <= '9') digit = static_cast<std::uint64_t>(c - '0');
        if (c >= 'a' && c <= 'f') digit = static_cast<std::uint64_t>(c - 'a') + 10;
        if (digit >= base) return std::nullopt;
        if (may_be_too_large && n > (highest_size - digit) / base) return std::nullopt;
        n = n * base + digit;
    }
    if (all.empty()) return std::nullopt;
    return n;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_DIGITS_HPP
