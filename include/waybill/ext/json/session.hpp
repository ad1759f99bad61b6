// SPDX-License-Identifier: MIT
//
// ext/json/session: policies, step properties and dead letters of sessions, read and written;
// results, plans and actions, written only. It includes state_codec.hpp, which reads and writes the
// state of a session.
//
//     {"mode": "independent", "max_wait_in_hand": "5s", "broker_max_deliveries": 20}

#ifndef WAYBILL_EXT_JSON_SESSION_HPP
#define WAYBILL_EXT_JSON_SESSION_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstdint>

#include <waybill/core/match.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/decoded_state.hpp>
#include <waybill/ext/json/retry.hpp>
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/session_store.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/session/sweep.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format version of a written dead letter.
inline constexpr std::uint64_t pipeline_dead_letter_version = 1;

}  // namespace detail

template <detail::json_value Json>
void to_json(Json& j, const session_progress::failure& f)
{
    j = {{"step", f.step},
         {"sequence", f.sequence},
         {"reason", f.reason},
         {"tries", f.tries},
         {"at", f.at}};
    detail::put_text(j, "text", f.text);
}

template <detail::json_value Json>
void to_json(Json& j, const session_progress& p)
{
    j = {{"done", p.done},   {"total", p.total}, {"parked", p.dead_lettered},
         {"tries", p.tries}, {"begun", p.begun}, {"changed", p.changed}};
    if (p.first != 0) j["first"] = p.first;
    if (p.arrived != 0) {
        j["arrived"] = p.arrived;
        j["seen"] = p.arrived_sequence;
    }
    if (p.failed) j["failed"] = *p.failed;
}

template <detail::json_value Json>
void to_json(Json& j, const opened_state& s)
{
    j = {{"outcome", s.outcome},
         {"problem", s.problem},
         {"size", s.size},
         {"without_envelope", s.without_envelope}};
    if (s.expected != 0) j["expected"] = s.expected;
    if (s.outcome != state_read::ok || s.without_envelope) return;
    j["format"] = s.format;
    j["version"] = describe(s.version);
}

template <detail::json_value Json>
void to_json(Json& j, const state_unwritten& e)
{
    j = {{"problem", e.problem}};
    if (e.problem == state_unwritten::problem_type::too_large) {
        j["size"] = e.size;
        j["max_bytes"] = e.max_bytes;
    }
    if (!e.reason.empty()) detail::put_text(j, "reason", e.reason);
}

template <detail::json_value Json>
void to_json(Json& j, const state_budget& b)
{
    j = {{"bytes", detail::size_or_unlimited(b.bytes)}, {"failure_reserve", b.failure_reserve}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, state_budget& into)
{
    json_fields(at)
        .optional_size("bytes", into.bytes)
        .optional("failure_reserve", into.failure_reserve)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const pipeline_policy& p)
{
    j = {{"mode", p.mode},
         {"retry", p.retry},
         {"max_wait_in_hand", p.max_wait_in_hand},
         {"max_deliveries", p.max_deliveries},
         {"broker_max_deliveries", detail::size_or_unlimited(p.broker_max_deliveries)},
         {"unreadable", p.unreadable},
         {"refused", p.refused},
         {"reason_bytes", detail::size_or_unlimited(p.reason_bytes)}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, pipeline_policy& into)
{
    std::uint64_t reason_bytes = into.reason_bytes;
    json_fields(at)
        .optional("mode", into.mode)
        .optional("retry", into.retry)
        .optional("max_wait_in_hand", into.max_wait_in_hand)
        .optional("max_deliveries", into.max_deliveries)
        .optional_size("broker_max_deliveries", into.broker_max_deliveries)
        .optional("unreadable", into.unreadable)
        .optional("refused", into.refused)
        .optional_size("reason_bytes", reason_bytes)
        .done();
    into.reason_bytes = reason_bytes;
}

template <detail::json_value Json>
void to_json(Json& j, const sweep_policy& p)
{
    j = {{"messages_live", p.messages_live},
         {"keep_failed", p.keep_failed},
         {"stuck_after", p.stuck_after},
         {"give_up_after", p.give_up_after}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, sweep_policy& into)
{
    json_fields(at)
        .optional("messages_live", into.messages_live)
        .optional("keep_failed", into.keep_failed)
        .optional("stuck_after", into.stuck_after)
        .optional("give_up_after", into.give_up_after)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const sweep_item& i)
{
    j = {{"index", i.index}, {"verdict", i.verdict}, {"outcome", i.outcome}, {"age", i.age},
         {"done", i.done},   {"total", i.total},     {"changed", i.changed}};
}

template <detail::json_value Json>
void to_json(Json& j, const redrive_plan::options& o)
{
    j = {{"damaged", o.damaged},
         {"close", o.close},
         {"fetches_bodies", o.fetches_bodies},
         {"removed_at_once", detail::size_or_unlimited(o.removed_at_once)},
         {"max_id_bytes", o.max_id_bytes}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, redrive_plan::options& into)
{
    json_fields(at)
        .optional("damaged", into.damaged)
        .optional("close", into.close)
        .optional("fetches_bodies", into.fetches_bodies)
        .optional_size("removed_at_once", into.removed_at_once)
        .optional("max_id_bytes", into.max_id_bytes)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const redrive_policy& p)
{
    j = {{"chunk", detail::size_or_unlimited(p.chunk)},
         {"retry", p.retry},
         {"max_per_second", p.max_per_second},
         {"options", p.options}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, redrive_policy& into)
{
    json_fields(at)
        .optional_size("chunk", into.chunk)
        .optional("retry", into.retry)
        .optional("max_per_second", into.max_per_second)
        .optional("options", into.options)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const redrive_plan::planned_session& s)
{
    j = {{"offset", s.offset}, {"count", s.count}, {"generation", s.generation},
         {"first", s.first},   {"total", s.total}, {"marks", describe(s.marks)},
         {"reason", s.reason}};
    detail::put_text(j, "id", s.id);
    if (s.without_body != 0) j["without_body"] = s.without_body;
    if (s.last_redriven_step != 0) j["last_redriven_step"] = s.last_redriven_step;
}

template <detail::json_value Json>
void to_json(Json& j, const redrive_plan& p)
{
    j = {{"ready", p.ready},
         {"held_back", p.held_back},
         {"filtered", p.filtered},
         {"sessions", p.sessions}};
}

template <detail::json_value Json>
void to_json(Json& j, const job::progress& p)
{
    j = {{"done", p.done}, {"dead_lettered", p.dead_lettered}, {"total", p.total}};
    if (p.failed == 0) return;
    j["failed"] = p.failed;
    detail::put_text(j, "reason", p.reason);
}

template <detail::json_value Json>
void to_json(Json& j, const step_properties& s)
{
    j = {{"step", s.step}, {"first", s.first}, {"total", s.total}, {"last", s.last}};
    detail::put_text(j, "session", s.session);
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, step_properties& into)
{
    json_fields(at)
        .required_text("session", into.session)
        .required("step", into.step)
        .optional("first", into.first)
        .optional("total", into.total)
        .optional("last", into.last)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const step_facts& f)
{
    j = {{"sequence", f.sequence}, {"step", f.step}, {"first", f.first},
         {"total", f.total},       {"last", f.last}, {"deliveries", f.deliveries}};
}

template <detail::json_value Json>
void to_json(Json& j, const step_properties::origin& o)
{
    j = {{"sequence", o.sequence}, {"generation", o.generation}, {"tries", o.tries}};
    detail::put_text(j, "session", o.session);
    if (!o.state.empty()) detail::put_text(j, "state", o.state);
    if (!o.message_id.empty()) detail::put_text(j, "message_id", o.message_id);
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, step_properties::origin& into)
{
    json_fields(at)
        .required_text("session", into.session)
        .required("sequence", into.sequence)
        .required("generation", into.generation)
        .required("tries", into.tries)
        .optional_text("state", into.state)
        .optional_text("message_id", into.message_id)
        .done();
}

/// Leaves out optional fields without a value, because stores charge by bytes.
template <detail::json_value Json>
void to_json(Json& j, const pipeline_dead_letter& l)
{
    j = {{"version", detail::pipeline_dead_letter_version},
         {"properties", l.properties},
         {"sequence", l.sequence},
         {"reason", l.reason},
         {"tries", l.tries},
         {"enqueued", l.enqueued},
         {"dead_lettered_at", l.dead_lettered_at},
         {"kept", l.kept},
         {"size", l.size},
         {"checksum", l.checksum}};
    detail::put_text(j, "message_id", l.message_id);
    detail::put_text(j, "text", l.text);
    detail::put_text(j, "body", l.body);
    if (l.cause != 0) j["cause"] = l.cause;
    if (l.resume_at != 0) j["resume_at"] = l.resume_at;
    if (l.independent) j["independent"] = true;
    if (l.last_redriven_step != 0) j["last_redriven_step"] = l.last_redriven_step;
    if (l.origin != step_properties::origin{}) j["origin"] = l.origin;
    if (!l.state.empty()) detail::put_text(j, "state", l.state);
    if (l.state_omitted) j["state_omitted"] = true;
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, pipeline_dead_letter& into)
{
    json_fields(at)
        .version(detail::pipeline_dead_letter_version)
        .required("properties", into.properties)
        .required("sequence", into.sequence)
        .required("reason", into.reason)
        .required("tries", into.tries)
        .required("enqueued", into.enqueued)
        .required("dead_lettered_at", into.dead_lettered_at)
        .required("kept", into.kept)
        .required("size", into.size)
        .required("checksum", into.checksum)
        .required_text("message_id", into.message_id)
        .required_text("text", into.text)
        .required_text("body", into.body)
        .optional("cause", into.cause)
        .optional("resume_at", into.resume_at)
        .optional("independent", into.independent)
        .optional("last_redriven_step", into.last_redriven_step)
        .optional("origin", into.origin)
        .optional_text("state", into.state)
        .optional("state_omitted", into.state_omitted)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const pipeline::load_state&)
{
    j = {{"act", "load_state"}};
}

template <detail::json_value Json>
void to_json(Json& j, const pipeline::execute& a)
{
    j = {{"act", "execute"}, {"step", a.step}, {"tries", a.tries}};
}

template <detail::json_value Json>
void to_json(Json& j, const pipeline::save_state& a)
{
    j = {{"act", "save_state"}};
    if (a.keep_old_value) j["keep_old_value"] = true;
}

template <detail::json_value Json>
void to_json(Json& j, const pipeline::write_dead_letter& a)
{
    j = {{"act", "write_dead_letter"}, {"reason", a.reason}, {"tries", a.tries}};
    if (a.cause != 0) j["cause"] = a.cause;
    if (a.cause_step != 0) j["cause_step"] = a.cause_step;
    if (a.without_body) j["without_body"] = true;
    if (a.independent) j["independent"] = true;
}

template <detail::json_value Json>
void to_json(Json& j, const pipeline::clear_state&)
{
    j = {{"act", "clear_state"}};
}

template <detail::json_value Json>
void to_json(Json& j, const pipeline::give_back& a)
{
    j = {{"act", "give_back"}, {"until_steady_ns", a.until.since_epoch().count()}};
    if (a.reason != fault_kind::none) j["reason"] = a.reason;
}

template <detail::json_value Json>
void to_json(Json& j, const redrive::resubmit& a)
{
    j = {{"act", "resubmit"}, {"offset", a.offset}, {"count", a.count}};
}

template <detail::json_value Json>
void to_json(Json& j, const redrive::mark_sent& a)
{
    j = {{"act", "mark_sent"}, {"session", a.session}, {"count", a.count}};
}

template <detail::json_value Json>
void to_json(Json& j, const redrive::remove_dead_letters& a)
{
    j = {{"act", "remove_dead_letters"}, {"offset", a.offset}, {"count", a.count}};
}

/// Only these variants match, not types convertible to them.
template <detail::json_value Json, class Action>
    requires std::same_as<Action, pipeline::action> || std::same_as<Action, redrive::action> ||
             std::same_as<Action, dead_letter_import::action>
void to_json(Json& j, const Action& action)
{
    match(action, [&](const auto& a) { j = a; });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_SESSION_HPP
