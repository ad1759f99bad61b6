// expect: deleted
// SPDX-License-Identifier: MIT
//
// A window of integers does not truncate fractions, and NaN is no number.

#include <cstdint>

#include <waybill/window/sliding_window.hpp>

void insert(waybill::sliding_window<waybill::stats<std::int64_t>>& w, waybill::wall_time at)
{
    w.insert(at, 0.9);
}
