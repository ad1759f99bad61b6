// SPDX-License-Identifier: MIT
//
// driver_clock: the times, waits and random numbers of one run of a driver.

#ifndef WAYBILL_CORE_DETAIL_DRIVER_CLOCK_HPP
#define WAYBILL_CORE_DETAIL_DRIVER_CLOCK_HPP

#include <concepts>

#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::detail {

/// Refuses an environment with a missing or wrong function. The first error is a sentence, because
/// drivers do not constrain the type of their environment.
template <class E>
struct checked_environment {
    static_assert(!std::invocable<E&>,
                  "clock: it must return a steady time, as std::chrono::steady_clock::now does, "
                  "and not a wall time");
    static_assert(
        requires(E& e) {
            { e.now() } -> std::convertible_to<steady_time>;
        }, "environment: now() must return a steady time, and not a wall time");
    static_assert(
        requires(E& e) {
            { e.wall_now() } -> std::convertible_to<wall_time>;
        }, "environment: wall_now() must return a wall time");
    static_assert(
        requires(E& e, steady_time t) { e.sleep_until(t); },
        "environment: sleep_until must accept a steady_time");
    static_assert(
        requires(E& e) {
            { e.random() } -> std::convertible_to<double>;
        }, "environment: random() must return a number in [0, 1)");
    static constexpr bool ok = environment<E>;
};

/// Over an environment.
template <class E>
class driver_clock {
    static_assert(checked_environment<E>::ok);
    E& outside_;  // first, because the exception specification of now() names it

public:
    constexpr explicit driver_clock(E& outside) noexcept : outside_(outside) {}

    [[nodiscard]] constexpr steady_time now() noexcept(noexcept(outside_.now()))
    {
        return later(outside_.now(), earliest_now_);
    }
    [[nodiscard]] constexpr wall_time wall_now() { return outside_.wall_now(); }
    [[nodiscard]] constexpr double random() { return outside_.random(); }
    [[nodiscard]] constexpr bool stop_requested() { return is_stop_requested(outside_); }

    /// Sleeps until `t`. False if a stop was requested before the end of the sleep. After that,
    /// `now` is at least `t`, even if the clock reads less: a clock that stands still causes no
    /// endless loop.
    [[nodiscard]] constexpr bool sleep_until(steady_time t)
    {
        if (stop_requested()) return false;
        outside_.sleep_until(t);
        if (stop_requested()) return false;
        earliest_now_ = later(earliest_now_, t);
        return true;
    }

private:
    steady_time earliest_now_ = steady_time::lowest();
};

/// Over a source of times, for the forms of drivers that never sleep.
template <time_source C>
class driver_clock<C> {
public:
    constexpr explicit driver_clock(C& clock) noexcept : clock_(clock) {}

    [[nodiscard]] constexpr steady_time now() { return time_of(clock_); }
    [[nodiscard]] constexpr double random() const noexcept { return 1; }
    [[nodiscard]] constexpr bool stop_requested() const noexcept { return false; }
    [[nodiscard]] constexpr bool sleep_until(steady_time) const noexcept { return false; }

private:
    C& clock_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_DRIVER_CLOCK_HPP
