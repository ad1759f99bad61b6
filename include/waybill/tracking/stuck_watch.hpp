// SPDX-License-Identifier: MIT
//
// stuck_watch: measures how long the same event has blocked the watermark.
//
// An event that never ends blocks all later events, until the tracker is full. The tracker knows
// the event but no times: a time for each event would take twice the memory of everything else. The
// watch stores the time at which it first saw the event as the oldest in flight. Query it
// periodically:
//
//     if (watch.stuck_for(tracker, now) > 5min) give_up_on(tracker.blocked_by()->sequence);
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_TRACKING_STUCK_WATCH_HPP
#define WAYBILL_TRACKING_STUCK_WATCH_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/time.hpp>
#include <waybill/tracking/completion_tracker.hpp>

namespace waybill::inline v0_2 {

class stuck_watch {
public:
    /// Returns the time since a call first found the current oldest event in flight. Zero if no
    /// event is in flight, or if `now` is before that call. Constant time.
    duration stuck_for(const completion_tracker& t, steady_time now) noexcept
    {
        const std::optional<completion_tracker::blocked> b = t.blocked_by();
        if (!b) {
            seen_ = false;
            return {};
        }
        if (!seen_ || b->sequence != sequence_ || t.generation() != generation_ || now < since_) {
            seen_ = true;
            sequence_ = b->sequence;
            generation_ = t.generation();
            since_ = now;
        }
        return now - since_;
    }

    friend bool operator==(const stuck_watch&, const stuck_watch&) = default;

private:
    std::uint64_t sequence_ = 0;
    std::uint32_t generation_ = 0;
    bool seen_ = false;
    steady_time since_{};
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_TRACKING_STUCK_WATCH_HPP
