// SPDX-License-Identifier: MIT
//
// series: reads samples of another container one by one.
//
// Used by `bins` and `views::sliding`. A sample without a weight counts as one event, so a weighted
// measure accepts it. An unweighted measure does not accept samples with weights, because it would
// count too few events.

#ifndef WAYBILL_WINDOW_DETAIL_SERIES_HPP
#define WAYBILL_WINDOW_DETAIL_SERIES_HPP

#include <concepts>
#include <cstdint>

#include <waybill/core/time.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>

namespace waybill::inline v0_2::detail {

/// The type of sample for a measure: `weighted_sample` if the measure uses weights, else `sample`.
template <measure Measure, class Time = wall_time>
using sample_of = typename sliding_window<Measure, Time>::sample_type;

/// A type of sample that the measure accepts without losing a weight.
template <class S, class Measure, class Time = wall_time>
concept sample_for =
    measure<Measure> && (std::same_as<S, sample_of<Measure, Time>> ||
                         std::same_as<S, sample<typename Measure::value_type, Time>>);

/// Converts a sample to the type for the measure. A sample without a weight gets the weight 1.
template <measure Measure, class V, class Time>
    requires sample_for<sample<V, Time>, Measure, Time>
[[nodiscard]] constexpr sample_of<Measure, Time> as_sample_of(const sample<V, Time>& s) noexcept
{
    return {s.at, s.value};
}
template <measure Measure, class V, class Time>
    requires sample_for<weighted_sample<V, Time>, Measure, Time>
[[nodiscard]] constexpr weighted_sample<V, Time> as_sample_of(
    const weighted_sample<V, Time>& s) noexcept
{
    return s;
}

/// Calls f with each sample of a series: from begin() to end() or, without these, by index.
template <class R, class F>
constexpr void for_each_sample(const R& series, F&& f)
{
    if constexpr (requires { series.begin() != series.end(); }) {
        for (const auto& s : series) f(s);
    } else {
        for (std::uint64_t n = 0; n != series.size(); ++n) f(series[n]);
    }
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_SERIES_HPP
