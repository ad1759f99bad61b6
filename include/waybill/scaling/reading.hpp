// SPDX-License-Identifier: MIT
//
// reading: what is known of a metric now, as plain numbers.
//
//     const scaling::reading now_known[]{scaling::read("orders", orders.query(now)),
//                                        scaling::read("age", age.query(now))};
//
// A rule names a metric and a statistic of it. What a window does not measure, and what it has no
// points for, is not there; a rule that asks for it is told so, and not 0.

#ifndef WAYBILL_SCALING_READING_HPP
#define WAYBILL_SCALING_READING_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/time.hpp>
#include <waybill/window/sliding_window.hpp>

namespace waybill::inline v0_2::scaling {

/// What can be asked of a metric.
enum class statistic : std::uint8_t {
    mean,
    highest,
    lowest,
    sum,
    first,
    last,
    variance,
    points,         ///< How many samples there are.
    weight,         ///< How many events they stand for.
    rate,           ///< Events a second over the span.
    sampling_rate,  ///< Percent of the events that were sampled.
    coverage,       ///< How much of the span lies behind the first sample, 0 to 1.
    age,            ///< Seconds since the last sample.
};
inline constexpr std::size_t statistics = 13;

[[nodiscard]] constexpr std::string_view name(statistic s) noexcept
{
    switch (s) {
        case statistic::mean: return "mean";
        case statistic::highest: return "highest";
        case statistic::lowest: return "lowest";
        case statistic::sum: return "sum";
        case statistic::first: return "first";
        case statistic::last: return "last";
        case statistic::variance: return "variance";
        case statistic::points: return "points";
        case statistic::weight: return "weight";
        case statistic::rate: return "rate";
        case statistic::sampling_rate: return "sampling_rate";
        case statistic::coverage: return "coverage";
        case statistic::age: return "age";
    }
    return "?";
}

/// A metric and its statistics. It views the name.
struct reading {
    std::string_view metric{};
    std::uint64_t points = 0;
    wall_time first{};  ///< Of its samples, where there are any,
    wall_time last{};   ///< and the times are known.
    bool timed = false;
    bool complete = true;  ///< False where samples were pushed out of the span.
    bool sampled = false;  ///< Whether samples stand for more events than they are.
    std::optional<double> values[statistics]{};

    [[nodiscard]] constexpr std::optional<double> value(statistic s) const noexcept
    {
        return values[static_cast<std::size_t>(s)];
    }
    constexpr void set(statistic s, std::optional<double> v) noexcept
    {
        // What is not a number compares with nothing.
        if (v && !is_finite(*v)) v.reset();
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

/// What a window answered, by statistic. Constant time. Where `max_points` has pushed samples out of
/// the span, what is left adds up to too little: sum and weight are not there, and nor is the rate.
template <class Measure>
[[nodiscard]] constexpr reading read(std::string_view metric,
                                     const window_summary<Measure, wall_time>& s) noexcept
{
    using summary = window_summary<Measure, wall_time>;
    reading r{.metric = metric, .points = s.points};
    r.set(statistic::points, static_cast<double>(s.points));
    if (s.empty()) return r;
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
