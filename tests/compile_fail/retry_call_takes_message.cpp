// expect: retry_call: the call must accept no arguments
// SPDX-License-Identifier: MIT

#include <waybill/retry/retry_call.hpp>
#include <waybill/testing/manual_environment.hpp>

waybill::fault sends(const char* mail);

waybill::call_report calls(waybill::retry_loop& tries, waybill::testing::manual_environment& env)
{
    return waybill::retry_call(tries, sends, env);
}
