// SPDX-License-Identifier: MIT
//
// ext/json_act_consume: actions of consumers and leases as JSON, written only; and the variants of
// all state machines except those in json_act.hpp and json_act_session.hpp.

#ifndef WAYBILL_EXT_JSON_ACT_CONSUME_HPP
#define WAYBILL_EXT_JSON_ACT_CONSUME_HPP

#include <concepts>
#include <variant>

#include <nlohmann/json.hpp>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/ext/json_act.hpp>
#include <waybill/ext/json_consume.hpp>
#include <waybill/ext/json_lease.hpp>
#include <waybill/ext/json_retry.hpp>
#include <waybill/ext/json_settle.hpp>
#include <waybill/ext/json_state.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/lease/processor.hpp>
#include <waybill/queue/lock_renewal.hpp>
#include <waybill/queue/receive_planner.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>
#include <waybill/tracking/commit_schedule.hpp>

namespace waybill::inline v0_2 {

inline void to_json(nlohmann::json& j, const at_least_once_machine::commit_to& a)
{
    j = {{"act", "commit_to"}, {"event", a.event}};
}
inline void to_json(nlohmann::json& j, const commit_schedule::commit_position& a)
{
    j = {{"act", "commit_position"}, {"why", a.reason}};
}

inline void to_json(nlohmann::json& j, const lease_manager::heartbeat& a)
{
    j = {{"act", "announce"}, {"who", a.who}};
}
inline void to_json(nlohmann::json& j, const lease_manager::leave& a)
{
    j = {{"act", "withdraw"}, {"who", a.who}};
}
inline void to_json(nlohmann::json& j, const lease_manager::list_leases& a)
{
    j = {{"act", "list_leases"}};
    detail::put_text(j, "source", a.source);
    detail::put_text(j, "group", a.group);
}
inline void to_json(nlohmann::json& j, const lease_manager::claim& a)
{
    j = {{"act", "claim"}, {"row", a.row}, {"number", a.number}};
}

inline void to_json(nlohmann::json& j, const partition_lifecycle::open& a)
{
    j = {{"act", "open"}, {"partition", a.partition}, {"epoch", a.epoch}};
}
inline void to_json(nlohmann::json& j, const partition_lifecycle::process& a)
{
    j = {{"act", "process"}, {"partition", a.partition}, {"epoch", a.epoch}};
}
inline void to_json(nlohmann::json& j, const partition_lifecycle::close& a)
{
    j = {{"act", "close"}, {"partition", a.partition}, {"epoch", a.epoch}};
    if (a.lost) j["lost"] = true;
}
inline void to_json(nlohmann::json& j, const partition_lifecycle::save& a)
{
    j = {{"act", "save"}, {"partition", a.partition}, {"epoch", a.epoch}};
}
inline void to_json(nlohmann::json& j, const partition_lifecycle::release& a)
{
    j = {{"act", "relinquish"}, {"partition", a.partition}, {"epoch", a.epoch}};
}

/// Only these variants match, not types convertible to them.
template <class Action>
requires std::same_as<Action, at_least_once_machine::action> ||
    std::same_as<Action, commit_schedule::action> ||
    std::same_as<Action, receive_planner::action> || std::same_as<Action, lease_call> ||
    std::same_as<Action, lease_manager::action> || std::same_as<Action, lock_renewal::action> ||
    std::same_as<Action, partition_lifecycle::action> || std::same_as<Action, processor::action> ||
    std::same_as<Action, settle_batches::action> || std::same_as<Action, settlement>
void to_json(nlohmann::json& j, const Action& action)
{
    std::visit([&](const auto& a) { j = a; }, action);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_ACT_CONSUME_HPP
