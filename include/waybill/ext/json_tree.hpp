// SPDX-License-Identifier: MIT
//
// ext/json_tree: stored bytes as a JSON value, of JSON text or of CBOR, whatever they are.
//
// Nothing here throws. A name that an object has twice is refused, since one of the two would be
// lost; and so is what is nested deeper than anybody nests a state: who writes JSON calls itself
// for each level, and some bytes that say "an array of an array of" would end the program. Two
// things are refused before the parser sees them: a NUL in JSON, behind which it would not look,
// and in CBOR a text of indefinite length in another one, for each of which it would call itself.
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
#include <waybill/ext/json_progress.hpp>
#include <waybill/session/progress_text.hpp>

namespace waybill::inline v0_1 {

/// So many objects and arrays may a stored state have in one another.
inline constexpr std::size_t deepest_state = 256;

namespace detail {

enum class tree_problem : std::uint8_t { none, syntax, too_deep, duplicate };

/// What a parser sees becomes a value.
class tree_builder {
public:
    using json = nlohmann::json;

    tree_builder() { open_.reserve(8); }

    json root{};
    tree_problem problem = tree_problem::none;
    std::size_t at = 0;   ///< The byte that was wrong, from 1 on.
    std::string twice{};  ///< The name that an object has twice.

    bool null() { return put(nullptr); }
    bool boolean(bool b) { return put(b); }
    bool number_integer(json::number_integer_t n) { return put(n); }
    bool number_unsigned(json::number_unsigned_t n) { return put(n); }
    bool number_float(json::number_float_t x, const json::string_t&) { return put(x); }
    // Copied: the parser keeps its own for the next one, which would have to grow again.
    bool string(json::string_t& s) { return put(std::as_const(s)); }
    bool binary(json::binary_t& b) { return put(json::binary(std::move(b))); }
    bool start_object(std::size_t) { return open(json::value_t::object); }
    bool start_array(std::size_t) { return open(json::value_t::array); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(const json::string_t& name)
    {
        // What was written here has its names in order: each belongs at the end.
        json::object_t& members = *open_.back()->get_ptr<json::object_t*>();
        const std::size_t before = members.size();
        value_ = &members.emplace_hint(members.end(), name, nullptr)->second;
        if (members.size() == before) {
            problem = tree_problem::duplicate;
            twice = name;
            return false;
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const json::exception&)
    {
        problem = tree_problem::syntax;
        at = position;
        return false;
    }

private:
    template <class V>
    bool put(V&& value)
    {
        place(std::forward<V>(value));
        return true;
    }

    template <class V>
    json& place(V&& value)
    {
        if (open_.empty()) return root = json(std::forward<V>(value));
        if (open_.back()->is_array()) return open_.back()->emplace_back(std::forward<V>(value));
        return *value_ = json(std::forward<V>(value));
    }

    bool open(json::value_t kind)
    {
        if (open_.size() == deepest_state) {
            problem = tree_problem::too_deep;
            return false;
        }
        open_.push_back(&place(kind));
        return true;
    }

    bool close()
    {
#if JSON_DIAGNOSTICS  // then a value has to know what it is in, and learns it by being moved
        json all = std::move(*open_.back());
        *open_.back() = std::move(all);
#endif
        open_.pop_back();
        return true;
    }

    std::vector<json*> open_;  // what is not closed yet, each in the one before
    json* value_ = nullptr;    // where the value of the name that was read last belongs
};

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

/// The value that these bytes are, and nothing behind it.
[[nodiscard]] inline tree_builder tree_of(std::string_view bytes, bool cbor)
{
    using format = nlohmann::json::input_format_t;
    tree_builder tree;
    tree.at = cbor ? nested_string_at(bytes) : bytes.find('\0') + 1;  // at 0 where there is none
    if (tree.at != 0) {
        tree.problem = tree_problem::syntax;
        return tree;
    }
    const format f = cbor ? format::cbor : format::json;
    const bool all = nlohmann::json::sax_parse(bytes.data(), bytes.data() + bytes.size(), &tree, f);
    if (!all && tree.problem == tree_problem::none) tree.problem = tree_problem::syntax;
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

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_EXT_JSON_TREE_HPP
