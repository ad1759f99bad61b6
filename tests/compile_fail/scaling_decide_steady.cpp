// expect: no matching
// SPDX-License-Identifier: MIT
//
// The state outlives the process, but a time of the steady clock does not.

#include <waybill/scaling/decide.hpp>

namespace sc = waybill::scaling;

sc::decision ask(const sc::policy& p, const sc::state& s, waybill::steady_time now)
{
    return sc::decide(p, {}, s, 5, now);
}
