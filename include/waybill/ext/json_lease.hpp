// SPDX-License-Identifier: MIT
//
// ext/json_lease: leases and heartbeats (`owner_heartbeat`), read and written, for a store that
// keeps a row as one text; calls to a lease store and plans, written only.
//
//     {"version": 1, "key": {"source": "orders", "group": "billing", "partition": "0"},
//      "owner": {"name": "host-7", "incarnation": 81}, "epoch": 3, "row_version": 12}
//
// "version" is the version of the format, as in all stored JSON. "row_version" changes with every
// write of the row. A store that has its own row versions replaces "row_version" after reading a
// row.

#ifndef WAYBILL_EXT_JSON_LEASE_HPP
#define WAYBILL_EXT_JSON_LEASE_HPP

#include <cstdint>

#include <nlohmann/json.hpp>

#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_state.hpp>
#include <waybill/lease/balance.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/partition_lifecycle.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format versions of the written rows.
inline constexpr std::uint64_t lease_version = 1;
inline constexpr std::uint64_t owner_heartbeat_version = 1;

}  // namespace detail

inline void to_json(nlohmann::json& j, const owner_id& o)
{
    j = {{"incarnation", o.incarnation}};
    detail::put_text(j, "name", o.name);
}

inline void read_value(const json_place& at, owner_id& into)
{
    json_fields(at).must_text("name", into.name).must("incarnation", into.incarnation).done();
}

inline void to_json(nlohmann::json& j, const lease& l)
{
    j = {{"version", detail::lease_version},
         {"key", l.key},
         {"owner", l.owner},
         {"epoch", l.epoch},
         {"row_version", l.version}};
}

inline void read_value(const json_place& at, lease& into)
{
    json_fields(at)
        .version(detail::lease_version)
        .must("key", into.key)
        .must("owner", into.owner)
        .must("epoch", into.epoch)
        .must("row_version", into.version)
        .done();
}

inline void to_json(nlohmann::json& j, const owner_heartbeat& p)
{
    j = {{"version", detail::owner_heartbeat_version},
         {"owner", p.owner},
         {"row_version", p.version}};
    detail::put_text(j, "source", p.source);
    detail::put_text(j, "group", p.group);
}

inline void read_value(const json_place& at, owner_heartbeat& into)
{
    json_fields(at)
        .version(detail::owner_heartbeat_version)
        .must_text("source", into.source)
        .must_text("group", into.group)
        .must("owner", into.owner)
        .must("row_version", into.version)
        .done();
}

inline void to_json(nlohmann::json& j, const lease_table& t)
{
    j = {{"leases", t.leases}, {"owners", t.owners}};
}

/// Without "expected" the claim expects that there is no row.
inline void to_json(nlohmann::json& j, const lease_claim& c)
{
    j = {{"key", c.key}, {"owner", c.owner}, {"epoch", c.epoch}};
    if (c.expected) j["expected"] = *c.expected;
}

inline void to_json(nlohmann::json& j, const claim_result& o)
{
    j = {{"end", o.outcome}};
    if (o.outcome != claim_outcome::won) return;
    j["epoch"] = o.epoch;
    j["row_version"] = o.version;
}

inline void to_json(nlohmann::json& j, const balance_plan& p)
{
    j = {{"claim", p.claim}, {"mine", p.mine}, {"target", p.target}, {"balanced", p.balanced}};
    if (p.steal) j["steal"] = *p.steal;
}

inline void to_json(nlohmann::json& j, const lease_options& o)
{
    j = {{"interval", o.interval}, {"expiry", o.expiry}};
}

inline void read_value(const json_place& at, lease_options& into)
{
    json_fields(at).may("interval", into.interval).may("expiry", into.expiry).done();
}

inline void to_json(nlohmann::json& j, const lifecycle_options& o)
{
    j = {{"poll", o.poll}, {"pause", o.pause}, {"save_tries", o.save_tries}};
}

inline void read_value(const json_place& at, lifecycle_options& into)
{
    json_fields(at)
        .may("poll", into.poll)
        .may("pause", into.pause)
        .may("save_tries", into.save_tries)
        .done();
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_LEASE_HPP
