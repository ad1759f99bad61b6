// SPDX-License-Identifier: MIT
//
// redrive_all: sends the dead letters of a table back to their queue, and removes them.
//
//     // The receipt template is repaired: everything that failed at step 4 comes back, in order.
//     auto r = waybill::redrive_all(dead_letters, {.failed_step = 4},
//                                   [&](const auto& m) { return queue.send(m); }, env);
//     log(waybill::describe(r));                      // finished: 12 sent, 12 removed, 0 held back
//
// Guarantees
//   1. A session is sent as a whole and in order, the oldest session first. After a fault nothing
//      later of the same session is sent.
//   2. No dead letter is removed before the broker has accepted all of its session.
//   3. Each message is recorded as sent before the next one is sent. After a crash at any point a
//      further call continues; it repeats at most the message whose outcome is unknown.
//   4. A repeated message has the same message id. A broker with duplicate detection drops it.
// Requires that the queue has no message of these sessions. Concurrent calls lose nothing and can
// send messages twice, with equal ids.
//
// Cost: for each message one call to the table, and two for each session or chunk. All dead letters
// of the table are in memory.

#ifndef WAYBILL_SESSION_REDRIVE_ALL_HPP
#define WAYBILL_SESSION_REDRIVE_ALL_HPP

#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/session/detail/redrive_run.hpp>
#include <waybill/session/pipeline_dead_letter_store.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/redrive_report.hpp>

namespace waybill::inline v0_2 {

/// Redrives the sessions that the filter selects. Continues sessions whose redrive has begun, also
/// if the filter does not select them.
///
/// `send(m)` sends one `redrive_plan::planned_message`; its body is a view. `send(m, letter)` also
/// gets the dead letter, for example to fetch a body (`redrive_plan::options::fetches_bodies`). It
/// returns a fault, a fault_kind, a result<void>, a call_answer or nothing (success). `permanent`:
/// the broker never accepts the message, so the rest of its session stays. `transient`: not
/// accepted now. `infrastructure`: the outcome is unknown. Both are retried by `policy.retry`, and
/// then end the call as `stopped`.
///
/// After a stop request, or if `send` returns `cancelled`, it sends nothing more, and returns with
/// the outcome `running`. An exception of a callable passes through; a further call continues. A
/// filter or policy with an invalid field ends the call as `stopped`.
///
/// Adds to `report` during the call, so that it is complete after an exception.
template <class Store, class Send, class Environment>
void redrive_all(Store& dead_letters, const redrive_plan::filter& filter, Send&& send,
                 const redrive_policy& policy, Environment&& env, redrive::redrive_report& report)
{
    detail::driver_clock clock(env);
    detail::redrive_run(dead_letters, send, clock, policy, report).run(filter);
}

/// The same with a new report.
template <class Store, class Send, class Environment>
redrive::redrive_report redrive_all(Store& dead_letters, const redrive_plan::filter& filter,
                                    Send&& send, const redrive_policy& policy, Environment&& env)
{
    redrive::redrive_report report;
    waybill::redrive_all(dead_letters, filter, send, policy, env, report);
    return report;
}

/// The same with the default policy.
template <class Store, class Send, class Environment>
redrive::redrive_report redrive_all(Store& dead_letters, const redrive_plan::filter& filter,
                                    Send&& send, Environment&& env)
{
    return waybill::redrive_all(dead_letters, filter, send, redrive_policy{}, env);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_ALL_HPP
