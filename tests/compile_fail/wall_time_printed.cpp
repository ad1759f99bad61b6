// expect: a_wall_time_is_printed_by_to_text | a wall time is printed by to_text, of time_text.hpp
// SPDX-License-Identifier: MIT

#include <iostream>

#include <waybill/core/time.hpp>

void log(waybill::wall_time stored)
{
    std::cout << stored;
}
