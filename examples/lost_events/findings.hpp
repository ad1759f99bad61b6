// SPDX-License-Identifier: MIT
//
// findings: changes of the events, separate from changes of their sampling.
//
// Two changes are found separately. A change of the recorded share follows from the weights, which
// are exact; it splits the rows into phases. A lasting change of the number of events follows from
// the weighted sums by bin. It must exceed a tenth, four standard deviations of the sampling error,
// and twice the usual difference of bins.

#ifndef WAYBILL_EXAMPLES_LOST_EVENTS_FINDINGS_HPP
#define WAYBILL_EXAMPLES_LOST_EVENTS_FINDINGS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "input.hpp"
#include <waybill/core/time.hpp>
#include <waybill/window.hpp>

namespace lost_events {

/// The variance of a sum of weights through random sampling. A row of weight w adds w (w - 1), the
/// square of its standard error; 0 if w is 1.
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

/// The measures of a bin: those of the library, and `chance`.
using measured =
    waybill::measures<double, waybill::weighted_count, waybill::summed, waybill::extremes, chance>;
using binned_rows = waybill::bins<measured>;

/// The number of standard deviations up to which a difference counts as chance.
inline constexpr double believed = 4;

/// A time with about the same recorded share.
struct phase {
    waybill::wall_time from{};
    waybill::wall_time until{};
    measured sum = measured::identity();
    bool even = true;  ///< All rows have one weight.

    [[nodiscard]] double seconds() const;
    [[nodiscard]] double one_in() const;  ///< The events per row.
};

/// The events per second before and after a change.
struct shift {
    waybill::wall_time at{};
    double before = 0;
    double after = 0;
    [[nodiscard]] double change() const { return before > 0 ? after / before - 1 : 0; }
};

struct findings {
    std::size_t rows = 0;
    waybill::duration width{};  ///< The width of the bins.
    std::vector<phase> phases{};
    /// The first phase after the largest change of the share, if there is more than one.
    std::optional<std::size_t> sampled{};
    double raw_change = 0;    ///< Of the rows per second, from the phase before `sampled` to it.
    double event_change = 0;  ///< Of the events per second, likewise.
    double event_doubt = 0;   ///< The possible error of `event_change` through sampling.
    std::optional<shift> traffic{};  ///< A lasting change of the number of events.
    bool apart = false;              ///< `traffic` changed at another time than the share.

    /// The events changed with the share, by more than chance and usual variation.
    [[nodiscard]] bool events_changed() const;
    /// Whether a time of day without a date is ambiguous.
    [[nodiscard]] bool needs_dates() const;
};

[[nodiscard]] findings find(const std::vector<row>& rows, const binned_rows& bins);

/// The result as one sentence.
[[nodiscard]] std::string sentence(const findings& f);

/// The figures of that sentence, in one line; empty if the share did not change.
[[nodiscard]] std::string evidence(const findings& f);

/// "one event in 5"; with a decimal if the rows have different weights.
[[nodiscard]] std::string share_of(const phase& p);

/// "10:07", "10:07:30"; on request with the date before it, and with seconds that are 0.
[[nodiscard]] std::string moment(waybill::wall_time t, bool with_date, bool with_seconds = false);

/// The same for a sentence: with dates, a midnight is the date alone.
[[nodiscard]] std::string when(waybill::wall_time t, bool with_date);

/// "1min", "1d": as the library writes it, but whole days as days.
[[nodiscard]] std::string span_text(waybill::duration d);

}  // namespace lost_events

#endif  // WAYBILL_EXAMPLES_LOST_EVENTS_FINDINGS_HPP
