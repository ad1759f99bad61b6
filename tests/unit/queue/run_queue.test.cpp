// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/faulty_queue.hpp>

#include <waybill/core/environment.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/queue/run_queue.hpp>
#include <waybill/queue/scheduled_id.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>

namespace {

using namespace std::chrono_literals;
using waybill::fault;
using waybill::fault_kind;
using waybill::queue_policy;
using waybill::queue_report;
using waybill::testing::manual_environment;
using waybill::testing::memory_queue;
using waybill::testing::queue_deferral;
using waybill::testing::queued_message;
using waybill::testing::queued_pointer;

using end_reason = queue_report::end_reason;
using outcome = queue_report::outcome;

const waybill::steady_time start = waybill::steady_time::at(1h);
constexpr std::string_view copy_key = "a key of the tests";

[[nodiscard]] std::uint64_t sum_of_outcomes(const queue_report& r)
{
    return r.completed + r.given_back + r.deferred + r.dead_lettered + r.left_to_lock +
           r.unconfirmed + r.stuck;
}

template <queue_deferral D>
using queue_with = memory_queue<manual_environment, D>;

}  // namespace

TEST_CASE("messages are handled in order, and the driver ends when the queue is empty")
{
    manual_environment env(start);
    memory_queue queue(env);
    for (const char* body : {"a", "b", "c"}) queue.put(body);
    std::string handled;
    const auto handle = [&](const queued_message& m) { handled += m.body; };
    const auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
    CHECK(handled == "abc");
    CHECK(r.end == end_reason::empty);
    CHECK(r.received == 3);
    CHECK(r.completed == 3);
    CHECK(r.listed.empty());
    CHECK(queue.size() == 0);
    CHECK(waybill::describe(r) == "3 received, 3 completed; empty");
}

TEST_CASE("a lock granted by the queue is renewed in time, and an expired lock is not kept")
{
    // The queue chooses the lock, not the receiver.
    struct own_lock : memory_queue<manual_environment> {
        using memory_queue::memory_queue;
        struct message : queued_message {
            waybill::duration locked_for{};
        };
        waybill::result<std::optional<message>> receive(waybill::duration)
        {
            auto m = memory_queue::receive(granted);
            if (!m || !*m) return std::optional<message>();
            return std::optional(message{**m, granted});
        }
        fault renew(message& m, waybill::duration)
        {
            m.locked_for = granted = 20s;
            return memory_queue::renew(m, granted);
        }
        waybill::duration granted = 10s;
    };
    manual_environment env(start);
    own_lock queue(env);
    queue.put("a");
    const auto handle = [&](const own_lock::message&, queue_policy::message_lock& lock) {
        CHECK(lock.left() == 10s);
        env.advance(6s);
        CHECK(lock.keep());
        CHECK(lock.left() == 20s);
        env.advance(12s);
        CHECK(lock.keep());
        env.advance(21s);
        CHECK(!lock.keep());
        return fault{fault_kind::transient, "late"};
    };
    // With the lock of the policy, the first renewal would be at 60 s.
    queue_report r;
    waybill::run_queue(queue, handle, {.lock = 120s}, waybill::time_limited(env, 39s), r);
    CHECK(r.renewals == 2);
    CHECK(r.left_to_lock == 1);
}

TEST_CASE("a queue without `empty` ends the driver, also if the clock moves at each reading")
{
    struct moving_clock : manual_environment {
        using manual_environment::manual_environment;
        waybill::steady_time now()
        {
            advance(1ms);
            return manual_environment::now();
        }
    };
    struct without_empty {
        using message = queued_message;
        auto receive(waybill::duration lock) { return queue.receive(lock); }
        auto complete(message& m) { return queue.complete(m); }
        auto abandon(message& m) { return queue.abandon(m, true); }
        auto dead_letter(message& m, std::string_view r) { return queue.dead_letter(m, r); }
        auto defer(message& m, waybill::duration t) { return queue.defer(m, t, true); }
        memory_queue<moving_clock>& queue;
    };
    moving_clock env(start);
    memory_queue<moving_clock> stored(env);
    without_empty queue{stored};
    stored.put("a");
    const auto handle = [](const queued_message& m) {
        return m.deliveries == 1 ? waybill::transient("busy") : fault{};
    };
    queue_report r;
    waybill::run_queue(queue, handle, {.stop_when_empty = true}, waybill::time_limited(env, 1h), r);
    CHECK(r.end == end_reason::empty);
    CHECK(r.deferred == 1);
    CHECK(r.completed == 1);
}

TEST_CASE("each fault kind returned by a handler settles the message")
{
    struct row {
        fault result;
        outcome first;
    };
    const row rows[] = {
        {{}, outcome::completed},
        {waybill::transient("busy"), outcome::deferred},
        {waybill::infrastructure("down"), outcome::deferred},
        {waybill::permanent("no such customer"), outcome::dead_lettered},
        {waybill::ownership_lost("other"), outcome::left_to_lock},
        {waybill::cancelled("stopping"), outcome::given_back},
    };
    for (const row& x : rows) {
        CAPTURE(x.result.text);
        manual_environment env(start);
        memory_queue queue(env);
        queue.put("a", "order-7");
        bool first = true;
        const auto handle = [&](const queued_message&) {
            return std::exchange(first, false) ? x.result : fault{};
        };
        auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
        const bool ends = x.first == outcome::completed || x.first == outcome::dead_lettered;
        CHECK(r.received == (ends ? 1 : 2));
        CHECK(sum_of_outcomes(r) == r.received);
        CHECK(r.count_of(x.first) == 1);
        CHECK(r.completed == (x.first == outcome::dead_lettered ? 0 : 1));
        CHECK(queue.size() == 0);
        if (x.first == outcome::dead_lettered) {
            REQUIRE(r.listed.size() == 1);
            CHECK(waybill::describe(r.listed[0]) ==
                  "order-7: dead_lettered: permanent: no such customer");
            CHECK(queue.dead_letters().at(0).reason == "permanent: no such customer");
        }
    }
}

TEST_CASE("a handler may return void, a kind, a result or a retry_after hint")
{
    const auto run = [](auto handle) {
        manual_environment env(start);
        memory_queue queue(env);
        queue.put("a");
        return waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
    };
    CHECK(run([](const queued_message&) {}).completed == 1);
    CHECK(run([](const queued_message&) { return fault_kind::permanent; }).dead_lettered == 1);
    CHECK(run([](const queued_message&) -> waybill::result<void> {
              return waybill::unexpected(waybill::permanent("no"));
          }).dead_lettered == 1);

    manual_environment env(start);
    memory_queue queue(env);
    queue.put("a");
    bool first = true;
    const auto handle = [&](const queued_message&) -> waybill::call_answer {
        if (!std::exchange(first, false)) return {};
        return {waybill::transient("busy"), 2min};
    };
    const auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
    CHECK(r.deferred == 1);
    CHECK(r.completed == 1);
    CHECK(env.slept() >= waybill::duration(2min));
}

namespace {

// Runs with a dependency that is down for `down`, and returns the report.
template <queue_deferral D>
struct outage {
    explicit outage(waybill::duration down, std::uint64_t max_deliveries, int messages = 3)
        : env(start, waybill::wall_time::at(24h)), queue(env, max_deliveries)
    {
        for (int i = 0; i != messages; ++i) queue.put("m" + std::to_string(i));
        until = start + down;
    }

    void run(const queue_policy& p)
    {
        const auto handle = [&](const queued_message& m) -> fault {
            ++calls;
            if (env.now() < until) return waybill::infrastructure("mail server is down");
            order += m.body + " ";
            return {};
        };
        report = waybill::run_queue(queue, handle, p, env);
    }

    manual_environment env;
    queue_with<D> queue;
    waybill::steady_time until;
    std::uint64_t calls = 0;
    std::string order;
    queue_report report;
};

template <queue_deferral D>
void survives_an_hour_with_few_deliveries()
{
    outage<D> o(1h, 10);
    queue_policy p{.lock = 90s,
                   .retry_for = 10s,
                   .max_deliveries = 10,
                   .copy_key = copy_key,
                   .stop_when_empty = true};
    o.run(p);
    CHECK(o.report.end == end_reason::empty);
    CHECK(o.report.completed == 3);
    CHECK(o.report.dead_lettered == 0);
    CHECK(o.report.outages > 10);
    CHECK(sum_of_outcomes(o.report) == o.report.received);
    CHECK(o.queue.dead_letters().empty());
}

}  // namespace

TEST_CASE("an outage does not exhaust the deliveries if the queue can defer")
{
    SUBCASE("by time")
    {
        survives_an_hour_with_few_deliveries<queue_deferral::by_time>();
    }
    SUBCASE("with copies")
    {
        survives_an_hour_with_few_deliveries<queue_deferral::by_copy>();
    }
    SUBCASE("with pointers")
    {
        survives_an_hour_with_few_deliveries<queue_deferral::by_pointer>();
    }
}

namespace {

// Without deferral, and each delivery counts.
struct counted_queue : private queue_with<queue_deferral::none> {
    using base = queue_with<queue_deferral::none>;
    using base::base, base::message, base::put, base::receive, base::complete, base::dead_letter;
    using base::dead_letters, base::empty;
    fault abandon(message& m) { return base::abandon(m, true); }
};

}  // namespace

TEST_CASE("without deferral, an outage uses one delivery for each lock")
{
    outage<queue_deferral::none> o(1h, 961);
    o.run({.lock = 90s, .retry_for = 24h, .max_deliveries = 961, .stop_when_empty = true});
    CHECK(o.report.completed == 3);
    CHECK(o.report.dead_lettered == 0);
    CHECK(o.report.left_to_lock == 3 * 40);  // an hour of 90 s

    // A queue that counts each delivery is never given a message back without a count.
    manual_environment env(start);
    counted_queue queue(env, 961);
    queue.put("a");
    const auto handle = [&](const queued_message&) -> fault {
        return waybill::infrastructure("down");
    };
    const auto r = waybill::run_queue(
        queue, handle,
        {.lock = 90s, .retry_for = 24h, .max_deliveries = 961, .stop_when_empty = true}, env);
    CHECK(r.dead_lettered == 1);
    CHECK(env.slept() >= waybill::duration(24h));
    CHECK(queue.dead_letters().at(0).reason ==
          "last_delivery: infrastructure, 961 of 961 deliveries (max_deliveries): down");
}

namespace {

// Like SQS: deferral by time, and each delivery counts.
struct counted_deferral : private memory_queue<manual_environment> {
    using base = memory_queue<manual_environment>;
    using base::base, base::message, base::put, base::receive, base::complete, base::dead_letter;
    using base::dead_letters, base::empty, base::each;
    fault abandon(message& m) { return base::abandon(m, true); }
    fault defer(message& m, waybill::duration delay) { return base::defer(m, delay, true); }
    fault renew(message& m, waybill::duration lock)
    {
        ++renewals;
        return renewable ? base::renew(m, lock) : waybill::transient("busy");
    }
    bool renewable = true;
    int renewals = 0;
};

// Five messages and an outage. Handles each message at most once after it.
struct counted_outage {
    counted_outage()
    {
        for (int i = 0; i != 5; ++i) queue.put("m" + std::to_string(i));
    }

    queue_report run(waybill::duration down, waybill::circuit_breaker* breaker,
                     waybill::duration max_handling = 10min, waybill::duration limit = 100h)
    {
        const auto handle = [&](const queued_message& m) -> fault {
            most_deliveries = std::max(most_deliveries, m.deliveries);
            if (env.now() < start + down) return waybill::infrastructure("down");
            return {};
        };
        auto limited = waybill::time_limited(env, limit);
        return waybill::run_queue(queue, handle,
                                  {.lock = 60s,
                                   .retry_for = 5min,
                                   .max_deliveries = 10,
                                   .max_handling = max_handling,
                                   .breaker = breaker,
                                   .stop_when_empty = true},
                                  limited);
    }

    manual_environment env{start, waybill::wall_time::at(24h)};
    counted_deferral queue{env, 10};
    std::uint64_t most_deliveries = 0;
};

}  // namespace

TEST_CASE("with a breaker and counted deliveries, messages survive an outage of 85 minutes")
{
    // 9 times 10 minutes, less one pause of the breaker.
    for (const std::uint64_t opens_at : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{50}}) {
        for (waybill::duration down = 5min; down <= 85min; down += 1min) {
            CAPTURE(opens_at);
            CAPTURE(down.count());
            waybill::circuit_breaker breaker({.consecutive_failures = opens_at});
            counted_outage o;
            const auto r = o.run(down, &breaker);
            CHECK(r.completed == 5);
            CHECK(r.dead_lettered == 0);
            CHECK(sum_of_outcomes(r) == r.received);
            // At most a pause of the breaker longer, or one of a deferral.
            CHECK(o.env.slept() <= down + 8min);
        }
    }
    {
        waybill::circuit_breaker breaker;
        counted_outage o;
        const auto r = o.run(53h, &breaker, 6h);
        CHECK(r.completed == 5);
        CHECK(o.most_deliveries <= 10);
    }
    counted_outage without;
    const auto r = without.run(88min, nullptr);
    CHECK(r.dead_lettered == 5);
    CHECK(without.env.slept() < waybill::duration(8min));  // after the pauses of ten deliveries
}

TEST_CASE("a message held during an outage is settled in time")
{
    waybill::circuit_breaker breaker({.consecutive_failures = 3});
    counted_outage o;
    SUBCASE("a stop request defers the message at once")
    {
        const auto r = o.run(100h, &breaker, 10min, 5min);
        CHECK(r.end == end_reason::stopped);
        CHECK(sum_of_outcomes(r) == r.received);
        CHECK(r.deferred == r.received);
        CHECK(o.env.slept() == waybill::duration(5min));
    }
    SUBCASE("if renewal fails, the message is deferred before its lock expires")
    {
        o.queue.renewable = false;
        const auto r = o.run(100h, &breaker, 10min, 3min);
        CHECK(o.queue.renewals > 0);
        CHECK(r.deferred == r.received);
        CHECK(r.left_to_lock == 0);
    }
    SUBCASE("a permanent fault in a later call dead-letters the message")
    {
        int calls = 0;
        const auto handle = [&](const queued_message& m) -> fault {
            ++calls;
            if (m.deliveries == 2 && o.env.slept() > waybill::duration(1min))
                return waybill::permanent("no such customer");
            return waybill::infrastructure("down");
        };
        const auto r = waybill::run_queue(
            o.queue, handle, {.retry_for = 5min, .max_deliveries = 10, .breaker = &breaker},
            waybill::time_limited(o.env, 10min));
        REQUIRE(r.dead_lettered >= 1);
        CHECK(o.queue.dead_letters().at(0).reason == "permanent: no such customer");
        CHECK(o.queue.dead_letters().at(0).what.deliveries == 2);
    }
}

TEST_CASE("while the circuit breaker is open, nothing is received")
{
    waybill::circuit_breaker breaker({.consecutive_failures = 3});
    outage<queue_deferral::by_time> o(1h, 10, 100);
    o.run({.lock = 90s,
           .retry_for = 10s,
           .max_deliveries = 10,
           .breaker = &breaker,
           .stop_when_empty = true});
    CHECK(o.report.completed == 100);
    CHECK(o.report.dead_lettered == 0);
    // 3 failures open it, then one probe after each pause of 5 s, 10 s ... 300 s
    CHECK(o.report.outages <= 3 + 7 + 12);
    CHECK(o.report.received == o.report.completed + o.report.deferred + o.report.given_back);
    CHECK(o.report.breaker_waits >= o.report.outages - 3);
}

TEST_CASE("after an outage, deferred messages are handled at once, the oldest first")
{
    for (const waybill::duration down :
         {waybill::duration(5min), waybill::duration(30min), waybill::duration(3h)}) {
        manual_environment env(start, waybill::wall_time::at(24h));
        memory_queue queue(env);
        for (int n = 0; n != 300; ++n) queue.put(std::to_string(n));
        queue.put("busy");
        waybill::circuit_breaker breaker({.consecutive_failures = 150});
        std::vector<int> order;
        std::vector<waybill::steady_time> times;
        int busy = 0;
        const auto handle = [&](const queued_message& m) -> fault {
            if (env.now() < start + down) return waybill::infrastructure("down");
            if (m.body == "busy")  // a failed try keeps its pause
                return ++busy < 3 ? waybill::transient("busy") : fault{};
            order.push_back(std::stoi(m.body));
            times.push_back(env.now());
            return {};
        };
        const auto r =
            waybill::run_queue(queue, handle, {.breaker = &breaker, .stop_when_empty = true}, env);
        CHECK(r.completed == 301);
        REQUIRE(order.size() == 300);
        CHECK(times.back() == times.front());  // that of the probe
        CHECK(std::is_sorted(order.begin() + 1, order.end()));
        CHECK(env.now() >= times.back() + waybill::duration(1s));
    }
}

TEST_CASE("if the call that ends deferrals fails, it is repeated, and refused at most once")
{
    struct failing : memory_queue<manual_environment> {
        using memory_queue::memory_queue;
        fault make_due()
        {
            ++calls;
            if (kind == fault_kind::permanent || calls <= 3) return fault{kind, "no"};
            return memory_queue::make_due();
        }
        fault_kind kind = fault_kind::infrastructure;
        int calls = 0;
    };
    for (const fault_kind kind : {fault_kind::infrastructure, fault_kind::permanent}) {
        manual_environment env(start, waybill::wall_time::at(24h));
        failing queue(env);
        queue.kind = kind;
        for (int n = 0; n != 10; ++n) queue.put("m");
        waybill::circuit_breaker breaker({.consecutive_failures = 3});
        const auto handle = [&](const queued_message&) -> fault {
            return env.now() < start + waybill::duration(5min) ? waybill::infrastructure("down")
                                                               : fault{};
        };
        const auto r =
            waybill::run_queue(queue, handle, {.breaker = &breaker, .stop_when_empty = true}, env);
        CHECK(r.completed == 10);
        CHECK(queue.calls == (kind == fault_kind::permanent ? 1 : 4));
        CHECK(r.queue_fault.text == "no");
    }
}

TEST_CASE("a message received while the breaker opens is given back without a counted delivery")
{
    manual_environment env(start);
    waybill::circuit_breaker breaker;
    // Another user of the breaker opens it during the request.
    struct opening : memory_queue<manual_environment> {
        using memory_queue::memory_queue;
        waybill::result<std::optional<queued_message>> receive(waybill::duration lock)
        {
            auto m = memory_queue::receive(lock);
            if (breaker != nullptr) std::exchange(breaker, nullptr)->force_open(start);
            return m;
        }
        waybill::circuit_breaker* breaker = nullptr;
    };
    opening queue(env);
    queue.breaker = &breaker;
    queue.put("a");
    int calls = 0;
    const auto handle = [&](const queued_message&) { ++calls; };
    auto r =
        waybill::run_queue(queue, handle, {.breaker = &breaker}, waybill::time_limited(env, 10s));
    CHECK(r.end == end_reason::stopped);
    CHECK(calls == 0);
    CHECK(r.given_back == 1);
    queue.each([](const queued_message& m) { CHECK(m.deliveries == 0); });
    breaker.force_closed(env.now());
    r = waybill::run_queue(queue, handle, {.breaker = &breaker, .stop_when_empty = true}, env);
    CHECK(r.completed == 1);
}

TEST_CASE("a transient fault is retried for retry_for, then the message is dead-lettered")
{
    const auto run = [](auto deferral, std::uint64_t max_deliveries) {
        manual_environment env(start);
        memory_queue<manual_environment, decltype(deferral)::value> queue(env, max_deliveries);
        queue.put("a");
        const auto handle = [](const queued_message&) { return waybill::transient("busy"); };
        const auto r = waybill::run_queue(queue, handle,
                                          {.lock = 90s,
                                           .retry_for = 24h,
                                           .max_deliveries = max_deliveries,
                                           .copy_key = copy_key,
                                           .stop_when_empty = true},
                                          env);
        CHECK(r.dead_lettered == 1);
        CHECK(queue.dead_letters().at(0).reason.starts_with("exhausted: transient"));
        CHECK(env.slept() >= waybill::duration(24h));
        CHECK(env.slept() <= waybill::duration(36h));
        CHECK(queue.size() == 0);
    };
    const auto is = [](auto d) { return d; };
    using by_time = std::integral_constant<queue_deferral, queue_deferral::by_time>;
    using by_copy = std::integral_constant<queue_deferral, queue_deferral::by_copy>;
    using by_pointer = std::integral_constant<queue_deferral, queue_deferral::by_pointer>;
    using none = std::integral_constant<queue_deferral, queue_deferral::none>;
    run(is(by_time{}), ~std::uint64_t{0});
    run(is(by_time{}), 1'000);
    run(is(by_copy{}), 10);  // the deliveries of a copy count from 1
    run(is(by_pointer{}), 10);
    run(is(none{}), 1'000);
}

namespace {

// Records until when each message is deferred.
struct recorded_by_time : queue_with<queue_deferral::by_time> {
    explicit recorded_by_time(manual_environment& e) : memory_queue(e), env(e) {}
    fault defer(queued_message& m, waybill::duration delay, bool failed)
    {
        due[m.body] = env.now() + delay;
        return memory_queue::defer(m, delay, failed);
    }
    manual_environment& env;
    std::map<std::string, waybill::steady_time> due;
};
struct recorded_by_pointer : queue_with<queue_deferral::by_pointer> {
    explicit recorded_by_pointer(manual_environment& e) : memory_queue(e), env(e) {}
    fault schedule_pointer(queued_message& m, std::uint64_t tries, waybill::duration delay)
    {
        due[m.body] = env.now() + delay;
        return memory_queue::schedule_pointer(m, tries, delay);
    }
    fault schedule_pointer(queued_pointer& p, std::uint64_t tries, waybill::duration delay)
    {
        return memory_queue::schedule_pointer(p, tries, delay);
    }
    manual_environment& env;
    std::map<std::string, waybill::steady_time> due;
};

// Handles "old1", "old2" and five new messages. The first try of an old one fails. Each new one
// takes `new_takes`, which is less than its lock. Returns the bodies in the order of the handler calls.
template <class Queue>
std::string handled_in_order(waybill::duration new_takes)
{
    manual_environment env(start, waybill::wall_time::at(24h));
    Queue queue(env);
    for (const char* body : {"old1", "old2", "1", "2", "3", "4", "5"}) queue.put(body);
    std::string handled;
    const auto handle = [&](const queued_message& m) -> fault {
        handled += m.body + " ";
        const auto due = queue.due.find(m.body);
        if (m.body.starts_with("old")) {
            if (due == queue.due.end()) return waybill::transient("busy");
            CHECK(due->second <= env.now());
            queue.due.erase(due);
            return {};
        }
        // A new message is handled only while no old one is due.
        for (const auto& [body, until] : queue.due) CHECK(env.now() < until);
        env.advance(new_takes);
        return {};
    };
    const auto r = waybill::run_queue(queue, handle, {.lock = 60s, .stop_when_empty = true}, env);
    CHECK(r.completed == 7);
    CHECK(r.deferred == 2);
    return handled;
}

}  // namespace

TEST_CASE("if originals are due and new messages wait, all due originals are handled first")
{
    // Both old messages become due during a new one: the first, or with pointers the second. A
    // pointer is due after the lock of its message, 60 s, at least.
    CHECK(handled_in_order<recorded_by_time>(40s) == "old1 old2 1 old1 old2 2 3 4 5 ");
    CHECK(handled_in_order<recorded_by_pointer>(40s) == "old1 old2 1 2 old1 old2 3 4 5 ");
}

TEST_CASE("until an original is due, new messages are handled")
{
    CHECK(handled_in_order<recorded_by_time>(100ms).starts_with("old1 old2 1 2 "));
    CHECK(handled_in_order<recorded_by_pointer>(1s) == "old1 old2 1 2 3 4 5 old1 old2 ");
}

namespace {

// As SQS: the queue counts deliveries, and cannot store how they ended.
struct without_crashes : memory_queue<manual_environment> {
    using base = memory_queue<manual_environment>;
    using base::base;
    struct message : queued_message {
        void crashes() const;  // hides the number
    };
    waybill::result<std::optional<message>> receive(waybill::duration lock)
    {
        auto m = base::receive(lock);
        return *m ? std::optional(message{**m}) : std::nullopt;
    }
};

template <class Queue>
void is_not_handled_after(int deliveries, std::string_view reason)
{
    manual_environment env(start);
    Queue queue(env);
    queue.put("poison");
    for (int i = 0; i != deliveries; ++i) {
        REQUIRE(queue.receive(1s)->has_value());  // a process that dies in its handler
        env.advance(2s);
    }
    int calls = 0;
    const auto handle = [&](const queued_message&) { ++calls; };
    const auto r =
        waybill::run_queue(queue, handle, {.retry_for = {}, .stop_when_empty = true}, env);
    CHECK(calls == 0);
    CHECK(r.dead_lettered == 1);
    CHECK(queue.dead_letters().at(0).reason.starts_with(reason));
}

}  // namespace

TEST_CASE("a message with unsettled deliveries is dead-lettered without a call of the handler")
{
    is_not_handled_after<memory_queue<manual_environment>>(5, "crashes: 5 of 5 deliveries");
    is_not_handled_after<memory_queue<manual_environment>>(12, "crashes: 12 of 5 deliveries");
    // A queue that cannot tell a crash from a failed try.
    is_not_handled_after<without_crashes>(10, "exhausted: transient, 11 of 10 tries");
}

TEST_CASE("if the queue ignores `failed`, the reason of its dead letters contains that")
{
    struct ignores_failed : memory_queue<manual_environment> {
        using memory_queue::memory_queue;
        fault defer(queued_message& m, waybill::duration delay, bool)
        {
            return memory_queue::defer(m, delay, true);
        }
    };
    manual_environment env(start);
    ignores_failed queue(env);
    queue.put("a");
    const auto handle = [](const queued_message&) { return waybill::infrastructure("down"); };
    const auto r = waybill::run_queue(
        queue, handle, {.retry_for = 5min, .max_deliveries = 10, .stop_when_empty = true}, env);
    CHECK(r.dead_lettered == 1);
    CHECK(queue.dead_letters().at(0).reason.ends_with("or the queue ignores `failed`"));
}

TEST_CASE("lock.keep in each step of a long handler keeps the lock")
{
    manual_environment env(start);
    memory_queue queue(env);
    queue.put("a");
    bool kept = true;
    const auto handle = [&](const queued_message&, queue_policy::message_lock& lock) {
        for (int step = 0; step != 20; ++step) {
            env.advance(10s);
            kept = kept && lock.keep();
        }
        CHECK(lock.left() > waybill::duration(20s));
    };
    const auto r = waybill::run_queue(queue, handle, {.lock = 60s, .stop_when_empty = true}, env);
    CHECK(kept);
    CHECK(r.renewals == 6);
    CHECK(r.completed == 1);
    CHECK(r.received == 1);
}

TEST_CASE("if the lock is lost during the handler, only a success is reported to the queue")
{
    struct row {
        fault result;
        outcome how;
    };
    for (const row& x :
         {row{{}, outcome::unconfirmed}, row{waybill::permanent("no"), outcome::left_to_lock},
          row{waybill::transient("no"), outcome::left_to_lock}}) {
        manual_environment env(start);
        memory_queue queue(env);
        queue.put("a");
        const auto handle = [&](const queued_message&, queue_policy::message_lock& lock) {
            env.advance(61s);
            CHECK(!lock.keep());
            CHECK(lock.left() == waybill::duration());
            CHECK(queue.receive(60s)->has_value());  // another consumer has it now
            return x.result;
        };
        const auto r =
            waybill::run_queue(queue, handle, {.lock = 60s}, waybill::time_limited(env, 90s));
        CHECK(r.received == 1);
        CHECK(r.count_of(x.how) == 1);
        CHECK(queue.size() == 1);
        CHECK(queue.dead_letters().empty());
    }
}

namespace {

// As SQS: it refuses a settlement after the end of the lock with words of its own.
struct other_words : memory_queue<manual_environment> {
    using memory_queue::memory_queue;
    fault in_its_words(fault f)
    {
        if (f.kind == fault_kind::ownership_lost) return waybill::permanent("invalid handle");
        return f;
    }
    fault complete(queued_message& m) { return in_its_words(memory_queue::complete(m)); }
    fault renew(queued_message& m, waybill::duration lock)
    {
        if (refuses_renewals) return waybill::ownership_lost("invalid handle");
        return memory_queue::renew(m, lock);
    }
    bool refuses_renewals = false;
};

// The text of the only delivery in the report, of a handler that takes 75 s with a lock of 60 s.
std::string line_of_late(const fault& result, bool renewal_refused)
{
    manual_environment env(start, waybill::wall_time::at(24h));
    other_words queue(env);
    queue.refuses_renewals = renewal_refused;
    queue.put("a", "order-7");
    const auto handle = [&](const queued_message&, queue_policy::message_lock& lock) {
        if (renewal_refused) {
            env.advance(40s);
            CHECK(!lock.keep());
            env.advance(35s);
        } else {
            env.advance(75s);
        }
        return result;
    };
    const auto r =
        waybill::run_queue(queue, handle, {.lock = 60s}, waybill::time_limited(env, 75s));
    REQUIRE(r.listed.size() == 1);
    if (result.ok()) CHECK(waybill::describe(r.listed[0]).ends_with(r.queue_fault.text));
    return waybill::describe(r.listed[0]);
}

}  // namespace

TEST_CASE("the report says that the lock of a late handler had ended, and when")
{
    CHECK(
        line_of_late({}, false) ==
        "order-7: unconfirmed: the lock ended at 1970-01-02T00:01:00Z, 15s before the settlement: "
        "invalid handle");
    CHECK(
        line_of_late(waybill::permanent("no"), false) ==
        "order-7: left_to_lock: lock_lost: the lock ended at 1970-01-02T00:01:00Z, 15s before the "
        "settlement: no");
    CHECK(line_of_late({}, true) ==
          "order-7: unconfirmed: the lock was refused at its renewal at 1970-01-02T00:00:40Z, 35s "
          "before the settlement: invalid handle");
}

TEST_CASE("the time of the request counts against the lock")
{
    manual_environment env(start);
    struct waiting : memory_queue<manual_environment> {
        using memory_queue::memory_queue;
        waybill::result<std::optional<queued_message>> receive(waybill::duration lock)
        {
            if (clock != nullptr) clock->advance(wait);
            return memory_queue::receive(lock);
        }
        manual_environment* clock = nullptr;
        waybill::duration wait{};
    };
    waiting queue(env);
    queue.clock = &env;
    queue.put("a");
    SUBCASE("half of the lock is used: one renewal")
    {
        queue.wait = 40s;
        const auto r = waybill::run_queue(
            queue, [](const queued_message&) {}, {.lock = 60s, .stop_when_empty = true}, env);
        CHECK(r.renewals == 1);
        CHECK(r.completed == 1);
    }
    SUBCASE(
        "the whole lock is used: the message is left to its lock, and the handler is not called")
    {
        queue.wait = 60s;
        int calls = 0;
        const auto r = waybill::run_queue(
            queue, [&](const queued_message&) { ++calls; }, {.lock = 60s},
            waybill::time_limited(env, 70s));
        CHECK(calls == 0);
        CHECK(r.left_to_lock == r.received);
        REQUIRE(!r.listed.empty());
        CHECK(r.listed[0].text ==
              "lock_lost: the lock ended at 1970-01-01T00:01:00Z, 0s before the handler");
    }
}

TEST_CASE("an empty queue gets one request in each poll interval, request time included")
{
    manual_environment env(start);
    memory_queue queue(env);
    int requests = 0;
    struct counting : memory_queue<manual_environment> {
        using memory_queue::memory_queue;
        waybill::result<std::optional<queued_message>> receive(waybill::duration lock)
        {
            ++*requests;
            clock->advance(wait);
            return memory_queue::receive(lock);
        }
        int* requests = nullptr;
        manual_environment* clock = nullptr;
        waybill::duration wait{};
    };
    for (const waybill::duration wait : {waybill::duration(), waybill::duration(3s)}) {
        counting c(env);
        c.requests = &requests;
        c.clock = &env;
        c.wait = wait;
        requests = 0;
        const auto r = waybill::run_queue(
            c, [](const queued_message&) {}, {.poll_interval = 5s},
            waybill::time_limited(env, 60s));
        CHECK(r.end == end_reason::stopped);
        CHECK(requests == 12);
    }
}

TEST_CASE("if a stop is requested during the request, the message is given back uncounted")
{
    manual_environment env(start);
    struct stopping : memory_queue<manual_environment> {
        using memory_queue::memory_queue;
        waybill::result<std::optional<queued_message>> receive(waybill::duration lock)
        {
            clock->stop_at(start);
            return memory_queue::receive(lock);
        }
        manual_environment* clock = nullptr;
    };
    stopping queue(env);
    queue.clock = &env;
    queue.put("a");
    int calls = 0;
    const auto r = waybill::run_queue(queue, [&](const queued_message&) { ++calls; }, {}, env);
    CHECK(calls == 0);
    CHECK(r.end == end_reason::stopped);
    CHECK(r.given_back == 1);
    queue.each([](const queued_message& m) { CHECK(m.deliveries == 0); });
}

TEST_CASE("jumps of the wall clock and the steady clock end no message early")
{
    manual_environment env(start, waybill::wall_time::at(24h));
    memory_queue queue(env);
    for (const char* body : {"a", "b"}) queue.put(body);
    struct broken_clocks {
        waybill::steady_time now() { return env.now(); }
        waybill::wall_time wall_now()
        {
            // Back by an hour, and later forward by two.
            return env.wall_now() + ((calls++ / 3) % 2 == 0 ? -1h : 1h);
        }
        void sleep_until(waybill::steady_time t) { env.sleep_until(t); }
        double random() { return env.random(); }
        bool stop_requested() { return env.stop_requested(); }
        manual_environment& env;
        int calls = 0;
    } broken{env};
    int calls = 0;
    const auto handle = [&](const queued_message&) -> fault {
        env.advance(calls % 2 == 0 ? waybill::duration(3s) : -waybill::duration(3s));
        return ++calls < 10 ? waybill::transient("busy") : fault{};
    };
    const auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, broken);
    CHECK(r.completed == 2);
    CHECK(sum_of_outcomes(r) == r.received);
}

namespace {

// The worker's wall clock differs from that of the queue by `skew`.
struct skewed_clock {
    manual_environment& env;
    waybill::duration skew;
    waybill::steady_time now() { return env.now(); }
    waybill::wall_time wall_now() { return env.wall_now() + skew; }
    void sleep_until(waybill::steady_time t) { env.sleep_until(t); }
    double random() { return env.random(); }
    bool stop_requested() { return env.stop_requested(); }
};

// From the first try of a message that always fails to its dead letter.
template <queue_deferral D>
waybill::duration retried_for(waybill::duration skew)
{
    manual_environment env(start, waybill::wall_time::at(24h));
    queue_with<D> queue(env);
    queue.put("a");
    skewed_clock clock{env, skew};
    const auto handle = [](const queued_message&) { return waybill::transient("busy"); };
    const auto r = waybill::run_queue(
        queue, handle, {.retry_for = 1h, .copy_key = "a key of the tests", .stop_when_empty = true},
        clock);
    CHECK(r.dead_lettered == 1);
    CHECK(r.early == 0);
    return env.now() - start;
}

}  // namespace

TEST_CASE("a worker's wall clock that differs from the queue's does not change the pauses")
{
    const auto same_pauses = [](auto retried) {
        const waybill::duration expected = retried(waybill::duration{});
        CHECK(expected >= waybill::duration(1h));
        CHECK(retried(waybill::duration(-5min)) == expected);
        CHECK(retried(waybill::duration(5min)) == expected);
    };
    same_pauses(retried_for<queue_deferral::by_time>);
    same_pauses(retried_for<queue_deferral::by_copy>);
    same_pauses(retried_for<queue_deferral::by_pointer>);
}

namespace {

// Pointers have a queue of their own, which moves a pointer to its dead letters after seven
// deliveries.
struct limited_pointers : queue_with<queue_deferral::by_pointer> {
    using base = queue_with<queue_deferral::by_pointer>;
    using base::base;

    waybill::result<std::optional<queued_pointer>> receive_pointer(waybill::duration lock)
    {
        auto p = base::receive_pointer(lock);
        if (!p || !*p || (**p).deliveries <= 7) return p;
        (void)base::complete(**p);
        return std::optional<queued_pointer>();
    }
};

// Its clock is five minutes ahead of the callers, which give it a time: a pointer is visible at
// once. Before a message is deferred, another consumer works.
struct early_pointers : limited_pointers {
    using limited_pointers::limited_pointers;

    fault schedule_pointer(queued_message& m, std::uint64_t tries, waybill::duration delay)
    {
        return base::schedule_pointer(m, tries, std::max(delay - 5min, waybill::duration{}));
    }
    fault schedule_pointer(queued_pointer& p, std::uint64_t tries, waybill::duration delay)
    {
        return base::schedule_pointer(p, tries, std::max(delay - 5min, waybill::duration{}));
    }
    fault defer(queued_message& m)
    {
        if (auto other = std::exchange(other_consumer, {})) other();
        return base::defer(m);
    }
    std::function<void()> other_consumer;
};

struct unreachable_originals : limited_pointers {
    using limited_pointers::limited_pointers;
    waybill::result<std::optional<queued_message>> receive_deferred(const queued_pointer& p,
                                                                    waybill::duration lock)
    {
        if (failures_left == 0) return base::receive_deferred(p, lock);
        --failures_left;
        return waybill::unexpected(waybill::infrastructure("no connection"));
    }
    int failures_left = 0;
};

fault busy_once(const queued_message& m, int& calls)
{
    return ++calls == 1 ? waybill::transient("busy " + m.body) : fault{};
}

}  // namespace

TEST_CASE("a pointer that finds its message not deferred yet finds it after its lock")
{
    manual_environment env(start);
    early_pointers queue(env);
    queue.put("a");
    int calls = 0;
    const auto handle = [&](const queued_message& m) { return busy_once(m, calls); };
    queue.other_consumer = [&] {
        auto limited = waybill::time_limited(env, 2s);
        (void)waybill::run_queue(queue, handle, {}, limited);
    };
    auto limited = waybill::time_limited(env, 1h);
    const auto r =
        waybill::run_queue(queue, handle, {.lock = 30s, .stop_when_empty = true}, limited);
    CHECK(r.end == end_reason::empty);
    CHECK(r.completed == 1);
    CHECK(queue.completed() == 1);
    CHECK(env.now() - start < waybill::duration(90s));
}

TEST_CASE("messages that come before the end of their deferral are reported")
{
    // Its adapter computes times with a clock five minutes behind that of the queue.
    struct early_copies : queue_with<queue_deferral::by_copy> {
        using queue_with<queue_deferral::by_copy>::memory_queue;
        fault schedule_copy(queued_message& m, queue_policy::scheduled_copy copy)
        {
            copy.delay = std::max(copy.delay - 5min, waybill::duration{});
            return memory_queue::schedule_copy(m, copy);
        }
    };
    const auto reported = [](auto make) {
        manual_environment env(start);
        auto queue = make(env);
        queue.put("a", "order-7");
        const auto handle = [](const queued_message&) { return waybill::transient("busy"); };
        auto limited = waybill::time_limited(env, 2h);
        return waybill::run_queue(
            queue, handle,
            {.retry_for = 1h, .copy_key = "a key of the tests", .stop_when_empty = true}, limited);
    };
    const auto copies = reported([](manual_environment& e) { return early_copies(e); });
    CHECK(copies.dead_lettered == 1);
    CHECK(copies.early >= copies.deferred - 1);
    CHECK(waybill::describe(copies).ends_with(" early; empty"));
    const auto pointers = reported([](manual_environment& e) { return early_pointers(e); });
    CHECK(pointers.early >= pointers.deferred - 1);
}

TEST_CASE("a pointer whose message is gone is removed after its lock")
{
    manual_environment env(start);
    queue_with<queue_deferral::by_pointer> queue(env);
    queue.put("a");
    auto m = *queue.receive(30s);
    (void)queue.schedule_pointer(*m, 0, {});
    (void)queue.complete(*m);
    auto limited = waybill::time_limited(env, 70s);
    const auto r = waybill::run_queue(queue, [](const queued_message&) {}, {.lock = 30s}, limited);
    CHECK(r.received == 0);
    CHECK(queue.pointers() == 0);
}

TEST_CASE("failed requests for a message use up no pointer")
{
    manual_environment env(start);
    unreachable_originals queue(env);
    queue.put("a");
    int calls = 0;
    const auto handle = [&](const queued_message& m) { return busy_once(m, calls); };
    queue.failures_left = 50;
    auto limited = waybill::time_limited(env, 2h);
    const auto r =
        waybill::run_queue(queue, handle, {.lock = 30s, .stop_when_empty = true}, limited);
    CHECK(queue.failures_left == 0);
    CHECK(r.completed == 1);
}

TEST_CASE("stops between a pointer and its message use up no pointer")
{
    manual_environment env(start);
    limited_pointers queue(env);
    queue.put("a");
    int calls = 0;
    bool stops = false;
    const auto handle = [&](const queued_message& m) {
        return stops ? waybill::cancelled("stopping") : busy_once(m, calls);
    };
    auto first = waybill::time_limited(env, 5s);
    CHECK(waybill::run_queue(queue, handle, {}, first).deferred == 1);
    env.advance(1h);
    stops = true;
    auto second = waybill::time_limited(env, 20s);
    CHECK(waybill::run_queue(queue, handle, {}, second).given_back >= 15);
    stops = false;
    CHECK(waybill::run_queue(queue, handle, {.stop_when_empty = true}, env).completed == 1);
    CHECK(queue.pointers() == 0);
}

namespace {

// A queue that can neither defer a message nor renew its lock.
struct only_locks : private queue_with<queue_deferral::none> {
    using base = queue_with<queue_deferral::none>;
    using base::base, base::message, base::put, base::receive, base::complete, base::abandon,
        base::dead_letter, base::empty;
};

// The time until a throttled message is handled again, and the time until a second consumer can
// receive it.
struct throttled {
    waybill::duration again{};
    std::optional<waybill::duration> received{};
};

template <class Queue>
throttled after_throttling(waybill::duration retry_after)
{
    struct watched_environment : manual_environment {
        using manual_environment::manual_environment;
        void sleep_until(waybill::steady_time t)
        {
            while (now() < t) {
                manual_environment::sleep_until(std::min(t, now() + waybill::duration(1s)));
                each_second();
            }
        }
        std::function<void()> each_second;
    } env(start);
    Queue queue(env);
    queue.put("a");
    throttled t;
    env.each_second = [&] {
        auto m = *queue.receive(1ms);
        if (m && !t.received) t.received = env.now() - start;
        if (m) (void)queue.abandon(*m, false);
    };
    int calls = 0;
    const auto handle = [&](const queued_message&) -> waybill::call_answer {
        if (++calls == 1) return {waybill::transient("429"), retry_after};
        t.again = env.now() - start;
        return {};
    };
    const auto r = waybill::run_queue(
        queue, handle, {.lock = 60s, .max_handling = 1h, .stop_when_empty = true}, env);
    CHECK(r.completed == 1);
    return t;
}

}  // namespace

TEST_CASE("a queue without deferral obeys the server's delay, also if it is longer than the lock")
{
    for (const waybill::duration delay : {waybill::duration(30s), waybill::duration(600s)}) {
        const throttled renewed = after_throttling<queue_with<queue_deferral::none>>(delay);
        CHECK(renewed.again >= delay);
        CHECK(renewed.again <= delay + waybill::duration(62s));
        CHECK(renewed.received.value_or(delay) >= delay);
        CHECK(after_throttling<only_locks>(delay).again >= delay);
    }
}

TEST_CASE("no id that a sender chooses keeps a copy out of the queue")
{
    // Ids that end in a number, that are long, empty or equal to the id of a copy.
    for (const std::string& victim :
         {std::string("order-7"), std::string("v:4294967295"), std::string(128, 'x'),
          std::string(70'000, 'x'), std::string("32"), std::string()}) {
        CAPTURE(victim.size());
        manual_environment env(start);
        queue_with<queue_deferral::by_copy> queue(env, 10);
        queue.put("the order", victim);
        queue.put("line 1", victim + ":1");
        // A sender without the key repeats the ids of the copies that it sees, and guesses others.
        std::set<std::string> sent{victim, victim + ":1"};
        const auto send = [&](const std::string& id) {
            if (sent.insert(id).second) queue.put("a guess", id);
        };
        send(waybill::scheduled_id("another key, 24 bytes...", 1, victim));
        std::map<std::string, int> done;
        int tries = 0;
        const auto handle = [&](const queued_message& m) -> fault {
            CHECK(m.id.size() <= std::max<std::size_t>(victim.size() + 2, 128));
            if (m.body == "the order") {
                if (!victim.empty()) CHECK((tries == 0 ? m.id : m.original_id) == victim);
                send(m.id + ":1");
                send(waybill::scheduled_id({}, m.number, m.id));
                if (++tries < 6) return waybill::transient("busy");
            }
            ++done[m.body];
            return {};
        };
        const auto r = waybill::run_queue(
            queue, handle,
            {.retry_for = 1h, .max_deliveries = 10, .copy_key = copy_key, .stop_when_empty = true},
            env);
        CHECK(r.end == end_reason::empty);
        CHECK(r.deferred == 5);
        CHECK(done["the order"] == 1);
        CHECK(done["line 1"] == 1);
        CHECK(queue.completed() == r.deferred + sent.size());
    }
}

TEST_CASE("the report names a copy by the id of its original")
{
    manual_environment env(start);
    queue_with<queue_deferral::by_copy> queue(env);
    queue.put("a", "order-7");
    int calls = 0;
    const auto handle = [&](const queued_message&) {
        return ++calls < 3 ? waybill::transient("busy") : waybill::permanent("no such customer");
    };
    const auto r =
        waybill::run_queue(queue, handle, {.copy_key = copy_key, .stop_when_empty = true}, env);
    REQUIRE(r.listed.size() == 1);
    CHECK(waybill::describe(r.listed[0]) == "order-7: dead_lettered: permanent: no such customer");
    CHECK(queue.dead_letters().at(0).what.original_id == "order-7");
}

namespace {

// Its dead letters have at most `limit` bytes, reason and body.
template <queue_deferral D>
struct small_letters : queue_with<D> {
    using base = queue_with<D>;
    using base::base;
    fault dead_letter(queued_message& m, std::string_view reason)
    {
        reasons.push_back(reason.size());
        if (m.body.size() + reason.size() > limit)
            return waybill::permanent("the letter is too large");
        return base::dead_letter(m, reason);
    }
    std::size_t limit = 500;
    std::vector<std::size_t> reasons;
};

template <queue_deferral D>
struct referring_letters : small_letters<D> {
    using small_letters<D>::small_letters;
    fault dead_letter_by_reference(queued_message& m, std::string_view reason)
    {
        stored_bodies.push_back(m.body);
        return small_letters<D>::base::dead_letter(m, reason);
    }
    std::vector<std::string> stored_bodies;
};

template <class Queue>
queue_report with_letter(Queue& queue, manual_environment& env, std::size_t body,
                         std::string reason)
{
    queue.put(std::string(body, 'b'), "order-7");
    const auto handle = [&](const queued_message&) { return waybill::permanent(reason); };
    return waybill::run_queue(queue, handle, {.copy_key = copy_key, .stop_when_empty = true},
                              waybill::time_limited(env, 1h));
}

template <queue_deferral D>
void is_stuck_with_pauses(std::size_t most_in_an_hour)
{
    manual_environment env(start);
    small_letters<D> queue(env);
    const auto r = with_letter(queue, env, 1'000, "no such customer");
    CHECK(r.stuck >= 20);
    CHECK(r.stuck <= most_in_an_hour);
    CHECK(sum_of_outcomes(r) == r.received);
    CHECK(r.stuck == r.received);
    CHECK(queue.size() == 1);
    CHECK(waybill::describe(r.listed.at(0)) ==
          "order-7: stuck: the queue refuses the dead letter: the letter is too large; its reason: "
          "permanent: no such customer");
    CHECK(waybill::describe(r).find(" stuck") != std::string::npos);
    // When the limit is raised, the letter is stored.
    queue.limit = 2'000;
    env.advance(200s);
    const auto handle = [&](const queued_message&) { return waybill::permanent("no"); };
    CHECK(waybill::run_queue(queue, handle, {.copy_key = copy_key, .stop_when_empty = true}, env)
              .dead_lettered == 1);
}

}  // namespace

TEST_CASE("a dead letter that is refused for good gets a shorter reason")
{
    manual_environment env(start);
    small_letters<queue_deferral::by_time> queue(env);
    const auto r = with_letter(queue, env, 300, std::string(700, 'r'));
    CHECK(r.dead_lettered == 1);
    CHECK(queue.reasons == std::vector<std::size_t>{711, 128});
    CHECK(queue.dead_letters().at(0).reason == "permanent: " + std::string(117, 'r'));
    CHECK(r.listed.at(0).text == "permanent: " + std::string(700, 'r'));
}

TEST_CASE("a dead letter that is refused with a shorter reason has a reference to the body")
{
    manual_environment env(start);
    referring_letters<queue_deferral::by_time> queue(env);
    const auto r = with_letter(queue, env, 1'000, "no such customer");
    CHECK(r.dead_lettered == 1);
    CHECK(queue.reasons.size() == 1);  // no shorter one exists
    CHECK(queue.stored_bodies == std::vector<std::string>{std::string(1'000, 'b')});
}

TEST_CASE("a message whose dead letter is refused in each form is stuck, with pauses")
{
    using enum queue_deferral;
    is_stuck_with_pauses<by_time>(36);
    is_stuck_with_pauses<by_copy>(36);
    is_stuck_with_pauses<by_pointer>(36);
    is_stuck_with_pauses<none>(61);  // once in each lock
}

TEST_CASE("a dead letter that fails for another reason than its own is not stuck")
{
    struct failing : memory_queue<manual_environment> {
        using memory_queue::memory_queue;
        fault dead_letter(queued_message& m, std::string_view reason)
        {
            if (++calls <= 4) return waybill::infrastructure("down");
            return memory_queue::dead_letter(m, reason);
        }
        int calls = 0;
    };
    manual_environment env(start);
    failing queue(env);
    queue.put("a");
    const auto handle = [](const queued_message&) { return waybill::permanent("no"); };
    const auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
    CHECK(r.stuck == 0);
    CHECK(r.unconfirmed == 1);
    CHECK(r.dead_lettered == 1);
}

TEST_CASE("an invalid policy ends the driver without a request, and the report contains the field")
{
    manual_environment env(start);
    memory_queue queue(env, 10);
    queue.put("a");
    const auto handle = [](const queued_message&) {};
    const auto field = [&](const queue_policy& p) {
        const auto r = waybill::run_queue(queue, handle, p, env);
        CHECK(r.end == end_reason::invalid_policy);
        CHECK(r.received == 0);
        return r.invalid ? std::string(r.invalid->field) : std::string();
    };
    CHECK(field({.lock = 0s}) == "queue_policy.lock");
    CHECK(field({.retry_for = -1s}) == "queue_policy.retry_for");
    CHECK(field({.pauses = {.base = 0s}}) == "backoff.base");
    CHECK(field({.pauses = {.spread = waybill::backoff::jitter::full}}) ==
          "queue_policy.pauses.spread");
    CHECK(field({.max_deliveries = 0}) == "queue_policy.max_deliveries");
    CHECK(field({.max_crashes = 0}) == "queue_policy.max_crashes");
    CHECK(field({.max_deliveries = 10}) == "queue_policy.max_deliveries");  // not for 24 h
    CHECK(field({.lock = 1s}) == "queue_policy.to_settle");
    CHECK(field({.to_settle = -1s}) == "queue_policy.to_settle");
    CHECK(field({.poll_interval = 0s}) == "queue_policy.poll_interval");
    CHECK(field({.max_handling = 0s}) == "queue_policy.max_handling");
    static_assert(!waybill::validate(queue_policy{}));
    CHECK(waybill::describe(waybill::run_queue(queue, handle, {.max_deliveries = 10}, env)) ==
          "invalid_policy: queue_policy.max_deliveries is 10: must be at least the number of tries "
          "in retry_for (871)");
}

TEST_CASE("validate with the queue's type refuses a retry_for that its deliveries do not allow")
{
    using by_time = queue_with<queue_deferral::by_time>;
    using by_copy = queue_with<queue_deferral::by_copy>;
    static_assert(!waybill::validate(queue_policy{.max_deliveries = 10}));
    static_assert(waybill::validate<by_time>(queue_policy{.max_deliveries = 870}));
    static_assert(!waybill::validate<by_time>(queue_policy{.max_deliveries = 871}));
    static_assert(
        !waybill::validate<by_copy>(queue_policy{.max_deliveries = 10, .copy_key = copy_key}));
    static_assert(waybill::validate<by_copy>(queue_policy{.lock = 0s}));
    const auto without_key =
        waybill::validate<by_copy>(queue_policy{.copy_key = copy_key.substr(0, 15)});
    REQUIRE(without_key.has_value());
    CHECK(waybill::describe(*without_key) ==
          "queue_policy.copy_key is 15: bytes must be at least, because the queue schedules copies "
          "(16)");
    // The figures of the guide.
    const auto fits = [](waybill::duration retry_for, std::uint64_t deliveries) {
        return !waybill::validate<by_time>(
            queue_policy{.retry_for = retry_for, .max_deliveries = deliveries});
    };
    CHECK(fits(5min, 10));
    CHECK(!fits(5min + 2s, 10));
    CHECK(fits(150min, 100));
    CHECK(fits(27h, 1'000));
}

TEST_CASE("if calls always fail, each delivery has an outcome, and the time limit ends the driver")
{
    using tests_support::injected_fault;
    const auto run = [](auto deferral, int first, injected_fault always) {
        manual_environment env(start);
        memory_queue<manual_environment, decltype(deferral)::value> queue(env);
        for (const char* body : {"a", "b", "c"}) queue.put(body);
        int calls = 0;
        const auto script = [&] { return ++calls <= first ? injected_fault::none : always; };
        tests_support::faulty_queue<decltype(queue), decltype(script)> faulty(queue, script);
        const auto handle = [](const queued_message& m) -> fault {
            if (m.body == "b") return waybill::permanent("no");
            return m.body == "c" ? waybill::infrastructure("down") : fault{};
        };
        const auto r = waybill::run_queue(faulty, handle, {.lock = 30s, .stop_when_empty = true},
                                          waybill::time_limited(env, 1h));
        CHECK(r.end == end_reason::stopped);
        CHECK(sum_of_outcomes(r) == r.received);
        CHECK(calls < 2'000);  // with pauses
        CHECK(queue.size() + queue.completed() + queue.dead_letters().size() >= 3);
        CHECK(!r.queue_fault.ok());
    };
    using by_time = std::integral_constant<queue_deferral, queue_deferral::by_time>;
    using by_pointer = std::integral_constant<queue_deferral, queue_deferral::by_pointer>;
    for (int first = 0; first != 8; ++first) {
        run(by_time{}, first, injected_fault::fails);
        run(by_pointer{}, first, injected_fault::fails);
    }
}

TEST_CASE("if two of five calls fail, half of them after their effect, every message is settled")
{
    using tests_support::injected_fault;
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
        manual_environment dice(start, {}, seed);
        manual_environment env(start);
        queue_with<queue_deferral::by_pointer> queue(env);
        for (const char* body : {"a", "b", "c"}) queue.put(body);
        const auto script = [&] {
            if (dice.random() < 0.6) return injected_fault::none;
            return dice.random() < 0.5 ? injected_fault::fails : injected_fault::fails_though_done;
        };
        tests_support::faulty_queue<decltype(queue), decltype(script)> faulty(queue, script);
        int times = 0;
        const auto handle = [&](const queued_message& m) -> fault {
            if (m.body == "b") return waybill::permanent("no");
            return m.body == "c" && ++times < 3 ? waybill::transient("busy") : fault{};
        };
        const auto r = waybill::run_queue(faulty, handle,
                                          {.lock = 30s, .max_crashes = 20, .stop_when_empty = true},
                                          waybill::time_limited(env, 24h));
        CHECK(r.end == end_reason::empty);
        CHECK(sum_of_outcomes(r) == r.received);
        CHECK(queue.completed() == 2);
        CHECK(queue.dead_letters().size() == 1);
        CHECK(queue.size() == 0);
    }
}

TEST_CASE("a queue that refuses requests permanently ends the driver")
{
    struct refusing {
        struct message {
            std::uint64_t deliveries = 1;
        };
        waybill::result<std::optional<message>> receive(waybill::duration)
        {
            return waybill::unexpected(waybill::permanent("no such queue"));
        }
        fault complete(message&) { return {}; }
        fault abandon(message&) { return {}; }
        fault dead_letter(message&, std::string_view) { return {}; }
    };
    static_assert(waybill::message_queue<refusing>);
    manual_environment env(start);
    refusing queue;
    const auto r = waybill::run_queue(queue, [](const refusing::message&) {}, {}, env);
    CHECK(r.end == end_reason::queue_failed);
    CHECK(waybill::describe(r) == "0 received; the queue: no such queue; queue_failed");
}

TEST_CASE("describe returns a policy and a report in one line")
{
    CHECK(waybill::describe(queue_policy{}) == "lock 1min, retries for 24h, pauses of 1s to 150s");
    CHECK(
        waybill::describe(queue_policy{.retry_for = waybill::duration::highest(),
                                       .max_deliveries = 10,
                                       .stop_when_empty = true}) ==
        "lock 1min, retries without limit, pauses of 1s to 150s, at most 10 deliveries, until the "
        "queue is empty");
}
