// SPDX-License-Identifier: MIT
//
// run_session: runs the steps of sessions, from a queue with sessions.
//
//     struct order { std::string number, receipt; int total = 0; };
//     const auto run_step = [&](order& o, const waybill::pipeline::step& s) {
//         return steps[s.number - 1](o, s);                                     // a fault
//     };
//     const auto report = waybill::run_session(queue, waybill::state_codec<order>(), dead_letters,
//                                              run_step, {.until_empty = true}, env);
//     log(waybill::describe(report));   // 3 sessions, 14 messages: 12 done, 2 dead-lettered; ...
//
// Guarantees
//   1. Each message ends in exactly one way: complete, dead-lettered and complete, or delivered
//      again by the queue. The counts of the report add up to `received`.
//   2. The steps of a session run in order. After a failure the rest of the session is
//      dead-lettered without a run, unless steps are independent.
//   3. A step takes effect at least once. If the handler accepts a transaction of the queue, its
//      effect and the state are committed together: exactly once, wherever the process ends.
//   4. After a stop request no message is received and no attempt begins.
// A sweep is required (sweep.hpp): a crash between `complete` and `clear` leaves a state.

#ifndef WAYBILL_SESSION_RUN_SESSION_HPP
#define WAYBILL_SESSION_RUN_SESSION_HPP

#include <type_traits>

#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/session/detail/session_places.hpp>
#include <waybill/session/detail/session_run.hpp>
#include <waybill/session/session_queue.hpp>
#include <waybill/session/session_report.hpp>
#include <waybill/session/session_store.hpp>

namespace waybill::inline v0_2 {

/// Accepts one session after the other and processes its messages until the environment requests a
/// stop, or until no session can be accepted (`until_empty`). Adds to `report`, which is valid also
/// if a callable throws. Makes one request at a time. The lock is renewed between calls, but not
/// during a call of the handler. So the lock duration of the queue must be longer than any step.
///
/// `codec` is a `state_codec<T>` (ext/json/state_codec.hpp), a `text_state_codec`, or a type with
/// their members. The state of a session is loaded and saved with `load`, `save` and `clear` of the
/// queue. `dead_letters` has `upsert(pipeline_dead_letter)`, which returns a fault.
///
/// `handler(value, step)` runs the step with a copy of the stored value. It may also accept the
/// message as third argument, and a transaction of the queue before the value. It returns void, a
/// fault, a result<void>, an event_outcome or `pipeline::executed`. A skipped event has no effect
/// and counts as done.
///
/// An exception of a callable passes through. The message in hand counts as `lost`. Its session
/// stays locked until the lock expires; then the message is delivered again. A further call
/// continues with the next session.
template <class Queue, class Codec, class Letters, class Handler, class Environment>
void run_session(Queue& queue, const Codec& codec, Letters& dead_letters, Handler&& handler,
                 const session_report::policy& p, Environment&& env, session_report& report)
{
    detail::driver_clock clock(env);
    const detail::states_in_queue places;
    detail::session_run(queue, places, codec, dead_letters, handler, p, clock, report).run();
}

template <class Queue, class Codec, class Letters, class Handler, class Environment>
[[nodiscard]] session_report run_session(Queue& queue, const Codec& codec, Letters& dead_letters,
                                         Handler&& handler, const session_report::policy& p,
                                         Environment&& env)
{
    session_report report;
    run_session(queue, codec, dead_letters, handler, p, env, report);
    return report;
}

/// The same with states in a `session_store`, for a queue that stores none.
template <class Queue, class Store, class Codec, class Letters, class Handler, class Environment>
void run_session(Queue& queue, Store& states, const Codec& codec, Letters& dead_letters,
                 Handler&& handler, const session_report::policy& p, Environment&& env,
                 session_report& report)
{
    detail::driver_clock clock(env);
    const detail::states_in_store<Store> places{states};
    detail::session_run(queue, places, codec, dead_letters, handler, p, clock, report).run();
}

template <class Queue, class Store, class Codec, class Letters, class Handler, class Environment>
[[nodiscard]] session_report run_session(Queue& queue, Store& states, const Codec& codec,
                                         Letters& dead_letters, Handler&& handler,
                                         const session_report::policy& p, Environment&& env)
{
    session_report report;
    run_session(queue, states, codec, dead_letters, handler, p, env, report);
    return report;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_RUN_SESSION_HPP
