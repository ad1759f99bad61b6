// expect: a_duration_is_printed_by_to_text | a duration is printed by to_text, of time_text.hpp
// SPDX-License-Identifier: MIT
//
// Seconds or nanoseconds? to_text writes the unit.

#include <iostream>

#include <waybill/core/time.hpp>

void log(waybill::duration pause)
{
    std::cout << pause;
}
