// SPDX-License-Identifier: MIT
//
// window_summary: the result of a query.
//
// It contains the measure of the samples, the time and span they are from, and whether any are
// missing. So a summary can be used later and elsewhere, without the window.

#ifndef WAYBILL_WINDOW_WINDOW_SUMMARY_HPP
#define WAYBILL_WINDOW_WINDOW_SUMMARY_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The measure of the samples in (now - span, now].
template <class Measure, class Time>
struct window_summary : Measure {
    /// The reason why two summaries cannot be merged.
    enum class merge_mismatch : std::uint8_t {
        time,  ///< Their times differ.
        span,  ///< Their times are equal, and their spans differ.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(merge_mismatch) noexcept
    {
        return "time, span";
    }

    Time now{};  ///< The end of the window, included.
    duration span{};
    bool cut = false;  ///< A sample after now - span is missing: see `max_points`.

    /// Returns true if no sample of the span was removed by `max_points`. If false, all statistics
    /// cover only the newest samples, and the interval that they cover is unknown.
    [[nodiscard]] constexpr bool complete() const noexcept { return !cut; }

    /// Events per second over the whole span. Empty if there are no samples, the span is not
    /// limited, or the summary is not complete. The remaining samples of an incomplete summary give
    /// too low a rate over the span, and far too high a rate over their own interval.
    [[nodiscard]] constexpr std::optional<double> rate() const noexcept
        requires requires(const Measure& m) { m.weight(); }
    {
        if (this->empty() || cut || span == duration::highest()) return {};
        return static_cast<double>(this->weight()) / (static_cast<double>(span.count()) / 1e9);
    }

    /// The share of the span since the first sample, in [0, 1). It is 0.9 for ten minutes of one
    /// sample a minute, and low for a window that has just begun to fill. Empty if there are no
    /// samples, or if the span is not limited.
    [[nodiscard]] constexpr std::optional<double> coverage() const noexcept
        requires requires(const Measure& m) { m.first_at; }
    {
        if (this->empty() || span == duration::highest()) return {};
        const duration covered = now.since_epoch() - this->first_at;
        return static_cast<double>(covered.count()) / static_cast<double>(span.count());
    }

    /// The time since the last sample. Empty without samples.
    [[nodiscard]] constexpr std::optional<duration> age() const noexcept
        requires requires(const Measure& m) { m.last_at; }
    {
        if (this->empty()) return {};
        return now.since_epoch() - this->last_at;
    }

    friend bool operator==(const window_summary&, const window_summary&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_WINDOW_SUMMARY_HPP
