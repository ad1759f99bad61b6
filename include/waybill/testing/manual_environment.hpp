// SPDX-License-Identifier: MIT
//
// manual_environment: an environment in which a sleep moves the time.
//
//     waybill::testing::manual_environment env;
//     const auto r = waybill::retry_call({.time_limit = 1min}, call, env);
//     CHECK(env.slept() == r.elapsed);
//
// A program that waits for hours runs in microseconds, and each run is the same.
//
//   1. `sleep_until` moves both clocks to the end of the sleep. A time in the past moves nothing.
//   2. `random` returns the same numbers for the same seed.
//   3. With `stop_at`, `stop_requested` is true from that time on, and no sleep passes it.

#ifndef WAYBILL_TESTING_MANUAL_ENVIRONMENT_HPP
#define WAYBILL_TESTING_MANUAL_ENVIRONMENT_HPP

#include <cstdint>

#include <waybill/core/environment.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::testing {

class manual_environment {
public:
    manual_environment() noexcept = default;

    /// `seed` determines the random numbers.
    explicit manual_environment(steady_time now, wall_time wall_now = {},
                                std::uint64_t seed = 0) noexcept
        : now_(now), wall_now_(wall_now), random_state_(seed)
    {
    }

    [[nodiscard]] steady_time now() const noexcept { return now_; }
    [[nodiscard]] wall_time wall_now() const noexcept { return wall_now_; }

    void sleep_until(steady_time until) noexcept
    {
        const duration pause = waybill::detail::earlier(until, stop_at_) - now_;
        if (pause <= duration{}) return;
        ++sleeps_;
        slept_ += pause;
        advance(pause);
    }

    /// The next number of SplitMix64 (Steele, Lea and Flood 2014), in [0, 1).
    [[nodiscard]] double random() noexcept
    {
        random_state_ += 0x9e37'79b9'7f4a'7c15ULL;
        std::uint64_t x = random_state_;
        x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebULL;
        x ^= x >> 31;
        return static_cast<double>(x >> 11) * 0x1p-53;
    }

    [[nodiscard]] bool stop_requested() const noexcept { return now_ >= stop_at_; }

    /// Moves both clocks, back if `by` is negative, as a call that takes time does.
    void advance(duration by) noexcept
    {
        now_ += by;
        wall_now_ += by;
    }

    /// The highest time withdraws a stop.
    void stop_at(steady_time t) noexcept { stop_at_ = t; }

    /// The number of sleeps that moved the time, and their sum.
    [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_; }
    [[nodiscard]] duration slept() const noexcept { return slept_; }

    friend bool operator==(const manual_environment&, const manual_environment&) = default;

private:
    steady_time now_;
    wall_time wall_now_;
    steady_time stop_at_ = steady_time::highest();
    std::uint64_t random_state_ = 0;
    std::uint64_t sleeps_ = 0;
    duration slept_;
};

static_assert(environment<manual_environment>);

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MANUAL_ENVIRONMENT_HPP
