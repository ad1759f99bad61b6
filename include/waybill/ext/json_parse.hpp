// SPDX-License-Identifier: MIT
//
// ext/json_parse: text as a JSON value, without exceptions, and where it is none.

#ifndef WAYBILL_EXT_JSON_PARSE_HPP
#define WAYBILL_EXT_JSON_PARSE_HPP

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/core/result.hpp>
#include <waybill/ext/json_read.hpp>

namespace waybill::inline v0_1 {

namespace detail {

/// Follows the parser, and notes the first name that an object has twice and where that is.
class twice_named {
public:
    using event = nlohmann::json::parse_event_t;

    bool operator()(int, event e, nlohmann::json& value)
    {
        switch (e) {
            case event::object_start: open_.push_back({}); break;
            case event::array_start: open_.push_back({.array = true}); break;
            case event::key: named(*value.get_ptr<const std::string*>()); break;
            case event::object_end:
            case event::array_end: open_.pop_back(); [[fallthrough]];
            case event::value:
                if (!open_.empty() && open_.back().array) ++open_.back().index;
                break;
        }
        return true;
    }

    [[nodiscard]] const std::optional<std::string>& path() const noexcept { return path_; }

private:
    struct level {
        bool array = false;
        std::size_t index = 0;         // in an array: how many elements are complete
        std::string key{};             // in an object: the name that was read last
        std::set<std::string> keys{};  // in an object: all of them
    };

    void named(const std::string& key)
    {
        open_.back().key = key;
        if (open_.back().keys.insert(key).second || path_) return;
        path_.emplace();
        for (const level& l : open_) {
            path_ = path_to(*path_, l.array ? std::to_string(l.index) : l.key);
        }
    }

    std::vector<level> open_;
    std::optional<std::string> path_;
};

/// Reads on as far as the text is JSON.
struct until_syntax_error {
    using json = nlohmann::json;

    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(json::number_integer_t) { return true; }
    bool number_unsigned(json::number_unsigned_t) { return true; }
    bool number_float(json::number_float_t, const json::string_t&) { return true; }
    bool string(json::string_t&) { return true; }
    bool binary(json::binary_t&) { return true; }
    bool start_object(std::size_t) { return true; }
    bool key(json::string_t&) { return true; }
    bool end_object() { return true; }
    bool start_array(std::size_t) { return true; }
    bool end_array() { return true; }
    bool parse_error(std::size_t position, const std::string&, const json::exception&)
    {
        at = position;
        return false;
    }

    std::size_t at = 0;  // bytes up to and with the one that was wrong
};

/// "line 3, column 7" of the byte at which the text stops being JSON.
[[nodiscard]] inline std::string syntax_error_in(std::string_view text)
{
    until_syntax_error reader;
    nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
    std::size_t line = 1;
    std::size_t column = 1;
    for (std::size_t i = 0; i + 1 < reader.at && i < text.size(); ++i, ++column) {
        if (text[i] != '\n') continue;
        ++line;
        column = 0;
    }
    return "something else in line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace detail

/// The JSON value that `text` is. A name that stands twice in one object is an error, since only
/// one of the two could be kept.
[[nodiscard]] inline result<nlohmann::json, json_error> parse_json_text(std::string_view text)
{
    detail::twice_named watch;
    const auto follow = [&](int depth, nlohmann::json::parse_event_t e, nlohmann::json& value) {
        return watch(depth, e, value);
    };
    nlohmann::json value = nlohmann::json::parse(text.begin(), text.end(), follow, false);
    if (value.is_discarded()) {
        return unexpected(json_error{json_problem::syntax, {}, "JSON in UTF-8",
                                     detail::syntax_error_in(text)});
    }
    if (watch.path()) {
        return unexpected(json_error{json_problem::duplicate, *watch.path(), "this name once",
                                     "it twice"});
    }
    return value;
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_EXT_JSON_PARSE_HPP
