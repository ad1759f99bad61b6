// SPDX-License-Identifier: MIT
//
// time_source: a function that returns the current time, for drivers.
//
// A state machine receives the time with each event. A driver makes calls that take time, so it
// needs the current time repeatedly. The library reads no clock: the caller passes the function. If
// time does not matter, a fixed point in time is also accepted.

#ifndef WAYBILL_CORE_DETAIL_TIME_SOURCE_HPP
#define WAYBILL_CORE_DETAIL_TIME_SOURCE_HPP

#include <concepts>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// A callable that returns a steady time, or a fixed steady time.
template <class C>
concept time_source = std::convertible_to<C, steady_time> || requires(C& c) {
    { c() } -> std::convertible_to<steady_time>;
};

/// True if `time_of` cannot throw an exception.
template <class C>
concept nothrow_time_source = std::convertible_to<C, steady_time> || requires(C& c) {
    { c() } noexcept -> std::convertible_to<steady_time>;
};

/// Calls c, or returns c itself if it is a time. For any other type, the static_assert is the first
/// error, because drivers do not constrain the type of their clock.
template <class C>
[[nodiscard]] constexpr steady_time time_of(C& c)
{
    static_assert(time_source<C>,
                  "clock: it must return a steady time, as "
                  "std::chrono::steady_clock::now does, and not a wall time");
    if constexpr (std::convertible_to<C, steady_time>) return c;
    else return c();
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_TIME_SOURCE_HPP
