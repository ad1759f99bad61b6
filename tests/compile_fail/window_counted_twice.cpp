// expect: remove `counted`
// SPDX-License-Identifier: MIT
//
// The number of samples is a part of all measures, and is not requested separately.

#include <waybill/window/measures.hpp>

waybill::measures<int, waybill::counted, waybill::summed> twice;
