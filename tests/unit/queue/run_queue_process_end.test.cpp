// SPDX-License-Identifier: MIT
//
// A worker whose process ends between the effect of its handler and `complete`. The message is
// delivered again, its deliveries are counted, and the effect is made once by its id.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/faulty_queue.hpp>

#include <waybill/core/environment.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/queue/run_queue.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>

namespace {

using namespace std::chrono_literals;
using tests_support::faulty_queue;
using tests_support::injected_fault;
using waybill::fault;
using waybill::queue_report;
using waybill::testing::manual_environment;
using waybill::testing::memory_queue;
using waybill::testing::queue_deferral;
using waybill::testing::queued_message;

using end_reason = queue_report::end_reason;

const waybill::steady_time first_time = waybill::steady_time::at(1h);

// A queue with "order-7" and "order-8", and workers with a handler that is idempotent by the id of
// the message.
template <queue_deferral D>
struct simulation {
    struct call {
        std::string id;
        std::uint64_t deliveries;
        waybill::steady_time time;
    };

    explicit simulation(std::uint64_t max_deliveries = ~std::uint64_t{0})
        : queue(env, max_deliveries)
    {
        queue.put("a", "order-7");
        queue.put("b", "order-8");
    }

    // A worker that runs until the queue is empty. Its first settlement is `last`: a death ends the
    // process.
    queue_report run_worker(injected_fault last = injected_fault::none)
    {
        env.stop_at(waybill::steady_time::highest());
        bool handled = false;
        const auto script = [&] {
            if (!handled || last == injected_fault::none) return injected_fault::none;
            env.stop_at(env.now());
            return last;
        };
        faulty_queue<memory_queue<manual_environment, D>, decltype(script)> worker(queue, script);
        const auto handle = [&](const queued_message& m) -> fault {
            calls.push_back({m.id, m.deliveries, env.now()});
            handled = true;
            if (ids_done.insert(m.id).second) ++effects[m.id];
            return m.deliveries == fails_at ? waybill::transient("busy") : fault{};
        };
        const waybill::queue_policy policy{.lock = 60s,
                                           .retry_for = retry_for,
                                           .max_deliveries = policy_deliveries,
                                           .max_crashes = max_crashes,
                                           .copy_key = "a key of the tests",
                                           .stop_when_empty = true};
        auto limited = waybill::time_limited(env, 1h);
        return waybill::run_queue(worker, handle, policy, limited);
    }

    manual_environment env{first_time, waybill::wall_time::at(24h)};
    memory_queue<manual_environment, D> queue;
    waybill::duration retry_for = 24h;
    std::uint64_t policy_deliveries = ~std::uint64_t{0};
    std::uint64_t max_crashes = waybill::queue_policy{}.max_crashes;
    std::uint64_t fails_at = 0;
    std::vector<call> calls{};
    std::set<std::string> ids_done{};
    std::map<std::string, int> effects{};
};

[[nodiscard]] std::uint64_t outcome_sum(const queue_report& r)
{
    return r.completed + r.given_back + r.deferred + r.dead_lettered + r.left_to_lock +
           r.unconfirmed + r.stuck;
}

// The report of a worker that handled order-7 and ended in its settlement.
void is_unconfirmed(const queue_report& r)
{
    CHECK(r.end == end_reason::stopped);
    CHECK(r.received == 1);
    CHECK(r.completed == 0);
    CHECK(r.unconfirmed == 1);
    REQUIRE(r.listed.size() == 1);
    CHECK(waybill::describe(r.listed[0]) == "order-7: unconfirmed: process gone");
}

template <queue_deferral D>
void is_delivered_again()
{
    simulation<D> s;
    is_unconfirmed(s.run_worker(injected_fault::dies_before));
    CHECK(s.queue.completed() == 0);
    CHECK(s.queue.size() == 2);

    const queue_report r = s.run_worker();
    CHECK(r.end == end_reason::empty);
    CHECK(r.received == 2);
    CHECK(r.completed == 2);
    CHECK(r.listed.empty());
    CHECK(outcome_sum(r) == r.received);
    CHECK(s.queue.completed() == 2);
    CHECK(s.queue.dead_letters().empty());

    // The lock of the ended worker delays order-7, and not order-8.
    REQUIRE(s.calls.size() == 3);
    CHECK(s.calls[1].id == "order-8");
    CHECK(s.calls[1].deliveries == 1);
    CHECK(s.calls[2].id == "order-7");
    CHECK(s.calls[2].deliveries == 2);
    CHECK(s.calls[2].time >= first_time + 60s);
    CHECK(s.calls[2].time <= first_time + 60s + waybill::queue_policy{}.poll_interval);
    CHECK(s.effects == std::map<std::string, int>{{"order-7", 1}, {"order-8", 1}});
}

template <queue_deferral D>
void is_not_delivered_again()
{
    simulation<D> s;
    is_unconfirmed(s.run_worker(injected_fault::dies_after));
    CHECK(s.queue.completed() == 1);

    const queue_report r = s.run_worker();
    CHECK(r.end == end_reason::empty);
    CHECK(r.received == 1);
    CHECK(r.completed == 1);
    CHECK(s.queue.completed() == 2);
    REQUIRE(s.calls.size() == 2);
    CHECK(s.calls[1].id == "order-8");
}

}  // namespace

TEST_CASE("if a worker ends before complete, the message is delivered again after its lock")
{
    using enum queue_deferral;
    SUBCASE("by time")
    {
        is_delivered_again<by_time>();
    }
    SUBCASE("with copies")
    {
        is_delivered_again<by_copy>();
    }
    SUBCASE("with pointers")
    {
        is_delivered_again<by_pointer>();
    }
    SUBCASE("without deferral")
    {
        is_delivered_again<none>();
    }
}

TEST_CASE("if a worker ends after the effect of complete, the message is not delivered again")
{
    using enum queue_deferral;
    SUBCASE("by time")
    {
        is_not_delivered_again<by_time>();
    }
    SUBCASE("with copies")
    {
        is_not_delivered_again<by_copy>();
    }
    SUBCASE("with pointers")
    {
        is_not_delivered_again<by_pointer>();
    }
    SUBCASE("without deferral")
    {
        is_not_delivered_again<none>();
    }
}

TEST_CASE("the deliveries of ended workers count as tries of the message")
{
    // The last worker fails once. With eight ended workers there is one more delivery after that.
    for (const std::uint64_t ended : {std::uint64_t{8}, std::uint64_t{9}}) {
        CAPTURE(ended);
        simulation<queue_deferral::by_time> s(11);
        s.policy_deliveries = 10;
        s.max_crashes = 100;
        s.retry_for = 5min;
        s.fails_at = ended + 1;
        for (std::uint64_t n = 0; n != ended; ++n) {
            is_unconfirmed(s.run_worker(injected_fault::dies_before));
            s.env.advance(60s);  // so order-7 comes first again
        }
        const queue_report r = s.run_worker();
        CHECK(r.end == end_reason::empty);
        CHECK(outcome_sum(r) == r.received);
        CHECK(r.deferred == (ended == 8 ? 1 : 0));
        CHECK(r.completed == (ended == 8 ? 2 : 1));
        CHECK(s.queue.dead_letters().size() == (ended == 8 ? 0 : 1));
        CHECK(s.effects == std::map<std::string, int>{{"order-7", 1}, {"order-8", 1}});
        for (const auto& d : s.queue.dead_letters()) {
            CHECK(d.what.id == "order-7");
            CHECK(d.what.deliveries == 10);
            CHECK(d.reason == "exhausted: transient, 10 of 10 tries (levels): busy");
        }
    }
}

namespace {

template <queue_deferral D>
void is_handled_five_times(waybill::duration retry_for)
{
    simulation<D> s;
    s.retry_for = retry_for;
    int workers = 0;
    queue_report r;
    do {
        r = s.run_worker(injected_fault::dies_before);
        CHECK(outcome_sum(r) == r.received);
    } while (r.end != end_reason::empty && ++workers != 100);
    CHECK(r.end == end_reason::empty);
    CHECK(s.calls.size() == 10);
    CHECK(s.queue.completed() == 0);
    CHECK(s.queue.dead_letters().size() == 2);
    CHECK(s.effects == std::map<std::string, int>{{"order-7", 1}, {"order-8", 1}});
    for (const auto& d : s.queue.dead_letters()) {
        CHECK(d.reason ==
              "crashes: 5 of 5 deliveries (max_crashes): the last delivery before this one ended "
              "without a settlement, as after a crash, or the queue ignores `failed`");
    }
}

}  // namespace

TEST_CASE("a message whose worker always ends is dead-lettered after max_crashes deliveries")
{
    for (const waybill::duration retry_for :
         {waybill::duration{}, waybill::duration{24h}, waybill::duration::highest()}) {
        is_handled_five_times<queue_deferral::by_time>(retry_for);
        is_handled_five_times<queue_deferral::by_copy>(retry_for);
        is_handled_five_times<queue_deferral::by_pointer>(retry_for);
    }
}

TEST_CASE("without a limit of crashes, a message is dead-lettered after the limit of its tries")
{
    simulation<queue_deferral::by_time> s;
    s.retry_for = {};
    s.max_crashes = 11;
    for (int worker = 0; worker != 8; ++worker) {
        is_unconfirmed(s.run_worker(injected_fault::dies_before));
        s.env.advance(60s);
    }
    s.fails_at = 9;
    const queue_report r = s.run_worker();
    CHECK(r.dead_lettered == 1);
    CHECK(s.queue.dead_letters().at(0).reason ==
          "exhausted: transient, 9 of 1 tries (levels): busy");
}

TEST_CASE("a failed try between crashes sets their number to 0")
{
    manual_environment env(first_time, waybill::wall_time::at(24h));
    memory_queue queue(env);
    queue.put("a");
    int calls = 0;
    const auto handle = [&](const queued_message& m) -> fault {
        CHECK(m.crashes == 4);
        env.stop_at(env.now());
        return ++calls == 10 ? fault{} : waybill::transient("busy");
    };
    for (int worker = 0; worker != 10; ++worker) {
        for (int crash = 0; crash != 4; ++crash) {
            REQUIRE(queue.receive(60s)->has_value());
            env.advance(200s);
        }
        env.stop_at(waybill::steady_time::highest());
        (void)waybill::run_queue(queue, handle, {}, env);
        env.advance(200s);
    }
    CHECK(calls == 10);
    CHECK(queue.completed() == 1);
}
