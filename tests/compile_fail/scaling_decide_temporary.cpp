// expect: use of deleted function | call to deleted function
// SPDX-License-Identifier: MIT
//
// The rows of a decision view the names in its policy, which has to outlive them.

#include <waybill/scaling.hpp>

namespace sc = waybill::scaling;

sc::decision asked(const sc::state& s, waybill::wall_time now)
{
    return sc::decide(sc::policy{.up = sc::mean("orders") > 100}, {}, s, 1, now);
}
