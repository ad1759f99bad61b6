// expect: retry_call: the call must return a fault, a fault_kind, a result<void> or a call_answer
// SPDX-License-Identifier: MIT
//
// false does not show whether a later call can succeed.

#include <waybill/retry/retry_call.hpp>

waybill::steady_time now();
void sleep_until(waybill::steady_time until);
double dice();
bool sent();

waybill::call_report calls()
{
    return waybill::retry_call({}, sent, now, sleep_until, dice);
}
