// SPDX-License-Identifier: MIT
//
// add_result: the result of adding an item to an open batch, a keyed batch or a bin.

#ifndef WAYBILL_BATCH_ADD_RESULT_HPP
#define WAYBILL_BATCH_ADD_RESULT_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The result of adding an item.
enum class add_result : std::uint8_t {
    added,      ///< It is in the batch.
    full,       ///< It fits into the next batch, not into this one.
    too_large,  ///< It fits into no batch.
};

[[nodiscard]] constexpr std::string_view texts_of(add_result) noexcept
{
    return "added, full, too_large";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_ADD_RESULT_HPP
