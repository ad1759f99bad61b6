// SPDX-License-Identifier: MIT
//
// series: samples that come out of something else, one by one.
//
// Bins and the view over a series read samples that others have kept or made. A sample without a
// weight stands for itself, so it may go where weights are counted. One that has a weight may not
// go where nobody would look at it: that is how a chart comes to show fewer events than there were.

#ifndef WAYBILL_WINDOW_SERIES_HPP
#define WAYBILL_WINDOW_SERIES_HPP

#include <concepts>
#include <cstdint>

#include <waybill/core/time.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>

namespace waybill::inline v0_2 {

/// The samples of which such a measure is made: with weights where it looks at them.
template <measure Measure, class Time = wall_time>
using sample_of = typename sliding_window<Measure, Time>::sample_type;

/// A sample that such a measure can be made of without losing its weight.
template <class S, class Measure, class Time = wall_time>
concept sample_for =
    measure<Measure> && (std::same_as<S, sample_of<Measure, Time>> ||
                         std::same_as<S, sample<typename Measure::value_type, Time>>);

/// The same sample, with a weight of 1 where one is looked for and it has none.
template <measure Measure, class V, class Time>
    requires sample_for<sample<V, Time>, Measure, Time>
[[nodiscard]] constexpr sample_of<Measure, Time> as_sample_of(const sample<V, Time>& s) noexcept
{
    return {s.at, s.value};
}
template <measure Measure, class V, class Time>
    requires sample_for<weighted_sample<V, Time>, Measure, Time>
[[nodiscard]] constexpr weighted_sample<V, Time>
as_sample_of(const weighted_sample<V, Time>& s) noexcept
{
    return s;
}

/// What can be gone through from its begin() to its end(), or, as a window, by number.
template <class R, class F>
constexpr void for_each_sample(const R& series, F&& f)
{
    if constexpr (requires { series.begin() != series.end(); }) {
        for (const auto& s : series) f(s);
    } else {
        for (std::uint64_t n = 0; n != series.size(); ++n) f(series[n]);
    }
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SERIES_HPP
