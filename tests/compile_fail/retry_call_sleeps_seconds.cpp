// expect: environment: sleep_until must accept a steady_time
// SPDX-License-Identifier: MIT

#include <waybill/retry/retry_call.hpp>

struct outside {
    waybill::steady_time now();
    waybill::wall_time wall_now();
    void sleep_until(int seconds);
    double random();
};

waybill::fault sends();

waybill::call_report calls(outside& env)
{
    return waybill::retry_call({}, sends, env);
}
