// expect: no matching
// SPDX-License-Identifier: MIT
//
// A condition has three results. A bool cannot express "unknown".

#include <vector>

#include <waybill/scaling/condition.hpp>

namespace sc = waybill::scaling;

auto busy()
{
    return sc::any_of(sc::mean("orders") > 100,
                      [](const sc::situation&, std::vector<sc::evidence>&) { return true; });
}
