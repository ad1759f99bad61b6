// SPDX-License-Identifier: MIT
//
// capped_sum: a sum of numbers from an input. A number that is too large ends it at the maximum
// instead of wrapping around.

#ifndef WAYBILL_EXAMPLES_SUPPORT_CAPPED_SUM_HPP
#define WAYBILL_EXAMPLES_SUPPORT_CAPPED_SUM_HPP

#include <cstdint>

namespace support {

[[nodiscard]] inline std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_CAPPED_SUM_HPP
