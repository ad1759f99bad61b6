// SPDX-License-Identifier: MIT
//
// ext/json/tracking: options of trackers and commit schedules, read and written; values of the
// tracker and actions, written only.

#ifndef WAYBILL_EXT_JSON_TRACKING_HPP
#define WAYBILL_EXT_JSON_TRACKING_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>

#include <waybill/core/match.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/tracker_bytes.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2 {

template <detail::json_value Json>
void to_json(Json& j, const tracker_options& o)
{
    j = {{"max_in_flight", o.max_in_flight}, {"span", o.span}, {"mark", o.mark}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, tracker_options& into)
{
    json_fields(at)
        .optional("max_in_flight", into.max_in_flight)
        .optional("span", into.span)
        .optional("mark", into.mark)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const tracked_event& t)
{
    j = {{"sequence", t.sequence}, {"generation", t.generation}, {"number", t.number}};
}

template <detail::json_value Json>
void to_json(Json& j, const completion_tracker::blocked& b)
{
    j = {{"sequence", b.sequence}, {"waiting", b.waiting}};
}

template <detail::json_value Json>
void to_json(Json& j, const encoded_done& e)
{
    j = {{"outcome", e.outcome}, {"kept", e.kept}, {"dropped", e.dropped}};
    detail::put_text(j, "bytes", e.bytes);
}

template <detail::json_value Json>
void to_json(Json& j, const commit_schedule::config& c)
{
    j = {{"every", detail::size_or_unlimited(c.every)},
         {"interval", c.interval},
         {"needs", c.needs},
         {"on_close", c.on_close},
         {"idle_refresh", c.idle_refresh},
         {"pause", c.pause}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, commit_schedule::config& into)
{
    json_fields(at)
        .optional_size("every", into.every)
        .optional("interval", into.interval)
        .optional("needs", into.needs)
        .optional("on_close", into.on_close)
        .optional("idle_refresh", into.idle_refresh)
        .optional("pause", into.pause)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const commit_schedule::commit_position& a)
{
    j = {{"act", "commit_position"}, {"reason", a.reason}};
}

/// Only this variant matches, not types convertible to it.
template <detail::json_value Json, class Action>
    requires std::same_as<Action, commit_schedule::action>
void to_json(Json& j, const Action& action)
{
    match(action, [&](const auto& a) { j = a; });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_TRACKING_HPP
