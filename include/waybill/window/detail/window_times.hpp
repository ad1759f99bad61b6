// SPDX-License-Identifier: MIT
//
// window_times: the clock of a sliding window, and shortcuts that depend on it.
//
// A shortcut is a time that decides the common case of an operation with one comparison.

#ifndef WAYBILL_WINDOW_DETAIL_WINDOW_TIMES_HPP
#define WAYBILL_WINDOW_DETAIL_WINDOW_TIMES_HPP

#include <waybill/core/time.hpp>
#include <waybill/window/window_options.hpp>

namespace waybill::inline v0_2::detail {

template <class Time>
struct window_times {
    Time now = Time::lowest();
    /// The time of the newest sample. The highest time, which is after the clock, if some samples
    /// are not in the ring, or if there is no sample.
    Time newest = Time::highest();
    /// A sample after `newest` and until this time is appended without further checks of its time.
    /// The lowest time if each sample must be checked.
    Time append_until = Time::highest();
    /// The last time at which the oldest sample of the ring is in the window. The highest time if
    /// it cannot leave.
    Time complete_until = Time::highest();
    duration reach{};  ///< The span minus 1 ns.
    bool clock_known = false;
    /// `advance` has more to do than to remove samples of the ring.
    bool special = true;

    /// The last time of the clock at which a sample of the time `at` is in the window.
    [[nodiscard]] Time last_covered(Time at, const window_options& o) const noexcept
    {
        return o.span == duration::highest() ? Time::highest() : at + reach;
    }
    /// The first time of the window, now - span + 1 ns. Samples before it have left. If it is
    /// before the lowest time, the difference saturates and no sample has left.
    [[nodiscard]] Time begin(const window_options& o) const noexcept
    {
        return !clock_known || o.span == duration::highest() ? Time::lowest() : now - reach;
    }
    /// Samples after this time are not inserted.
    [[nodiscard]] Time latest_allowed(const window_options& o) const noexcept
    {
        return !clock_known || o.ahead == duration::highest() ? Time::highest() : now + o.ahead;
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_WINDOW_TIMES_HPP
