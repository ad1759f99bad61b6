// SPDX-License-Identifier: MIT
//
// ext/json/consume: policies, dead letters and crash records, read and written; plans, reports and
// actions of consumers, written only.
//
//     {"version": 1, "from": 10, "to": 14, "suspects": 4, "deaths": 1, "incarnation": 7,
//      "epoch": 3}
//
//     {"age": "168h", "count": 100000, "full": "refuse_new",
//      "spike": {"count": 500, "within": "10min"}}
//
// A crash record without "from" belongs to a partition that had no checkpoint yet. Ages have a
// unit, so hours are not mistaken for days.

#ifndef WAYBILL_EXT_JSON_CONSUME_HPP
#define WAYBILL_EXT_JSON_CONSUME_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstdint>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/process_at_least_once.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/consume/prune.hpp>
#include <waybill/consume/prune_policy.hpp>
#include <waybill/consume/reprocess.hpp>
#include <waybill/consume/rewind.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/match.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/position.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format versions of the written JSON.
inline constexpr std::uint64_t crash_record_version = 1;
inline constexpr std::uint64_t dead_letter_version = 1;

}  // namespace detail

template <detail::json_value Json>
void to_json(Json& j, const dead_letter& d)
{
    j = {{"version", detail::dead_letter_version},
         {"key", d.key},
         {"at", d.at},
         {"kind", d.kind},
         {"tries", d.tries},
         {"occurred", d.occurred},
         {"dead_lettered_at", d.dead_lettered_at}};
    detail::put_text(j, "reason", d.reason);
    detail::put_text(j, "body", d.body);
    if (d.kept != dead_letter_body::body) j["kept"] = d.kept;
    if (d.size != 0) j["size"] = d.size;
    if (d.checksum != 0) j["checksum"] = d.checksum;
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, dead_letter& into)
{
    json_fields(at)
        .version(detail::dead_letter_version)
        .required("key", into.key)
        .required("at", into.at)
        .required("kind", into.kind)
        .required_text("reason", into.reason)
        .required_text("body", into.body)
        .required("tries", into.tries)
        .required("occurred", into.occurred)
        .required("dead_lettered_at", into.dead_lettered_at)
        .optional("kept", into.kept)
        .optional("size", into.size)
        .optional("checksum", into.checksum)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const crash_record& a)
{
    j = {{"version", detail::crash_record_version},
         {"to", a.to},
         {"suspects", a.suspects},
         {"deaths", a.deaths},
         {"incarnation", a.incarnation},
         {"epoch", a.epoch}};
    if (a.from) j["from"] = *a.from;
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, crash_record& into)
{
    json_fields(at)
        .version(detail::crash_record_version)
        .optional("from", into.from)
        .required("to", into.to)
        .required("suspects", into.suspects)
        .required("deaths", into.deaths)
        .required("incarnation", into.incarnation)
        .required("epoch", into.epoch)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const batch_policy& p)
{
    j = {{"tries", p.tries},
         {"on_exhausted", p.on_exhausted},
         {"savepoints", p.savepoints},
         {"reason_bytes", detail::size_or_unlimited(p.dead_letters.reason_bytes)},
         {"keeps", p.dead_letters.keeps},
         {"body_bytes", detail::size_or_unlimited(p.dead_letters.body_bytes)},
         {"summary_bytes", detail::size_or_unlimited(p.dead_letters.summary_bytes)},
         {"decide_all_failed_from", detail::size_or_unlimited(p.decide_all_failed_from)},
         {"check_commit", p.check_commit},
         {"crash_records", p.crash_records},
         {"deaths", p.deaths}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, batch_policy& into)
{
    std::uint64_t reason_bytes = into.dead_letters.reason_bytes;
    json_fields(at)
        .optional("tries", into.tries)
        .optional("on_exhausted", into.on_exhausted)
        .optional("savepoints", into.savepoints)
        .optional_size("reason_bytes", reason_bytes)
        .optional("keeps", into.dead_letters.keeps)
        .optional_size("body_bytes", into.dead_letters.body_bytes)
        .optional_size("summary_bytes", into.dead_letters.summary_bytes)
        .optional_size("decide_all_failed_from", into.decide_all_failed_from)
        .optional("check_commit", into.check_commit)
        .optional("crash_records", into.crash_records)
        .optional("deaths", into.deaths)
        .done();
    into.dead_letters.reason_bytes = reason_bytes;
}

template <detail::json_value Json>
void to_json(Json& j, const idempotency_keys::options& o)
{
    j = {{"scope", o.scope}, {"max_bytes", detail::size_or_unlimited(o.max_bytes)}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, idempotency_keys::options& into)
{
    std::uint64_t max_bytes = into.max_bytes;
    json_fields(at).optional("scope", into.scope).optional_size("max_bytes", max_bytes).done();
    into.max_bytes = max_bytes;
}

template <detail::json_value Json>
void to_json(Json& j, const at_least_once_policy& p)
{
    j = {{"tries", p.tries},
         {"on_exhausted", p.on_exhausted},
         {"commit_every", detail::size_or_unlimited(p.commit_every)},
         {"decide_all_failed_from", detail::size_or_unlimited(p.decide_all_failed_from)},
         {"reason_bytes", detail::size_or_unlimited(p.dead_letters.reason_bytes)},
         {"keeps", p.dead_letters.keeps},
         {"body_bytes", detail::size_or_unlimited(p.dead_letters.body_bytes)},
         {"summary_bytes", detail::size_or_unlimited(p.dead_letters.summary_bytes)},
         {"check_commit", p.check_commit},
         {"keys", p.keys}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, at_least_once_policy& into)
{
    std::uint64_t reason_bytes = into.dead_letters.reason_bytes;
    json_fields(at)
        .optional("tries", into.tries)
        .optional("on_exhausted", into.on_exhausted)
        .optional_size("commit_every", into.commit_every)
        .optional_size("decide_all_failed_from", into.decide_all_failed_from)
        .optional_size("reason_bytes", reason_bytes)
        .optional("keeps", into.dead_letters.keeps)
        .optional_size("body_bytes", into.dead_letters.body_bytes)
        .optional_size("summary_bytes", into.dead_letters.summary_bytes)
        .optional("check_commit", into.check_commit)
        .optional("keys", into.keys)
        .done();
    into.dead_letters.reason_bytes = reason_bytes;
}

template <detail::json_value Json>
void to_json(Json& j, const prune_policy::spike_limit& s)
{
    j = {{"count", detail::size_or_unlimited(s.count)}, {"within", s.within}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, prune_policy::spike_limit& into)
{
    json_fields(at).optional_size("count", into.count).optional("within", into.within).done();
}

template <detail::json_value Json>
void to_json(Json& j, const prune_policy& p)
{
    j = {{"age", p.age},
         {"count", detail::size_or_unlimited(p.count)},
         {"bytes", detail::size_or_unlimited(p.bytes)},
         {"low_water", p.low_water},
         {"spike", p.spike},
         {"full", p.full}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, prune_policy& into)
{
    json_fields(at)
        .optional("age", into.age)
        .optional_size("count", into.count)
        .optional_size("bytes", into.bytes)
        .optional("low_water", into.low_water)
        .optional("spike", into.spike)
        .optional("full", into.full)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const prune_plan::removal& r)
{
    j = {{"id", r.id},
         {"index", r.index},
         {"bytes", r.bytes},
         {"dead_lettered_at", r.dead_lettered_at},
         {"reason", r.reason}};
}

template <detail::json_value Json>
void to_json(Json& j, const prune_plan::totals& t)
{
    j = {{"rows", t.rows}, {"bytes", t.bytes}};
}

/// "wrong" is written only if the policy is invalid.
template <detail::json_value Json>
void to_json(Json& j, const prune_plan& p)
{
    j = {{"removals", p.removals},
         {"before", p.before},
         {"after", p.after},
         {"redriving", p.redriving},
         {"recent", p.recent},
         {"spike", p.spike},
         {"limit_reached", p.limit_reached},
         {"rows_in_order", p.rows_in_order}};
    if (p.wrong) j["wrong"] = *p.wrong;
}

template <detail::json_value Json>
void to_json(Json& j, const batch_report::dropped_event& e)
{
    j = {{"at", e.at}, {"reason", e.reason}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_report& r)
{
    j = {{"outcome", r.outcome},
         {"handled", r.handled},
         {"dead_lettered", r.dead_lettered},
         {"skipped", r.skipped},
         {"repeated", r.repeated}};
    if (r.dropped != 0) j["dropped"] = r.dropped;
    if (!r.dropped_events.empty()) j["dropped_events"] = r.dropped_events;
    if (r.not_delivered != 0) j["not_delivered"] = r.not_delivered;
    if (r.reached) j["reached"] = *r.reached;
    if (!r.reason.ok()) j["reason"] = r.reason;
}

template <detail::json_value Json>
void to_json(Json& j, const at_least_once_report& r)
{
    j = {{"outcome", r.outcome},
         {"handled", r.handled},
         {"dead_lettered", r.dead_lettered},
         {"skipped", r.skipped},
         {"repeated", r.repeated}};
    if (r.dropped != 0) j["dropped"] = r.dropped;
    if (!r.dropped_events.empty()) j["dropped_events"] = r.dropped_events;
    if (r.not_committed != 0) j["not_committed"] = r.not_committed;
    if (r.reached) j["reached"] = *r.reached;
    if (!r.reason.ok()) j["reason"] = r.reason;
}

template <detail::json_value Json>
void to_json(Json& j, const rewind_report& r)
{
    j = {{"outcome", r.outcome}, {"mine", r.mine}};
    if (!r.reason.ok()) j["reason"] = r.reason;
}

template <detail::json_value Json>
void to_json(Json& j, const reprocess_report& r)
{
    j = {{"outcome", r.outcome}};
    if (!r.reason.ok()) j["reason"] = r.reason;
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::load_crash_record&)
{
    j = {{"act", "load_crash_record"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::shorten& a)
{
    j = {{"act", "shorten"}, {"events", a.events}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::begin&)
{
    j = {{"act", "begin"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::store_crash_record& a)
{
    j = {{"act", "store_crash_record"},      {"to", a.row.to},
         {"suspects", a.row.suspects},       {"deaths", a.row.deaths},
         {"incarnation", a.row.incarnation}, {"epoch", a.row.epoch}};
    if (a.row.from) j["from"] = *a.row.from;
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::clear_crash_record&)
{
    j = {{"act", "clear_crash_record"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::savepoint&)
{
    j = {{"act", "savepoint"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::handle& a)
{
    j = {{"act", "handle"}, {"event", a.event}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::release_savepoint&)
{
    j = {{"act", "release_savepoint"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::rollback_to_savepoint&)
{
    j = {{"act", "rollback_to_savepoint"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::write_dead_letter& a)
{
    j = {{"act", "write_dead_letter"}, {"event", a.event}, {"kind", a.kind}, {"tries", a.tries}};
    if (a.poison_message) j["poison_message"] = true;
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::decide_all_failed& a)
{
    j = {{"act", "decide_all_failed"}, {"failed", a.failed}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::advance&)
{
    j = {{"act", "advance"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::commit&)
{
    j = {{"act", "commit"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::rollback&)
{
    j = {{"act", "rollback"}};
}

template <detail::json_value Json>
void to_json(Json& j, const batch_machine::check_commit&)
{
    j = {{"act", "check_commit"}};
}

template <detail::json_value Json>
void to_json(Json& j, const at_least_once_machine::commit_to& a)
{
    j = {{"act", "commit_to"}, {"event", a.event}};
}

/// Only these variants match, not types convertible to them.
template <detail::json_value Json, class Action>
    requires std::same_as<Action, batch_machine::action> ||
             std::same_as<Action, at_least_once_machine::action>
void to_json(Json& j, const Action& action)
{
    match(action, [&](const auto& a) { j = a; });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_CONSUME_HPP
