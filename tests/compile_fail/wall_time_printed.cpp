// expect: a_wall_time_is_printed_by_to_text | overload resolution selected deleted operator '<<'
// SPDX-License-Identifier: MIT

#include <iostream>

#include <waybill/core/time.hpp>

void log(waybill::wall_time stored)
{
    std::cout << stored;
}
