// expect: remove `counted`
// SPDX-License-Identifier: MIT
//
// The number of samples is among all measures, and is not asked for.

#include <waybill/window/measures.hpp>

waybill::measures<int, waybill::counted, waybill::summed> twice;
