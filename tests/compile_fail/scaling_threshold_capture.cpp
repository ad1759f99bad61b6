// expect: cannot convert | no viable conversion
// SPDX-License-Identifier: MIT
//
// A threshold is stored and compared, which captures do not allow.

#include <cstdint>

#include <waybill/scaling/threshold.hpp>

auto limit(double each)
{
    return waybill::scaling::of_instances(
        [each](std::uint64_t n) { return each * static_cast<double>(n); });
}
