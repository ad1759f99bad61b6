// SPDX-License-Identifier: MIT
//
// retry_call: makes a call until it succeeds or the policy gives up.
//
//     auto r = waybill::retry_call({.retry = {.max_attempts = 4}, .time_limit = 1min},
//                                  [&] { return sdk.send(mail); }, env);      // returns a fault
//     if (!r.ok()) write_dead_letter(mail, r.reason.text, name(r.outcome));
//
// It drives `retry_loop`. A caller that must not block keeps the state machine, and calls again at
// the time `waiting`:
//
//     waybill::retry_loop tries(policy, env.now());
//     auto r = waybill::retry_call(tries, call, env);           // never sleeps
//     if (r.waiting) timer.expires_at(*r.waiting);              // then call retry_call again
//
// `call()` returns a fault, a fault_kind, a result<void>, or a call_answer with the server's
// delay. An exception of the call passes through, and that attempt is not counted. catching() of
// ext/exceptions.hpp converts an exception into a fault. After the time limit no call is made.

#ifndef WAYBILL_RETRY_RETRY_CALL_HPP
#define WAYBILL_RETRY_RETRY_CALL_HPP

#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/retry/detail/call_until.hpp>
#include <waybill/retry/retry_loop.hpp>
#include <waybill/retry/shared_budget.hpp>

namespace waybill::inline v0_2 {

/// Makes calls until one succeeds, the policy gives up, or the environment requests a stop. Between
/// calls it sleeps. After a stop request, `waiting` of the report is the time of the next call.
template <class Call, class Environment>
[[nodiscard]] call_report retry_call(const call_policy& p, Call&& call, Environment&& env,
                                     shared_budget budget = {})
{
    detail::check_call<Call>();
    detail::driver_clock clock(env);
    retry_loop tries(p, clock.now(), budget);
    return detail::call_until(tries, call, clock, detail::on_wait::sleep);
}

/// Continues with `tries`. Instead of sleeping it returns, and `waiting` contains the time of the
/// next attempt. After the end it makes no call and returns the same outcome.
template <class Call, class Environment>
[[nodiscard]] call_report retry_call(retry_loop& tries, Call&& call, Environment&& env)
{
    detail::check_call<Call>();
    detail::driver_clock clock(env);
    return detail::call_until(tries, call, clock, detail::on_wait::return_time);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_RETRY_CALL_HPP
