// expect: no matching
// SPDX-License-Identifier: MIT
//
// Nor is it a condition for a policy.

#include <vector>

#include <waybill/scaling/policy.hpp>

namespace sc = waybill::scaling;

auto busy()
{
    return sc::policy_of([](const sc::situation&, std::vector<sc::evidence>&) { return true; },
                         sc::mean("orders") < 10);
}
