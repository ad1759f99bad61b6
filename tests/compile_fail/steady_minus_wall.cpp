// expect: invalid operands to binary expression | no match for
// SPDX-License-Identifier: MIT

#include <waybill/core/time.hpp>

waybill::duration age(waybill::steady_time now, waybill::wall_time then)
{
    return now - then;
}
