// SPDX-License-Identifier: MIT
//
// quantile: the exact value that a given share of all events does not exceed.
//
//     std::optional<double> p99 = waybill::quantile(window, 0.99, now);   // of (now - span, now]
//     std::optional<double> median = waybill::quantile(samples, 0.5);     // of a vector of samples
//
// Definition (nearest rank): the lowest value such that it and all lower values have at least a
// share q of the weight. The result is always a measured value; q = 0 is the lowest, q = 1 the
// highest. A sample with weight n counts as n equal samples. q means the decimal as written. So
// 0.07 of 100 events are 7 events, although the double nearest to 0.07, times 100, is more than 7.
//
// Guarantees
//   1. Exact, with at most nine passes over the samples, usually three or four, in any order of the
//      samples. Each pass divides the remaining range of values into at most 256 parts.
//   2. No allocation and no change; 6 KiB of stack.
//   3. The result is empty without samples, if q is not in [0, 1], or if the total weight is at
//      least 2^64 - 1. Values that are not finite and weights of 0 are ignored; only a container
//      that is no window can have them.
//
// For windows too large to store or to scan: log_histogram.hpp and slotted_window.hpp.

#ifndef WAYBILL_WINDOW_QUANTILE_HPP
#define WAYBILL_WINDOW_QUANTILE_HPP

#include <concepts>
#include <cstdint>
#include <optional>

#include <waybill/core/time.hpp>
#include <waybill/window/detail/nearest_rank.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// A sketch: approximate quantiles of more values than can be stored. It adds values, merges
/// another sketch of its type and returns quantiles. `quantile` may reorder the sketch, so it need
/// not be const.
template <class S>
concept quantile_sketch =
    std::copyable<S> && requires(S& s, const S& other, double value, double q) {
        s.add(value);
        s.merge(other);
        { s.quantile(q) } -> std::convertible_to<std::optional<double>>;
    };

/// A sketch whose values may have a weight.
template <class S>
concept weighted_sketch = quantile_sketch<S> && requires(S& s, double value, std::uint64_t weight) {
    s.add(value, weight);
};

}  // namespace detail

/// The quantile q in [0, 1] of all samples of a container, in any order. At most nine passes.
template <detail::sample_sequence S>
    requires(!detail::sample_window<S>)
[[nodiscard]] constexpr std::optional<detail::sample_value_t<S>> quantile(const S& samples,
                                                                          double q)
{
    return detail::quantile_of(samples, 0, samples.size(), q);
}

/// The quantile q in [0, 1] of the samples of a window in (now - span, now]. If the window's clock
/// is later than `now`, the clock counts. At most nine passes.
template <detail::sample_window W>
[[nodiscard]] constexpr std::optional<detail::sample_value_t<W>> quantile(const W& window, double q,
                                                                          typename W::time_type now)
{
    using size = decltype(window.size());
    if (const auto clock = window.clock()) now = detail::later(*clock, now);
    const duration span = window.options().span;
    std::uint64_t first = 0;
    std::uint64_t last = window.size();
    while (last != 0 && window[static_cast<size>(last - 1)].at > now) --last;
    if (span != duration::highest()) {
        // If the difference saturates, it is the lowest time, and no sample is before it.
        const typename W::time_type from = now - (span - duration::nanoseconds(1));
        while (first != last && window[static_cast<size>(first)].at < from) ++first;
    }
    return detail::quantile_of(window, first, last, q);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_QUANTILE_HPP
