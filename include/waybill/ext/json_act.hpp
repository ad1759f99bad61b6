// SPDX-License-Identifier: MIT
//
// ext/json_act: the actions of the batch sender, the batch consumer and the retry loop as JSON,
// written only: {"act": "send", ...}. A variant is written as the action that it contains.

#ifndef WAYBILL_EXT_JSON_ACT_HPP
#define WAYBILL_EXT_JSON_ACT_HPP

#include <concepts>
#include <variant>

#include <nlohmann/json.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/core/act.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_report.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2 {

inline void to_json(nlohmann::json& j, const wait_until& a)
{
    j = {{"act", "wait"}, {"until_steady_ns", a.time.since_epoch().count()}};
}
inline void to_json(nlohmann::json& j, const idle&) { j = {{"act", "idle"}}; }

inline void to_json(nlohmann::json& j, const retry_loop::call&)
{
    j = {{"act", "go"}};
}
inline void to_json(nlohmann::json& j, const retry_loop::done&)
{
    j = {{"act", "done"}};
}
inline void to_json(nlohmann::json& j, const retry_now&) { j = {{"act", "retry_now"}}; }
inline void to_json(nlohmann::json& j, const give_up& a)
{
    j = {{"act", "give_up"}, {"why", a.reason}};
}

inline void to_json(nlohmann::json& j, const batch_sender::send& a)
{
    j = {{"act", "send"},
         {"attempt", a.attempt},
         {"bytes", detail::size_or_unlimited(a.bytes)},
         {"closed", a.closed}};
    j["items"] = nlohmann::json::array();
    for (const item_range& r : a.items) j["items"].push_back(r);
}
inline void to_json(nlohmann::json& j, const batch_sender::report& a)
{
    j = item_report{a.items, a.outcome, a.kind, a.bytes, a.limit, a.envelope, {}};
    j["act"] = "settle";
}

inline void to_json(nlohmann::json& j, const batch_sender::replace& a)
{
    j = {{"act", "replace"},
         {"item", a.item},
         {"bytes", detail::size_or_unlimited(a.bytes)},
         {"limit", detail::size_or_unlimited(a.limit)},
         {"envelope", detail::size_or_unlimited(a.envelope)}};
}

inline void to_json(nlohmann::json& j, const batch_machine::load_crash_record&)
{
    j = {{"act", "recall"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::shorten& a)
{
    j = {{"act", "shorten"}, {"events", a.events}};
}
inline void to_json(nlohmann::json& j, const batch_machine::begin&)
{
    j = {{"act", "begin"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::store_crash_record& a)
{
    j = {{"act", "note"},           {"to", a.row.to}, {"suspects", a.row.suspects},
         {"deaths", a.row.deaths}, {"by", a.row.by}, {"epoch", a.row.epoch}};
    if (a.row.from) j["from"] = *a.row.from;
}
inline void to_json(nlohmann::json& j, const batch_machine::clear_crash_record&)
{
    j = {{"act", "forget"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::savepoint&)
{
    j = {{"act", "savepoint"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::handle& a)
{
    j = {{"act", "handle"}, {"event", a.event}};
}
inline void to_json(nlohmann::json& j, const batch_machine::release_savepoint&)
{
    j = {{"act", "release"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::rollback_to_savepoint&)
{
    j = {{"act", "undo"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::write_dead_letter& a)
{
    j = {{"act", "dead_letter"}, {"event", a.event}, {"how", a.kind}, {"tries", a.tries}};
    if (a.poison_message) j["condemned"] = true;
}
inline void to_json(nlohmann::json& j, const batch_machine::ask& a)
{
    j = {{"act", "ask"}, {"failed", a.failed}};
}
inline void to_json(nlohmann::json& j, const batch_machine::advance&)
{
    j = {{"act", "advance"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::commit&)
{
    j = {{"act", "commit"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::rollback&)
{
    j = {{"act", "rollback"}};
}
inline void to_json(nlohmann::json& j, const batch_machine::check_commit&)
{
    j = {{"act", "read_back"}};
}

/// Only these variants match, not types convertible to them.
template <class Action>
requires std::same_as<Action, batch_sender::action> ||
    std::same_as<Action, batch_machine::action> || std::same_as<Action, retry_action> ||
    std::same_as<Action, retry_loop::action>
void to_json(nlohmann::json& j, const Action& action)
{
    std::visit([&](const auto& a) { j = a; }, action);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_ACT_HPP
