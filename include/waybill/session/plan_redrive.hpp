// SPDX-License-Identifier: MIT
//
// plan_redrive: decides which sessions of dead letters are redriven, in which order and with which
// ids.
//
//     auto plan = waybill::plan_redrive(letters, {.reasons = {dead_letter_reason::failed}}, {});
//     print(waybill::describe(plan, letters));           // a dry run: one line for each session
//     for (std::uint64_t i = 0; i != plan.ready; ++i) {
//         if (plan.was_sent(i)) continue;
//         auto step = plan.step(letters, i);                 // properties, origin and message id
//         waybill::write_step_properties(step.properties, step.origin, put);
//     }
//
// Guarantees
//   1. A session is redriven as a whole. The filter selects it by the dead letter that stopped it.
//   2. The oldest session is the first. The dead letters of a session are sent by step, or without
//      steps by sequence number.
//   3. A new session begins at the step at which the old one stopped. If this step is missing, the
//      session is held back, unless the option `damaged` is set.
//   4. The same dead letters give the same plan, ids included. So a redrive can be repeated.
//
// Cost: O(n log n) for n dead letters; 48 bytes of keys for each. More rules: see the guide.

#ifndef WAYBILL_SESSION_PLAN_REDRIVE_HPP
#define WAYBILL_SESSION_PLAN_REDRIVE_HPP

#include <span>

#include <waybill/session/detail/redrive_planner.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/redrive_plan.hpp>

namespace waybill::inline v0_2 {

/// Plans the redrive of these dead letters and sorts them in place. Those to be sent come first,
/// then those held back, then those that the filter does not select. In each group the session with
/// the earliest dead letter is the first. O(n log n) for n dead letters.
[[nodiscard]] inline redrive_plan plan_redrive(std::span<pipeline_dead_letter> letters,
                                               const redrive_plan::filter& filter = {},
                                               const redrive_plan::options& options = {})
{
    redrive_plan plan;
    detail::redrive_planner(letters, filter, options, plan).plan();
    return plan;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PLAN_REDRIVE_HPP
