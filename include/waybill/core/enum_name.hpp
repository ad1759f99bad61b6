// SPDX-License-Identifier: MIT
//
// enum_name: the text of an enumerator, for logs and stored data.
//
//     waybill::name(waybill::item_outcome::in_doubt)     // "in_doubt"
//
// Beside each enum is a function `texts_of` with the texts of its enumerators: their C++ names, or
// the symbols of scaling::relation.
//
// Cost: one comparison and one load; the texts are split at compile time.

#ifndef WAYBILL_CORE_ENUM_NAME_HPP
#define WAYBILL_CORE_ENUM_NAME_HPP

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <waybill/core/detail/enum_texts.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// An enum with a function `texts_of(e)`. The function returns the texts of all enumerators, in the
/// order of their values, separated by a comma and a blank. The values begin with 0 and have no
/// gaps.
template <class E>
concept named_enum = std::is_enum_v<E> && requires(E e) {
    { texts_of(e) } -> std::same_as<std::string_view>;
};

/// The texts of all enumerators.
template <detail::named_enum E>
inline constexpr auto texts = split_texts<count_texts(texts_of(E{}))>(texts_of(E{}));

}  // namespace detail

/// The text of an enumerator; "?" for any other value.
template <detail::named_enum E>
[[nodiscard]] constexpr std::string_view name(E e) noexcept
{
    const auto value = static_cast<std::size_t>(e);
    return value < std::size(detail::texts<E>.text) ? detail::texts<E>.text[value] : "?";
}

namespace detail {
using v0_2::name;  // for enums in this namespace
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_ENUM_NAME_HPP
