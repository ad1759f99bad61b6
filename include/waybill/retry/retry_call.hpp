// SPDX-License-Identifier: MIT
//
// retry_call: makes a call until it succeeds or the policy gives up.
//
//     auto r = waybill::retry_call({.retry = {.max_attempts = 4}, .time_limit = 1min},
//                                  [&] { return sdk.send(mail); },           // returns a fault
//                                  clock, sleep_until, dice);
//     if (!r.ok()) write_dead_letter(mail, r.reason.text, name(r.outcome));
//
// It drives `retry_loop`. `sleep_until(steady_time)` is the caller's function. A caller that must
// not block keeps the state machine, and calls retry_call again at the time `waiting`:
//
//     waybill::retry_loop tries(policy, clock());
//     auto r = waybill::retry_call(tries, call, clock, dice);
//     if (r.waiting) timer.expires_at(*r.waiting);              // then call retry_call again
//
// `call()` returns a fault, a fault_kind, a result<void>, or a call_answer with the server's
// delay. An exception of the call passes through, and that attempt is not counted. catching() of
// ext/exceptions.hpp converts an exception into a fault. After the time limit no call is made.

#ifndef WAYBILL_RETRY_RETRY_CALL_HPP
#define WAYBILL_RETRY_RETRY_CALL_HPP

#include <waybill/core/detail/time_source.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/retry/detail/call_until.hpp>
#include <waybill/retry/retry_loop.hpp>
#include <waybill/retry/shared_budget.hpp>

namespace waybill::inline v0_2 {

/// Makes calls until one succeeds or the policy gives up. Between calls it calls `sleep_until`. If
/// that returns false, retry_call returns with `waiting` set. `clock` is a function that
/// returns the steady time, or a constant time. `random` returns a random number in [0, 1).
template <class Call, class Clock, class Sleep, class Random>
[[nodiscard]] call_report retry_call(const call_policy& p, Call&& call, Clock clock,
                                     Sleep&& sleep_until, Random&& random,
                                     shared_budget budget = {})
{
    retry_loop tries(p, detail::time_of(clock), budget);
    return detail::call_until(tries, call, clock, sleep_until, random);
}

/// Continues with `tries`. Instead of sleeping it returns, and `waiting` contains the time of the
/// next attempt. After the end it makes no call and returns the same outcome.
template <class Call, class Clock, class Random>
[[nodiscard]] call_report retry_call(retry_loop& tries, Call&& call, Clock clock, Random&& random)
{
    detail::no_sleep never;
    return detail::call_until(tries, call, clock, never, random);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_RETRY_CALL_HPP
