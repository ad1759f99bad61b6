// SPDX-License-Identifier: MIT
//
// closed_by: why nothing more went into a batch.

#ifndef WAYBILL_BATCH_CLOSED_BY_HPP
#define WAYBILL_BATCH_CLOSED_BY_HPP

#include <cstdint>
#include <string_view>

namespace waybill::inline v0_2 {

/// Why a batch was closed.
enum class closed_by : std::uint8_t {
    bytes,     ///< The next item, or its only one, is more than a limit of bytes allows.
    items,     ///< It has as many items as a batch may have.
    key,       ///< The next item belongs to another key.
    deadline,  ///< It had been open for long enough.
    end,       ///< Nothing more came.
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
