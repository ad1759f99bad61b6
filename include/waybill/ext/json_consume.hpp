// SPDX-License-Identifier: MIT
//
// ext/json_consume: crash records (`attempt`) and consumer policies, read and written; plans,
// reports and values of the tracker, written only.
//
//     {"version": 1, "from": 10, "to": 14, "suspects": 4, "deaths": 1, "by": 7, "epoch": 3}
//
// A crash record without "from" belongs to a partition that had no checkpoint yet.

#ifndef WAYBILL_EXT_JSON_CONSUME_HPP
#define WAYBILL_EXT_JSON_CONSUME_HPP

#include <cstdint>

#include <nlohmann/json.hpp>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/process_at_least_once.hpp>
#include <waybill/consume/reprocess.hpp>
#include <waybill/consume/rewind.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_report.hpp>
#include <waybill/ext/json_state.hpp>
#include <waybill/tracking/commit_schedule.hpp>
#include <waybill/tracking/tracker_bytes.hpp>
#include <waybill/tracking/tracker_options.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format version of a written crash record.
inline constexpr std::uint64_t crash_record_version = 1;

}  // namespace detail

inline void to_json(nlohmann::json& j, const crash_record& a)
{
    j = {{"version", detail::crash_record_version},
         {"to", a.to},
         {"suspects", a.suspects},
         {"deaths", a.deaths},
         {"by", a.by},
         {"epoch", a.epoch}};
    if (a.from) j["from"] = *a.from;
}

inline void read_value(const json_place& at, crash_record& into)
{
    json_fields(at)
        .version(detail::crash_record_version)
        .may("from", into.from)
        .must("to", into.to)
        .must("suspects", into.suspects)
        .must("deaths", into.deaths)
        .must("by", into.by)
        .must("epoch", into.epoch)
        .done();
}

inline void to_json(nlohmann::json& j, const tracker_options& o)
{
    j = {{"most", o.max_in_flight}, {"span", o.span}, {"mark", o.mark}};
}

inline void read_value(const json_place& at, tracker_options& into)
{
    json_fields(at)
        .may("most", into.max_in_flight)
        .may("span", into.span)
        .may("mark", into.mark)
        .done();
}

inline void to_json(nlohmann::json& j, const tracked_event& t)
{
    j = {{"sequence", t.sequence}, {"generation", t.generation}, {"number", t.number}};
}

inline void to_json(nlohmann::json& j, const blocked& b)
{
    j = {{"sequence", b.sequence}, {"waiting", b.waiting}};
}

inline void to_json(nlohmann::json& j, const encoded_done& e)
{
    j = {{"how", e.outcome}, {"kept", e.kept}, {"dropped", e.dropped}};
    detail::put_text(j, "bytes", e.bytes);
}

inline void to_json(nlohmann::json& j, const commit_schedule_policy& c)
{
    j = {{"every", detail::size_or_unlimited(c.every)},
         {"interval", c.interval},
         {"needs", c.needs},
         {"on_close", c.on_close},
         {"idle_refresh", c.idle_refresh},
         {"pause", c.pause}};
}

inline void read_value(const json_place& at, commit_schedule_policy& into)
{
    json_fields(at)
        .may_size("every", into.every)
        .may("interval", into.interval)
        .may("needs", into.needs)
        .may("on_close", into.on_close)
        .may("idle_refresh", into.idle_refresh)
        .may("pause", into.pause)
        .done();
}

inline void to_json(nlohmann::json& j, const idempotency_options& o)
{
    j = {{"scope", o.scope}, {"most", detail::size_or_unlimited(o.max_bytes)}};
}

inline void read_value(const json_place& at, idempotency_options& into)
{
    std::uint64_t most = into.max_bytes;
    json_fields(at).may("scope", into.scope).may_size("most", most).done();
    into.max_bytes = most;
}

inline void to_json(nlohmann::json& j, const at_least_once_policy& p)
{
    j = {{"tries", p.tries},
         {"on_exhausted", p.on_exhausted},
         {"commit_every", detail::size_or_unlimited(p.commit_every)},
         {"ask_from", detail::size_or_unlimited(p.ask_from)},
         {"reason_bytes", detail::size_or_unlimited(p.dead_letters.reason_bytes)},
         {"keeps", p.dead_letters.keeps},
         {"body_bytes", detail::size_or_unlimited(p.dead_letters.body_bytes)},
         {"summary_bytes", detail::size_or_unlimited(p.dead_letters.summary_bytes)},
         {"read_back", p.check_commit},
         {"keys", p.keys}};
}

inline void read_value(const json_place& at, at_least_once_policy& into)
{
    std::uint64_t reason_bytes = into.dead_letters.reason_bytes;
    json_fields(at)
        .may("tries", into.tries)
        .may("on_exhausted", into.on_exhausted)
        .may_size("commit_every", into.commit_every)
        .may_size("ask_from", into.ask_from)
        .may_size("reason_bytes", reason_bytes)
        .may("keeps", into.dead_letters.keeps)
        .may_size("body_bytes", into.dead_letters.body_bytes)
        .may_size("summary_bytes", into.dead_letters.summary_bytes)
        .may("read_back", into.check_commit)
        .may("keys", into.keys)
        .done();
    into.dead_letters.reason_bytes = reason_bytes;
}

inline void to_json(nlohmann::json& j, const at_least_once_report& r)
{
    j = {{"end", r.outcome},
         {"handled", r.handled},
         {"dead_lettered", r.dead_lettered},
         {"skipped", r.skipped},
         {"repeated", r.repeated}};
    if (r.dropped != 0) j["dropped"] = r.dropped;
    if (!r.dropped_events.empty()) j["dropped_events"] = r.dropped_events;
    if (r.uncovered != 0) j["uncovered"] = r.uncovered;
    if (r.reached) j["reached"] = *r.reached;
    if (!r.reason.ok()) j["why"] = r.reason;
}

inline void to_json(nlohmann::json& j, const rewind_report& r)
{
    j = {{"end", r.outcome}, {"mine", r.mine}};
    if (!r.reason.ok()) j["why"] = r.reason;
}

inline void to_json(nlohmann::json& j, const reprocess_report& r)
{
    j = {{"end", r.outcome}};
    if (!r.reason.ok()) j["why"] = r.reason;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_CONSUME_HPP
