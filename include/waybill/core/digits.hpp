// SPDX-License-Identifier: MIT
//
// digits: whole numbers in a field of a fixed width, and the number that a field is.
//
// A sign, a blank or an empty field is no number, and neither is one of more than 64 bits: what is
// read is what was written, or nothing.

#ifndef WAYBILL_CORE_DIGITS_HPP
#define WAYBILL_CORE_DIGITS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// Writes the last `digits` digits of the number, zeros in front, over what stands at `to`. `base`
/// is 10 or 16.
constexpr void put_digits(char* to, std::size_t digits, std::uint64_t n, std::uint64_t base = 10)
{
    for (; digits != 0; n /= base) to[--digits] = "0123456789abcdef"[n % base];
}

/// The number that all of it is, in digits as they are written above, zeros in front or none.
[[nodiscard]] constexpr std::optional<std::uint64_t> digits_in(std::string_view all,
                                                               std::uint64_t base = 10) noexcept
{
    std::uint64_t n = 0;
    const bool may_be_too_large = all.size() > 15;
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

#endif  // WAYBILL_CORE_DIGITS_HPP
