// SPDX-License-Identifier: MIT
//
// Every placement of at most two faults or ends of the process over the calls of run_queue; in
// `tests/run deep`, of at most three.

#include <concepts>
#include <cstdint>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <support/every_schedule.hpp>
#include <support/faulty_queue.hpp>

#include <waybill/ext/chrono.hpp>
#include <waybill/queue/run_queue.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>

namespace {

using namespace std::chrono_literals;
using tests_support::faulty_queue;
using tests_support::injected_fault;
using waybill::fault;
using waybill::queue_report;
using waybill::testing::choices;
using waybill::testing::manual_environment;
using waybill::testing::memory_queue;
using waybill::testing::queue_deferral;
using waybill::testing::queued_message;

constexpr injected_fault all[] = {injected_fault::none, injected_fault::fails,
                                  injected_fault::fails_though_done, injected_fault::dies_before,
                                  injected_fault::dies_after};

template <queue_deferral D>
using queue_with = memory_queue<manual_environment, D>;

// Like SQS: deferral by time, and each delivery counts. With a circuit breaker, run_queue keeps a
// message in an outage from its second delivery on.
struct counted_queue : private queue_with<queue_deferral::by_time> {
    using base = queue_with<queue_deferral::by_time>;
    explicit counted_queue(manual_environment& env) : base(env, 10) {}
    using base::dead_letter, base::dead_letters, base::empty, base::size;
    using base::message, base::pointer, base::put, base::receive, base::complete, base::renew;
    fault abandon(message& m) { return base::abandon(m, true); }
    fault defer(message& m, waybill::duration delay) { return base::defer(m, delay, true); }
};

// One run: three messages. "a" fails once and then succeeds, "b" is permanent, and in "c" the mail
// server is down once, or with a counted queue three times. A handler takes 20 s, so the lock of
// 30 s is renewed in it.
template <class Queue>
class one_run {
public:
    one_run(choices& c, int max_faults) : faults_left_(max_faults), choices_(c) {}

    // The first rule that does not hold; empty if all hold.
    std::string run()
    {
        for (const char* body : {"a", "b", "c"}) queue_.put(body);
        const auto script = [this] { return next_fault(); };
        faulty_queue<Queue, decltype(script)> faulty(queue_, script);
        waybill::queue_policy policy{.lock = 30s,
                                     .retry_for = 1h,
                                     .copy_key = "a key of the tests",
                                     .stop_when_empty = true};
        waybill::circuit_breaker breaker({.consecutive_failures = 2});
        if (is_counted) policy.max_deliveries = 10;
        if (is_counted) policy.retry_for = 5min;
        if (is_counted) policy.breaker = &breaker;
        for (int process = 0; process != 4; ++process) {
            faulty.revive();
            env_.stop_at(waybill::steady_time::highest());
            const auto handle = [&](const queued_message& m,
                                    waybill::queue_policy::message_lock& lock) -> fault {
                return handled(m, lock, faulty);
            };
            auto limited = waybill::time_limited(env_, 2h);
            const queue_report r = waybill::run_queue(faulty, handle, policy, limited);
            if (r.received != r.completed + r.given_back + r.deferred + r.dead_lettered +
                                  r.left_to_lock + r.unconfirmed + r.stuck)
                return "each delivery has one outcome";
            if (faulty.alive()) {
                if (r.end != queue_report::end_reason::empty) return "the queue becomes empty";
                return after_the_end();
            }
        }
        return "it ends";
    }

private:
    static constexpr bool is_counted = std::same_as<Queue, counted_queue>;

    template <class Faulty>
    fault handled(const queued_message& m, waybill::queue_policy::message_lock& lock,
                  Faulty& faulty)
    {
        if (!faulty.alive()) return waybill::infrastructure("process gone");
        const injected_fault chosen = next_fault();
        if (chosen == injected_fault::dies_before) {
            die(faulty);
            return waybill::infrastructure("process gone");
        }
        env_.advance(20s);
        if (!lock.keep()) return waybill::ownership_lost("the lock is lost");
        if (!faulty.alive()) return waybill::infrastructure("process gone");
        fault f;
        const int n = ++handled_[m.body];
        if (chosen == injected_fault::fails) f = waybill::infrastructure("the handler failed");
        else if (m.body == "b") f = waybill::permanent("no such customer");
        else if (m.body == "a" && n == 1) f = waybill::transient("busy");
        else if (m.body == "c" && n <= (is_counted ? 3 : 1)) f = waybill::infrastructure("down");
        if (f.ok()) ++effects_[m.body];
        if (chosen == injected_fault::fails_though_done && f.ok())
            f = waybill::infrastructure("the effect is there, and the result is lost");
        if (chosen == injected_fault::dies_after) die(faulty);
        return f;
    }

    template <class Faulty>
    void die(Faulty& faulty)
    {
        faulty.die();
        env_.stop_at(env_.now());
    }

    [[nodiscard]] injected_fault next_fault()
    {
        if (faults_left_ == 0) return injected_fault::none;
        const injected_fault chosen = all[choices_.pick(5)];
        if (chosen == injected_fault::none) return chosen;
        --faults_left_;
        ++faults_;
        if (chosen == injected_fault::dies_before || chosen == injected_fault::dies_after)
            env_.stop_at(env_.now());  // nothing more happens in this process
        return chosen;
    }

    [[nodiscard]] std::string after_the_end()
    {
        if (queue_.size() != 0) return "no message is left";
        if (effects_["a"] == 0 || effects_["c"] == 0) return "no message is lost";
        if (effects_["a"] > 1 + faults_ || effects_["c"] > 1 + faults_)
            return "an effect is repeated only after a fault";
        bool has_b = false;
        for (const auto& d : queue_.dead_letters()) {
            if (d.what.body != "b") return "only the permanent fault is dead-lettered";
            if (!d.reason.starts_with("permanent: no such customer")) return "with its reason";
            has_b = true;
        }
        return has_b ? "" : "the permanent fault is dead-lettered";
    }

    manual_environment env_{waybill::steady_time::at(1h), waybill::wall_time::at(24h)};
    Queue queue_{env_};
    std::map<std::string, int> handled_;
    std::map<std::string, int> effects_;
    int faults_left_;
    int faults_ = 0;
    choices& choices_;
};

template <class Queue>
void every_placement(const char* what, int max_faults)
{
    const auto v = tests_support::every_schedule(
        "run_queue", what, [&](choices& c) { return one_run<Queue>(c, max_faults).run(); });
    CHECK(v.rule == "");
    CHECK(v.schedules >= 1'000);
}

void all_queues(int max_faults)
{
    using enum queue_deferral;
    every_placement<queue_with<by_time>>("by time", max_faults);
    every_placement<queue_with<by_copy>>("with copies", max_faults);
    every_placement<queue_with<by_pointer>>("with pointers", max_faults);
    every_placement<queue_with<none>>("without deferral", max_faults);
    every_placement<counted_queue>("each delivery counts", max_faults);
}

}  // namespace

TEST_CASE("run_queue: no message is lost by two faults or process deaths at any calls")
{
    all_queues(2);
}

TEST_CASE("deep: run_queue: no message is lost by three faults or process deaths at any calls" *
          doctest::skip())
{
    all_queues(3);
}
