// SPDX-License-Identifier: MIT
//
// ext/json_deferral: deferred messages (`deferred_messages`) as JSON, read and written.
//
//     {"version": 1, "entries": [{"sequence": 281474976710663, "due": "2024-02-29T12:10:00Z",
//      "attempts": 2, "session": "s1", "id": "order-7", "since": "2024-02-29T12:00:00Z"}]}
//
//     nlohmann::json j = book;
//     auto again = waybill::parse_deferrals(j.dump(), {.hold = 30s});
//     if (!again) die(waybill::describe(again.error()));
//     // "/entries/1/sequence: expected a whole number above 281474976710663, found 7"
//
// The sequences of the entries strictly increase. As in deferred_messages_bytes.hpp, options are
// not stored: the caller passes them, and they must pass `validate`. An entry that was handed out
// before is no longer handed out in the book that is read. `read_json` also reads a book, with
// default options.

#ifndef WAYBILL_EXT_JSON_DEFERRAL_HPP
#define WAYBILL_EXT_JSON_DEFERRAL_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <waybill/core/config_error.hpp>
#include <waybill/core/result.hpp>
#include <waybill/ext/json_parse.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_state.hpp>
#include <waybill/queue/deferred_messages.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format version of the written JSON.
inline constexpr std::uint64_t deferral_version = 1;

}  // namespace detail

inline void to_json(nlohmann::json& j, const deferral_error& e)
{
    j = {{"problem", e.kind}, {"offset", e.offset}};
    if (e.kind == deferral_error::code::bad_options) j["options"] = describe(e.options);
}

inline void to_json(nlohmann::json& j, const deferred& d)
{
    j = {{"sequence", d.sequence}, {"due", d.due}, {"attempts", d.attempts}, {"since", d.since}};
    detail::put_text(j, "session", d.session);
    detail::put_text(j, "id", d.id);
}

inline void read_value(const json_place& at, deferred& into)
{
    json_fields(at)
        .must("sequence", into.sequence)
        .must("due", into.due)
        .must("attempts", into.attempts)
        .must_text("session", into.session)
        .must_text("id", into.id)
        .must("since", into.since)
        .done();
}

inline void to_json(nlohmann::json& j, const handed& h)
{
    j = {{"entry", h.entry}, {"ticket", h.ticket}};
}

inline void to_json(nlohmann::json& j, const deferred_messages& b)
{
    nlohmann::json entries = nlohmann::json::array();
    b.each([&](const deferred& d) { entries.push_back(d); });
    j = {{"version", detail::deferral_version}, {"entries", std::move(entries)}};
}

namespace detail {

/// Reads entries into `book`.
struct deferred_entries {
    deferred_messages& book;
};

inline void read_value(const json_place& at, deferred_entries& into)
{
    if (!at.value.is_array()) return at.fail("an array");
    std::optional<std::uint64_t> last;
    std::size_t n = 0;
    for (const nlohmann::json& one : at.value) {
        const json_place place{one, path_to(at.path, std::to_string(n++)), at.error};
        deferred d;
        waybill::read_value(place, d);
        if (at.error) return;
        if (last && d.sequence <= *last) {
            const json_place wrong{one["sequence"], path_to(place.path, "sequence"), at.error};
            return wrong.fail("a whole number above " + std::to_string(*last));
        }
        last = d.sequence;
        into.book.restore(std::move(d));
    }
}

}  // namespace detail

/// Keeps the options of `into`.
inline void read_value(const json_place& at, deferred_messages& into)
{
    deferred_messages book(into.options());
    detail::deferred_entries entries{book};
    json_fields(at).version(detail::deferral_version).must("entries", entries).done();
    if (!at.error) into = std::move(book);
}

/// Reads a book with these options. If `validate` refuses the options, the path of the error is
/// "options".
[[nodiscard]] inline result<deferred_messages, json_error> read_deferrals(
    const nlohmann::json& value, const deferral_options& options)
{
    if (const std::optional<config_error> bad = validate(options)) {
        return unexpected(json_error{json_error::code::wrong, "options",
                                     "those that a book can be kept with", describe(*bad)});
    }
    deferred_messages read(options);
    std::optional<json_error> error;
    read_value(json_place{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    return read;
}

/// Parses `text` (within the default json_limits) and reads a book with these options.
[[nodiscard]] inline result<deferred_messages, json_error> parse_deferrals(
    std::string_view text, const deferral_options& options)
{
    result<nlohmann::json, json_error> parsed = parse_json_text(text);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_deferrals(*parsed, options);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_DEFERRAL_HPP
