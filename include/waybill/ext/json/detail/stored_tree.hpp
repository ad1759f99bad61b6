// SPDX-License-Identifier: MIT
//
// ext/json/detail/stored_tree: parses stored bytes (JSON text or CBOR) as a JSON value.
//
// The parser of parse.hpp does not throw. It refuses duplicate names and more than
// `max_state_depth` levels, because nlohmann's library recurses once per level when it writes JSON
// or reads CBOR. A CBOR string of indefinite length directly inside another one is refused before
// parsing, because the parser recurses for each.
//
// `exception_text_of` calls functions that may throw: conversions between JSON and the user's type.

#ifndef WAYBILL_EXT_JSON_DETAIL_STORED_TREE_HPP
#define WAYBILL_EXT_JSON_DETAIL_STORED_TREE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/detail/progress_member.hpp>
#include <waybill/ext/json/parse.hpp>
#include <waybill/session/detail/progress_text.hpp>

namespace waybill::inline v0_2::detail {

/// Position, counted from 1, of a CBOR string of indefinite length directly inside another one,
/// which RFC 8949, 3.2.3 forbids. 0 if there is none before the first invalid head.
[[nodiscard]] constexpr std::size_t nested_string_at(std::string_view cbor) noexcept
{
    constexpr char indefinite_bytes = '\x5F';
    constexpr char indefinite_text = '\x7F';
    constexpr unsigned break_code = 0xFF;  // ends an item of indefinite length
    // Most states do not contain the heads of such strings, not even inside a text or a number.
    if (cbor.find(indefinite_text) == cbor.npos && cbor.find(indefinite_bytes) == cbor.npos)
        return 0;
    bool inside = false;
    for (std::size_t at = 0; at < cbor.size();) {
        const unsigned head = static_cast<unsigned char>(cbor[at++]);
        const bool is_string = (head & 0xC0U) == 0x40U;  // text or bytes
        // Low bits: a value below 24; 24 to 27: a value of 1 to 8 bytes; 31: indefinite length.
        const unsigned low = head & 0x1FU;
        if (low == 31) {
            if (is_string && inside) return at;
            if (is_string) inside = true;
            if (head == break_code) inside = false;
            continue;
        }
        if (low > 27) return 0;
        const std::size_t width = low < 24 ? 0 : std::size_t{1} << (low - 24);
        if (cbor.size() - at < width) return 0;
        std::uint64_t length = is_string && width == 0 ? low : 0;
        for (std::size_t n = 0; is_string && n != width; ++n) {
            length = length << 8U | static_cast<unsigned char>(cbor[at + n]);
        }
        at += width;
        if (length > cbor.size() - at) return 0;
        at += length;
    }
    return 0;
}

/// Parses all bytes as one value. The caller limits the number of bytes.
template <json_value Json>
[[nodiscard]] tree_builder<Json> tree_of(std::string_view bytes, bool cbor)
{
    using format = typename Json::input_format_t;
    tree_builder<Json> tree({.max_depth = max_state_depth, .max_members = highest_size});
    if (cbor) tree.error_position = nested_string_at(bytes);
    if (tree.error_position != 0) tree.problem = tree_problem::syntax;
    else build(tree, bytes, cbor ? format::cbor : format::json);
    return tree;
}

/// `text` for a log: one line, in UTF-8. A name or the text of an exception may contain any bytes.
/// Control characters are escaped; backslashes are not doubled.
[[nodiscard]] inline std::string as_one_line(std::string_view text)
{
    const std::string valid = is_utf8(text) ? std::string(text) : replace_invalid_utf8(text);
    std::string line;
    line.reserve(valid.size());
    for (const char c : valid) {
        if (c == '\\' || escaped_size(c) == 1) line += c;
        else append_escaped(line, std::string_view(&c, 1));
    }
    return line;
}

#ifdef __cpp_exceptions
inline constexpr bool can_throw = true;
#else
inline constexpr bool can_throw = false;
#endif

/// Calls `call` and returns the text of its exception, at most 300 bytes before control characters
/// are escaped; empty if it did not throw. std::bad_alloc is rethrown. If exceptions are
/// disabled, a throwing `call` ends the program.
template <class F>
[[nodiscard]] std::optional<std::string> exception_text_of(F&& call)
{
#ifdef __cpp_exceptions
    try {
        call();
        return std::nullopt;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& e) {
        constexpr std::size_t max_text_bytes = 300;
        const char* what = e.what();
        return as_one_line(utf8_prefix(what ? what : "", max_text_bytes));
    } catch (...) {
        return "an exception that is not a std::exception";
    }
#else
    call();
    return std::nullopt;
#endif
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_STORED_TREE_HPP
