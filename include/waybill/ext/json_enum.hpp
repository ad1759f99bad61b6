// SPDX-License-Identifier: MIT
//
// ext/json_enum: enums as JSON strings, by their names. nlohmann's library alone would write
// numbers, whose meaning changes when an enumerator is added.

#ifndef WAYBILL_EXT_JSON_ENUM_HPP
#define WAYBILL_EXT_JSON_ENUM_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The enumerator with this name; empty if there is none.
template <named_enum E>
[[nodiscard]] constexpr std::optional<E> named(std::string_view text)
{
    std::size_t value = 0;
    for (const std::string_view known : detail::texts<E>.text) {
        if (known == text) return static_cast<E>(value);
        ++value;
    }
    return {};
}

/// All names of an enum, as in "none, equal or full".
template <named_enum E>
[[nodiscard]] std::string names()
{
    std::string list;
    std::size_t left = std::size(detail::texts<E>.text);
    for (const std::string_view text : detail::texts<E>.text) {
        list.append(text).append(left > 2 ? ", " : left == 2 ? " or " : "");
        --left;
    }
    return list;
}

}  // namespace waybill::inline v0_2

/// Writes an enumerator as its name. `get<E>()` does not compile: nlohmann's own function would accept
/// any number, even one without an enumerator. `read_json` reads enums.
template <waybill::named_enum E>
struct nlohmann::adl_serializer<E> {
    template <class Json>
    static void to_json(Json& j, E e)
    {
        j = waybill::name(e);
    }
    template <class Json>
    static void from_json(const Json&, E&) = delete;
};

#endif  // WAYBILL_EXT_JSON_ENUM_HPP
