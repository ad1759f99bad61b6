// expect: retry_call: the function that sleeps must accept a steady_time
// SPDX-License-Identifier: MIT

#include <waybill/retry/retry_call.hpp>

waybill::steady_time now();
void sleep_for(int seconds);
double dice();
waybill::fault sends();

waybill::call_report calls()
{
    return waybill::retry_call({}, sends, now, sleep_for, dice);
}
