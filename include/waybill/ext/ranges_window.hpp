// SPDX-License-Identifier: MIT
//
// ext/ranges_window: `views::sliding`, the results of a window over a series, for range-v3.
//
//     using backlog = waybill::stats<std::int64_t>;
//     for (const auto& s : rows | ranges::views::transform(parse)
//                               | waybill::views::sliding<backlog>({.span = 10min}))
//         print(s.now, s.points, s.mean(), s.highest());
//
// Each element is the result of a sliding_window after one sample. It is the measure of the samples
// in the span that ends at the latest time so far. Guarantees:
//   1. One result for each sample, also for a sample that is not accepted. The result for a late
//      sample is that of the latest time.
//   2. A sample is read when the loop reaches its result, and once per loop. The element belongs to
//      the window: copy it to keep it after the next increment.
//   3. The clock of the window is the latest time of an accepted sample. With `ahead`, a sample too
//      far after the clock is not accepted; nor is any sample after a gap longer than `ahead`.
//   4. Over a forward range, each loop starts with an empty window. Over an input range, all copies
//      share one pass, without a lock: a second loop continues after the last result seen.

#ifndef WAYBILL_EXT_RANGES_WINDOW_HPP
#define WAYBILL_EXT_RANGES_WINDOW_HPP

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/traits.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/interface.hpp>
#include <range/v3/view/view.hpp>

#include <waybill/core/time.hpp>
#include <waybill/ext/detail/ranges_package.hpp>
#include <waybill/ext/detail/ranges_sliding.hpp>
#include <waybill/window/amortised.hpp>
#include <waybill/window/detail/series.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>

namespace waybill::inline v0_2 {

namespace views {

template <measure M, template <class> class How = amortised>
struct sliding_fn {
    /// Returns a view of the results: one for each sample of `range`.
    template <ranges::viewable_range R, class V = ranges::views::all_t<R>>
        requires detail::series_for<V, M>
    [[nodiscard]] auto operator()(R&& range, const window_options& o) const
    {
        return detail::sliding_view<V, M, How>(ranges::views::all(std::forward<R>(range)), o);
    }

    /// Returns a closure for use with `|`.
    [[nodiscard]] auto operator()(const window_options& o) const
    {
        return ranges::make_view_closure(
            [o]<class R>(R&& range)
                requires std::invocable<const sliding_fn&, R, const window_options&>
            { return sliding_fn{}(std::forward<R>(range), o); });
    }
};

/// `series | sliding<measure>(options)` or `sliding<measure>(series, options)`.
template <measure M, template <class> class How = amortised>
inline constexpr sliding_fn<M, How> sliding{};

}  // namespace views

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_RANGES_WINDOW_HPP
