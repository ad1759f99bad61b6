// SPDX-License-Identifier: MIT
//
// ext/json/parse: parses JSON text without exceptions, in linear time and within limits.
//
//     auto value = waybill::parse_json_text(text, {.max_bytes = 65'536});
//     if (!value) die(waybill::describe(value.error()));
//     // "/orders/17/id: expected this name once, found it twice"
//
// Guarantees
//   1. A duplicate name in an object is an error, since one of the two values would be lost.
//   2. Text that exceeds a limit is an error before memory is allocated for the excess.
//   3. Text that is not JSON is reported with line and column, even after a duplicate name. A NUL
//      is not JSON, although nlohmann's parser takes it as the end of the text.
//
// Cost: the time of `nlohmann::json::parse` without a callback (bench/json_parse.cpp). With a
// callback, nlohmann's function visits all members of a container after each object in it.

#ifndef WAYBILL_EXT_JSON_PARSE_HPP
#define WAYBILL_EXT_JSON_PARSE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/result.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/detail/tree_builder.hpp>
#include <waybill/ext/json/limits.hpp>
#include <waybill/ext/json/read.hpp>

namespace waybill::inline v0_2 {

/// Parses `text` as one JSON value. Linear in the size of `text`, also for an error. The objects of
/// Json are sorted maps: `nlohmann::ordered_json` is not accepted.
template <detail::json_value Json = nlohmann::json>
[[nodiscard]] result<Json, json_error> parse_json_text(std::string_view text,
                                                       const json_limits& allowed = {})
{
    if (text.size() > allowed.max_bytes) {
        return unexpected(detail::limit_error({}, allowed.max_bytes, "bytes", "max_bytes",
                                              std::to_string(text.size())));
    }
    detail::tree_builder<Json> tree(allowed);
    detail::build(tree, text, Json::input_format_t::json);
    if (tree.problem == detail::tree_problem::none) return std::move(tree.root);
    return unexpected(detail::error_of(tree, text, allowed));
}

/// Parses `text` within `allowed` and reads a T. An object with a duplicate name is an error.
template <class T, detail::json_value Json = nlohmann::json>
    requires detail::json_readable<T, Json>
[[nodiscard]] result<T, json_error> parse_json(std::string_view text,
                                               const json_limits& allowed = {})
{
    result<Json, json_error> parsed = parse_json_text<Json>(text, allowed);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_json<T>(*parsed);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_PARSE_HPP
