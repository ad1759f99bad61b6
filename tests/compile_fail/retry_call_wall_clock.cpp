// expect: environment: now() must return a steady time, and not a wall time
// SPDX-License-Identifier: MIT

#include <chrono>

#include <waybill/retry/retry_call.hpp>

struct outside {
    waybill::wall_time now() { return std::chrono::system_clock::now(); }
    waybill::wall_time wall_now() { return now(); }
    void sleep_until(waybill::steady_time);
    double random();
};

waybill::fault sends();

waybill::call_report calls(waybill::retry_loop& tries, outside& env)
{
    return waybill::retry_call(tries, sends, env);
}
