// SPDX-License-Identifier: MIT
//
// process_step: one message of a session, from its receipt to what became of it.
//
//     auto pipe = *waybill::make<waybill::pipeline>(policy);
//     while (auto m = session.receive()) {
//         auto end = waybill::process_step(pipe, {m->facts, wall()}, now,
//             [&](act::load_state)   { state = codec.decode(session.state());
//                                      return waybill::state_loaded{state.how, state.progress}; },
//             [&](act::execute)      { return print_receipt(*m, state.value); },
//             [&](act::save_state a) { return save(a.undone, pipe.progress()); },
//             [&](act::park a)       { return letters.upsert(letter_of(*m, a, pipe.why())); },
//             [&](act::complete)     { return session.complete(*m); },
//             [&](act::clear_state)  { return session.set_state({}); },
//             [&](act::give_back)    { return session.close(); },
//             [&](act::wait a)       { return sleep_and_renew(a.until); });
//         if (pipe.over()) break;
//     }
//
// Each call answers with a fault, an empty one where it was done, or a result<void>; `execute` may
// answer with `executed` instead, and `load_state` does with `state_loaded`. A `wait` that ends in
// `ownership_lost` has lost the lock, and one that ends in another fault asks to stop.
//
// A call that throws passes through. It is made again by the next process_step, which goes on with
// the message that the pipeline has in hand.

#ifndef WAYBILL_SESSION_PROCESS_STEP_HPP
#define WAYBILL_SESSION_PROCESS_STEP_HPP

#include <concepts>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time_source.hpp>
#include <waybill/session/pipeline.hpp>

namespace waybill::inline v0_1 {

namespace detail {

/// What a call answered, as a fault. An error that claims to be none is one.
[[nodiscard]] inline fault said(fault f) { return f; }
[[nodiscard]] inline fault said(const result<void>& r)
{
    if (r) return {};
    const bool says_none = r.error().how == fault_class::none;
    return {says_none ? fault_class::infrastructure : r.error().how, r.error().text};
}

template <class Calls, class... Actions>
inline constexpr bool answers_all = (std::invocable<Calls&, Actions> && ...);

}  // namespace detail

/// What became of the message: `lost` where the pipeline was over before, and it is untouched.
/// `clock` is a function that answers a steady time; the calls are one for each action but `idle`.
template <time_source Clock, class... Calls>
step_end process_step(pipeline& pipe, const step_received& m, Clock&& clock, Calls&&... calls)
{
    static_assert(!std::convertible_to<Clock, steady_time>,
                  "process_step: by a clock that stands still no pause would ever end");
    using all = detail::overloaded<std::remove_cvref_t<Calls>...>;
    static_assert(detail::answers_all<all, act::load_state, act::execute, act::save_state,
                                      act::park, act::complete, act::clear_state, act::give_back,
                                      act::wait>,
                  "process_step: an action that a pipeline can ask for has no call here");
    if (pipe.over()) return step_end::lost;
    all call{std::forward<Calls>(calls)...};
    // The time is asked for after the call, which takes some.
    const auto tell = [&](const auto& event) { return pipe.on(event, time_of(clock)); };
    bool received = pipe.busy();
    bool open = true;
    while (open) {
        match(pipe.next(time_of(clock)),
              [&](act::load_state a) { tell(state_loaded(call(a))); },
              [&](act::execute a) {
                  if constexpr (std::same_as<decltype(call(a)), executed>) tell(call(a));
                  else tell(executed{detail::said(call(a))});
              },
              [&](act::save_state a) { tell(state_saved{detail::said(call(a)).how}); },
              [&](act::park a) { tell(step_parked{detail::said(call(a)).how}); },
              [&](act::complete a) { tell(completed{detail::said(call(a)).how}); },
              [&](act::clear_state a) { tell(state_cleared{detail::said(call(a)).how}); },
              [&](act::give_back a) {
                  static_cast<void>(call(a));
                  tell(given_back{});
              },
              [&](act::wait a) {
                  if constexpr (std::is_void_v<decltype(call(a))>) {
                      call(a);
                  } else {
                      const fault f = detail::said(call(a));
                      if (f.how == fault_class::ownership_lost) tell(lock_lost{});
                      else if (!f.ok()) tell(stop_asked{});
                  }
              },
              [&](act::idle) {
                  open = !received && tell(m) == heard::taken;
                  received = true;
              });
    }
    return pipe.ended().value_or(step_end::lost);
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_SESSION_PROCESS_STEP_HPP
