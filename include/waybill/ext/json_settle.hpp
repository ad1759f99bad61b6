// SPDX-License-Identifier: MIT
//
// ext/json_settle: policies that settle messages of a queue, read and written; their actions,
// written only.
//
//     {"max_deliveries": 10, "on_outage": "defer", "longest_defer": "12h"}
//
// A field that "levels" leaves out has the default of retry_levels, not of settle_policy, as in
// C++.

#ifndef WAYBILL_EXT_JSON_SETTLE_HPP
#define WAYBILL_EXT_JSON_SETTLE_HPP

#include <optional>

#include <nlohmann/json.hpp>

#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/queue/settle.hpp>
#include <waybill/queue/settle_batches.hpp>

namespace waybill::inline v0_2 {

inline void to_json(nlohmann::json& j, const settle_policy& p)
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

inline void read_value(const json_place& at, settle_policy& into)
{
    std::optional<retry_levels> levels;
    json_fields(at)
        .may("levels", levels)
        .may_size("max_deliveries", into.max_deliveries)
        .may("to_settle", into.to_settle)
        .may("on_outage", into.on_outage)
        .may("can_defer", into.can_defer)
        .may("longest_defer", into.longest_defer)
        .may("defer_renews", into.defer_renews)
        .may("release_counts", into.release_counts)
        .done();
    if (levels) into.levels = *levels;
}

inline void to_json(nlohmann::json& j, const settle_batch_policy& p)
{
    j = {{"items", detail::size_or_unlimited(p.items)},
         {"linger", p.linger},
         {"to_settle", p.to_settle},
         {"tries", p.tries},
         {"pauses", p.pauses}};
}

inline void read_value(const json_place& at, settle_batch_policy& into)
{
    json_fields(at)
        .may_size("items", into.items)
        .may("linger", into.linger)
        .may("to_settle", into.to_settle)
        .may("tries", into.tries)
        .may("pauses", into.pauses)
        .done();
}

inline void to_json(nlohmann::json& j, const complete&) { j = {{"act", "complete"}}; }
inline void to_json(nlohmann::json& j, const abandon& a)
{
    j = {{"act", "abandon"}, {"failed", a.failed}};
}
inline void to_json(nlohmann::json& j, const defer& a)
{
    j = {{"act", "defer"}, {"until", a.until}};
}
inline void to_json(nlohmann::json& j, const dead_letter_message& a)
{
    j = {{"act", "dead_letter_message"},
         {"why", a.reason},
         {"how", a.kind},
         {"used", a.used},
         {"most", detail::size_or_unlimited(a.max_attempts)}};
}
inline void to_json(nlohmann::json& j, const let_lock_expire& a)
{
    j = {{"act", "leave"}, {"why", a.reason}};
}

inline void to_json(nlohmann::json& j, const settle_batches::settle_batch& a)
{
    j = {{"act", "settle_batch"}, {"call", a.call}, {"kind", a.kind}, {"items", a.items}};
}
inline void to_json(nlohmann::json& j, const settle_batches::report& a)
{
    j = {{"act", "report"},
         {"item", a.item},
         {"kind", a.kind},
         {"end", a.outcome},
         {"tries", a.tries}};
    if (a.fault != fault_kind::none) j["how"] = a.fault;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_SETTLE_HPP
