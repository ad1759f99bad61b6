// SPDX-License-Identifier: MIT
//
// process_step: processes one message of a session with a pipeline, from receipt to outcome.
//
//     waybill::session_state state(codec, place);
//     while (auto m = session.receive()) {
//         auto outcome = waybill::process_step(pipe, {m->facts, wall()}, now,
//             [&](pipeline::load_state)          { return state.load(m->origin.state); },
//             [&](pipeline::execute) {
//                 return state.attempt([&](auto& v) { return run(*m, v); }); },
//             [&](pipeline::save_state a)        { return state.save(a, pipe.progress()); },
//             [&](pipeline::write_dead_letter a) {
//                 return upsert(letter_of(*m, a, state.bytes())); },
//             [&](complete)                      { return session.complete(*m); },
//             [&](pipeline::clear_state)         { return state.clear(); },
//             [&](pipeline::give_back)           { return session.close(); },
//             [&](wait_until a)                  { return sleep_and_renew(a.time); });
//         if (pipe.over()) break;
//     }
//
// A sweep is required (sweep.hpp): a crash between `complete` and `clear_state` leaves a state.

#ifndef WAYBILL_SESSION_PROCESS_STEP_HPP
#define WAYBILL_SESSION_PROCESS_STEP_HPP

#include <type_traits>
#include <utility>

#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/match.hpp>
#include <waybill/session/detail/call_results.hpp>
#include <waybill/session/detail/step_run.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// Processes one message and returns its outcome. Makes no call and returns `lost` if the pipeline
/// is over already, or `other_in_hand` if another message is in hand. `clock` is a function that
/// returns a steady time. `calls` contains one call for each action except `idle`.
///
/// Results of the calls; other types do not compile:
///   - `load_state` returns `state_loaded`.
///   - `execute` returns a `fault` (empty on success), a `result<void>` or `executed`.
///   - `save_state`, `write_dead_letter`, `complete` and `clear_state` return a `fault` or a
///     `result<void>`.
///   - `wait_until` returns a `fault`, a `result<void>` or void. `ownership_lost` reports that the
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
template <class Clock, class... Calls>
step_outcome process_step(pipeline& pipe, const pipeline::step_received& m, Clock&& clock,
                          Calls&&... calls)
{
    using all_calls = detail::overloaded<std::remove_cvref_t<Calls>...>;
    detail::check_step_calls<all_calls, Clock>();
    if (pipe.over()) return step_outcome::lost;
    const step_facts& previous = pipe.message();
    const bool same_step = m.facts.by_arrival ? previous.by_arrival
                                              : previous.step == m.facts.step;
    const bool same = previous.sequence == m.facts.sequence && same_step;
    if (pipe.in_hand() && !same) return step_outcome::other_in_hand;
    all_calls call{std::forward<Calls>(calls)...};
    using run_type = detail::step_run<all_calls, std::remove_reference_t<Clock>>;
    return run_type(pipe, m, same, call, clock).run();
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PROCESS_STEP_HPP
