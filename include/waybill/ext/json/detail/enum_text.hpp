// SPDX-License-Identifier: MIT
//
// ext/json/detail/enum_text: enums as JSON strings, by their names. nlohmann's library alone would
// write numbers, whose meaning changes when an enumerator is added.

#ifndef WAYBILL_EXT_JSON_DETAIL_ENUM_TEXT_HPP
#define WAYBILL_EXT_JSON_DETAIL_ENUM_TEXT_HPP

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2::detail {

/// The enumerator with this name; empty if there is none.
template <detail::named_enum E>
[[nodiscard]] constexpr std::optional<E> named(std::string_view text)
{
    std::size_t value = 0;
    for (const std::string_view known : texts<E>.text) {
        if (known == text) return static_cast<E>(value);
        ++value;
    }
    return {};
}

/// All names of an enum, as in "none, equal or full".
template <detail::named_enum E>
[[nodiscard]] std::string names()
{
    std::string list;
    std::size_t left = std::size(texts<E>.text);
    for (const std::string_view text : texts<E>.text) {
        list.append(text).append(left > 2 ? ", " : left == 2 ? " or " : "");
        --left;
    }
    return list;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_ENUM_TEXT_HPP
