// SPDX-License-Identifier: MIT
//
// ext/json/detail/json_value: the JSON types that the functions of ext/json accept, and texts and
// sizes as JSON.

#ifndef WAYBILL_EXT_JSON_DETAIL_JSON_VALUE_HPP
#define WAYBILL_EXT_JSON_DETAIL_JSON_VALUE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/batch_limits.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/ext/json/detail/base64.hpp>

namespace waybill::inline v0_2::detail {

/// Maximum nesting depth of objects and arrays in a stored state.
inline constexpr std::size_t max_state_depth = 256;

/// A specialisation of `nlohmann::basic_json` with std::string texts, such as nlohmann::json or
/// nlohmann::ordered_json.
template <class T>
concept json_value = std::same_as<typename T::string_t, std::string> &&
                     std::same_as<typename T::value_t, nlohmann::json::value_t>;

/// A size or a limit, written as a number or as "unlimited".
struct written_size {
    std::uint64_t size;
};

template <json_value Json>
void to_json(Json& j, const written_size& s)
{
    if (s.size == unlimited) j = "unlimited";
    else j = s.size;
}

[[nodiscard]] constexpr written_size size_or_unlimited(std::uint64_t size) noexcept
{
    return {size};
}

/// Writes UTF-8 under `field`, and other bytes as base64 under `field` with "_base64" appended.
template <json_value Json>
void put_text(Json& j, std::string_view field, const std::string& value)
{
    if (is_utf8(value)) j[std::string(field)] = value;
    else j[std::string(field) + "_base64"] = base64(value);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_JSON_VALUE_HPP
