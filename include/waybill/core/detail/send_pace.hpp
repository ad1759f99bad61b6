// SPDX-License-Identifier: MIT
//
// send_pace: at most n messages per second, evenly spaced.

#ifndef WAYBILL_CORE_DETAIL_SEND_PACE_HPP
#define WAYBILL_CORE_DETAIL_SEND_PACE_HPP

#include <cstdint>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

class send_pace {
public:
    /// 0: no limit.
    constexpr explicit send_pace(std::uint32_t max_per_second) noexcept
        : interval_(max_per_second == 0 ? duration{} : duration::seconds(1) / max_per_second)
    {
    }

    /// Sleeps until the next message may be sent. False if a stop was requested. A clock that was
    /// set back causes no sleep longer than one interval.
    template <class Clock>
    [[nodiscard]] constexpr bool wait(Clock& clock)
    {
        if (interval_ == duration{}) return true;
        const steady_time now = clock.now();
        const steady_time next = earlier(next_, now + interval_);
        if (next > now && !clock.sleep_until(next)) return false;
        next_ = later(next, now) + interval_;
        return true;
    }

private:
    duration interval_;
    steady_time next_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_SEND_PACE_HPP
