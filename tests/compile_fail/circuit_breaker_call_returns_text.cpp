// expect: circuit_breaker: the call must return a fault, a fault_kind, a result, a call_answer or a struct with a fault `reason`, and not another type
// SPDX-License-Identifier: MIT
//
// A status as a text does not show whether the call has failed.

#include <string>

#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/testing/manual_environment.hpp>

std::string post();

std::string calls(waybill::circuit_breaker& breaker, waybill::testing::manual_environment& env)
{
    return breaker.call(env, post);
}
