// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/environment_of.hpp>

#include <waybill/retry/retry_call.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace retry_call_test {

using namespace waybill;
using support::environment_of;
using support::no_sleep;
using namespace std::chrono_literals;

namespace {

constexpr steady_time at(duration d)
{
    return steady_time::at(d);
}
constexpr call_policy four{
    .retry = {.max_attempts = 4,
              .pauses = {.base = 1s, .cap = 1min, .spread = backoff::jitter::none}}};
constexpr auto half = [] { return 0.5; };

/// A clock that only sleeping and calling moves.
struct simulation {
    steady_time now = at(100s);
    duration a_call = 10ms;
    std::vector<steady_time> called{};
    std::vector<steady_time> woken{};
    std::uint32_t fails = 0;  // failures before the first success

    fault call()
    {
        called.push_back(now);
        now = now + a_call;
        if (called.size() <= fails) return transient("no " + std::to_string(called.size()));
        return {};
    }
    auto clock()
    {
        return [this] { return now; };
    }
    auto sleep()
    {
        return [this](steady_time until) {
            now = until;
            woken.push_back(until);
        };
    }
    auto environment() { return environment_of{clock(), sleep(), half}; }
};

TEST_CASE("retry_call: retries until the call succeeds")
{
    simulation w{.fails = 2};
    const call_report r = retry_call(four, [&] { return w.call(); }, w.environment());
    CHECK(r.ok());
    CHECK(r.reason == fault{});
    CHECK(r.tries == 3);
    CHECK(w.called == std::vector{at(100s), at(101'010ms), at(103'020ms)});
    CHECK(w.woken == std::vector{at(101'010ms), at(103'020ms)});
    CHECK(r.elapsed == duration(3'030ms));
    CHECK_FALSE(r.waiting);
}

TEST_CASE("retry_call: retries until the last try, and returns its fault with the text")
{
    simulation w{.fails = 99};
    const call_report r = retry_call(four, [&] { return w.call(); }, w.environment());
    CHECK_FALSE(r.ok());
    CHECK(r.reason == transient("no 4"));
    CHECK(r.outcome == retry_loop::retry_outcome::tries);
    CHECK(r.tries == 4);
    CHECK(w.called.size() == 4);
    CHECK(w.woken.size() == 3);

    int calls = 0;
    const auto parked = retry_call(
        four,
        [&] {
            ++calls;
            return permanent("bad address");
        },
        w.environment());
    CHECK(calls == 1);
    CHECK(parked.reason == permanent("bad address"));
    CHECK(parked.outcome == retry_loop::retry_outcome::not_retriable);
}

TEST_CASE("retry_call: makes no try that would begin after the time limit")
{
    simulation w{.fails = 99};
    const call_report r = retry_call(
        {.retry = four.retry, .time_limit = 3s}, [&] { return w.call(); }, w.environment());
    CHECK(r.outcome == retry_loop::retry_outcome::time_limit);
    CHECK(r.tries == 2);  // the third would begin after 3.02 s
    CHECK(r.elapsed < duration(3s));
    CHECK(w.woken.size() == 1);
}

TEST_CASE("retry_call: begins no call after the time limit, also after an oversleep")
{
    simulation w{.fails = 99};
    call_report r = retry_call(
        {.retry = four.retry, .time_limit = 60s}, [&] { return w.call(); },
        environment_of{w.clock(), [&](steady_time) { w.now = w.now + duration(1h); }, half});
    CHECK(r.outcome == retry_loop::retry_outcome::time_limit);
    CHECK(r.tries == 1);
    CHECK(r.reason == transient("no 1"));
    CHECK(r.elapsed >= duration(1h));
    CHECK(w.called.size() == 1);

    retry_loop tries({.retry = four.retry, .time_limit = 60s}, w.now);
    w.now = w.now + duration(2h);
    r = retry_call(tries, [&] { return w.call(); }, w.environment());
    CHECK_FALSE(r.ok());
    CHECK(r.outcome == retry_loop::retry_outcome::time_limit);
    CHECK(r.reason == cancelled(""));
    CHECK(r.tries == 0);
    CHECK(w.called.size() == 1);
}

TEST_CASE(
    "retry_call: a pause within the time limit is returned as open, also if the clock then passes "
    "it")
{
    simulation w{.fails = 99};
    retry_loop tries({.retry = four.retry, .time_limit = 1500ms}, w.now);
    int asked = 0;
    const auto clock = [&] { return w.now + duration::seconds(asked++ < 3 ? 0 : 5); };
    const call_report r =
        retry_call(tries, [&] { return w.call(); }, environment_of{clock, no_sleep, half});
    CHECK(r.waiting.has_value());
    CHECK(r.outcome == retry_loop::retry_outcome::open);
}

TEST_CASE("retry_call: a call may return a kind, a result<void> or a call_answer")
{
    simulation w;
    std::uint32_t calls = 0;
    const auto classes = retry_call(
        four, [&] { return ++calls < 3 ? fault_kind::infrastructure : fault_kind::none; },
        w.environment());
    CHECK(classes.ok());
    CHECK(classes.tries == 3);

    calls = 0;
    const auto results = retry_call(
        four,
        [&]() -> result<void> {
            if (++calls < 2) return unexpected(transient("busy"));
            return {};
        },
        w.environment());
    CHECK(results.ok());
    CHECK(results.tries == 2);

    w.woken.clear();
    const steady_time before = w.now;
    calls = 0;
    const auto hints = retry_call(
        four,
        [&]() -> call_answer {
            if (++calls < 2) return {.reason = transient("busy"), .retry_after = 20s};
            return {};
        },
        w.environment());
    CHECK(hints.ok());
    CHECK(w.woken == std::vector{before + duration(20s)});
    static_assert(!waybill::detail::retriable_call<decltype([] { return true; })>);
    static_assert(!waybill::detail::retriable_call<decltype([] { return 1; })>);
    static_assert(!waybill::detail::retriable_call<decltype([] {})>);
    static_assert(!waybill::detail::retriable_call<decltype([] { return result<int>(1); })>);
    static_assert(!waybill::detail::retriable_call<decltype([](int) { return fault{}; })>);
}

TEST_CASE(
    "retry_call: without sleep, it returns the time to wait for, and continues in a later call")
{
    simulation w{.fails = 2};
    retry_loop tries(four, w.now);
    const auto call = [&] { return w.call(); };
    call_report r = retry_call(tries, call, w.environment());
    CHECK_FALSE(r.ok());
    CHECK(r.outcome == retry_loop::retry_outcome::open);
    CHECK(r.reason == transient("no 1"));
    REQUIRE(r.waiting);
    CHECK(*r.waiting == at(101'010ms));
    // Too early: nothing is called.
    r = retry_call(tries, call, w.environment());
    CHECK(w.called.size() == 1);
    CHECK(r.waiting == at(101'010ms));
    CHECK(r.reason == transient(""));  // as the last one ended; its words are not kept
    w.now = *r.waiting;
    r = retry_call(tries, call, w.environment());
    CHECK(w.called.size() == 2);
    REQUIRE(r.waiting);
    w.now = *r.waiting;
    r = retry_call(tries, call, w.environment());
    CHECK(r.ok());
    CHECK(r.tries == 3);
    // And it is over.
    r = retry_call(tries, call, w.environment());
    CHECK(r.ok());
    CHECK(w.called.size() == 3);
}

TEST_CASE(
    "retry_call: after the last try, a further call returns the same fault kind without its text")
{
    simulation w{.fails = 9};
    retry_loop tries({.retry = {.max_attempts = 1}}, w.now);
    const auto call = [&] { return w.call(); };
    CHECK(retry_call(tries, call, w.environment()).reason == transient("no 1"));
    const call_report again = retry_call(tries, call, w.environment());
    CHECK(again.reason == transient(""));
    CHECK(again.outcome == retry_loop::retry_outcome::tries);
    CHECK(w.called.size() == 1);
}

TEST_CASE("retry_call stops at a stop request, before a call and during a sleep")
{
    testing::manual_environment env(at(100s));
    std::uint32_t calls = 0;
    const auto call = [&] {
        ++calls;
        return transient("no " + std::to_string(calls));
    };
    env.stop_at(at(102s));  // the second pause ends at 103 s
    const call_report r = retry_call(four, call, env);
    CHECK(calls == 2);
    CHECK(r.outcome == retry_loop::retry_outcome::open);
    CHECK(r.waiting == at(103s));
    CHECK(r.reason == transient("no 2"));
    CHECK(env.now() == at(102s));

    const call_report none = retry_call(four, call, env);
    CHECK(calls == 2);
    CHECK(none.waiting == at(102s));
    CHECK(none.tries == 0);
    CHECK_FALSE(none.ok());
}

TEST_CASE("retry_call ends at the time limit of its environment")
{
    testing::manual_environment env(at(100s));
    const auto call = [] { return transient("busy"); };
    const call_report r = retry_call(four, call, time_limited(env, 2500ms));
    CHECK(r.tries == 2);
    CHECK(r.waiting == at(103s));
    CHECK(env.now() == at(102'500ms));
}

TEST_CASE("retry_call: ends at its limits with a stopped clock and a sleep without effect")
{
    std::uint32_t calls = 0;
    const auto call = [&] {
        ++calls;
        return transient("");
    };
    CHECK(retry_call(four, call, environment_of{at(0s), no_sleep, half}).tries == 4);
    CHECK(calls == 4);
    // Time spent in sleeps counts, for any clock.
    const call_report r =
        retry_call({.retry = {.max_attempts = 99, .pauses = four.retry.pauses}, .time_limit = 10s},
                   call, environment_of{at(0s), no_sleep, half});
    CHECK(r.outcome == retry_loop::retry_outcome::time_limit);
    CHECK(r.tries == 4);
    CHECK(r.elapsed == duration(7s));
    // A clock that jumps back does not extend it.
    std::int64_t t = 1'000;
    const auto back = [&] { return at(duration::seconds(--t)); };
    CHECK(retry_call(four, call, environment_of{back, no_sleep, half}).tries == 4);
}

TEST_CASE("retry_call: draws one random number for each try")
{
    simulation w{.fails = 3};
    std::vector<double> drawn;
    const auto dice = [&] {
        drawn.push_back(static_cast<double>(drawn.size()) / 10);
        return drawn.back();
    };
    const auto r = retry_call(
        {.retry = {.max_attempts = 4, .pauses = {.base = 1s, .cap = 1min}}},
        [&] { return w.call(); }, environment_of{w.clock(), w.sleep(), dice});
    CHECK(r.ok());
    CHECK(drawn.size() == 4);
    CHECK(w.called[1] - w.called[0] == duration(10ms));   // a draw of 0
    CHECK(w.called[2] - w.called[1] == duration(210ms));  // 0.1 of 2 s
}

TEST_CASE("retry_call: several calls share one budget")
{
    retry_token_bucket tokens{{.tokens = 4, .successes = 1}};
    simulation w{.fails = 99};
    const auto call = [&] { return w.call(); };
    CHECK(retry_call(four, call, w.environment(), tokens).outcome ==
          retry_loop::retry_outcome::tries);
    CHECK(tokens.left() == 1);
    const auto second = retry_call(four, call, w.environment(), tokens);
    CHECK(second.outcome == retry_loop::retry_outcome::budget);
    CHECK(second.tries == 2);
    CHECK(retry_call(four, call, w.environment(), tokens).tries == 1);
    w.fails = 0;
    CHECK(retry_call(four, call, w.environment(), tokens).ok());
    CHECK(tokens.left() == 1);
}

}  // namespace
}  // namespace retry_call_test
