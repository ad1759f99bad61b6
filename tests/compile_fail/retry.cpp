// SPDX-License-Identifier: MIT

#include <string>

#include <waybill/retry.hpp>
#include <waybill/testing/manual_environment.hpp>

using waybill::testing::manual_environment;

waybill::wall_time wall_clock();
waybill::fault sends();
waybill::fault sends_mail(const char* mail);
bool sent();
std::string post();

struct environment {
    waybill::steady_time now();
    waybill::wall_time wall_now();
    void sleep_until(waybill::steady_time);
    double random();
};

// expect: retry_call: the call must return a fault, a fault_kind, a result<void> or a call_answer
//
// false does not show whether a later call can succeed.
waybill::call_report call_returns_bool(manual_environment& env)
{
    return waybill::retry_call({}, sent, env);
}

// expect: retry_call: the call must accept no arguments
waybill::call_report call_takes_message(waybill::retry_loop& tries, manual_environment& env)
{
    return waybill::retry_call(tries, sends_mail, env);
}

// expect: environment: sleep_until must accept a steady_time
struct sleeps_seconds : environment {
    void sleep_until(int seconds);
};

waybill::call_report call_sleeps_seconds(sleeps_seconds& env)
{
    return waybill::retry_call({}, sends, env);
}

// expect: environment: now() must return a steady time, and not a wall time
struct reads_wall_clock : environment {
    waybill::wall_time now();
};

waybill::call_report call_by_wall_clock(waybill::retry_loop& tries, reads_wall_clock& env)
{
    return waybill::retry_call(tries, sends, env);
}

// expect: circuit_breaker: the call must return a fault, a fault_kind, a result, a call_answer or a struct with a fault `reason`, and not another type
//
// A status as a text does not show whether the call has failed.
std::string breaker_call_returns_text(waybill::circuit_breaker& breaker, manual_environment& env)
{
    return breaker.call(env, post);
}

// expect: clock: it must return a steady time, as std::chrono::steady_clock::now does
bool permit_by_wall_clock(waybill::circuit_breaker& breaker)
{
    return bool(waybill::scoped_permit(breaker, wall_clock));
}
