// SPDX-License-Identifier: MIT
//
// findings: what happened to the events, and what only happened to their telemetry.
//
// Two questions are asked apart. Did the share that is recorded change? The weights say so: they
// are no estimate, and where they change, rows are parted into phases. Did the number of events
// change for good? That is asked of the weighted sums by bin, and a change has to be more than a
// tenth, more than chance makes, and more than twice of what bins differ anyway.

#ifndef WAYBILL_EXAMPLES_LOST_EVENTS_FINDINGS_HPP
#define WAYBILL_EXAMPLES_LOST_EVENTS_FINDINGS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/window.hpp>

#include "input.hpp"

namespace lost_events {

/// What chance makes of a sum of weights, as a variance. Whoever writes one event in w, at random,
/// misses the number of them by sqrt(w (w - 1)) for each row that he writes; by nothing if w is 1.
template <class V>
struct chance {
    double variance_of_weights = 0;

    template <class S>
    [[nodiscard]] static constexpr chance of(const S& s) noexcept
    {
        const double w = weight_of(s);
        return {w * (w - 1)};
    }
    template <class M>
    [[nodiscard]] static constexpr chance combine(const M& a, const M& b) noexcept
    {
        return {a.variance_of_weights + b.variance_of_weights};
    }
    friend bool operator==(const chance&, const chance&) = default;
};

/// What is asked of the rows of a bin: the library's parts, and one of our own.
using measured =
    waybill::measures<double, waybill::weighted_count, waybill::summed, waybill::extremes, chance>;
using binned_rows = waybill::bins<measured>;

/// Standard deviations within which chance is believed.
inline constexpr double believed = 4;

/// A time in which about the same share was recorded.
struct phase {
    waybill::wall_time from{};
    waybill::wall_time until{};
    measured sum = measured::identity();
    bool even = true;  ///< All rows have one weight.

    [[nodiscard]] double seconds() const;
    [[nodiscard]] double one_in() const;  ///< So many events a row.
};

/// Events a second before and after a moment, for as long as each was the same.
struct shift {
    waybill::wall_time at{};
    double before = 0;
    double after = 0;
    [[nodiscard]] double change() const { return before > 0 ? after / before - 1 : 0; }
};

struct findings {
    std::size_t rows = 0;
    waybill::duration width{};  ///< Of the bins.
    std::vector<phase> phases{};
    /// The first phase after the largest change of the share, if there is more than one.
    std::optional<std::size_t> sampled{};
    double raw_change = 0;     ///< Of rows a second from the phase before to this one.
    double event_change = 0;   ///< Of the events that they stand for.
    double event_doubt = 0;    ///< What chance may make of that.
    std::optional<shift> traffic{};  ///< A lasting change of the number of events.
    bool apart = false;              ///< It was at another time than that of the share.

    /// More, or less, than chance and everyday life explain, at the change of the share.
    [[nodiscard]] bool events_changed() const;
    /// Whether a time of day alone would not say which one.
    [[nodiscard]] bool needs_dates() const;
};

[[nodiscard]] findings find(const std::vector<row>& rows, const binned_rows& bins);

/// One plain sentence.
[[nodiscard]] std::string sentence(const findings& f);

/// The figures behind it, in a line; none where the share did not change.
[[nodiscard]] std::string evidence(const findings& f);

/// "one event in 5", with a decimal where it is not the same for all rows.
[[nodiscard]] std::string share_of(const phase& p);

/// "10:07", "10:07:30"; with the date in front, and with seconds though they are 0, by request.
[[nodiscard]] std::string moment(waybill::wall_time t, bool with_date, bool with_seconds = false);

/// The same in a sentence: where days are told apart, a midnight is the date alone.
[[nodiscard]] std::string when(waybill::wall_time t, bool with_date);

/// "1min", "1d": as the library writes it, and days where they are whole.
[[nodiscard]] std::string span_text(waybill::duration d);

}  // namespace lost_events

#endif  // WAYBILL_EXAMPLES_LOST_EVENTS_FINDINGS_HPP
