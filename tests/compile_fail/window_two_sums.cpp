// expect: are the same sum
// SPDX-License-Identifier: MIT
//
// A measure with two sums would not know which one to tell.

#include <waybill/window/measures.hpp>

waybill::measures<double, waybill::summed, waybill::compensated> two_sums;
