// SPDX-License-Identifier: MIT
//
// The code of the guide of the module retry (include/waybill/retry/README.md), between marks.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/retry.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace retry_guide_test {
namespace {

using namespace std::chrono_literals;

double dice()
{
    return 0.5;
}

TEST_CASE("retry guide: one call")
{
    struct {
        int calls = 0;
        waybill::fault send(const std::string&)
        {
            return ++calls % 3 == 0 ? waybill::fault{}
                                    : waybill::infrastructure("no route to host");
        }
    } sdk;
    const std::string mail = "mail";
    waybill::testing::manual_environment env;
    std::vector<std::string> dead_letters;
    const auto store_dead_letter = [&](const std::string& m, const std::string&) {
        dead_letters.push_back(m);
    };

    //! [retry_call]
    waybill::retry_token_bucket tokens(
        {.tokens = 100, .successes = 10});  // shared by all who retry
    waybill::call_policy policy =
        waybill::retry_presets::aws_standard();  // dated data, yours to change
    policy.time_limit = 1min;
    auto r = waybill::retry_call(policy, [&] { return sdk.send(mail); }, env, tokens);
    if (!r.ok()) store_dead_letter(mail, r.reason.text);
    //! [retry_call]
    CHECK(r.ok());
    CHECK(sdk.calls == 3);
    CHECK(dead_letters.empty());
}

TEST_CASE("retry guide: a circuit breaker")
{
    std::vector<std::string> inbox(30, "mail");
    waybill::testing::manual_environment env;
    std::uint64_t handled = 0;
    bool down = true;
    const auto handle = [&](const std::string&) -> waybill::fault {
        ++handled;
        down = env.sleeps() < 3;
        return down ? waybill::infrastructure("connection refused") : waybill::fault{};
    };

    //! [retry_breaker]
    waybill::circuit_breaker breaker({.failure_ratio = 0.5, .minimum_throughput = 10});
    while (!inbox.empty()) {
        const waybill::fault f = breaker.call(env, [&] { return handle(inbox.back()); });
        if (f.ok()) inbox.pop_back();
    }
    //! [retry_breaker]
    CHECK(handled == 30 + 10 + 2);  // ten until it shut, two probes
}

TEST_CASE("retry guide: retries of calls through a circuit breaker")
{
    waybill::testing::manual_environment env;
    struct {
        waybill::testing::manual_environment& env;
        waybill::fault send(const std::string&)
        {
            return env.now() < waybill::steady_time::at(10min)
                       ? waybill::infrastructure("no route to host")
                       : waybill::fault{};
        }
    } sdk{env};
    const std::string mail = "mail";
    waybill::circuit_breaker breaker({.consecutive_failures = 3});

    //! [retry_through_breaker]
    auto limited = waybill::time_limited(env, 1h);
    const auto attempt = [&] { return breaker.call(limited, [&] { return sdk.send(mail); }); };
    auto r = waybill::retry_call({.retry = {.max_attempts = 1'000}}, attempt, limited);
    //! [retry_through_breaker]
    CHECK(r.ok());
    CHECK(r.elapsed < waybill::duration(20min));
}

TEST_CASE("retry guide: a call in an event loop")
{
    struct {
        std::optional<waybill::steady_time> armed{};
        void expires_at(waybill::steady_time t) { armed = t; }
    } timer;
    waybill::testing::manual_environment env;
    int calls = 0;
    const auto call = [&] { return ++calls == 2 ? waybill::fault{} : waybill::transient("busy"); };
    bool finished = false;
    const auto finish = [&](const waybill::call_report& r) { finished = r.ok(); };

    //! [retry_timer]
    waybill::retry_loop loop({.time_limit = 1min}, env.now());
    const auto step = [&] {
        const waybill::call_report r = waybill::retry_call(loop, call, env);
        if (r.waiting) timer.expires_at(*r.waiting);  // the timer calls `step` again
        else finish(r);
    };
    //! [retry_timer]
    step();
    REQUIRE(timer.armed);
    CHECK(!finished);
    CHECK(*timer.armed < env.now() + 100ms);  // a random part of the first pause
    env.sleep_until(*timer.armed);
    step();
    CHECK(finished);
}

TEST_CASE("retry guide: the state machine of one call")
{
    waybill::steady_time time;
    const auto now = [&] { return time; };
    const auto sleep_until = [&](waybill::steady_time t) { time = t; };
    int calls = 0;
    const auto send = [&] {
        return ++calls == 3 ? waybill::permanent("no such mailbox") : waybill::transient("busy");
    };
    waybill::fault_kind reason = waybill::fault_kind::none;

    //! [retry_machine]
    using waybill::retry_loop;
    retry_loop loop({.retry = {.max_attempts = 5}, .time_limit = 1min}, now());
    for (bool open = true; open;)
        waybill::match(
            loop.next(now()),
            [&](retry_loop::call) { loop.on(retry_loop::attempted{send().kind, dice()}, now()); },
            [&](waybill::wait_until w) { sleep_until(w.time); },
            [&](retry_loop::done) { open = false; },
            [&](waybill::give_up g) {
                reason = g.reason;
                open = false;
            });
    //! [retry_machine]
    CHECK(calls == 3);
    CHECK(reason == waybill::fault_kind::permanent);
    CHECK(loop.outcome() == waybill::retry_loop::retry_outcome::not_retriable);
}

TEST_CASE("retry guide: a decision after each attempt")
{
    const waybill::steady_time now;
    std::vector<std::string> done;
    const auto again = [&] { done.emplace_back("again"); };
    const auto later = [&](waybill::steady_time) { done.emplace_back("later"); };
    const auto give_up = [&](waybill::fault_kind) { done.emplace_back("give up"); };
    for (const std::uint32_t attempts : {1U, 2U, 3U}) {
        const waybill::fault f = waybill::transient("timed out");
        //! [retry_decide]
        const waybill::retry_policy policy{.max_attempts = 3, .immediate = 1};
        waybill::match(
            waybill::decide(policy, attempts, f.kind, dice(), now),
            [&](waybill::retry_now) { again(); }, [&](waybill::wait_until w) { later(w.time); },
            [&](waybill::give_up g) { give_up(g.reason); });
        //! [retry_decide]
        CHECK(!validate(policy));
    }
    CHECK(done == std::vector<std::string>{"again", "later", "give up"});
}

TEST_CASE("retry guide: rounds of attempts")
{
    const waybill::steady_time now;
    std::string done;
    const auto handle_again = [&] { done += '.'; };
    const auto redeliver_at = [&](waybill::steady_time) { done += '|'; };
    const auto give_up = [&](waybill::fault_kind) { done += '!'; };
    const waybill::fault_kind kind = waybill::fault_kind::transient;
    //! [retry_rounds]
    constexpr waybill::retry_levels levels{
        .immediate = 5, .delayed = 3, .pauses = {.base = 10s, .cap = 1h}};
    static_assert(levels.max_attempts() == 24);
    const auto decide = [&](std::uint64_t attempts) {  // over all deliveries: store it
        waybill::match(
            waybill::decide(levels, attempts, kind, dice(), now),
            [&](waybill::retry_now) { handle_again(); },           // in the same delivery
            [&](waybill::wait_until w) { redeliver_at(w.time); },  // in the next one
            [&](waybill::give_up g) { give_up(g.reason); });
    };
    //! [retry_rounds]
    for (std::uint64_t attempts = 1; attempts <= 24; ++attempts) decide(attempts);
    CHECK(done == ".....|.....|.....|.....!");
}

TEST_CASE("retry guide: pauses")
{
    const double random = 0.5;
    //! [retry_pause]
    const waybill::backoff exponential{.base = 100ms, .cap = 30s};  // full jitter
    const waybill::backoff linear{
        .base = 10s, .factor = 1, .spread = waybill::backoff::jitter::none, .step = 10s};
    const waybill::duration a = waybill::pause(exponential, 3, random);      // in [0, 400 ms)
    const waybill::duration b = waybill::pause(linear, 2, random);           // 20 s
    const waybill::duration c = waybill::pause(exponential, 1, random, 5s);  // in [5 s, 5.1 s)
    //! [retry_pause]
    CHECK(a == waybill::duration(200ms));
    CHECK(b == waybill::duration(20s));
    CHECK(c >= waybill::duration(5s));
    CHECK(c < waybill::duration(5'100ms));
    CHECK(!validate(exponential));
    CHECK(!validate(linear));
}

//! [retry_threads]
class locked_budget {
public:
    explicit locked_budget(const waybill::retry_budget& b) : tokens_(b) {}
    bool spend(waybill::steady_time now)
    {
        std::lock_guard l(mutex_);
        return tokens_.spend(now);
    }
    void succeeded(waybill::steady_time now)
    {
        std::lock_guard l(mutex_);
        tokens_.succeeded(now);
    }

private:
    std::mutex mutex_;
    waybill::retry_token_bucket tokens_;
};
//! [retry_threads]

TEST_CASE("retry guide: a budget for several threads")
{
    locked_budget tokens({.tokens = 2, .successes = 10});
    waybill::testing::manual_environment env;
    int calls = 0;
    const auto call = [&] { return ++calls, waybill::transient("busy"); };
    const auto r = waybill::retry_call({}, call, env, tokens);
    CHECK(r.outcome == waybill::retry_loop::retry_outcome::budget);
    CHECK(calls == 3);
}

TEST_CASE("retry guide: permits that cross an event loop")
{
    waybill::steady_time time;
    const auto now = [&] { return time; };
    std::vector<waybill::circuit_breaker::permit> started;
    const auto start = [&](const waybill::circuit_breaker::permit& p) { started.push_back(p); };
    std::optional<waybill::steady_time> armed;
    const auto wake_at = [&](waybill::steady_time t) { armed = t; };
    //! [retry_permit]
    waybill::circuit_breaker breaker({.consecutive_failures = 5});
    const auto begin = [&] {
        if (const auto permit = breaker.try_acquire(now())) start(*permit);
        else wake_at(breaker.next_change(now()));
    };
    const auto ended = [&](const waybill::circuit_breaker::permit& p, const waybill::fault& f) {
        breaker.record(p, f.kind, now());  // stale if the state has changed
    };
    //! [retry_permit]
    for (int i = 0; i != 6; ++i) begin();
    for (std::size_t i = 0; i != 5; ++i) ended(started[i], waybill::infrastructure("refused"));
    CHECK(breaker.state(time) == waybill::circuit_breaker::circuit_state::open);
    begin();
    REQUIRE(armed);
    CHECK(*armed == time + 5s);
    ended(started[5], {});  // stale: issued before the breaker opened
    CHECK(breaker.state(time) == waybill::circuit_breaker::circuit_state::open);
}

TEST_CASE("retry guide: a preset is a value with its source")
{
    std::string line;
    const auto log = [&](std::string_view a, std::string_view b) { line = std::string(a) += b; };
    //! [retry_preset]
    constexpr auto kafka = waybill::retry_presets::kafka_producer();
    waybill::call_policy policy = kafka;  // a copy; kafka.value is the same
    policy.time_limit = 30s;
    log(kafka.as_of, kafka.source);  // and kafka.note: what the policy cannot express
    //! [retry_preset]
    CHECK(line.starts_with("2026-11https://github.com/apache/kafka"));
    CHECK(!validate(policy));
}

//! [retry_delivery]
constexpr waybill::delivery_terms queue{.lock = 90s, .max_deliveries = 960};
static_assert(waybill::time_until_dead_letter(queue).lasts == 24h);
static_assert(waybill::time_until_dead_letter(queue, 1s).lasts == 960s);  // given back after 1 s
static_assert(waybill::delivery_terms::deliveries_for(24h, 90s) == 960);
static_assert(waybill::delivery_terms::hold_for(24h, 10) ==
              144min);  // longer than a lock of Service Bus
//! [retry_delivery]
static_assert(!validate(queue));

}  // namespace
}  // namespace retry_guide_test
