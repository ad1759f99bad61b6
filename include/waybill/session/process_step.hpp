// SPDX-License-Identifier: MIT
//
// process_step: processes one message of a session with a pipeline, from receipt to outcome.
//
//     waybill::session_state state(codec, place);
//     while (auto m = session.receive()) {
//         auto end = waybill::process_step(pipe, {m->facts, wall()}, now,
//             [&](pipeline::load_state)          { return state.load(m->origin.state); },
//             [&](pipeline::execute) {
//                 return state.attempt([&](auto& v) { return run(*m, v); }); },
//             [&](pipeline::save_state a)        { return state.save(a, pipe.progress()); },
//             [&](pipeline::write_dead_letter a) { return upsert(letter_of(*m, a, state.bytes())); },
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

#include <concepts>
#include <type_traits>
#include <utility>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_source.hpp>
#include <waybill/session/detail/call_results.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// Processes one message and returns its outcome: `lost` and no call if the pipeline was over
/// before, `not_taken` and no call if another message is in hand. `clock` is a function that
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
template <time_source Clock, class... Calls>
step_outcome process_step(pipeline& pipe, const pipeline::step_received& m, Clock&& clock,
                          Calls&&... calls)
{
    static_assert(!std::convertible_to<Clock, steady_time>,
                  "process_step: by a clock that stands still no pause would ever end: pass the "
                  "function, now and not now()");
    using all = detail::overloaded<std::remove_cvref_t<Calls>...>;
    // Each call takes its action by value or by const reference.
    static_assert(detail::takes<all, pipeline::load_state>,
                  "process_step: no call for load_state, or two");
    static_assert(detail::takes<all, pipeline::execute>,
                  "process_step: no call for execute, or two");
    static_assert(detail::takes<all, pipeline::save_state>,
                  "process_step: no call for save_state, or two");
    static_assert(detail::takes<all, pipeline::write_dead_letter>,
                  "process_step: no call for write_dead_letter, or two");
    static_assert(detail::takes<all, complete>, "process_step: no call for complete, or two");
    static_assert(detail::takes<all, pipeline::clear_state>,
                  "process_step: no call for clear_state, or two");
    static_assert(detail::takes<all, pipeline::give_back>,
                  "process_step: no call for give_back, or two");
    static_assert(detail::takes<all, wait_until>, "process_step: no call for wait, or two");
    using load_answer = detail::answer_to<all, pipeline::load_state>;
    static_assert(std::same_as<load_answer, pipeline::state_loaded>,
                  "process_step: load_state has to answer with state_loaded{how, progress}");
    using run_answer = detail::answer_to<all, pipeline::execute>;
    static_assert(detail::says_how<run_answer> || std::same_as<run_answer, pipeline::executed>,
                  "process_step: execute has to answer with a fault, a result<void> or executed");
    static_assert(detail::all_say_how<all, pipeline::save_state, pipeline::write_dead_letter,
                                      complete, pipeline::clear_state>,
                  "process_step: save_state, write_dead_letter, complete and clear_state have to "
                  "answer with a fault or a result<void>: what is not confirmed is not built upon");
    using wait_answer = detail::answer_to<all, wait_until>;
    static_assert(detail::says_how<wait_answer> || std::is_void_v<wait_answer>,
                  "process_step: wait has to answer with a fault, a result<void> or nothing");
    if (pipe.over()) return step_outcome::lost;
    const step_facts& last = pipe.message();
    const bool same = last.sequence == m.facts.sequence && last.step == m.facts.step;
    if (pipe.in_hand() && !same) return step_outcome::not_taken;
    // The message before this one has ended. The state is still to be cleared.
    const bool behind = pipe.busy() && pipe.ended() && !same;
    all call{std::forward<Calls>(calls)...};
    // The time is read after the call, because the call takes time.
    const auto tell = [&](const auto& event) { return pipe.on(event, time_of(clock)); };
    bool received = pipe.busy() && same;
    bool taken = false;
    bool open = true;
    while (open) {
        match(
            pipe.next(time_of(clock)),
            [&](pipeline::load_state a) {
                pipeline::state_loaded found = call(a);
                if (found.deliveries == 0) found.deliveries = m.facts.deliveries;
                tell(found);
            },
            [&](pipeline::execute a) {
                tell(pipeline::step_begun{});
                if (!pipe.running()) return;  // the last call threw: the attempt is counted first
                if constexpr (std::same_as<run_answer, pipeline::executed>)
                    tell(call(a));
                else
                    tell(pipeline::executed{detail::said(call(a))});
            },
            [&](pipeline::save_state a) {
                const fault f = detail::said(call(a));
                tell(pipeline::state_saved{f.kind, f.text});
            },
            [&](pipeline::write_dead_letter a) {
                tell(pipeline::step_dead_lettered{detail::said(call(a)).kind});
            },
            [&](complete a) { tell(pipeline::completed{detail::said(call(a)).kind}); },
            [&](pipeline::clear_state a) {
                tell(pipeline::state_cleared{detail::said(call(a)).kind});
            },
            [&](pipeline::give_back a) {
                static_cast<void>(call(a));
                tell(pipeline::given_back{});
            },
            [&](wait_until a) {
                if constexpr (std::is_void_v<wait_answer>) {
                    call(a);
                } else {
                    const fault f = detail::said(call(a));
                    if (f.kind == fault_kind::ownership_lost)
                        tell(lock_lost{});
                    else if (!f.ok())
                        tell(stop_requested{});
                }
            },
            [&](idle) {
                open = !received && tell(m) == event_result::applied;
                received = true;
                taken = taken || open;
            });
    }
    if (behind && !taken) return step_outcome::lost;
    return pipe.ended().value_or(step_outcome::lost);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PROCESS_STEP_HPP
