// SPDX-License-Identifier: MIT
//
// tally: the sums of an open batch, without its items.
//
// Part of open_batch, bin_packer, keyed_batches and chunk_by. Decides whether an item fits into the
// batch, and counts it. The caller stores the items:
//
//     waybill::detail::tally<my_framing> t;
//     switch (t.add(limits, f, item)) {                       // three results, not two
//         case added:     sdk_batch.append(item); break;
//         case full:      flush(sdk_batch); t = {}; t.add(limits, f, item); ... break;
//         case too_large: store_elsewhere(item); break;
//     }
//
//   1. `full` and `too_large` leave the sums unchanged. After `full` the tally admits no more
//      items, so that later items do not overtake the one that waits.
//   2. An item that is `full` in one tally is `added` to an empty one. An item that is `too_large`
//      fits into no tally.
//   3. The bytes are exact, and never above the limit.

#ifndef WAYBILL_BATCH_DETAIL_TALLY_HPP
#define WAYBILL_BATCH_DETAIL_TALLY_HPP

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/detail/batch_bytes.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2::detail {

template <class F>
struct tally {
    typename F::state state{};  ///< The framing's state after the items so far.
    std::uint64_t bytes = 0;    ///< Bytes, envelope included; 0 while empty.
    std::uint64_t items = 0;    ///< Number of items.
    batch_close_reason closed = batch_close_reason::end;  ///< The close reason, if `full`.
    bool full = false;                                    ///< The tally admits no more items.

    /// Counts the item if it fits. O(1), plus the calls of the framing. The framing computes the
    /// item's bytes at this position and, if they do not fit, at the start of a batch.
    template <class Item>
        requires framing<F, Item>
    constexpr add_result add(const batch_limits& l, const F& f, const Item& item)
    {
        if (!full && items != 0 && items >= l.items) {
            close(batch_close_reason::items);  // the limits were lowered since the last item
        }
        std::uint64_t item_bytes = 0;
        if (!full) {
            item_bytes = as_size(f.delta(state, item));
            const std::uint64_t so_far = items == 0 ? envelope_of(l, f, item) : bytes;
            if (fits(l, so_far, item_bytes)) {
                f.push(state, item);
                bytes = so_far + item_bytes;
                if (++items >= l.items) close(batch_close_reason::items);
                return add_result::added;
            }
            if (items == 0) return add_result::too_large;
        }
        // A framing without a state returns the same bytes for every position.
        if (full || !std::is_empty_v<typename F::state>) {
            item_bytes = as_size(f.delta(typename F::state{}, item));
        }
        if (!fits(l, envelope_of(l, f, item), item_bytes)) return add_result::too_large;
        if (!full) close(batch_close_reason::bytes);
        return add_result::full;
    }

    /// Closes the tally: it admits no more items.
    constexpr void close(batch_close_reason reason)
    {
        full = true;
        closed = reason;
    }

    friend bool operator==(const tally&, const tally&) = default;

private:
    [[nodiscard]] static constexpr bool fits(batch_limits l, std::uint64_t so_far,
                                             std::uint64_t item_bytes)
    {
        l.envelope = so_far;
        return l.fits_alone(item_bytes);
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_TALLY_HPP
