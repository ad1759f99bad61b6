// expect: are the same sum
// SPDX-License-Identifier: MIT
//
// A measure with two sums cannot decide which one to return.

#include <waybill/window/measures.hpp>

waybill::measures<double, waybill::summed, waybill::compensated> two_sums;
