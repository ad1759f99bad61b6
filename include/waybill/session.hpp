// SPDX-License-Identifier: MIT
//
// The door to session/: ordered steps that stop together, and come back together.
//
// step and progress are what a message and a session's state say.
// envelope is the line in front of a stored state, state_budget is how large one may be; state_text
// keeps progress and the user's own bytes in it as text, whose lines are in progress_text.
// pipeline takes a session from step to step, with its policy and its actions in pipeline_policy and
// pipeline_steps; step_order is what the numbers of a message say, step_in_hand what follows from
// its receipt. process_step drives it for one message, and session_state has what the session
// remembers meanwhile. session_store is where states are kept if the broker keeps none.
// job numbers the steps of a session, and stamp_properties puts the numbers into messages. step_letter
// is a step that is parked, under a row_key; letter_drain brings those there that the broker parked.
// plan_redrive says how they come back, redrive does it; sweep finds the states that are left.

#ifndef WAYBILL_SESSION_HPP
#define WAYBILL_SESSION_HPP

#include <waybill/session/envelope.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/letter_drain.hpp>
#include <waybill/session/letter_order.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/plan_redrive.hpp>
#include <waybill/session/process_step.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/progress_text.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_names.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/redrive_session.hpp>
#include <waybill/session/redrive_text.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/session_state.hpp>
#include <waybill/session/session_store.hpp>
#include <waybill/session/stamp_properties.hpp>
#include <waybill/session/state_budget.hpp>
#include <waybill/session/state_text.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_in_hand.hpp>
#include <waybill/session/step_letter.hpp>
#include <waybill/session/step_order.hpp>
#include <waybill/session/sweep.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_SESSION_HPP
