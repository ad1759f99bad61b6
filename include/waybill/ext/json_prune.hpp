// SPDX-License-Identifier: MIT
//
// ext/json_prune: the policy that limits stored dead letters, read and written; plans with the
// reasons for each removal, written only.
//
//     {"age": "168h", "count": 100000, "full": "refuse_new",
//      "spike": {"count": 500, "within": "10min"}}
//
// As in all policies, a field that is left out has its default and an unknown field is an error.
// Ages have a unit, so hours are not mistaken for days.

#ifndef WAYBILL_EXT_JSON_PRUNE_HPP
#define WAYBILL_EXT_JSON_PRUNE_HPP

#include <nlohmann/json.hpp>

#include <waybill/consume/prune.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_report.hpp>

namespace waybill::inline v0_2 {

inline void to_json(nlohmann::json& j, const prune_spike& s)
{
    j = {{"count", detail::size_or_unlimited(s.count)}, {"within", s.within}};
}

inline void read_value(const json_place& at, prune_spike& into)
{
    json_fields(at).may_size("count", into.count).may("within", into.within).done();
}

inline void to_json(nlohmann::json& j, const prune_policy& p)
{
    j = {{"age", p.age},
         {"count", detail::size_or_unlimited(p.count)},
         {"bytes", detail::size_or_unlimited(p.bytes)},
         {"low_water", p.low_water},
         {"spike", p.spike},
         {"full", p.full}};
}

inline void read_value(const json_place& at, prune_policy& into)
{
    json_fields(at)
        .may("age", into.age)
        .may_size("count", into.count)
        .may_size("bytes", into.bytes)
        .may("low_water", into.low_water)
        .may("spike", into.spike)
        .may("full", into.full)
        .done();
}

inline void to_json(nlohmann::json& j, const prune_removal& r)
{
    j = {{"id", r.id},
         {"index", r.index},
         {"bytes", r.bytes},
         {"parked", r.dead_lettered_at},
         {"why", r.reason}};
}

inline void to_json(nlohmann::json& j, const prune_totals& t)
{
    j = {{"rows", t.rows}, {"bytes", t.bytes}};
}

/// "wrong" is written only if the policy is invalid.
inline void to_json(nlohmann::json& j, const prune_plan& p)
{
    j = {{"removals", p.removals}, {"before", p.before}, {"after", p.after},
         {"held", p.held},         {"recent", p.recent}, {"spike", p.spike},
         {"full", p.full},         {"in_order", p.in_order}};
    if (p.wrong) j["wrong"] = *p.wrong;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_PRUNE_HPP
