// SPDX-License-Identifier: MIT
//
// recent_calls: how many calls there were lately, and how many of them failed.
//
// The period is cut into ten parts on a fixed grid. A part goes as a whole when it is over, so what
// is counted are the last nine to ten tenths of the period, in a fixed size:
//
//     waybill::recent_calls lately(30s);
//     lately.note(failed, now);
//     lately.failed(), lately.calls()     // as of the latest time that it was told
//
// Where the parts begin follows from the time alone and not from when it was told, so telling it
// more often changes nothing. A time from the past counts as the latest one.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_RECENT_CALLS_HPP
#define WAYBILL_RETRY_RECENT_CALLS_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

class recent_calls {
public:
    static constexpr std::size_t parts = 10;

    /// A period of less than ten nanoseconds reads as ten.
    explicit constexpr recent_calls(duration period) noexcept
        : width_(greater(duration::nanoseconds(period.count() / std::int64_t{parts}),
                         duration::nanoseconds(1)))
    {
    }

    /// What is too old by now is forgotten.
    constexpr void tell(steady_time now) noexcept
    {
        if (!(now < ends_)) [[unlikely]] turn(now);
    }

    constexpr void note(bool failed, steady_time now) noexcept
    {
        tell(now);
        ++last_.calls;  // a count by ones takes centuries to the end of 64 bits
        if (failed) ++last_.failed;
    }

    constexpr void clear() noexcept
    {
        full_ = {};
        before_ = last_ = {};
    }

    [[nodiscard]] constexpr std::uint64_t calls() const noexcept
    {
        return before_.calls + last_.calls;
    }
    [[nodiscard]] constexpr std::uint64_t failed() const noexcept
    {
        return before_.failed + last_.failed;
    }

    friend bool operator==(const recent_calls&, const recent_calls&) = default;

private:
    struct part {
        std::uint64_t calls = 0;
        std::uint64_t failed = 0;
        friend bool operator==(const part&, const part&) = default;
    };

    /// On to the part that `now` lies in.
    constexpr void turn(steady_time now) noexcept
    {
        const std::int64_t t = now.since_epoch().count();
        const std::int64_t w = width_.count();
        const std::int64_t number = t / w - (t % w < 0 ? 1 : 0);
        const std::int64_t steps = detail::subtract_ns(number, number_);
        if (steps >= std::int64_t{parts}) clear();
        else forget(steps);
        number_ = number;
        ends_ = steady_time::at(duration::nanoseconds(detail::multiply_ns(number, w)) + width_);
    }

    constexpr void forget(std::int64_t steps) noexcept
    {
        for (; steps > 0; --steps) {
            part& oldest = full_[at_];
            before_.calls += last_.calls - oldest.calls;
            before_.failed += last_.failed - oldest.failed;
            oldest = last_;
            last_ = {};
            at_ = (at_ + 1) % full_.size();
        }
    }

    duration width_;
    std::int64_t number_ = INT64_MIN;            // of the part that is being filled
    steady_time ends_ = steady_time::lowest();   // when that part is over
    part last_{};                                // what is in it
    part before_{};                              // what is in those that are full
    std::array<part, parts - 1> full_{};
    std::size_t at_ = 0;                         // the oldest of them
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_RECENT_CALLS_HPP
