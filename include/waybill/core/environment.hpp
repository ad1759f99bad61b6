// SPDX-License-Identifier: MIT
//
// environment: the clocks, the sleep and the random numbers of a driver.
//
//     struct standard_environment {
//         std::mt19937_64 engine{std::random_device{}()};
//
//         waybill::steady_time now() { return std::chrono::steady_clock::now(); }
//         waybill::wall_time wall_now() { return std::chrono::system_clock::now(); }
//         void sleep_until(waybill::steady_time t)
//         {
//             std::this_thread::sleep_until(t.to_chrono());
//         }
//         double random() { return std::generate_canonical<double, 53>(engine); }
//     };
//
//   1. An environment may also have `bool stop_requested()`. Drivers call it before each request,
//      attempt and sleep. After `true` they start nothing new and return a complete report. To end
//      a wait early, `sleep_until` returns as soon as a stop is requested.
//   2. After a sleep, a driver takes the end of the sleep as the time, even if the clock reads
//      less. So a clock that stands still causes no endless loop.

#ifndef WAYBILL_CORE_ENVIRONMENT_HPP
#define WAYBILL_CORE_ENVIRONMENT_HPP

#include <concepts>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// A type with the functions of the head comment. `random()` returns a number in [0, 1).
template <class E>
concept environment = requires(E& e, steady_time until) {
    { e.now() } -> std::convertible_to<steady_time>;
    { e.wall_now() } -> std::convertible_to<wall_time>;
    e.sleep_until(until);
    { e.random() } -> std::convertible_to<double>;
};

namespace detail {

/// False if the environment has no `stop_requested`.
template <class E>
[[nodiscard]] constexpr bool is_stop_requested(E& e)
{
    if constexpr (requires {
                      { e.stop_requested() } -> std::convertible_to<bool>;
                  })
        return e.stop_requested();
    else return false;
}

}  // namespace detail

/// An environment that requests a stop after `limit`, and in which no sleep ends later:
///
///     waybill::send_all(inbox, size, sender, transmit, waybill::time_limited(env, 10min));
///
/// It refers to `outside`, which must outlive it. A call in progress is not interrupted.
template <environment E>
class time_limited {
public:
    constexpr time_limited(E& outside, duration limit) : outside_(&outside), end_(now() + limit) {}

    [[nodiscard]] constexpr steady_time now() { return outside_->now(); }
    [[nodiscard]] constexpr wall_time wall_now() { return outside_->wall_now(); }
    [[nodiscard]] constexpr double random() { return outside_->random(); }
    constexpr void sleep_until(steady_time t)
    {
        outside_->sleep_until(detail::earlier(t, end_));
        if (t >= end_ && !detail::is_stop_requested(*outside_)) is_over_ = true;
    }
    [[nodiscard]] constexpr bool stop_requested()
    {
        return is_over_ || now() >= end_ || detail::is_stop_requested(*outside_);
    }

private:
    E* outside_;
    steady_time end_;
    bool is_over_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_ENVIRONMENT_HPP
