// SPDX-License-Identifier: MIT
//
// environment_of: an environment made of functions, for tests that count or falsify single calls.

#ifndef WAYBILL_TESTS_SUPPORT_ENVIRONMENT_OF_HPP
#define WAYBILL_TESTS_SUPPORT_ENVIRONMENT_OF_HPP

#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/time.hpp>

namespace support {

/// `clock` is a function that returns the steady time, or a fixed time.
template <class Clock, class Sleep, class Random>
struct environment_of {
    Clock clock;
    Sleep sleep;
    Random dice;

    waybill::steady_time now() { return waybill::detail::time_of(clock); }
    waybill::wall_time wall_now() { return waybill::wall_time::at(now().since_epoch()); }
    void sleep_until(waybill::steady_time t) { sleep(t); }
    double random() { return dice(); }
};
template <class Clock, class Sleep, class Random>
environment_of(Clock, Sleep, Random) -> environment_of<Clock, Sleep, Random>;

/// For forms that never sleep.
constexpr auto no_sleep = [](waybill::steady_time) {};

}  // namespace support

#endif  // WAYBILL_TESTS_SUPPORT_ENVIRONMENT_OF_HPP
