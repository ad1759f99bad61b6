// SPDX-License-Identifier: MIT
//
// ext/json_report: reports and errors as JSON, written only. Fields that do not apply are left out.

#ifndef WAYBILL_EXT_JSON_REPORT_HPP
#define WAYBILL_EXT_JSON_REPORT_HPP

#include <string>

#include <nlohmann/json.hpp>

#include <waybill/batch/send_report.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_state.hpp>
#include <waybill/retry/retry_call.hpp>

namespace waybill::inline v0_2 {

inline void to_json(nlohmann::json& j, const fault& f)
{
    j = {{"how", f.kind}};
    if (!f.text.empty()) detail::put_text(j, "text", f.text);
}

inline void to_json(nlohmann::json& j, const config_error& e)
{
    j = {{"field", e.field},
         {"value", detail::size_or_unlimited(e.value)},
         {"rule", e.rule},
         {"bound", detail::size_or_unlimited(e.bound)}};
    if (e.negative) j["negative"] = true;
}

inline void to_json(nlohmann::json& j, const json_error& e)
{
    j = {{"problem", name(e.kind)}};
    detail::put_text(j, "path", e.path);
    detail::put_text(j, "expected", e.expected);
    if (!e.found.empty()) detail::put_text(j, "found", e.found);
}

inline void to_json(nlohmann::json& j, const item_range& r)
{
    j = {{"first", r.first}, {"count", r.count}};
}

inline void to_json(nlohmann::json& j, const item_report& r)
{
    j = {{"first", r.items.first}, {"count", r.items.count}, {"outcome", r.outcome}};
    if (r.kind != fault_kind::none) j["how"] = r.kind;
    if (r.outcome == item_outcome::too_large) {
        j["bytes"] = detail::size_or_unlimited(r.bytes);
        j["limit"] = detail::size_or_unlimited(r.limit);
        if (r.envelope != 0) j["envelope"] = detail::size_or_unlimited(r.envelope);
    }
    if (!r.text.empty()) detail::put_text(j, "text", r.text);
}

inline void to_json(nlohmann::json& j, const send_report& r)
{
    j = {{"sends", r.sends},
         {"refusals", r.refusals},
         {"taken", r.taken},
         {"accepted", r.accepted},
         {"not_accepted", r.not_accepted},
         {"resent_bytes", r.resent_bytes},
         {"stopped", r.stopped},
         {"outcomes", r.outcomes}};
    if (r.other_input) j["other_input"] = true;
    if (r.waiting) j["waiting_until_steady_ns"] = r.waiting->since_epoch().count();
}

inline void to_json(nlohmann::json& j, const dropped_event& e)
{
    j = {{"at", e.at}, {"why", e.reason}};
}

inline void to_json(nlohmann::json& j, const batch_report& r)
{
    j = {{"end", r.outcome},
         {"handled", r.handled},
         {"dead_lettered", r.dead_lettered},
         {"skipped", r.skipped},
         {"repeated", r.repeated}};
    if (r.dropped != 0) j["dropped"] = r.dropped;
    if (!r.dropped_events.empty()) j["dropped_events"] = r.dropped_events;
    if (r.cut_off != 0) j["left"] = r.cut_off;
    if (r.reached) j["reached"] = *r.reached;
    if (!r.reason.ok()) j["why"] = r.reason;
}

inline void to_json(nlohmann::json& j, const call_report& r)
{
    j = {{"end", r.outcome}, {"tries", r.tries}, {"elapsed", r.elapsed}};
    if (!r.reason.ok()) j["why"] = r.reason;
    if (r.waiting) j["waiting_until_steady_ns"] = r.waiting->since_epoch().count();
}

inline void to_json(nlohmann::json& j, const assignment& a)
{
    j = {{"key", a.key}, {"epoch", a.epoch}};
    if (a.incarnation != 0) j["incarnation"] = a.incarnation;
    if (a.ended) j["ended"] = *a.ended;
    if (a.from) j["from"] = *a.from;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_REPORT_HPP
