// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <set>

#include <doctest/doctest.h>
#include <support/environment_of.hpp>

#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace environment_test {

using namespace waybill;
using namespace std::chrono_literals;
using testing::manual_environment;

namespace {

constexpr steady_time at(duration d)
{
    return steady_time::at(d);
}

struct without_sleep {
    steady_time now();
    wall_time wall_now();
    double random();
};
static_assert(environment<manual_environment>);
static_assert(environment<time_limited<manual_environment>>);
static_assert(environment<time_limited<time_limited<manual_environment>>>);
static_assert(!environment<without_sleep>);
static_assert(!environment<int>);
static_assert(!detail::time_source<manual_environment>);

TEST_CASE("manual_environment: a sleep moves both clocks")
{
    manual_environment env(at(100s), wall_time::at(5h));
    env.sleep_until(at(107s));
    CHECK(env.now() == at(107s));
    CHECK(env.wall_now() == wall_time::at(duration(5h) + 7s));
    env.sleep_until(at(103s));
    env.sleep_until(at(107s));
    CHECK(env.now() == at(107s));
    CHECK(env.sleeps() == 1);
    CHECK(env.slept() == duration(7s));
    env.advance(-duration(50s));
    CHECK(env.now() == at(57s));
    CHECK(env.slept() == duration(7s));
    env.sleep_until(steady_time::highest());
    CHECK(env.now() == steady_time::highest());
}

TEST_CASE("manual_environment: the same seed gives the same numbers, in [0, 1)")
{
    manual_environment a, b, other({}, {}, 1);
    std::set<double> numbers;
    double sum = 0;
    for (int i = 0; i != 10'000; ++i) {
        const double x = a.random();
        CHECK(x == b.random());
        CHECK(x >= 0);
        CHECK(x < 1);
        sum += x;
        numbers.insert(x);
        numbers.insert(other.random());
    }
    CHECK(numbers.size() == 20'000);
    CHECK(sum > 4'900);
    CHECK(sum < 5'100);
}

TEST_CASE("manual_environment: a stop request ends a sleep")
{
    manual_environment env;
    CHECK_FALSE(env.stop_requested());
    env.stop_at(at(3s));
    env.sleep_until(at(10s));
    CHECK(env.now() == at(3s));
    CHECK(env.stop_requested());
    env.sleep_until(at(10s));
    CHECK(env.now() == at(3s));
}

TEST_CASE("time_limited: requests a stop at its end, and no sleep exceeds it")
{
    manual_environment env(at(100s), wall_time::at(9h));
    time_limited limited(env, 10s);
    limited.sleep_until(at(104s));
    CHECK(limited.now() == at(104s));
    CHECK(limited.wall_now() == wall_time::at(duration(9h) + 4s));
    CHECK_FALSE(limited.stop_requested());
    limited.sleep_until(at(200s));
    CHECK(env.now() == at(110s));
    CHECK(limited.stop_requested());

    // The nearest end counts, in either order.
    manual_environment second;
    time_limited outer(second, 10s);
    time_limited inner(outer, 3s);
    inner.sleep_until(at(1h));
    CHECK(second.now() == at(3s));
    CHECK(inner.stop_requested());
    CHECK_FALSE(outer.stop_requested());
    time_limited longer(outer, 1h);
    longer.sleep_until(at(1h));
    CHECK(second.now() == at(10s));
    CHECK(longer.stop_requested());
}

TEST_CASE("time_limited: passes on the stop request of its environment")
{
    manual_environment env;
    env.stop_at(at(2s));
    time_limited limited(env, 10s);
    CHECK_FALSE(limited.stop_requested());
    limited.sleep_until(at(5s));
    CHECK(env.now() == at(2s));
    CHECK(limited.stop_requested());
}

TEST_CASE("time_limited: unlimited, without time left, and with a clock that stands still")
{
    manual_environment env(at(100s));
    time_limited forever(env, duration::highest());
    CHECK_FALSE(forever.stop_requested());
    time_limited none(env, duration{});
    CHECK(none.stop_requested());
    time_limited negative(env, duration(-1s));
    CHECK(negative.stop_requested());

    support::environment_of still{at(0s), support::no_sleep, [] { return 0.5; }};
    time_limited limited(still, 10s);
    limited.sleep_until(at(9s));
    CHECK_FALSE(limited.stop_requested());
    limited.sleep_until(at(10s));
    CHECK(limited.stop_requested());
}

TEST_CASE("driver_clock: after a completed sleep, now() is at least the end of the sleep")
{
    support::environment_of still{at(5s), support::no_sleep, [] { return 0.25; }};
    detail::driver_clock clock(still);
    CHECK(clock.now() == at(5s));
    CHECK(clock.sleep_until(at(8s)));
    CHECK(clock.now() == at(8s));
    CHECK(clock.sleep_until(at(7s)));
    CHECK(clock.now() == at(8s));
    CHECK(clock.random() == 0.25);

    manual_environment env;
    env.stop_at(at(6s));
    detail::driver_clock stopped(env);
    CHECK_FALSE(stopped.sleep_until(at(8s)));
    CHECK(stopped.now() == at(6s));

    const steady_time fixed = at(1s);
    detail::driver_clock waits(fixed);
    CHECK_FALSE(waits.sleep_until(at(8s)));
    CHECK(waits.now() == at(1s));
}

}  // namespace
}  // namespace environment_test
