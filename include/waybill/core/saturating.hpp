// SPDX-License-Identifier: MIT
//
// saturating: sums of sizes and counts that stop where they would wrap.
//
// A size that wraps around reads as small, and a message that is too large then reads as one that
// fits. So all sizes and counts are 64 bits without a sign, and what would leave them stays at the
// end that it ran into:
//
//     waybill::saturating_add(sum, waybill::as_size(item.length()))   // of whatever type it is
//
// What stands at the largest value is therefore not known any more, only that it is too large.

#ifndef WAYBILL_CORE_SATURATING_HPP
#define WAYBILL_CORE_SATURATING_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace waybill::inline v0_2 {

/// Any integer that can say how large or how many; a bool answers another question.
template <class N>
concept countable = std::integral<N> && !std::same_as<std::remove_cv_t<N>, bool>;

/// The largest value of a size or a count, where sums stop.
inline constexpr std::uint64_t highest_size = ~std::uint64_t{0};

/// a + b, or the largest value.
[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept
{
    return a > highest_size - b ? highest_size : a + b;
}

/// a - b, or 0.
[[nodiscard]] constexpr std::uint64_t saturating_sub(std::uint64_t a, std::uint64_t b) noexcept
{
    return a > b ? a - b : 0;
}

/// a * b, or the largest value.
[[nodiscard]] constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) noexcept
{
    return b != 0 && a > highest_size / b ? highest_size : a * b;
}

/// The smaller of two.
[[nodiscard]] constexpr std::uint64_t lesser(std::uint64_t a, std::uint64_t b) noexcept
{
    return b < a ? b : a;
}

/// The larger of two.
[[nodiscard]] constexpr std::uint64_t greater(std::uint64_t a, std::uint64_t b) noexcept
{
    return a < b ? b : a;
}

/// What a caller's integer says as a size. A negative one reads as the largest value, never as
/// small, since it is mostly an error code or a length that has wrapped; so does one that is wider
/// than 64 bits and needs them.
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

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_SATURATING_HPP
