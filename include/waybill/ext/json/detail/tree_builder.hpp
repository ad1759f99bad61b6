// SPDX-License-Identifier: MIT
//
// tree_builder: builds a JSON value from the events of the parser, within limits.

#ifndef WAYBILL_EXT_JSON_DETAIL_TREE_BUILDER_HPP
#define WAYBILL_EXT_JSON_DETAIL_TREE_BUILDER_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/result.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/limits.hpp>
#include <waybill/ext/json/read.hpp>

namespace waybill::inline v0_2::detail {

enum class tree_problem : std::uint8_t { none, syntax, too_deep, too_many, duplicate };

/// Builds a value from a parser's events. A duplicate name replaces the earlier value, and parsing
/// continues; a later syntax error is reported instead of the duplicate.
template <json_value Json>
class tree_builder {
    static_assert(
        requires(typename Json::object_t& o) { o.emplace_hint(o.end(), "", nullptr); },
        "objects are sorted maps: ordered_json finds a name by visiting all others");

public:
    using json = Json;

    explicit tree_builder(const json_limits& limits) : limits_(limits)
    {
        constexpr std::size_t usual_depth = 8;  // only deeper texts allocate again
        open_containers_.reserve(usual_depth);
    }

    json root{};
    tree_problem problem = tree_problem::none;
    std::size_t error_position = 0;  ///< The byte of a syntax error, counted from 1; 0 if unknown.
    std::string path{};              ///< The path of any other problem.
    std::string duplicate_name{};    ///< The first duplicate name.

    bool null() { return add_value(nullptr); }
    bool boolean(bool b) { return add_value(b); }
    bool number_integer(typename json::number_integer_t n) { return add_value(n); }
    bool number_unsigned(typename json::number_unsigned_t n) { return add_value(n); }
    bool number_float(typename json::number_float_t x, const std::string&) { return add_value(x); }
    // Copied: a move would take the parser's buffer, which would have to grow again for each
    // string.
    bool string(std::string& s) { return add_value(std::as_const(s)); }
    bool binary(typename json::binary_t& b) { return add_value(json::binary(std::move(b))); }
    bool start_object(std::size_t) { return open(json::value_t::object); }
    bool start_array(std::size_t) { return open(json::value_t::array); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(const std::string& name)
    {
        if (member_count_ == limits_.max_members) return fail_at(tree_problem::too_many, name);
        ++member_count_;
        // nlohmann's library writes names in order, so most names belong at the end.
        auto& members = *open_containers_.back()->template get_ptr<typename json::object_t*>();
        const std::size_t size_before = members.size();
        last_member_ = &members.emplace_hint(members.end(), name, nullptr)->second;
        if (members.size() == size_before && problem == tree_problem::none) {
            fail_at(tree_problem::duplicate, name);
            duplicate_name = name;
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const typename json::exception&)
    {
        problem = tree_problem::syntax;
        error_position = position;
        return false;
    }

private:
    /// Returns false if `max_members` is reached. A member of an object is counted with its name.
    template <class V>
    bool add_value(V&& value)
    {
        if (open_containers_.empty()) {
            last_value_ = &(root = json(std::forward<V>(value)));
        } else if (auto* all =
                       open_containers_.back()->template get_ptr<typename json::array_t*>()) {
            if (member_count_ == limits_.max_members)
                return fail_at(tree_problem::too_many, next_segment());
            ++member_count_;
            last_value_ = &all->emplace_back(std::forward<V>(value));
        } else {
            last_value_ = &(*last_member_ = json(std::forward<V>(value)));
        }
        return true;
    }

    bool open(typename json::value_t kind)
    {
        if (open_containers_.size() >= limits_.max_depth) {
            return fail_at(tree_problem::too_deep,
                           open_containers_.empty() ? std::string() : next_segment());
        }
        if (!add_value(kind)) return false;
        open_containers_.push_back(last_value_);
        return true;
    }

    bool close()
    {
#if JSON_DIAGNOSTICS  // values point to their parents: a move updates the pointers of the children
        json all = std::move(*open_containers_.back());
        *open_containers_.back() = std::move(all);
#endif
        open_containers_.pop_back();
        return true;
    }

    /// Sets the problem and its path: `segment` in the innermost open container. Returns false.
    bool fail_at(tree_problem p, std::string_view segment)
    {
        problem = p;
        path.clear();
        for (std::size_t n = 1; n < open_containers_.size(); ++n) {
            path = path_to(path, segment_of(*open_containers_[n - 1], open_containers_[n]));
        }
        if (!open_containers_.empty()) path = path_to(path, segment);
        return false;
    }

    /// The path segment from the container opened last to the next value.
    [[nodiscard]] std::string next_segment() const
    {
        const json& in = *open_containers_.back();
        return in.is_array() ? std::to_string(in.size()) : segment_of(in, last_member_);
    }

    /// The path segment to a value that was placed. In an array it is the last element.
    [[nodiscard]] static std::string segment_of(const json& in, const json* value)
    {
        const auto* members = in.template get_ptr<const typename json::object_t*>();
        if (members == nullptr) return std::to_string(in.size() - 1);
        for (const auto& [name, one] : *members) {
            if (&one == value) return name;
        }
        return {};
    }

    json_limits limits_;
    std::uint64_t member_count_ = 0;      // of all objects and arrays so far
    std::vector<json*> open_containers_;  // the containers that are not closed, outermost first
    json* last_member_ = nullptr;         // the member whose name was read last
    json* last_value_ = nullptr;          // the value that was placed last
};

/// Parses all bytes into the tree.
template <json_value Json>
void build(tree_builder<Json>& tree, std::string_view bytes, typename Json::input_format_t format)
{
    const char* end = bytes.data() + bytes.size();
    const bool complete = Json::sax_parse(bytes.data(), end, &tree, format);
    if (!complete && tree.problem == tree_problem::none) tree.problem = tree_problem::syntax;
    // nlohmann's JSON parser takes a NUL as the end of the text.
    if (!complete || format != Json::input_format_t::json) return;
    const std::size_t nul = bytes.find('\0');
    if (nul == bytes.npos) return;
    tree.problem = tree_problem::syntax;
    tree.error_position = nul + 1;
}

/// "line 3, column 7" of the byte at `error_position` of the text; all three count from 1.
[[nodiscard]] inline std::string line_and_column(std::string_view text, std::size_t error_position)
{
    std::size_t line = 1;
    std::size_t column = 1;
    for (std::size_t i = 0; i + 1 < error_position && i < text.size(); ++i, ++column) {
        if (text[i] != '\n') continue;
        ++line;
        column = 0;
    }
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// The error of a text that exceeds a limit.
[[nodiscard]] inline json_error limit_error(std::string path, std::uint64_t limit,
                                            std::string_view unit, std::string_view field,
                                            std::string found)
{
    std::string expected = "at most " + std::to_string(limit);
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
            return limit_error(std::move(tree.path), allowed.max_depth,
                               "levels of objects and arrays", "max_depth", "one more");
        case tree_problem::too_many:
            return limit_error(std::move(tree.path), allowed.max_members, "members and elements",
                               "max_members", "one more");
        case tree_problem::duplicate:
            return {json_error::code::duplicate, std::move(tree.path), "this name once",
                    "it twice"};
        case tree_problem::none:
        case tree_problem::syntax: break;
    }
    return {json_error::code::syntax,
            {},
            "JSON in UTF-8",
            "a syntax error in " + line_and_column(text, tree.error_position)};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_TREE_BUILDER_HPP
