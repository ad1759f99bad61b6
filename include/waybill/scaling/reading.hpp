// SPDX-License-Identifier: MIT
//
// reading: the current statistics of a metric, as plain numbers.
//
//     const scaling::reading now_known[]{scaling::read("orders", orders.query(now)),
//                                        scaling::read("age", age.query(now))};
//
// Rules refer to a metric and one of its statistics. Statistics that the window does not measure,
// or has no points for, are empty: a rule that uses them is unknown. They are never 0.

#ifndef WAYBILL_SCALING_READING_HPP
#define WAYBILL_SCALING_READING_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/window/sliding_window.hpp>

namespace waybill::inline v0_2::scaling {

using v0_2::name;

/// The statistics of a metric.
enum class statistic : std::uint8_t {
    mean,
    highest,
    lowest,
    sum,
    first,
    last,
    variance,
    points,         ///< The number of samples.
    weight,         ///< The number of events that the samples represent.
    rate,           ///< Events per second over the span.
    sampling_rate,  ///< Sampled events, in percent of all events.
    coverage,       ///< The part of the span after the first sample, 0 to 1.
    age,            ///< Seconds since the last sample.
};
/// The number of statistics.
inline constexpr std::size_t statistics = 13;

[[nodiscard]] constexpr std::string_view texts_of(statistic) noexcept
{
    return "mean, highest, lowest, sum, first, last, variance, points, weight, rate, "
           "sampling_rate, coverage, age";
}

/// The statistics of a metric. It views the name of the metric.
struct reading {
    std::string_view metric{};
    std::uint64_t points = 0;
    wall_time first{};  ///< Time of the first sample, if `timed`.
    wall_time last{};   ///< Time of the last sample, if `timed`.
    bool timed = false;
    bool complete = true;  ///< False if samples were pushed out of the span.
    bool sampled = false;  ///< True if samples represent more events than their number.
    std::optional<double> values[statistics]{};

    [[nodiscard]] constexpr std::optional<double> value(statistic s) const noexcept
    {
        return values[static_cast<std::size_t>(s)];
    }
    constexpr void set(statistic s, std::optional<double> v) noexcept
    {
        // A value that is not finite is treated as missing: NaN compares with nothing.
        if (v && !detail::is_finite(*v)) v.reset();
        values[static_cast<std::size_t>(s)] = v;
    }

    friend bool operator==(const reading&, const reading&) = default;
};

namespace detail {

template <class V>
[[nodiscard]] constexpr std::optional<double> as_number(const std::optional<V>& v) noexcept
{
    return v ? std::optional<double>(static_cast<double>(*v)) : std::nullopt;
}

}  // namespace detail

/// Converts a window's summary to a reading. Constant time. If `max_points` has pushed samples out
/// of the span, sum, weight and rate are empty: for the remaining samples they would be too low.
template <class Measure>
[[nodiscard]] constexpr reading read(std::string_view metric,
                                     const window_summary<Measure, wall_time>& s) noexcept
{
    using summary = window_summary<Measure, wall_time>;
    reading r{.metric = metric, .points = s.points};
    r.set(statistic::points, static_cast<double>(s.points));
    if (s.empty()) return r;
    // Without a span, the window is by definition the newest `max_points` samples.
    r.complete = s.complete() || s.span == duration::highest();
    r.sampled = s.is_sampled();
    if (r.complete) r.set(statistic::weight, static_cast<double>(s.weight()));
    r.set(statistic::sampling_rate, s.sampling_rate());
    r.set(statistic::rate, s.rate());
    if constexpr (requires(const summary& x) { x.mean(); }) r.set(statistic::mean, s.mean());
    if constexpr (requires(const summary& x) { x.sum(); }) {
        if (r.complete) r.set(statistic::sum, detail::as_number(s.sum()));
    }
    if constexpr (requires(const summary& x) { x.lowest(); }) {
        r.set(statistic::lowest, detail::as_number(s.lowest()));
        r.set(statistic::highest, detail::as_number(s.highest()));
    }
    if constexpr (requires(const summary& x) { x.variance(); }) {
        r.set(statistic::variance, s.variance());
    }
    if constexpr (requires(const summary& x) { x.first_at; }) {
        r.set(statistic::first, detail::as_number(s.first()));
        r.set(statistic::last, detail::as_number(s.last()));
        r.set(statistic::coverage, s.coverage());
        r.set(statistic::age, static_cast<double>(s.age()->count()) / 1e9);
        r.first = wall_time::at(s.first_at);
        r.last = wall_time::at(s.last_at);
        r.timed = true;
    }
    return r;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_READING_HPP
