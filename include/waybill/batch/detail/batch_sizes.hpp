// SPDX-License-Identifier: MIT
//
// batch_sizes: the sender's knowledge about the size of a batch.

#ifndef WAYBILL_BATCH_DETAIL_BATCH_SIZES_HPP
#define WAYBILL_BATCH_DETAIL_BATCH_SIZES_HPP

#include <cstdint>

namespace waybill::inline v0_2::detail {

/// The contents of a batch, as far as the sender knows them.
struct batch_sizes {
    std::uint64_t body_bytes = 0;       ///< Bodies of the items whose overhead is estimated.
    std::uint64_t estimated_items = 0;  ///< Number of items whose overhead is estimated.
    std::uint64_t exact_bytes = 0;      ///< Bytes of the other items, overhead included.
    std::uint64_t items = 0;            ///< Number of all items.

    friend bool operator==(const batch_sizes&, const batch_sizes&) = default;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_BATCH_SIZES_HPP
