// SPDX-License-Identifier: MIT
//
// closed_by: the reason why a batch was closed.

#ifndef WAYBILL_BATCH_CLOSED_BY_HPP
#define WAYBILL_BATCH_CLOSED_BY_HPP

#include <cstdint>
#include <string_view>

namespace waybill::inline v0_2 {

/// The reason why a batch was closed.
enum class closed_by : std::uint8_t {
    bytes,     ///< The next item, or the only one, exceeds a limit in bytes.
    items,     ///< The number of items has reached a limit.
    key,       ///< The next item has another key.
    deadline,  ///< The linger time is over.
    end,       ///< No more items came before it was closed.
};

[[nodiscard]] constexpr std::string_view name(closed_by why) noexcept
{
    switch (why) {
    case closed_by::bytes: return "bytes";
    case closed_by::items: return "items";
    case closed_by::key: return "key";
    case closed_by::deadline: return "deadline";
    case closed_by::end: return "end";
    }
    return "unknown";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_CLOSED_BY_HPP
