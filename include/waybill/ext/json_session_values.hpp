// SPDX-License-Identifier: MIT
//
// ext/json_session_values: values of sessions as JSON: policies, step properties and dead letters,
// read and written; results, plans and outcomes, written only.
//
//     {"mode": "independent", "patience": "5s", "broker_deliveries": 20}
//
// json_session.hpp reads and writes the state of a session.

#ifndef WAYBILL_EXT_JSON_SESSION_VALUES_HPP
#define WAYBILL_EXT_JSON_SESSION_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/ext/json_decoded.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_state.hpp>
#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/session_store.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/session/state_text.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/session/sweep.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format version of a written dead letter.
inline constexpr std::uint64_t pipeline_dead_letter_version = 1;

}  // namespace detail

inline void to_json(nlohmann::json& j, const step_failure& f)
{
    j = {{"step", f.step}, {"sequence", f.sequence}, {"reason", f.reason}, {"tries", f.tries},
         {"at", f.at}};
    detail::put_text(j, "text", f.text);
}

inline void to_json(nlohmann::json& j, const session_progress& p)
{
    j = {{"done", p.done},   {"total", p.total}, {"parked", p.dead_lettered},
         {"tries", p.tries}, {"begun", p.begun}, {"changed", p.changed}};
    if (p.first != 0) j["first"] = p.first;
    if (p.failed) j["failed"] = *p.failed;
}

inline void to_json(nlohmann::json& j, const opened_state& s)
{
    j = {{"how", s.outcome}, {"problem", s.problem}, {"size", s.size}, {"bare", s.bare}};
    if (s.expected != 0) j["expected"] = s.expected;
    if (s.outcome != state_read::ok || s.bare) return;
    j["format"] = s.format;
    j["version"] = describe(s.version);
}

inline void to_json(nlohmann::json& j, const state_unwritten& e)
{
    j = {{"problem", e.problem}};
    if (e.problem == state_unwritten::problem_type::too_large) {
        j["size"] = e.size;
        j["most"] = e.max_bytes;
    }
    if (!e.reason.empty()) detail::put_text(j, "why", e.reason);
}

inline void to_json(nlohmann::json& j, const state_budget& b)
{
    j = {{"bytes", detail::size_or_unlimited(b.bytes)}, {"failure_reserve", b.failure_reserve}};
}

inline void read_value(const json_place& at, state_budget& into)
{
    json_fields(at)
        .may_size("bytes", into.bytes)
        .may("failure_reserve", into.failure_reserve)
        .done();
}

inline void to_json(nlohmann::json& j, const pipeline_policy& p)
{
    j = {{"mode", p.mode},
         {"retry", p.retry},
         {"patience", p.patience},
         {"deliveries", p.deliveries},
         {"broker_deliveries", detail::size_or_unlimited(p.broker_deliveries)},
         {"unreadable", p.unreadable},
         {"refused", p.refused},
         {"reason_bytes", detail::size_or_unlimited(p.reason_bytes)}};
}

inline void read_value(const json_place& at, pipeline_policy& into)
{
    std::uint64_t reason_bytes = into.reason_bytes;
    json_fields(at)
        .may("mode", into.mode)
        .may("retry", into.retry)
        .may("patience", into.patience)
        .may("deliveries", into.deliveries)
        .may_size("broker_deliveries", into.broker_deliveries)
        .may("unreadable", into.unreadable)
        .may("refused", into.refused)
        .may_size("reason_bytes", reason_bytes)
        .done();
    into.reason_bytes = reason_bytes;
}

inline void to_json(nlohmann::json& j, const sweep_policy& p)
{
    j = {{"messages_live", p.messages_live},
         {"keep_failed", p.keep_failed},
         {"stuck_after", p.stuck_after},
         {"give_up_after", p.give_up_after}};
}

inline void read_value(const json_place& at, sweep_policy& into)
{
    json_fields(at)
        .may("messages_live", into.messages_live)
        .may("keep_failed", into.keep_failed)
        .may("stuck_after", into.stuck_after)
        .may("give_up_after", into.give_up_after)
        .done();
}

inline void to_json(nlohmann::json& j, const sweep_item& i)
{
    j = {{"index", i.index}, {"verdict", i.verdict}, {"how", i.outcome},    {"age", i.age},
         {"done", i.done},   {"total", i.total},     {"changed", i.changed}};
}

inline void to_json(nlohmann::json& j, const redrive_policy& p)
{
    j = {{"chunk", detail::size_or_unlimited(p.chunk)}, {"retry", p.retry}};
}

inline void read_value(const json_place& at, redrive_policy& into)
{
    json_fields(at).may_size("chunk", into.chunk).may("retry", into.retry).done();
}

inline void to_json(nlohmann::json& j, const redrive_options& o)
{
    j = {{"damaged", o.damaged},
         {"close", o.close},
         {"fetches_bodies", o.fetches_bodies},
         {"removed_at_once", detail::size_or_unlimited(o.removed_at_once)},
         {"most_id_bytes", o.max_id_bytes}};
}

inline void read_value(const json_place& at, redrive_options& into)
{
    json_fields(at)
        .may("damaged", into.damaged)
        .may("close", into.close)
        .may("fetches_bodies", into.fetches_bodies)
        .may_size("removed_at_once", into.removed_at_once)
        .may("most_id_bytes", into.max_id_bytes)
        .done();
}

inline void to_json(nlohmann::json& j, const redrive_session& s)
{
    j = {{"offset", s.offset}, {"count", s.count}, {"generation", s.generation},
         {"first", s.first},   {"total", s.total}, {"marks", describe(s.marks)},
         {"held", s.held}};
    detail::put_text(j, "id", s.id);
    if (s.without_body != 0) j["without_body"] = s.without_body;
    if (s.sent_to != 0) j["sent_to"] = s.sent_to;
}

inline void to_json(nlohmann::json& j, const redrive_plan& p)
{
    j = {{"ready", p.ready}, {"held", p.held}, {"filtered", p.filtered}, {"sessions", p.sessions}};
}

inline void to_json(nlohmann::json& j, const job_progress& p)
{
    j = {{"done", p.done}, {"parked", p.dead_lettered}, {"total", p.total}};
    if (p.failed == 0) return;
    j["failed"] = p.failed;
    detail::put_text(j, "why", p.reason);
}

inline void to_json(nlohmann::json& j, const step_properties& s)
{
    j = {{"step", s.step}, {"first", s.first}, {"total", s.total}, {"last", s.last}};
    detail::put_text(j, "session", s.session);
}

inline void read_value(const json_place& at, step_properties& into)
{
    json_fields(at)
        .must_text("session", into.session)
        .must("step", into.step)
        .may("first", into.first)
        .may("total", into.total)
        .may("last", into.last)
        .done();
}

inline void to_json(nlohmann::json& j, const step_facts& f)
{
    j = {{"sequence", f.sequence}, {"step", f.step}, {"first", f.first},
         {"total", f.total},       {"last", f.last}, {"deliveries", f.deliveries}};
}

inline void to_json(nlohmann::json& j, const step_origin& o)
{
    j = {{"sequence", o.sequence}, {"generation", o.generation}, {"tries", o.tries}};
    detail::put_text(j, "session", o.session);
    if (!o.state.empty()) detail::put_text(j, "state", o.state);
    if (!o.message_id.empty()) detail::put_text(j, "message_id", o.message_id);
}

inline void read_value(const json_place& at, step_origin& into)
{
    json_fields(at)
        .must_text("session", into.session)
        .must("sequence", into.sequence)
        .must("generation", into.generation)
        .must("tries", into.tries)
        .may_text("state", into.state)
        .may_text("message_id", into.message_id)
        .done();
}

/// Leaves out optional fields without a value, because stores charge by bytes.
inline void to_json(nlohmann::json& j, const pipeline_dead_letter& l)
{
    j = {{"version", detail::pipeline_dead_letter_version},
         {"stamp", l.properties},
         {"sequence", l.sequence},
         {"reason", l.reason},
         {"tries", l.tries},
         {"enqueued", l.enqueued},
         {"parked", l.dead_lettered_at},
         {"kept", l.kept},
         {"size", l.size},
         {"checksum", l.checksum}};
    detail::put_text(j, "message_id", l.message_id);
    detail::put_text(j, "text", l.text);
    detail::put_text(j, "body", l.body);
    if (l.cause != 0) j["cause"] = l.cause;
    if (l.resume_at != 0) j["resume_at"] = l.resume_at;
    if (l.alone) j["alone"] = true;
    if (l.sent_to != 0) j["sent_to"] = l.sent_to;
    if (l.origin != step_origin{}) j["origin"] = l.origin;
    if (!l.state.empty()) detail::put_text(j, "state", l.state);
    if (l.state_cut) j["state_cut"] = true;
}

inline void read_value(const json_place& at, pipeline_dead_letter& into)
{
    json_fields(at)
        .version(detail::pipeline_dead_letter_version)
        .must("stamp", into.properties)
        .must("sequence", into.sequence)
        .must("reason", into.reason)
        .must("tries", into.tries)
        .must("enqueued", into.enqueued)
        .must("parked", into.dead_lettered_at)
        .must("kept", into.kept)
        .must("size", into.size)
        .must("checksum", into.checksum)
        .must_text("message_id", into.message_id)
        .must_text("text", into.text)
        .must_text("body", into.body)
        .may("cause", into.cause)
        .may("resume_at", into.resume_at)
        .may("alone", into.alone)
        .may("sent_to", into.sent_to)
        .may("origin", into.origin)
        .may_text("state", into.state)
        .may("state_cut", into.state_cut)
        .done();
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_SESSION_VALUES_HPP
