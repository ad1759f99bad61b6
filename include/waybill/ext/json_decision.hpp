// SPDX-License-Identifier: MIT
//
// ext/json_decision: a scaling decision with all its numbers as JSON, written only. Fields that do
// not apply are left out.
//
//     {"verdict": "up", "why": "rate", "from": 2, "desired": 7, "to": 4,
//      "now": "2024-02-29T12:40:00Z", "until": "2024-02-29T12:41:00Z",
//      "command": {"id": 3, "from": 2, "to": 4}, "up": "yes", "down": "no", "activation": "yes",
//      "because": [{"part": "up", "metric": "orders", "statistic": "mean", "value": 412.5,
//                   "operator": ">", "limit": 200, "points": 10, "first": "2024-02-29T12:31:00Z",
//                   "last": "2024-02-29T12:40:00Z", "holds": "yes"}]}

#ifndef WAYBILL_EXT_JSON_DECISION_HPP
#define WAYBILL_EXT_JSON_DECISION_HPP

#include <optional>

#include <nlohmann/json.hpp>

#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_rule.hpp>
#include <waybill/ext/json_state.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/tribool.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::scaling {

inline void to_json(nlohmann::json& j, const command& c)
{
    j = {{"id", c.id}, {"from", c.from}, {"to", c.to}};
}

inline void to_json(nlohmann::json& j, const policy_error& e)
{
    j = nlohmann::json::object();
    waybill::detail::put_text(j, "path", e.path);
    waybill::detail::put_text(j, "expected", e.expected);
    waybill::detail::put_text(j, "found", e.found);
}

namespace detail {

/// Leaves out a number that is not finite: JSON has no such number, and nlohmann's library would
/// write null.
inline void put_number(nlohmann::json& j, const char* field, const std::optional<double>& x)
{
    if (x && waybill::detail::is_finite(*x)) j[field] = *x;
}

}  // namespace detail

inline void to_json(nlohmann::json& j, const evidence& e)
{
    j = {{"part", e.part},
         {"statistic", e.what},
         {"points", e.points},
         {"holds", e.holds}};
    waybill::detail::put_text(j, "metric", std::string(e.metric));
    if (e.part != role::target && !e.wants) j["operator"] = e.how;
    if (e.cut) j["cut"] = true;
    if (e.sampled) j["sampled"] = true;
    detail::put_number(j, "value", e.value);
    detail::put_number(j, "limit", e.limit);
    if (e.timed) {
        j["first"] = e.first;
        j["last"] = e.last;
    }
    if (e.lacks != lack_of::nothing) j["lacks"] = e.lacks;
    if (e.wants) j["wants"] = *e.wants;
    if (!e.note.empty()) waybill::detail::put_text(j, "note", std::string(e.note));
}

inline void to_json(nlohmann::json& j, const decision& d)
{
    j = {{"verdict", d.verdict}, {"from", d.from},
         {"desired", d.desired}, {"to", d.to},
         {"now", d.now},         {"up", d.up},
         {"down", d.down},       {"activation", d.activation},
         {"because", d.reasons}};
    if (d.why != reason::nothing) j["why"] = d.why;
    if (d.until) j["until"] = *d.until;
    if (d.command) j["command"] = *d.command;
    if (d.arrived) j["arrived"] = true;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_EXT_JSON_DECISION_HPP
