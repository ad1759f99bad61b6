// SPDX-License-Identifier: MIT
//
// saturating: sums of sizes and counts that stop at the limits instead of wrapping.
//
//     detail::saturating_add(sum, detail::as_size(item.length()))   // of any integer type
//
// If a size wraps around, it appears small, and an oversized message appears to fit. Therefore all
// sizes and counts are unsigned 64-bit integers, and results outside that range are clamped to it.
// So the largest value, `highest_size`, means "too large"; the exact number is unknown.

#ifndef WAYBILL_CORE_DETAIL_SATURATING_HPP
#define WAYBILL_CORE_DETAIL_SATURATING_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace waybill::inline v0_2::detail {

/// Any integer type except bool.
template <class N>
concept countable = std::integral<N> && !std::same_as<std::remove_cv_t<N>, bool>;

/// The largest size or count; sums stop there.
inline constexpr std::uint64_t highest_size = ~std::uint64_t{0};

/// a + b, at most `highest_size`.
[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept
{
    return a > highest_size - b ? highest_size : a + b;
}

/// a - b, at least 0.
[[nodiscard]] constexpr std::uint64_t saturating_sub(std::uint64_t a, std::uint64_t b) noexcept
{
    return a > b ? a - b : 0;
}

/// a * b, at most `highest_size`.
[[nodiscard]] constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) noexcept
{
    return b != 0 && a > highest_size / b ? highest_size : a * b;
}

[[nodiscard]] constexpr std::uint64_t lesser(std::uint64_t a, std::uint64_t b) noexcept
{
    return b < a ? b : a;
}

[[nodiscard]] constexpr std::uint64_t greater(std::uint64_t a, std::uint64_t b) noexcept
{
    return a < b ? b : a;
}

/// Converts any integer to a size. Negative values and values of more than 64 bits become
/// `highest_size`: a negative size is usually an error code or a length that has wrapped.
template <countable N>
[[nodiscard]] constexpr std::uint64_t as_size(N n) noexcept
{
    if constexpr (std::is_signed_v<N>) {
        if (n < 0) return highest_size;
    }
    if constexpr (sizeof(N) > sizeof(std::uint64_t)) {
        if (n > static_cast<N>(highest_size)) return highest_size;
    }
    return static_cast<std::uint64_t>(n);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_SATURATING_HPP
