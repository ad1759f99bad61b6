// SPDX-License-Identifier: MIT
//
// window_summary: what a window answers.
//
// The measure of the samples, the time and the span that it is of, and whether all samples are in
// it. So an answer can be read later, and elsewhere, without the window.

#ifndef WAYBILL_WINDOW_WINDOW_SUMMARY_HPP
#define WAYBILL_WINDOW_WINDOW_SUMMARY_HPP

#include <optional>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// An answer: the measure, and what it is of.
template <class Measure, class Time>
struct window_summary : Measure {
    Time now{};       ///< Of the samples after now - span, up to now.
    duration span{};
    bool cut = false;  ///< One later than now - span was pushed out by `max_points`.

    /// Whether all samples that were taken are in it. If not, all that is said is said of the
    /// newest ones, and of how long a time those are is not known.
    [[nodiscard]] constexpr bool complete() const noexcept { return !cut; }

    /// Events a second: how many the samples stand for, over the whole span. Empty where the
    /// answer is not complete: what is left, over the span, would be too few, and over the time
    /// since the oldest of what is left it may be far too many.
    [[nodiscard]] constexpr std::optional<double> rate() const noexcept
        requires requires(const Measure& m) { m.weight(); }
    {
        if (this->empty() || cut || span == duration::highest()) return {};
        return static_cast<double>(this->weight()) / (static_cast<double>(span.count()) / 1e9);
    }

    /// How much of the span lies behind the first sample, 0 to 1: 0.9 for ten minutes of one sample
    /// a minute. A window that has just begun to fill covers little.
    [[nodiscard]] constexpr std::optional<double> coverage() const noexcept
        requires requires(const Measure& m) { m.first_at; }
    {
        if (this->empty() || span == duration::highest()) return {};
        const duration covered = now.since_epoch() - this->first_at;
        return static_cast<double>(covered.count()) / static_cast<double>(span.count());
    }

    /// How old the last sample is.
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
