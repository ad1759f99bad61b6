// SPDX-License-Identifier: MIT
//
// chunk: consecutive items for one batch, as `chunk_by` cuts them.
//
//     for (const auto& part : waybill::chunk_by(inbox, limits, wire_size))
//         if (!part.fits) store_elsewhere(*part.begin());
//
// The iterators point into the input of `chunk_by`.

#ifndef WAYBILL_BATCH_CHUNK_HPP
#define WAYBILL_BATCH_CHUNK_HPP

#include <cstdint>
#include <iterator>

#include <waybill/batch/batch_close_reason.hpp>

namespace waybill::inline v0_2 {

/// Consecutive items for one batch, and the size of that batch. A chunk is a range of its items.
template <std::forward_iterator I>
struct chunk {
    I first{};
    I last{};
    std::uint64_t bytes = 0;  ///< Size of the batch, envelope included, even if it does not fit.
    std::uint64_t count = 0;  ///< Number of items.
    bool fits = true;         ///< False only for a single item that exceeds a limit by itself.
    batch_close_reason closed = batch_close_reason::end;  ///< The reason why the chunk ends.

    [[nodiscard]] constexpr I begin() const { return first; }
    [[nodiscard]] constexpr I end() const { return last; }
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return count; }

    /// Never true for the chunks of a range. True for `front_chunk` of an empty input.
    [[nodiscard]] constexpr bool empty() const noexcept { return count == 0; }

    friend bool operator==(const chunk&, const chunk&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_CHUNK_HPP
