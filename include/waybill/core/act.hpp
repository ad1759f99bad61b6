// SPDX-License-Identifier: MIT
//
// act: the actions `wait` and `idle`, the event `stop_asked` and the event result `heard`. All
// state machines share them.

#ifndef WAYBILL_CORE_ACT_HPP
#define WAYBILL_CORE_ACT_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Nothing to do before `until`. Call `next` again then, or after any event.
struct wait {
    steady_time until{};
    friend bool operator==(const wait&, const wait&) = default;
};

/// Nothing to do until an event occurs.
struct idle {
    friend bool operator==(const idle&, const idle&) = default;
};

}  // namespace act

/// The caller wants to stop. The state machine finishes or gives back work in progress and starts
/// no new work.
struct stop_asked {
    friend bool operator==(const stop_asked&, const stop_asked&) = default;
};

/// The result of an event. A caller that reports each event once and in time may ignore it.
enum class heard : std::uint8_t {
    taken,    ///< The event was applied.
    late,     ///< The event is stale: it refers to something finished or unknown. No change.
    invalid,  ///< The event contradicts itself, such as an index past the end. No change.
};

[[nodiscard]] constexpr std::string_view name(heard h) noexcept
{
    switch (h) {
        case heard::taken: return "taken";
        case heard::late: return "late";
        case heard::invalid: return "invalid";
    }
    return "?";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_ACT_HPP
