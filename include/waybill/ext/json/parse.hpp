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
// callback that function visits all members of a container after each object in it.

#ifndef WAYBILL_EXT_JSON_PARSE_HPP
#define WAYBILL_EXT_JSON_PARSE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/core/result.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/detail/tree_builder.hpp>
#include <waybill/ext/json/limits.hpp>
#include <waybill/ext/json/read.hpp>

namespace waybill::inline v0_2 {

/// Limits of a JSON text. The parsed value takes at most 200 bytes of memory per member or element,
/// plus the bytes of its strings. Set lower limits for text of unknown origin.
struct json_limits {
    /// Nested objects and arrays. nlohmann's library recurses once per level to copy or write a
    /// value.
    std::uint64_t max_depth = 256;
    std::uint64_t max_members = 4'194'304;  ///< Members and elements of all objects and arrays.
    std::uint64_t max_bytes = 67'108'864;   ///< Bytes of the text.

    friend bool operator==(const json_limits&, const json_limits&) = default;
};

namespace detail {

enum class tree_problem : std::uint8_t { none, syntax, too_deep, too_many, duplicate };

/// Builds a value from a parser's events. A duplicate name replaces the earlier value, and parsing
/// continues; a later syntax error is reported instead of the duplicate.
template <json_value Json>
class tree_builder {
    static_assert(requires(typename Json::object_t& o) { o.emplace_hint(o.end(), "", nullptr); },
                  "objects are sorted maps: ordered_json finds a name by visiting all others");

public:
    using json = Json;

    explicit tree_builder(const json_limits& limits) : limits_(limits) { open_.reserve(8); }

    json root{};
    tree_problem problem = tree_problem::none;
    std::size_t at = 0;   ///< The byte of a syntax error, counted from 1.
    std::string path{};   ///< The path of any other problem.
    std::string twice{};  ///< The first duplicate name.

    bool null() { return place(nullptr); }
    bool boolean(bool b) { return place(b); }
    bool number_integer(typename json::number_integer_t n) { return place(n); }
    bool number_unsigned(typename json::number_unsigned_t n) { return place(n); }
    bool number_float(typename json::number_float_t x, const std::string&) { return place(x); }
    // Copied: a move would take the parser's buffer, which would have to grow again for each
    // string.
    bool string(std::string& s) { return place(std::as_const(s)); }
    bool binary(typename json::binary_t& b) { return place(json::binary(std::move(b))); }
    bool start_object(std::size_t) { return open(json::value_t::object); }
    bool start_array(std::size_t) { return open(json::value_t::array); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(const std::string& name)
    {
        if (members_ == limits_.max_members) return stop(tree_problem::too_many, name);
        ++members_;
        // nlohmann's library writes names in order, so most names belong at the end.
        auto& members = *open_.back()->template get_ptr<typename json::object_t*>();
        const std::size_t before = members.size();
        value_ = &members.emplace_hint(members.end(), name, nullptr)->second;
        if (members.size() == before && problem == tree_problem::none) {
            stop(tree_problem::duplicate, name);
            twice = name;
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const typename json::exception&)
    {
        problem = tree_problem::syntax;
        at = position;
        return false;
    }

private:
    /// Returns false if `max_members` is reached. A member of an object is counted with its name.
    template <class V>
    bool place(V&& value)
    {
        if (open_.empty()) {
            last_ = &(root = json(std::forward<V>(value)));
        } else if (auto* all = open_.back()->template get_ptr<typename json::array_t*>()) {
            if (members_ == limits_.max_members) return stop(tree_problem::too_many, next_step());
            ++members_;
            last_ = &all->emplace_back(std::forward<V>(value));
        } else {
            last_ = &(*value_ = json(std::forward<V>(value)));
        }
        return true;
    }

    bool open(typename json::value_t kind)
    {
        if (open_.size() >= limits_.max_depth) {
            return stop(tree_problem::too_deep, open_.empty() ? std::string() : next_step());
        }
        if (!place(kind)) return false;
        open_.push_back(last_);
        return true;
    }

    bool close()
    {
#if JSON_DIAGNOSTICS  // each value points to its parent: a move updates the children
        json all = std::move(*open_.back());
        *open_.back() = std::move(all);
#endif
        open_.pop_back();
        return true;
    }

    bool stop(tree_problem p, std::string_view step)
    {
        problem = p;
        path.clear();
        for (std::size_t n = 1; n < open_.size(); ++n) {
            path = path_to(path, step_to(*open_[n - 1], open_[n]));
        }
        if (!open_.empty()) path = path_to(path, step);
        return false;
    }

    /// The path step from the container opened last to the next value.
    [[nodiscard]] std::string next_step() const
    {
        const json& in = *open_.back();
        return in.is_array() ? std::to_string(in.size()) : step_to(in, value_);
    }

    /// The path step to a value that was placed. In an array it is the last element.
    [[nodiscard]] static std::string step_to(const json& in, const json* value)
    {
        const auto* members = in.template get_ptr<const typename json::object_t*>();
        if (members == nullptr) return std::to_string(in.size() - 1);
        for (const auto& [name, one] : *members) {
            if (&one == value) return name;
        }
        return {};
    }

    json_limits limits_;
    std::uint64_t members_ = 0;  // of all objects and arrays so far
    std::vector<json*> open_;    // the containers that are not closed, outermost first
    json* value_ = nullptr;      // the member whose name was read last
    json* last_ = nullptr;       // the value that was placed last
};

/// Parses all bytes into the tree.
template <json_value Json>
void build(tree_builder<Json>& tree, std::string_view bytes, typename Json::input_format_t format)
{
    const char* end = bytes.data() + bytes.size();
    const bool all = Json::sax_parse(bytes.data(), end, &tree, format);
    if (!all && tree.problem == tree_problem::none) tree.problem = tree_problem::syntax;
    // nlohmann's JSON parser takes a NUL as the end of the text.
    if (!all || format != Json::input_format_t::json) return;
    const std::size_t nul = bytes.find('\0');
    if (nul == bytes.npos) return;
    tree.problem = tree_problem::syntax;
    tree.at = nul + 1;
}

/// "line 3, column 7" of byte `wrong` of the text, counted from 1.
[[nodiscard]] inline std::string line_and_column(std::string_view text, std::size_t wrong)
{
    std::size_t line = 1;
    std::size_t column = 1;
    for (std::size_t i = 0; i + 1 < wrong && i < text.size(); ++i, ++column) {
        if (text[i] != '\n') continue;
        ++line;
        column = 0;
    }
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// The error of a text that exceeds a limit.
[[nodiscard]] inline json_error beyond(std::string path, std::uint64_t most, std::string_view unit,
                                       std::string_view field, std::string found)
{
    std::string expected = "at most " + std::to_string(most);
    expected.append(" ").append(unit).append(" (shorten the text, or raise json_limits::");
    expected.append(field).append(")");
    return {json_error::code::too_large, std::move(path), std::move(expected), std::move(found)};
}

/// The error of a text for which no tree could be built.
template <json_value Json>
[[nodiscard]] json_error error_of(tree_builder<Json>& tree, std::string_view text,
                                  const json_limits& allowed)
{
    switch (tree.problem) {
        case tree_problem::too_deep:
            return beyond(std::move(tree.path), allowed.max_depth, "levels of objects and arrays",
                          "max_depth", "one more");
        case tree_problem::too_many:
            return beyond(std::move(tree.path), allowed.max_members, "members and elements",
                          "max_members", "one more");
        case tree_problem::duplicate:
            return {json_error::code::duplicate, std::move(tree.path), "this name once",
                    "it twice"};
        case tree_problem::none:
        case tree_problem::syntax: break;
    }
    return {json_error::code::syntax, {}, "JSON in UTF-8",
            "something else in " + line_and_column(text, tree.at)};
}

}  // namespace detail

/// Parses `text` as one JSON value. Linear in the size of `text`, also for an error. The objects of
/// Json are sorted maps: `nlohmann::ordered_json` is not accepted.
template <detail::json_value Json = nlohmann::json>
[[nodiscard]] result<Json, json_error> parse_json_text(std::string_view text,
                                                       const json_limits& allowed = {})
{
    if (text.size() > allowed.max_bytes) {
        return unexpected(detail::beyond({}, allowed.max_bytes, "bytes", "max_bytes",
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
