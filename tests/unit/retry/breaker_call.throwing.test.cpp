// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>
#include <support/environment_of.hpp>

#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace breaker_call_test {

using namespace waybill;
using namespace std::chrono_literals;
using testing::manual_environment;

namespace {

constexpr circuit_breaker::config three_in_a_row{.consecutive_failures = 3,
                                                 .break_duration = {.base = 1min, .cap = 1min}};

/// A dependency that is down, with the number of its calls.
struct down_dependency {
    int calls = 0;

    fault operator()()
    {
        ++calls;
        return infrastructure("no route");
    }
};

TEST_CASE("circuit_breaker::call returns the result of the call, for any type")
{
    manual_environment env;
    circuit_breaker breaker;
    CHECK(breaker.call(env, [] { return transient("busy"); }) == transient("busy"));
    CHECK(breaker.call(env, [] { return fault_kind::permanent; }) == fault_kind::permanent);
    CHECK(breaker.call(env, []() -> result<void> { return {}; }).has_value());
    CHECK(*breaker.call(env, []() -> result<std::string> { return std::string("row"); }) == "row");
    const auto failed = breaker.call(
        env, []() -> result<std::optional<int>> { return unexpected(infrastructure("down")); });
    CHECK(failed.error() == infrastructure("down"));
    const auto answer = breaker.call(
        env, [] { return call_answer{.reason = transient("busy"), .retry_after = 5s}; });
    CHECK(answer.retry_after == duration(5s));
    CHECK(env.sleeps() == 0);
}

TEST_CASE("circuit_breaker::call records results, and waits while the circuit breaker is open")
{
    manual_environment env;
    circuit_breaker breaker(three_in_a_row);
    down_dependency down;
    for (int i = 0; i != 3; ++i) CHECK(breaker.call(env, down) == infrastructure("no route"));
    CHECK(breaker.state(env.now()) == circuit_breaker::circuit_state::open);
    CHECK(env.sleeps() == 0);
    int calls = 0;
    const auto up = [&] {
        ++calls;
        return fault{};
    };
    CHECK(breaker.call(env, up).ok());
    CHECK(env.sleeps() == 1);
    CHECK(env.now() == steady_time{} + env.slept());
    CHECK(calls == 1);
    while (breaker.state(env.now()) != circuit_breaker::circuit_state::closed)
        CHECK(breaker.call(env, up).ok());
    CHECK(env.sleeps() == 1);
}

TEST_CASE("circuit_breaker::call counts an exception as a failure and passes it on")
{
    manual_environment env;
    circuit_breaker breaker(three_in_a_row);
    const auto throws = []() -> fault { throw std::runtime_error("no"); };
    for (int i = 0; i != 3; ++i)
        CHECK_THROWS_AS((void)breaker.call(env, throws), std::runtime_error);
    CHECK(breaker.state(env.now()) == circuit_breaker::circuit_state::open);
}

TEST_CASE("circuit_breaker::call is cancelled by a stop request, before a call and in its wait")
{
    manual_environment env;
    circuit_breaker breaker(three_in_a_row);
    down_dependency down;
    for (int i = 0; i != 3; ++i) (void)breaker.call(env, down);
    CHECK(breaker.call(time_limited(env, 1s), down).kind == fault_kind::cancelled);
    CHECK(env.now() == steady_time{} + 1s);
    env.stop_at(env.now());
    circuit_breaker closed;
    CHECK(closed.call(env, down).kind == fault_kind::cancelled);
    const auto row = closed.call(env, []() -> result<int> { return 1; });
    CHECK(row.error().kind == fault_kind::cancelled);
    CHECK(down.calls == 3);
}

TEST_CASE("circuit_breaker::call: a random number that throws makes no call and counts no failure")
{
    support::environment_of env{steady_time{}, support::no_sleep,
                                []() -> double { throw std::runtime_error("no"); }};
    circuit_breaker breaker({.consecutive_failures = 1});
    down_dependency down;
    CHECK_THROWS_AS((void)breaker.call(env, down), std::runtime_error);
    CHECK(down.calls == 0);
    CHECK(breaker.state(env.now()) == circuit_breaker::circuit_state::closed);
}

TEST_CASE("circuit_breaker::call ends if no call can ever pass")
{
    manual_environment env;
    circuit_breaker breaker;
    breaker.force_open(env.now());
    const auto never = [] { return fault{}; };
    CHECK(breaker.call(env, never).kind == fault_kind::cancelled);
    // All permits are issued and never reported: they are lost after their timeout.
    manual_environment second;
    circuit_breaker_of<2> small({.timeout = 10s});
    (void)small.try_acquire(second.now());
    (void)small.try_acquire(second.now());
    CHECK(small.call(second, never).ok());
    CHECK(second.slept() == duration(10s));
    // Also with a clock that stands still.
    support::environment_of still{steady_time{}, support::no_sleep, [] { return 0.5; }};
    circuit_breaker stopped(three_in_a_row);
    for (int i = 0; i != 3; ++i) (void)stopped.call(still, [] { return infrastructure(""); });
    CHECK(stopped.call(still, never).ok());
}

TEST_CASE("retry_call over circuit_breaker::call gives up no call in an outage that ends in time")
{
    // A call takes 10 ms, and the dependency is down for the first ten minutes.
    manual_environment env;
    circuit_breaker breaker(three_in_a_row);
    std::uint64_t calls = 0;
    const auto send = [&] {
        ++calls;
        env.advance(10ms);
        return env.now() < steady_time::at(10min) ? infrastructure("down") : fault{};
    };
    const call_policy policy{.retry = {.max_attempts = 1'000}};
    int sent = 0;
    for (int i = 0; i != 60; ++i) {
        auto limited = time_limited(env, 1h);
        const auto r = retry_call(policy, [&] { return breaker.call(limited, send); }, limited);
        sent += r.ok() ? 1 : 0;
    }
    CHECK(sent == 60);
    CHECK(calls <= 60 + 3 + 30);  // three failures, and a probe every half minute
}

}  // namespace
}  // namespace breaker_call_test
