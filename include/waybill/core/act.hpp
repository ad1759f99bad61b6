// SPDX-License-Identifier: MIT
//
// act: the two actions that every machine has, the event that asks it to stop, and what an event's
// teller hears back.

#ifndef WAYBILL_CORE_ACT_HPP
#define WAYBILL_CORE_ACT_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Nothing to do before `until`; ask again then, or as soon as something happens.
struct wait {
    steady_time until{};
    friend bool operator==(const wait&, const wait&) = default;
};

/// Nothing to do until something happens.
struct idle {
    friend bool operator==(const idle&, const idle&) = default;
};

}  // namespace act

/// The caller wants to stop: what is begun is ended or given back, and nothing new is begun.
struct stop_asked {
    friend bool operator==(const stop_asked&, const stop_asked&) = default;
};

/// What became of an event. Whoever tells the truth in time may ignore it.
enum class heard : std::uint8_t {
    taken,    ///< The machine has changed accordingly.
    late,     ///< About something that is over, or never was. Nothing has changed.
    invalid,  ///< It contradicts itself, such as an index past the end. Nothing has changed.
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
