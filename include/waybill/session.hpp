// SPDX-License-Identifier: MIT
//
// session: the steps of a job in order. A failed step stops its session; a redrive continues it.
//
//   steps:     step, step_order, job (numbers the steps), step_properties
//   state:     progress, envelope, state_budget, state_text, session_state, session_store (for
//              brokers that store no session state), sweep (finds old states)
//   driver:    run_session, session_queue (its queue), session_report (with its policy)
//   pipeline:  pipeline, pipeline_policy, pipeline_steps, process_step (drives it for one message)
//   redrive:   redrive_all (sends dead letters back), pipeline_dead_letter (the dead letter of a
//              step), pipeline_dead_letter_store (their table), row_key, dead_letter_import
//              (imports dead letters of the broker), plan_redrive (makes a redrive_plan), redrive
//              (the state machine that sends it)

// Index, written by tests/api --write:
//
//   session/dead_letter_import.hpp
//     class dead_letter_import
//
//   session/envelope.hpp
//     enum state_format { json, cbor, text }
//     struct schema_version
//     struct opened_state
//
//   session/job.hpp
//     class job
//
//   session/pipeline.hpp
//     class pipeline
//
//   session/pipeline_dead_letter.hpp
//     struct pipeline_dead_letter
//     pipeline_dead_letter make_pipeline_dead_letter(m, a, reason, progress, now, p)
//     pipeline_dead_letter make_broker_dead_letter(m, reason, deliveries, progress, now, p)
//
//   session/pipeline_dead_letter_store.hpp
//     concept pipeline_dead_letter_store
//
//   session/pipeline_policy.hpp
//     struct pipeline_policy
//     enum step_outcome { done, repeated, dead_lettered, given_back, state_unreadable, lost, oth...
//
//   session/pipeline_steps.hpp
//     struct pipeline_types
//
//   session/plan_redrive.hpp
//     redrive_plan plan_redrive(letters, filter, options)
//
//   session/process_step.hpp
//     step_outcome process_step(pipe, facts, env, calls)
//
//   session/progress.hpp
//     struct session_progress
//     enum state_read { absent, ok, newer, corrupt, too_large }
//
//   session/redrive.hpp
//     struct redrive_types
//     struct redrive_policy
//     class redrive
//
//   session/redrive_all.hpp
//     void redrive_all(dead_letters, filter, send, policy, env, report)
//     redrive::redrive_report redrive_all(dead_letters, filter, send, policy, env)
//     redrive::redrive_report redrive_all(dead_letters, filter, send, env)
//
//   session/redrive_plan.hpp
//     struct redrive_plan
//
//   session/row_key.hpp
//     struct row_key
//
//   session/run_session.hpp
//     void run_session(queue, codec, dead_letters, handler, p, env, report)
//     session_report run_session(queue, codec, dead_letters, handler, p, env)
//     void run_session(queue, states, codec, dead_letters, handler, p, env, report)
//     session_report run_session(queue, states, codec, dead_letters, handler, p, env)
//
//   session/session_queue.hpp
//     concept session_queue
//
//   session/session_report.hpp
//     struct session_report
//
//   session/session_state.hpp
//     class text_state_codec
//     class session_state
//
//   session/session_store.hpp
//     struct stored_state
//     enum state_write { applied, conflict }
//     struct save_result
//     concept session_store
//     class versioned_session_state
//
//   session/state_budget.hpp
//     struct state_budget
//
//   session/state_text.hpp
//     struct text_state
//
//   session/step.hpp
//     struct step_properties
//     struct step_facts
//     enum dead_letter_reason { failed, exhausted, ended_process, session_failed, gap, contradic...
//
//   session/step_properties.hpp
//     void write_step_properties(s, o, put)
//     step_properties::read_result read_step_properties(F&& find, string_view session)
//
//   session/sweep.hpp
//     struct sweep_policy
//     struct sweep_item
//     result<std::vector<sweep_item>, config_error> plan_sweep(states, now, p)

#ifndef WAYBILL_SESSION_HPP
#define WAYBILL_SESSION_HPP

#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/pipeline_dead_letter_store.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/plan_redrive.hpp>
#include <waybill/session/process_step.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_all.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/redrive_report.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/run_session.hpp>
#include <waybill/session/session_queue.hpp>
#include <waybill/session/session_report.hpp>
#include <waybill/session/session_state.hpp>
#include <waybill/session/session_store.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/session/state_text.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_order.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/session/sweep.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_SESSION_HPP
