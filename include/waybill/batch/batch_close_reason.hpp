// SPDX-License-Identifier: MIT
//
// batch_close_reason: the reason why a batch was closed.

#ifndef WAYBILL_BATCH_BATCH_CLOSE_REASON_HPP
#define WAYBILL_BATCH_BATCH_CLOSE_REASON_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The reason why a batch was closed.
enum class batch_close_reason : std::uint8_t {
    bytes,     ///< One more item would exceed a limit in bytes, or the only item exceeds one.
    items,     ///< The number of items has reached a limit.
    key,       ///< The next item has another key.
    deadline,  ///< The linger time is over.
    end,       ///< The input ended, or the batch was taken or flushed before it was full.
};

[[nodiscard]] constexpr std::string_view texts_of(batch_close_reason) noexcept
{
    return "bytes, items, key, deadline, end";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_BATCH_CLOSE_REASON_HPP
