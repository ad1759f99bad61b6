// SPDX-License-Identifier: MIT
//
// ext/json/lease: the JSON of the module lease. Leases, heartbeats (`owner_heartbeat`) and options
// are read and written, for a store that keeps a row as one text. Calls to a lease store, plans and
// actions are only written.
//
//     {"version": 1, "key": {"source": "orders", "group": "billing", "partition": "0"},
//      "owner": {"name": "host-7", "incarnation": 81}, "epoch": 3, "row_version": 12}
//
// "version" is the version of the format, as in all stored JSON. "row_version" changes with every
// write of the row. A store that has its own row versions replaces "row_version" after reading a
// row.

#ifndef WAYBILL_EXT_JSON_LEASE_HPP
#define WAYBILL_EXT_JSON_LEASE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstdint>

#include <waybill/core/match.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/position.hpp>
#include <waybill/lease/balance.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/lease/processor.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format versions of the written rows.
inline constexpr std::uint64_t lease_version = 1;
inline constexpr std::uint64_t owner_heartbeat_version = 1;

}  // namespace detail

template <detail::json_value Json>
void to_json(Json& j, const owner_id& o)
{
    j = {{"incarnation", o.incarnation}};
    detail::put_text(j, "name", o.name);
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, owner_id& into)
{
    json_fields(at)
        .required_text("name", into.name)
        .required("incarnation", into.incarnation)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const lease& l)
{
    j = {{"version", detail::lease_version},
         {"key", l.key},
         {"owner", l.owner},
         {"epoch", l.epoch},
         {"row_version", l.version}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, lease& into)
{
    json_fields(at)
        .version(detail::lease_version)
        .required("key", into.key)
        .required("owner", into.owner)
        .required("epoch", into.epoch)
        .required("row_version", into.version)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const owner_heartbeat& p)
{
    j = {{"version", detail::owner_heartbeat_version},
         {"owner", p.owner},
         {"row_version", p.version}};
    if (p.renews_leases) j["renews_leases"] = true;
    detail::put_text(j, "source", p.source);
    detail::put_text(j, "group", p.group);
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, owner_heartbeat& into)
{
    json_fields(at)
        .version(detail::owner_heartbeat_version)
        .required_text("source", into.source)
        .required_text("group", into.group)
        .required("owner", into.owner)
        .required("row_version", into.version)
        .optional("renews_leases", into.renews_leases)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const lease_table& t)
{
    j = {{"leases", t.leases}, {"owners", t.owners}};
    if (t.version != 0) j["version"] = t.version;
    if (t.partial) j["partial"] = true;
}

/// Without "expected" the claim expects that there is no row.
template <detail::json_value Json>
void to_json(Json& j, const lease_claim& c)
{
    j = {{"key", c.key}, {"owner", c.owner}, {"epoch", c.epoch}};
    if (c.expected) j["expected"] = *c.expected;
    if (!c.expired_owner.none()) {
        j["expired_owner"] = c.expired_owner;
        j["expired_heartbeat"] = c.expired_heartbeat;
    }
}

template <detail::json_value Json>
void to_json(Json& j, const lease_claim::result& o)
{
    j = {{"outcome", o.outcome}};
    if (o.outcome != lease_claim::result::claim_outcome::won) return;
    j["epoch"] = o.epoch;
    j["row_version"] = o.version;
}

template <detail::json_value Json>
void to_json(Json& j, const balance_plan& p)
{
    j = {{"claim", p.claim},     {"mine", p.mine},   {"target", p.target},
         {"surplus", p.surplus}, {"steal", p.steal}, {"balanced", p.balanced}};
}

template <detail::json_value Json>
void to_json(Json& j, const lease_options& o)
{
    j = {{"interval", o.interval}, {"expiry", o.expiry}};
    if (o.max_moves != lease_options::no_limit) j["max_moves"] = o.max_moves;
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, lease_options& into)
{
    json_fields(at)
        .optional("interval", into.interval)
        .optional("expiry", into.expiry)
        .optional("max_moves", into.max_moves)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const partition_lifecycle::config& o)
{
    j = {{"poll", o.poll}, {"pause", o.pause}, {"save_tries", o.save_tries}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, partition_lifecycle::config& into)
{
    json_fields(at)
        .optional("poll", into.poll)
        .optional("pause", into.pause)
        .optional("save_tries", into.save_tries)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const lease_manager::renew& a)
{
    j = {{"act", "renew"}, {"row", a.row}, {"since", a.since}};
}

template <detail::json_value Json>
void to_json(Json& j, const lease_manager::leave& a)
{
    j = {{"act", "leave"}, {"row", a.row}};
}

template <detail::json_value Json>
void to_json(Json& j, const lease_manager::list_leases& a)
{
    j = {{"act", "list_leases"}};
    detail::put_text(j, "source", a.source);
    detail::put_text(j, "group", a.group);
}

template <detail::json_value Json>
void to_json(Json& j, const lease_manager::claim& a)
{
    j = {{"act", "claim"}, {"rows", a.rows}, {"number", a.number}};
}

template <detail::json_value Json>
void to_json(Json& j, const partition_lifecycle::open& a)
{
    j = {{"act", "open"}, {"partition", a.partition}, {"epoch", a.epoch}};
}

template <detail::json_value Json>
void to_json(Json& j, const partition_lifecycle::process& a)
{
    j = {{"act", "process"}, {"partition", a.partition}, {"epoch", a.epoch}};
}

template <detail::json_value Json>
void to_json(Json& j, const partition_lifecycle::close& a)
{
    j = {{"act", "close"}, {"partition", a.partition}, {"epoch", a.epoch}};
    if (a.lost) j["lost"] = true;
}

template <detail::json_value Json>
void to_json(Json& j, const partition_lifecycle::save& a)
{
    j = {{"act", "save"}, {"partition", a.partition}, {"epoch", a.epoch}};
}

template <detail::json_value Json>
void to_json(Json& j, const partition_lifecycle::release& a)
{
    j = {{"act", "release"}, {"partition", a.partition}, {"epoch", a.epoch}};
}

/// Only these variants match, not types convertible to them.
template <detail::json_value Json, class Action>
    requires std::same_as<Action, lease_manager::lease_call> ||
             std::same_as<Action, lease_manager::action> ||
             std::same_as<Action, partition_lifecycle::action> ||
             std::same_as<Action, processor::action>
void to_json(Json& j, const Action& action)
{
    match(action, [&](const auto& a) { j = a; });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_LEASE_HPP
