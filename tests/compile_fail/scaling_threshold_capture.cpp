// expect: cannot convert | no viable conversion
// SPDX-License-Identifier: MIT
//
// A threshold is stored and compared, and what a function captures could not be.

#include <cstdint>

#include <waybill/scaling/threshold.hpp>

auto limit(double each)
{
    return waybill::scaling::of_instances(
        [each](std::uint64_t n) { return each * static_cast<double>(n); });
}
