// SPDX-License-Identifier: MIT
//
// ext/json/core: times and batch limits, read and written; faults, config errors and shared
// actions, written only. It includes the functions that read JSON.

#ifndef WAYBILL_EXT_JSON_CORE_HPP
#define WAYBILL_EXT_JSON_CORE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <waybill/core/act.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/json/detail/enum_text.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/parse.hpp>
#include <waybill/ext/json/read.hpp>

namespace waybill::inline v0_2 {

template <detail::json_value Json>
void to_json(Json& j, const duration& d)
{
    j = to_text(d);
}

template <detail::json_value Json>
void to_json(Json& j, const wall_time& t)
{
    j = to_text(t);
}

template <detail::json_value Json>
void to_json(Json& j, const batch_limits& l)
{
    j = {{"bytes", detail::size_or_unlimited(l.bytes)},
         {"items", detail::size_or_unlimited(l.items)},
         {"single", detail::size_or_unlimited(l.single)},
         {"envelope", detail::size_or_unlimited(l.envelope)},
         {"answers_per_entry", l.answers_per_entry}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, batch_limits& into)
{
    json_fields(at)
        .optional_size("bytes", into.bytes)
        .optional_size("items", into.items)
        .optional_size("single", into.single)
        .optional_size("envelope", into.envelope)
        .optional("answers_per_entry", into.answers_per_entry)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const fault& f)
{
    j = {{"kind", f.kind}};
    if (!f.text.empty()) detail::put_text(j, "text", f.text);
}

template <detail::json_value Json>
void to_json(Json& j, const config_error& e)
{
    j = {{"field", e.field},
         {"value", detail::size_or_unlimited(e.value)},
         {"rule", e.rule},
         {"bound", detail::size_or_unlimited(e.bound)}};
    if (e.negative) j["negative"] = true;
}

template <detail::json_value Json>
void to_json(Json& j, const wait_until& a)
{
    j = {{"act", "wait_until"}, {"until_steady_ns", a.time.since_epoch().count()}};
}

template <detail::json_value Json>
void to_json(Json& j, const idle&)
{
    j = {{"act", "idle"}};
}

template <detail::json_value Json>
void to_json(Json& j, const complete&)
{
    j = {{"act", "complete"}};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_CORE_HPP
