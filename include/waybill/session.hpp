// SPDX-License-Identifier: MIT
//
// session: the steps of a job in order. A failed step stops its session; a redrive continues it.
//
//   steps:     step, step_order, job (numbers the steps), step_properties
//   state:     progress, envelope, state_budget, state_text, session_state, session_store (for
//              brokers that store no session state), sweep (finds old states)
//   pipeline:  pipeline, pipeline_policy, pipeline_steps, process_step (drives it for one message)
//   redrive:   pipeline_dead_letter (the dead letter of a step), row_key, dead_letter_import
//              (imports dead letters of the broker), plan_redrive, redrive, redrive_plan,
//              redrive_session, redrive_text

#ifndef WAYBILL_SESSION_HPP
#define WAYBILL_SESSION_HPP

#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/plan_redrive.hpp>
#include <waybill/session/process_step.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/redrive_session.hpp>
#include <waybill/session/redrive_text.hpp>
#include <waybill/session/row_key.hpp>
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
