// SPDX-License-Identifier: MIT
//
// ext/json_tree: stored bytes as a JSON value, of JSON text or of CBOR, whatever they are.
//
// Nothing here throws. json_parse.hpp makes the value. It refuses a name that an object has twice,
// and more than `deepest_state` levels, because nlohmann's library recurses once a level when it
// writes JSON or reads CBOR. A CBOR text of indefinite length within another one is refused before
// the parser sees it, because the parser recurses for each.
//
// `tried` is how what throws by itself is called: the way from a JSON value to a user's type.

#ifndef WAYBILL_EXT_JSON_TREE_HPP
#define WAYBILL_EXT_JSON_TREE_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/core/text.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/ext/json_parse.hpp>
#include <waybill/ext/json_progress.hpp>
#include <waybill/session/progress_text.hpp>

namespace waybill::inline v0_2 {

/// So many objects and arrays may a stored state have in one another.
inline constexpr std::size_t deepest_state = 256;

namespace detail {

/// Where a text of indefinite length, or such bytes, stand directly in others, from 1 on: what CBOR
/// forbids (RFC 8949, 3.2.3). 0 where they do not up to the first head that is none.
[[nodiscard]] constexpr std::size_t nested_string_at(std::string_view cbor) noexcept
{
    // Most states have neither of the heads of such strings, not even in a text or a number.
    if (cbor.find('\x7F') == cbor.npos && cbor.find('\x5F') == cbor.npos) return 0;
    bool inside = false;
    for (std::size_t at = 0; at < cbor.size();) {
        const unsigned head = static_cast<unsigned char>(cbor[at++]);
        const bool is_string = (head & 0xC0U) == 0x40U;  // of characters or of bytes
        const unsigned low = head & 0x1FU;
        if (low == 31) {
            if (is_string && inside) return at;
            if (is_string) inside = true;
            if (head == 0xFF) inside = false;
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

/// Parses all of these bytes as one value. The caller limits their number.
[[nodiscard]] inline tree_builder tree_of(std::string_view bytes, bool cbor)
{
    using format = nlohmann::json::input_format_t;
    tree_builder tree({.max_depth = deepest_state, .max_members = highest_size});
    if (cbor) tree.at = nested_string_at(bytes);
    if (tree.at != 0) tree.problem = tree_problem::syntax;
    else build(tree, bytes, cbor ? format::cbor : format::json);
    return tree;
}

/// As a log can have it, in one line and in UTF-8: a name may hold anything, and so may what others
/// throw.
[[nodiscard]] inline std::string in_line(std::string_view text)
{
    const std::string made = is_utf8(text) ? std::string(text) : made_utf8(text);
    std::string line;
    line.reserve(made.size());
    for (const char c : made) {
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

/// What `call` threw, in its own words; empty if it did not. What an allocator throws passes. Where
/// there are no exceptions it is simply called, and ends the program as it has been told to.
template <class F>
[[nodiscard]] std::optional<std::string> tried(F&& call)
{
#ifdef __cpp_exceptions
    try {
        call();
        return std::nullopt;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& e) {
        const char* what = e.what();
        return in_line(utf8_prefix(what ? what : "", 300));
    } catch (...) {
        return "an exception that is not a std::exception";
    }
#else
    call();
    return std::nullopt;
#endif
}

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_TREE_HPP
