// expect: clock: it must return a steady time, as std::chrono::steady_clock::now does
// SPDX-License-Identifier: MIT

#include <chrono>

#include <waybill/retry/retry_call.hpp>

double dice();
waybill::fault sends();

waybill::call_report calls(waybill::retry_loop& tries)
{
    return waybill::retry_call(tries, sends, std::chrono::system_clock::now, dice);
}
