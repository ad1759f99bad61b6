// SPDX-License-Identifier: MIT
//
// ext/ranges: `views::chunk_by`, a view of batches over any input range, for range-v3.
//
//     for (auto&& batch : lines | ranges::views::transform(parse)
//                               | waybill::views::chunk_by(limits, &event::bytes))
//         batch.fits ? send(batch) : store_elsewhere(*batch.begin());
//
// A forward range is not copied: the elements are `chunk`s, which point into the range. An input
// range is read once: the elements are `owned_chunk`s, which contain the items.
//
// Guarantees (4 to 6 are for input ranges)
//   1. Every item is in exactly one chunk, in the order of the range. No chunk is empty.
//   2. A chunk that does not fit is a single item that exceeds a limit alone.
//   3. A chunk is cut when the loop reaches it, with the limits and sizes of that time.
//   4. An item is read once. Only an item that did not fit is read ahead: it begins the next batch.
//      A full batch, or a single item too large, is returned without reading ahead.
//   5. Each batch reuses the memory of the last one, unless that was moved from. Only growing
//      batches, items and framings allocate.
//   6. No item is lost or duplicated by leaving a loop, by copies and moves, or by exceptions.
//
// ext/ranges_window.hpp has views::sliding, a window over a series.

#ifndef WAYBILL_EXT_RANGES_HPP
#define WAYBILL_EXT_RANGES_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/traits.hpp>
#include <range/v3/utility/semiregular_box.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/interface.hpp>
#include <range/v3/view/view.hpp>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/ext/detail/ranges_chunked.hpp>
#include <waybill/ext/detail/ranges_package.hpp>
#include <waybill/ext/ranges_window.hpp>

namespace waybill::inline v0_2 {

namespace views {

struct chunk_by_fn {
    /// For a forward range: a view of `chunk`s, which point into the range.
    template <ranges::viewable_range R, detail::limits_source L = batch_limits,
              class F = std::identity, class V = ranges::views::all_t<R>>
        requires detail::std_forward_range<V> && detail::size_model<F, ranges::range_reference_t<V>>
    [[nodiscard]] constexpr auto operator()(R&& range, L l, F size = {}) const
    {
        V base = ranges::views::all(std::forward<R>(range));
        return detail::chunked_view<V, L, F>(std::move(base), std::move(l), std::move(size));
    }

    /// For an input range: a view of `owned_chunk`s, which contain their items.
    template <ranges::viewable_range R, detail::limits_source L = batch_limits,
              class F = std::identity, class V = ranges::views::all_t<R>>
        requires(!detail::std_forward_range<V> && ranges::input_range<V> &&
                 detail::size_model<F, const ranges::range_value_t<V>&>)
    [[nodiscard]] auto operator()(R&& range, L l, F size = {}) const
    {
        V base = ranges::views::all(std::forward<R>(range));
        return detail::batched_view<V, L, F>(std::move(base), std::move(l), std::move(size));
    }

    /// Returns a closure for use with `|`.
    template <detail::limits_source L = batch_limits, class F = std::identity>
    [[nodiscard]] constexpr auto operator()(L l, F size = {}) const
    {
        return ranges::make_view_closure(
            [l, size]<class R>(R&& range)
                requires std::invocable<const chunk_by_fn&, R, L, F>
            { return chunk_by_fn{}(std::forward<R>(range), l, size); });
    }
};

/// `range | chunk_by(limits, size)` or `chunk_by(range, limits, size)`.
inline constexpr chunk_by_fn chunk_by{};

}  // namespace views

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_RANGES_HPP
