// expect: no match for | invalid operands
// SPDX-License-Identifier: MIT
//
// A threshold is a number, not the name of one.

#include <waybill/scaling/condition.hpp>

auto busy()
{
    return waybill::scaling::mean("orders") > "100";
}
