// expect: retry_call: the call must return a fault, a fault_kind, a result<void> or a call_answer
// SPDX-License-Identifier: MIT
//
// false does not show whether a later call can succeed.

#include <waybill/retry/retry_call.hpp>
#include <waybill/testing/manual_environment.hpp>

bool sent();

waybill::call_report calls(waybill::testing::manual_environment& env)
{
    return waybill::retry_call({}, sent, env);
}
