// expect: could not convert | no viable conversion
// SPDX-License-Identifier: MIT
//
// A number without a unit is no duration.

#include <waybill/scaling/policy.hpp>

namespace sc = waybill::scaling;

sc::policy slow()
{
    return {.up = sc::mean("orders") > 100, .cooldown = {.up = 60, .down = 600}};
}
