// SPDX-License-Identifier: MIT
//
// ext/json/detail/path: the path and a short form of a JSON value, for errors; whole numbers.

#ifndef WAYBILL_EXT_JSON_DETAIL_PATH_HPP
#define WAYBILL_EXT_JSON_DETAIL_PATH_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/text.hpp>
#include <waybill/ext/json/detail/json_value.hpp>

namespace waybill::inline v0_2::detail {

/// A short form of a value for an error, in ASCII. An object or array is only named, not written.
template <json_value Json>
[[nodiscard]] std::string shown(const Json& v)
{
    if (v.is_object()) return "an object";
    if (v.is_array()) return "an array";
    if (v.is_binary() || v.is_discarded()) return "no JSON value";
    const auto written = [](const Json& value) {
        constexpr int one_line = -1;
        constexpr bool ascii_only = true;
        return value.dump(one_line, ' ', ascii_only, Json::error_handler_t::replace);
    };
    if (const auto* s = v.template get_ptr<const std::string*>()) {
        constexpr std::size_t max_bytes = 60;
        const Json prefix(std::string(utf8_prefix(*s, max_bytes)));
        return written(prefix) + (s->size() > max_bytes ? "..." : "");
    }
    return written(v);
}

/// Maximum size of a path segment in bytes, before it is escaped. Escaping at most doubles it.
inline constexpr std::size_t max_segment_bytes = 60;
/// Maximum size of an error's path in bytes. Half of it holds any segment.
inline constexpr std::size_t max_path_bytes = 300;

/// The first and the last segments of a path that is too long, with "/..." between them. If the
/// path was shortened before, the result still contains only one "/...".
[[nodiscard]] inline std::string shortened_path(std::string path)
{
    if (path.size() <= max_path_bytes) return path;
    constexpr std::string_view gap = "/...";
    constexpr std::string_view gap_before_segment = "/.../";
    constexpr std::size_t half = (max_path_bytes - gap.size()) / 2;
    const std::size_t head = lesser(path.rfind('/', half), path.find(gap_before_segment));
    std::size_t tail = lesser(path.find('/', path.size() - half), path.size());
    const std::size_t last_gap = path.rfind(gap_before_segment);
    if (last_gap != path.npos) tail = greater(tail, last_gap + gap.size());
    return path.substr(0, head).append(gap).append(path, tail);
}

/// `path` with one more segment: at most its first `max_segment_bytes`, escaped as in RFC 6901.
[[nodiscard]] inline std::string path_to(std::string_view path, std::string_view segment)
{
    std::string extended(path);
    extended += '/';
    for (const char c : utf8_prefix(segment, max_segment_bytes)) {
        if (c == '~') extended += "~0";
        else if (c == '/') extended += "~1";
        else extended += c;
    }
    return shortened_path(std::move(extended));
}

/// The value as a whole number in [0, 2^64); empty for any other value.
template <json_value Json>
[[nodiscard]] std::optional<std::uint64_t> whole_number(const Json& v)
{
    if (const auto* n = v.template get_ptr<const typename Json::number_unsigned_t*>()) return *n;
    if (const auto* n = v.template get_ptr<const typename Json::number_integer_t*>()) {
        if (*n >= 0) return as_size(*n);
    }
    return {};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_PATH_HPP
