// SPDX-License-Identifier: MIT
//
// process_step: processes one message of a session with a pipeline, from receipt to outcome.
//
//     waybill::session_state state(codec, place);
//     while (auto m = session.receive()) {
//         auto outcome = waybill::process_step(pipe, m->facts, env,
//             [&](pipeline::load_state)          { return state.load(m->origin.state); },
//             [&](pipeline::execute) {
//                 return state.attempt([&](auto& v) { return run(*m, v); }); },
//             [&](pipeline::save_state a)        { return state.save(a, pipe.progress()); },
//             [&](pipeline::write_dead_letter a) {
//                 return upsert(letter_of(*m, a, state.bytes())); },
//             [&](complete)                      { return session.complete(*m); },
//             [&](pipeline::clear_state)         { return state.clear(); },
//             [&](pipeline::give_back)           { return session.close(); });
//         if (pipe.over()) break;
//     }
//
// A sweep is required (sweep.hpp): a crash between `complete` and `clear_state` leaves a state.

#ifndef WAYBILL_SESSION_PROCESS_STEP_HPP
#define WAYBILL_SESSION_PROCESS_STEP_HPP

#include <type_traits>
#include <utility>

#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/session/detail/step_run.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// Processes one message and returns its outcome. Makes no call and returns `lost` if the pipeline
/// is over already, or `other_in_hand` if another message is in hand. After a stop request no
/// attempt and no pause begins, and the session is given back. `calls` contains one call for each
/// action except `idle`. The call for `wait_until` is optional.
///
/// Results of the calls; other types do not compile:
///   - `load_state` returns `state_loaded`.
///   - `execute` returns a `fault` (empty on success), a `result<void>` or `executed`.
///   - `save_state`, `write_dead_letter`, `complete` and `clear_state` return a `fault` or a
///     `result<void>`.
///   - `wait_until` replaces the sleep of the environment, for example to renew the lock in a
///     pause. It returns a `fault`, a `result<void>` or void. `ownership_lost` reports that the
///     lock is lost. Any other fault requests a stop.
///   - `give_back` may return any type. The result is ignored.
///
/// An exception of a call passes through, and the message stays in hand. The caller has two
/// choices:
///   - Call `process_step` again with the same message. It repeats the call that threw and no call
///     before it. An `execute` that threw counts as an attempt: after `retry.max_attempts` attempts
///     the step is dead-lettered as exhausted. After a `clear_state` that threw the message is
///     complete, and another message may follow.
///   - Close the session and destroy the pipeline. All messages that are not complete are delivered
///     again.
///
/// Warning: after a `load_state` that threw, no message is in hand. Another message then skips the
/// first one, which makes a gap.
template <class Environment, class... Calls>
step_outcome process_step(pipeline& pipe, const step_facts& facts, Environment&& env,
                          Calls&&... calls)
{
    using environment_type = std::remove_cvref_t<Environment>;
    static_assert(!detail::time_source<environment_type>,
                  "process_step: it sleeps, so it needs an environment and not a clock");
    detail::driver_clock clock(env);
    if constexpr (environment<environment_type>)
        return detail::run_step(pipe, facts, clock, std::forward<Calls>(calls)...);
    else return step_outcome::lost;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PROCESS_STEP_HPP
