// SPDX-License-Identifier: MIT
//
// sequence_number: a caller's number of an event, of whatever type it has, as ours or as none.
//
// What a client answers where it has no number is negative, an enumerator or -1 in a signed type.
// Taken for a position it would be one of the largest there are, and nothing would be read again.

#ifndef WAYBILL_CONSUME_SEQUENCE_NUMBER_HPP
#define WAYBILL_CONSUME_SEQUENCE_NUMBER_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// Integers of any width, enumerations, and types of one's own that convert to one.
template <class N>
concept sequence_like =
    (std::is_enum_v<N> || std::convertible_to<const N&, std::uint64_t>) &&
    !std::floating_point<N> && !std::same_as<N, bool>;

/// None where it is negative or needs more than 64 bits.
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

#endif  // WAYBILL_CONSUME_SEQUENCE_NUMBER_HPP
