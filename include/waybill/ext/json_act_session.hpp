// SPDX-License-Identifier: MIT
//
// ext/json_act_session: the actions of a pipeline, a redrive and the import of dead letters from
// the broker's queue as JSON, written only.

#ifndef WAYBILL_EXT_JSON_ACT_SESSION_HPP
#define WAYBILL_EXT_JSON_ACT_SESSION_HPP

#include <concepts>
#include <variant>

#include <nlohmann/json.hpp>

#include <waybill/ext/json_act.hpp>
#include <waybill/ext/json_session_values.hpp>
#include <waybill/ext/json_settle.hpp>
#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/redrive.hpp>

namespace waybill::inline v0_2 {

inline void to_json(nlohmann::json& j, const pipeline::load_state&)
{
    j = {{"act", "load_state"}};
}
inline void to_json(nlohmann::json& j, const pipeline::execute& a)
{
    j = {{"act", "execute"}, {"step", a.step}, {"tries", a.tries}};
}
inline void to_json(nlohmann::json& j, const pipeline::save_state& a)
{
    j = {{"act", "save_state"}};
    if (a.undone) j["undone"] = true;
}
inline void to_json(nlohmann::json& j, const pipeline::write_dead_letter& a)
{
    j = {{"act", "park"}, {"reason", a.reason}, {"tries", a.tries}};
    if (a.cause != 0) j["cause"] = a.cause;
    if (a.cause_step != 0) j["cause_step"] = a.cause_step;
    if (a.bare) j["bare"] = true;
    if (a.alone) j["alone"] = true;
}
inline void to_json(nlohmann::json& j, const pipeline::clear_state&)
{
    j = {{"act", "clear_state"}};
}
inline void to_json(nlohmann::json& j, const pipeline::give_back& a)
{
    j = {{"act", "give_back"}, {"until_steady_ns", a.until.since_epoch().count()}};
    if (a.reason != fault_kind::none) j["why"] = a.reason;
}

inline void to_json(nlohmann::json& j, const redrive::resubmit& a)
{
    j = {{"act", "resubmit"}, {"offset", a.offset}, {"count", a.count}};
}
inline void to_json(nlohmann::json& j, const redrive::mark_sent& a)
{
    j = {{"act", "mark_sent"}, {"session", a.session}, {"count", a.count}};
}
inline void to_json(nlohmann::json& j, const redrive::remove_dead_letters& a)
{
    j = {{"act", "remove_letters"}, {"offset", a.offset}, {"count", a.count}};
}

/// Only these variants match, not types convertible to them.
template <class Action>
requires std::same_as<Action, pipeline::action> || std::same_as<Action, redrive::action> ||
    std::same_as<Action, dead_letter_import::action>
void to_json(nlohmann::json& j, const Action& action)
{
    std::visit([&](const auto& a) { j = a; }, action);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_ACT_SESSION_HPP
