// SPDX-License-Identifier: MIT
//
// sequence_number: converts an event number of any integer or enumeration type to 64 bits.
//
// Many clients report a missing number as a negative value: -1, or an enumerator. Cast to an
// unsigned type, it would be one of the largest positions, and no event after it would be read.
// Negative numbers therefore convert to no value.

#ifndef WAYBILL_CORE_DETAIL_SEQUENCE_NUMBER_HPP
#define WAYBILL_CORE_DETAIL_SEQUENCE_NUMBER_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// Integers of any width, enumerations, and class types that convert to std::uint64_t. Not bool and
/// not floating point.
template <class N>
concept sequence_like = (std::is_enum_v<N> || std::convertible_to<const N&, std::uint64_t>) &&
                        !std::floating_point<N> && !std::same_as<N, bool>;

/// Returns no value if `n` is negative or needs more than 64 bits.
template <sequence_like N>
[[nodiscard]] constexpr std::optional<std::uint64_t> as_sequence(const N& n) noexcept
{
    if constexpr (std::is_enum_v<N>) {
        return as_sequence(static_cast<std::underlying_type_t<N>>(n));
    } else {
        if constexpr (!std::is_unsigned_v<N> && requires { n < 0; }) {
            if (n < 0) return std::nullopt;
        }
        if constexpr (!std::is_class_v<N> && sizeof(N) > sizeof(std::uint64_t)) {
            if (n > static_cast<N>(highest_size)) return std::nullopt;
        }
        return static_cast<std::uint64_t>(n);
    }
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_SEQUENCE_NUMBER_HPP
