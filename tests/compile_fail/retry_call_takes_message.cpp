// expect: retry_call: the call must accept no arguments
// SPDX-License-Identifier: MIT

#include <waybill/retry/retry_call.hpp>

waybill::steady_time now();
double dice();
waybill::fault sends(const char* mail);

waybill::call_report calls(waybill::retry_loop& tries)
{
    return waybill::retry_call(tries, sends, now, dice);
}
