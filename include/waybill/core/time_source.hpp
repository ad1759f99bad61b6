// SPDX-License-Identifier: MIT
//
// time_source: where a driver asks for the time.
//
// A machine is told the time with each event. A driver that makes calls which take time has to ask
// again and again, so it is given a function that answers: the caller's, since the library reads no
// clock. Where time does not matter, a point in time does as well.

#ifndef WAYBILL_CORE_TIME_SOURCE_HPP
#define WAYBILL_CORE_TIME_SOURCE_HPP

#include <concepts>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// A function that answers a steady time, or one that stands still.
template <class C>
concept time_source = std::convertible_to<C, steady_time> || requires(C& c) {
    { c() } -> std::convertible_to<steady_time>;
};

template <time_source C>
[[nodiscard]] constexpr steady_time time_of(C& c)
{
    if constexpr (std::convertible_to<C, steady_time>) return c;
    else return c();
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_TIME_SOURCE_HPP
