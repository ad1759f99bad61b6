// SPDX-License-Identifier: MIT
//
// ext/json/queue: settlement policies, options and deferred messages, read and written; settlements
// and actions, written only.
//
//     {"max_deliveries": 10, "on_outage": "defer", "levels": {"delayed": 3}}
//     {"max_in_flight": 32, "breaker": {"failure_ratio": 0.3, "timeout": "5min"}}
//
// A field that is absent in "levels" has the default of retry_levels, not of settle_policy, as in
// C++.
//
// Deferred messages:
//
//     {"version": 1, "entries": [{"sequence": 281474976710663, "due": "2024-02-29T12:10:00Z",
//      "attempts": 2, "session": "s1", "id": "order-7", "since": "2024-02-29T12:00:00Z"}]}
//
//     auto again = waybill::parse_json_with<waybill::deferred_messages>(text, {.hold = 30s});
//     // "/entries/1/sequence: expected a whole number above 281474976710663, found 7"
//
// The sequences strictly increase. The caller passes the options, which are not stored. Hand-outs
// are not stored either: after reading, no entry is in hand.

#ifndef WAYBILL_EXT_JSON_QUEUE_HPP
#define WAYBILL_EXT_JSON_QUEUE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/config_error.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/retry.hpp>
#include <waybill/queue/deferred.hpp>
#include <waybill/queue/deferred_messages.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/receive_planner.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>

namespace waybill::inline v0_2 {

template <detail::json_value Json>
void to_json(Json& j, const settle_policy& p)
{
    j = {{"levels", p.levels},
         {"max_deliveries", detail::size_or_unlimited(p.max_deliveries)},
         {"to_settle", p.to_settle},
         {"on_outage", p.on_outage},
         {"can_defer", p.can_defer},
         {"longest_defer", p.longest_defer},
         {"defer_renews", p.defer_renews},
         {"release_counts", p.release_counts}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, settle_policy& into)
{
    std::optional<retry_levels> levels;
    json_fields(at)
        .optional("levels", levels)
        .optional_size("max_deliveries", into.max_deliveries)
        .optional("to_settle", into.to_settle)
        .optional("on_outage", into.on_outage)
        .optional("can_defer", into.can_defer)
        .optional("longest_defer", into.longest_defer)
        .optional("defer_renews", into.defer_renews)
        .optional("release_counts", into.release_counts)
        .done();
    if (levels) into.levels = *levels;
}

template <detail::json_value Json>
void to_json(Json& j, const settle_batches::config& p)
{
    j = {{"items", detail::size_or_unlimited(p.items)},
         {"linger", p.linger},
         {"to_settle", p.to_settle},
         {"tries", p.tries},
         {"pauses", p.pauses}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, settle_batches::config& into)
{
    json_fields(at)
        .optional_size("items", into.items)
        .optional("linger", into.linger)
        .optional("to_settle", into.to_settle)
        .optional("tries", into.tries)
        .optional("pauses", into.pauses)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const lock_renewal::config& o)
{
    j = {{"lock", o.lock},
         {"renew_left", o.renew_left},
         {"margin", o.margin},
         {"answer_timeout", o.answer_timeout},
         {"max_duration", o.max_duration},
         {"pauses", o.pauses}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, lock_renewal::config& into)
{
    json_fields(at)
        .optional("lock", into.lock)
        .optional("renew_left", into.renew_left)
        .optional("margin", into.margin)
        .optional("answer_timeout", into.answer_timeout)
        .optional("max_duration", into.max_duration)
        .optional("pauses", into.pauses)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const receive_planner::config& o)
{
    j = {{"max_in_flight", detail::size_or_unlimited(o.max_in_flight)},
         {"pause", o.pause},
         {"poll_interval", o.poll_interval},
         {"breaker", o.breaker}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, receive_planner::config& into)
{
    json_fields(at)
        .optional_size("max_in_flight", into.max_in_flight)
        .optional("pause", into.pause)
        .optional("poll_interval", into.poll_interval)
        .optional("breaker", into.breaker)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const abandon& a)
{
    j = {{"act", "abandon"}, {"failed", a.failed}};
}

template <detail::json_value Json>
void to_json(Json& j, const defer& a)
{
    j = {{"act", "defer"}, {"delay", a.delay}};
}

template <detail::json_value Json>
void to_json(Json& j, const dead_letter_message& a)
{
    j = {{"act", "dead_letter_message"},
         {"reason", a.reason},
         {"kind", a.kind},
         {"used", a.used},
         {"max_attempts", detail::size_or_unlimited(a.max_attempts)}};
}

template <detail::json_value Json>
void to_json(Json& j, const let_lock_expire& a)
{
    j = {{"act", "let_lock_expire"}, {"reason", a.reason}};
}

template <detail::json_value Json>
void to_json(Json& j, const settle_batches::settle_batch& a)
{
    j = {{"act", "settle_batch"}, {"call", a.call}, {"kind", a.kind}, {"items", a.items}};
}

template <detail::json_value Json>
void to_json(Json& j, const settle_batches::report& a)
{
    j = {{"act", "report"},
         {"item", a.item},
         {"kind", a.kind},
         {"outcome", a.outcome},
         {"tries", a.tries}};
    if (a.fault != fault_kind::none) j["fault"] = a.fault;
}

template <detail::json_value Json>
void to_json(Json& j, const lock_renewal::renew& a)
{
    j = {{"act", "renew"}, {"attempt", a.attempt}};
}

template <detail::json_value Json>
void to_json(Json& j, const receive_planner::take_due_pairs& a)
{
    j = {{"act", "take_due_pairs"}, {"first", a.first}, {"max_pairs", a.max_pairs}};
}

template <detail::json_value Json>
void to_json(Json& j, const receive_planner::receive& a)
{
    j = {{"act", "receive"}, {"first", a.first}, {"max_messages", a.max_messages}};
}

template <detail::json_value Json>
void to_json(Json& j, const receive_planner::receive_deferred& a)
{
    j = {{"act", "receive_deferred"}, {"work", a.work}};
}

template <detail::json_value Json>
void to_json(Json& j, const receive_planner::settle_original& a)
{
    j = {{"act", "settle_original"}, {"work", a.work}, {"as", a.as}};
}

template <detail::json_value Json>
void to_json(Json& j, const receive_planner::settle_message& a)
{
    j = {{"act", "settle_message"}, {"work", a.work}, {"as", a.as}};
    if (a.gone) j["gone"] = true;
}

/// Only these variants match, not types convertible to them.
template <detail::json_value Json, class Action>
    requires std::same_as<Action, lock_renewal::action> ||
             std::same_as<Action, receive_planner::action> ||
             std::same_as<Action, settle_batches::action> || std::same_as<Action, settlement>
void to_json(Json& j, const Action& action)
{
    match(action, [&](const auto& a) { j = a; });
}

namespace detail {

/// Format version of the written JSON.
inline constexpr std::uint64_t deferral_version = 1;

}  // namespace detail

template <detail::json_value Json>
void to_json(Json& j, const deferred_messages::load_error& e)
{
    j = {{"kind", e.kind}, {"offset", e.offset}};
    if (e.kind == deferred_messages::load_error::code::bad_options)
        j["options"] = describe(e.options);
}

template <detail::json_value Json>
void to_json(Json& j, const deferred& d)
{
    j = {{"sequence", d.sequence}, {"due", d.due}, {"attempts", d.attempts}, {"since", d.since}};
    detail::put_text(j, "session", d.session);
    detail::put_text(j, "id", d.id);
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, deferred& into)
{
    json_fields(at)
        .required("sequence", into.sequence)
        .required("due", into.due)
        .required("attempts", into.attempts)
        .required_text("session", into.session)
        .required_text("id", into.id)
        .required("since", into.since)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const deferred_messages::taken& h)
{
    j = {{"entry", h.entry}, {"ticket", h.ticket}, {"redelivered", h.redelivered}};
}

template <detail::json_value Json>
void to_json(Json& j, const deferred_messages& b)
{
    Json entries = Json::array();
    b.each([&](const deferred& d) { entries.push_back(d); });
    j = {{"version", detail::deferral_version}, {"entries", std::move(entries)}};
}

namespace detail {

/// A target of `read_value` that adds entries to `messages`.
struct deferred_entries {
    deferred_messages& messages;
};

template <json_value Json>
void read_value(const json_place<Json>& at, deferred_entries& into)
{
    if (!at.value.is_array()) return at.fail("an array");
    std::optional<std::uint64_t> last_sequence;
    std::size_t n = 0;
    for (const Json& one : at.value) {
        const json_place place{one, path_to(at.path, std::to_string(n++)), at.error};
        deferred d;
        waybill::read_value(place, d);
        if (at.error) return;
        if (last_sequence && d.sequence <= *last_sequence) {
            const json_place wrong{one["sequence"], path_to(place.path, "sequence"), at.error};
            return wrong.fail("a whole number above " + std::to_string(*last_sequence));
        }
        last_sequence = d.sequence;
        into.messages.restore(std::move(d));
    }
}

}  // namespace detail

/// Reads the entries of `into`; its options are kept.
template <detail::json_value Json>
void read_value(const json_place<Json>& at, deferred_messages& into)
{
    deferred_messages fresh(into.options());
    detail::deferred_entries entries{fresh};
    json_fields(at).version(detail::deferral_version).required("entries", entries).done();
    if (!at.error) into = std::move(fresh);
}

/// Reads deferred messages with these options. If `validate` refuses the options, the path of the
/// error is "options".
template <std::same_as<deferred_messages> B, detail::json_value Json = nlohmann::json>
[[nodiscard]] result<B, json_error> read_json_with(const Json& value,
                                                   const deferral_options& options)
{
    if (const std::optional<config_error> bad = validate(options)) {
        return unexpected(
            json_error{json_error::code::wrong, "options", "valid options", describe(*bad)});
    }
    deferred_messages read(options);
    std::optional<json_error> error;
    read_value(json_place<Json>{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    return read;
}

/// Parses `text` (within the default json_limits) and reads deferred messages with these options.
template <std::same_as<deferred_messages> B, detail::json_value Json = nlohmann::json>
[[nodiscard]] result<B, json_error> parse_json_with(std::string_view text,
                                                    const deferral_options& options)
{
    result<Json, json_error> parsed = parse_json_text<Json>(text);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_json_with<deferred_messages>(*parsed, options);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_QUEUE_HPP
