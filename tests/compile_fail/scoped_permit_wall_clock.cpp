// expect: clock: it must return a steady time, as std::chrono::steady_clock::now does
// SPDX-License-Identifier: MIT

#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/retry/scoped_permit.hpp>

waybill::wall_time now();

bool allowed(waybill::circuit_breaker& breaker)
{
    return bool(waybill::scoped_permit(breaker, now));
}
