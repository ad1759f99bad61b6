// SPDX-License-Identifier: MIT
//
// act: actions and events that several state machines share (`wait_until`, `idle`, `complete`,
// `stop_requested`, `lock_lost`), and `event_result`, the result of an event.

#ifndef WAYBILL_CORE_ACT_HPP
#define WAYBILL_CORE_ACT_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// Nothing to do before `time`. Call `next` again then, or after any event.
struct wait_until {
    steady_time time{};
    friend bool operator==(const wait_until&, const wait_until&) = default;
};

/// Nothing to do until an event occurs.
struct idle {
    friend bool operator==(const idle&, const idle&) = default;
};

/// The message has taken effect. Remove it from the queue.
struct complete {
    friend bool operator==(const complete&, const complete&) = default;
};

/// The caller wants to stop. The state machine finishes or gives back work in progress and starts
/// no new work.
struct stop_requested {
    friend bool operator==(const stop_requested&, const stop_requested&) = default;
};

/// Event: another call has found that the lock has another owner.
struct lock_lost {
    friend bool operator==(const lock_lost&, const lock_lost&) = default;
};

/// The result of an event. A caller that reports each event once and in time may ignore it.
enum class event_result : std::uint8_t {
    applied,  ///< The event was applied.
    stale,    ///< The event refers to something finished or unknown. No change.
    invalid,  ///< The event contradicts itself, such as an index past the end. No change.
};

[[nodiscard]] constexpr std::string_view texts_of(event_result) noexcept
{
    return "applied, stale, invalid";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_ACT_HPP
