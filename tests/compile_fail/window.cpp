// SPDX-License-Identifier: MIT

#include <waybill/window/measures.hpp>

// expect: remove `counted`
//
// The number of samples is a part of all measures, and is not requested separately.
waybill::measures<int, waybill::counted, waybill::summed> counted_twice;

// expect: are the same sum
//
// A measure with two sums cannot decide which one to return.
waybill::measures<double, waybill::summed, waybill::compensated> two_sums;
