// SPDX-License-Identifier: MIT

#include <stdexcept>
#include <string>
#include <system_error>

#include <doctest/doctest.h>

#include <waybill/core/environment.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/queue/run_queue.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>

namespace {

using namespace std::chrono_literals;
using waybill::fault;
using waybill::queue_report;
using waybill::testing::manual_environment;
using waybill::testing::memory_queue;
using waybill::testing::queued_message;

const waybill::steady_time start = waybill::steady_time::at(1h);

// A queue in which the call with this number throws, before or after it took effect.
struct throwing_queue : memory_queue<manual_environment> {
    using memory_queue::memory_queue;

    template <class F>
    auto call(F&& f)
    {
        const int n = ++calls;
        if (n == throw_before) throw std::runtime_error("before");
        auto result = f();
        if (n == throw_after) throw std::runtime_error("after");
        return result;
    }
    auto receive(waybill::duration lock)
    {
        return call([&] { return memory_queue::receive(lock); });
    }
    fault complete(queued_message& m)
    {
        return call([&] { return memory_queue::complete(m); });
    }
    fault abandon(queued_message& m, bool failed)
    {
        return call([&] { return memory_queue::abandon(m, failed); });
    }
    fault dead_letter(queued_message& m, std::string_view reason)
    {
        return call([&] { return memory_queue::dead_letter(m, reason); });
    }
    fault defer(queued_message& m, waybill::duration delay, bool failed)
    {
        return call([&] { return memory_queue::defer(m, delay, failed); });
    }
    fault renew(queued_message& m, waybill::duration lock)
    {
        return call([&] { return memory_queue::renew(m, lock); });
    }

    int calls = 0;
    int throw_before = 0;
    int throw_after = 0;
};

[[nodiscard]] std::uint64_t sum_of_outcomes(const queue_report& r)
{
    return r.completed + r.given_back + r.deferred + r.dead_lettered + r.left_to_lock +
           r.unconfirmed + r.stuck;
}

}  // namespace

TEST_CASE("catching turns an exception of a queue's handler into a settlement")
{
    manual_environment env(start);
    memory_queue queue(env);
    queue.put("a");
    queue.put("b");
    bool first = true;
    const auto handle = waybill::catching([&](const queued_message& m) {
        if (m.body == "b") throw std::runtime_error("no such customer");
        if (std::exchange(first, false))
            throw std::system_error(std::make_error_code(std::errc::timed_out), "mail server");
    });
    const auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
    CHECK(r.end == queue_report::end_reason::empty);
    CHECK(r.completed == 1);
    CHECK(r.deferred == 1);
    CHECK(r.dead_lettered == 1);
    CHECK(queue.dead_letters().at(0).reason == "permanent: no such customer");
}

TEST_CASE("catching keeps the lock argument and the server's delay of a queue's handler")
{
    manual_environment env(start);
    memory_queue queue(env);
    queue.put("a");
    int calls = 0;
    const auto handle =
        waybill::catching([&](const queued_message&,
                              waybill::queue_policy::message_lock& lock) -> waybill::call_answer {
            CHECK(lock.keep());
            if (++calls == 1) return {waybill::transient("busy"), 2min};
            if (calls == 2) throw std::system_error(std::make_error_code(std::errc::io_error));
            return {};
        });
    const auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
    CHECK(r.completed == 1);
    CHECK(r.deferred == 2);
    CHECK(env.slept() > waybill::duration(2min));
}

TEST_CASE("an exception of the handler: the report is complete, and a further call continues")
{
    manual_environment env(start);
    memory_queue queue(env);
    queue.put("a", "order-7");
    queue.put("b");
    waybill::circuit_breaker breaker({.consecutive_failures = 1});
    const waybill::queue_policy policy{.lock = 60s, .breaker = &breaker, .stop_when_empty = true};
    bool first = true;
    const auto handle = [&](const queued_message&) {
        if (std::exchange(first, false)) throw std::runtime_error("bug");
    };
    queue_report report;
    CHECK_THROWS(waybill::run_queue(queue, handle, policy, env, report));
    CHECK(report.end == queue_report::end_reason::running);
    CHECK(report.received == 1);
    CHECK(report.left_to_lock == 1);
    CHECK(report.interrupted == 1);
    REQUIRE(report.listed.size() == 1);
    CHECK(report.listed[0].id == "order-7");
    CHECK(breaker.state(env.now()) == waybill::circuit_breaker::circuit_state::open);
    waybill::run_queue(queue, handle, policy, env, report);
    CHECK(report.end == queue_report::end_reason::empty);
    CHECK(report.completed == 2);
    CHECK(report.received == 3);
    CHECK(sum_of_outcomes(report) == report.received);
}

TEST_CASE("an exception of any call of the queue, before or after its effect, loses no message")
{
    int runs = 0;
    for (int n = 1;; ++n) {
        int calls = 0;
        for (const bool after : {false, true}) {
            manual_environment env(start);
            throwing_queue queue(env);
            (after ? queue.throw_after : queue.throw_before) = n;
            for (const char* body : {"a", "b", "c"}) queue.put(body);
            std::string effects;
            bool first = true;
            const auto handle = [&](const queued_message& m,
                                    waybill::queue_policy::message_lock& lock) -> fault {
                env.advance(20s);
                if (!lock.keep()) return waybill::ownership_lost("lost");
                if (m.body == "b") return waybill::permanent("no");
                if (m.body == "c" && std::exchange(first, false)) return waybill::transient("busy");
                effects += m.body;
                return {};
            };
            queue_report report;
            for (int process = 0; process != 3; ++process) {
                try {
                    waybill::run_queue(queue, handle, {.lock = 30s, .stop_when_empty = true}, env,
                                       report);
                } catch (const std::runtime_error&) {
                    CHECK(report.end == queue_report::end_reason::running);
                }
                CHECK(sum_of_outcomes(report) == report.received);
                if (report.end == queue_report::end_reason::empty) break;
            }
            CHECK(report.end == queue_report::end_reason::empty);
            CHECK(queue.size() == 0);
            CHECK(effects.find('a') != std::string::npos);
            CHECK(effects.find('c') != std::string::npos);
            CHECK(queue.dead_letters().size() == 1);
            calls = queue.calls;
            ++runs;
        }
        if (n > calls) break;
    }
    CHECK(runs > 20);
}

TEST_CASE("an exception in a repeated call of an outage: the message is left to its lock")
{
    using waybill::testing::queue_deferral;
    manual_environment env(start);
    memory_queue<manual_environment, queue_deferral::none> queue(env, 10);
    queue.put("a");
    int calls = 0;
    const auto handle = [&](const queued_message&) -> fault {
        if (++calls == 3) throw std::runtime_error("third");
        return calls < 3 ? waybill::infrastructure("down") : fault{};
    };
    waybill::circuit_breaker breaker({.break_duration = {.base = 5s, .cap = 5s}});
    const waybill::queue_policy policy{
        .retry_for = 5min, .max_deliveries = 10, .breaker = &breaker, .stop_when_empty = true};
    queue_report report;
    CHECK_THROWS_AS(waybill::run_queue(queue, handle, policy, env, report), std::runtime_error);
    CHECK(report.received == 2);
    CHECK(report.left_to_lock == 2);
    CHECK(report.interrupted == 1);
    waybill::run_queue(queue, handle, policy, env, report);
    CHECK(report.end == queue_report::end_reason::empty);
    CHECK(report.completed == 1);
    CHECK(sum_of_outcomes(report) == report.received);
}

namespace {

// From a moment on, one of its functions throws.
struct breaking_environment : manual_environment {
    using manual_environment::manual_environment;
    enum class function { now, wall_now, sleep_until, random, stop_requested, none };

    void check(function f) const
    {
        if (f == broken) throw std::runtime_error("no clock");
    }
    waybill::steady_time now() const { return check(function::now), manual_environment::now(); }
    waybill::wall_time wall_now() const
    {
        return check(function::wall_now), manual_environment::wall_now();
    }
    void sleep_until(waybill::steady_time t)
    {
        check(function::sleep_until);
        manual_environment::sleep_until(t);
    }
    double random() { return check(function::random), manual_environment::random(); }
    bool stop_requested() const
    {
        return check(function::stop_requested), manual_environment::stop_requested();
    }

    function broken = function::none;
};

}  // namespace

TEST_CASE("an environment that throws during an exception of the handler does not end the process")
{
    using function = breaking_environment::function;
    for (const function f : {function::now, function::wall_now, function::sleep_until,
                             function::random, function::stop_requested}) {
        for (const bool guarded : {false, true}) {
            breaking_environment env(start);
            memory_queue<breaking_environment> queue(env);
            queue.put("a");
            waybill::circuit_breaker breaker({.consecutive_failures = 1});
            const auto handle = [&](const queued_message&) -> fault {
                env.broken = f;
                throw std::logic_error("in the handler");
            };
            queue_report r;
            CHECK_THROWS_AS(waybill::run_queue(queue, handle,
                                               {.breaker = guarded ? &breaker : nullptr}, env, r),
                            std::logic_error);
            CHECK(r.left_to_lock == 1);
            CHECK(r.interrupted == 1);
            CHECK((breaker.room(start) == 0) == guarded);
        }
    }
}
