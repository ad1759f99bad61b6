// SPDX-License-Identifier: MIT
//
// recent_calls: counts the calls and failures of a recent period, in fixed size.
//
//     recent_calls recent(30s);
//     recent.record(failed, now);
//     recent.failed(), recent.calls()     // at the latest time that was passed in
//
// Guarantees
//   1. The period is divided into ten parts on a fixed time grid, and the oldest part expires as a
//      whole. The counts cover the last nine to ten tenths of the period.
//   2. The grid depends on the time alone, so additional calls of `advance_to` change nothing.
//   3. A time before the latest one counts as the latest one.
//
// Cost: constant time, fixed size.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_DETAIL_RECENT_CALLS_HPP
#define WAYBILL_RETRY_DETAIL_RECENT_CALLS_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

class recent_calls {
public:
    static constexpr std::size_t parts = 10;

    /// A period of less than 10 ns counts as 10 ns.
    explicit constexpr recent_calls(duration period) noexcept
        : width_(greater(duration::nanoseconds(period.count() / std::int64_t{parts}),
                         duration::nanoseconds(1)))
    {
    }

    /// Removes the parts that have expired at `now`. At most ten steps.
    constexpr void advance_to(steady_time now) noexcept
    {
        if (!(now < current_end_)) [[unlikely]]
            start_part(now);
    }

    /// Counts a call.
    constexpr void record(bool failed, steady_time now) noexcept
    {
        advance_to(now);
        ++current_.calls;  // not saturated: 2^64 calls take centuries
        if (failed) ++current_.failed;
    }

    constexpr void clear() noexcept
    {
        previous_ = {};
        previous_sum_ = current_ = {};
    }

    [[nodiscard]] constexpr std::uint64_t calls() const noexcept
    {
        return previous_sum_.calls + current_.calls;
    }
    [[nodiscard]] constexpr std::uint64_t failed() const noexcept
    {
        return previous_sum_.failed + current_.failed;
    }

    friend bool operator==(const recent_calls&, const recent_calls&) = default;

private:
    struct part {
        std::uint64_t calls = 0;
        std::uint64_t failed = 0;
        friend bool operator==(const part&, const part&) = default;
    };

    /// Makes the part that contains `now` the current one.
    constexpr void start_part(steady_time now) noexcept
    {
        const std::int64_t ns = now.since_epoch().count();
        const std::int64_t width = width_.count();
        const std::int64_t number = ns / width - (ns % width < 0 ? 1 : 0);  // rounded down
        const std::int64_t steps = detail::saturating_difference(number, number_);
        if (steps >= std::int64_t{parts}) clear();
        else shift_parts(steps);
        number_ = number;
        current_end_ =
            steady_time::at(duration::nanoseconds(detail::multiply_ns(number, width)) + width_);
    }

    constexpr void shift_parts(std::int64_t steps) noexcept
    {
        for (; steps > 0; --steps) {
            part& oldest = previous_[oldest_];
            previous_sum_.calls += current_.calls - oldest.calls;
            previous_sum_.failed += current_.failed - oldest.failed;
            oldest = current_;
            current_ = {};
            oldest_ = (oldest_ + 1) % previous_.size();
        }
    }

    duration width_;                                   // of one part
    std::int64_t number_ = INT64_MIN;                  // number of the current part on the grid
    steady_time current_end_ = steady_time::lowest();  // end of the current part
    part current_{};                                   // counts of the current part
    part previous_sum_{};                              // sums of the previous parts
    std::array<part, parts - 1> previous_{};           // counts of the previous parts
    std::size_t oldest_ = 0;                           // index of the oldest previous part
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_RETRY_DETAIL_RECENT_CALLS_HPP
