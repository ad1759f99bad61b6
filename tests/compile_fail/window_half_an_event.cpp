// expect: use of deleted function | call to deleted member function
// SPDX-License-Identifier: MIT
//
// A sample has an integer as its weight.

#include <waybill/window.hpp>

void insert_fraction(waybill::sliding_window<waybill::weighted_stats<double>>& w,
                     waybill::wall_time at)
{
    w.insert(at, 1.0, 2.5);
}
