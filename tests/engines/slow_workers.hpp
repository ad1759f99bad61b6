// SPDX-License-Identifier: MIT
//
// slow_workers: workers that handle some messages for longer than their lock.
//
//     slow_workers w(events, 400ms, 600ms);
//     w.run("lock shorter than the handler", begin, [&](std::size_t) { return queue(); },
//           [&] { return count(*) of the queue; }, 100s);
//
// Each worker is a thread with run_queue on a queue of its own. One message in 2,000 takes longer
// than the lock, at its first two deliveries. The handler counts each delivery:
//
//   1. There are at most as many repetitions as run_queue has reported: unconfirmed, left to the
//      lock, or given back.
//   2. A repetition has a delivery count above 1.
//   3. At least half of the slow messages arrive again: their lock has ended.
//
// With `server_kills`, the server is killed while the workers run, instead of the third rule.

#ifndef WAYBILL_TESTS_ENGINES_SLOW_WORKERS_HPP
#define WAYBILL_TESTS_ENGINES_SLOW_WORKERS_HPP

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"
#include <waybill/ext/chrono.hpp>
#include <waybill/queue.hpp>

namespace engines_test {

class slow_workers {
public:
    static constexpr std::size_t workers = 4;

    /// A slow message takes `work`; 0: no message is slow.
    slow_workers(const std::vector<std::string>& events, milliseconds lock, milliseconds work)
        : lock_(lock), work_(work), found_(events)
    {
    }

    /// Runs f(w) in each worker thread.
    template <class F>
    static void in_threads(F f)
    {
        std::vector<std::thread> all;
        for (std::size_t w = 0; w != workers; ++w) all.emplace_back([f, w] { f(w); });
        for (std::thread& t : all) t.join();
    }

    /// `queue(w)` makes the queue of a worker. `left()` is the engine's own count of messages.
    /// `server_kills` is the number of kills of the server.
    template <class Queue, class Left>
    void run(const std::string& fault, clock::time_point begin, Queue queue, Left left,
             seconds limit, const std::atomic<int>* server_kills = nullptr)
    {
        std::thread watch([&] {
            // If a message was lost, the queue is empty before all events are found.
            int empty = 0;
            wait_for(
                [&] {
                    empty = left() == 0 ? empty + 1 : 0;
                    return empty != 0 && (all_found() || empty == 200);
                },
                limit);
            stop_ = true;
        });
        in_threads([&](std::size_t w) { work(queue, w); });
        watch.join();
        const std::uint64_t remaining = left();
        const std::string detail = std::to_string(slow_) + " slow, " +
                                   std::to_string(not_confirmed_) + " unconfirmed, " +
                                   std::to_string(faults_) + " faults of the queue";
        std::string missing = none(remaining, "messages left in the queue") +
                              none(refused_, "messages deferred or dead-lettered") +
                              none(doubled_, "repetitions at a first delivery");
        if (server_kills != nullptr) {
            missing += at_least(static_cast<std::uint64_t>(*server_kills), 2, "kills") +
                       at_least(faults_, 1, "faults of the queue");
        } else {
            missing += at_least(slow_repeated_, std::max<std::uint64_t>(1, slow_first_ / 2),
                                "slow messages that arrived again");
        }
        // Other workers get the messages that follow, so a key has no order.
        report(fault, found_, begin,
               {.max_repeated = not_confirmed_, .ordered = false, .missing = missing}, detail);
    }

private:
    template <class Queue>
    void work(Queue& queue, std::size_t w)
    {
        auto q = queue(w);
        stoppable env;
        env.stop = &stop_;
        const auto handle = [&](const auto& m) {
            const auto n = std::strtoull(m.body.c_str(), nullptr, 10);
            const bool is_slow = work_.count() != 0 && n % 2'000 == 1'999;
            if (is_slow && m.deliveries <= 2) {
                ++slow_;
                if (m.deliveries <= 1) ++slow_first_;
                if (m.deliveries == 2) ++slow_repeated_;
                std::this_thread::sleep_for(work_);
            }
            const std::lock_guard guard(mutex_);
            const std::uint64_t repeated = found_.repeated();
            found_.add(m.body);
            if (m.deliveries <= 1) doubled_ += found_.repeated() - repeated;
            return waybill::fault{};
        };
        const auto r = waybill::run_queue(
            q, handle,
            {.lock = lock_, .to_settle = milliseconds(50), .poll_interval = milliseconds(20)}, env);
        not_confirmed_ += r.unconfirmed + r.stuck + r.left_to_lock + r.given_back;
        faults_ += r.failed_receives + r.failed_settlements;
        refused_ += r.deferred + r.dead_lettered;
        if (r.end != waybill::queue_report::end_reason::stopped) {
            ++failures;
            std::puts(waybill::describe(r).c_str());
        }
    }

    bool all_found()
    {
        const std::lock_guard guard(mutex_);
        return found_.lost() == 0;
    }

    milliseconds lock_;
    milliseconds work_;
    std::mutex mutex_{};
    arrivals found_;
    std::atomic<bool> stop_ = false;
    std::atomic<std::uint64_t> not_confirmed_ = 0;
    std::atomic<std::uint64_t> faults_ = 0;
    std::atomic<std::uint64_t> refused_ = 0;
    std::atomic<std::uint64_t> slow_ = 0;
    std::atomic<std::uint64_t> slow_first_ = 0;
    std::atomic<std::uint64_t> slow_repeated_ = 0;
    std::uint64_t doubled_ = 0;
};

}  // namespace engines_test

#endif  // WAYBILL_TESTS_ENGINES_SLOW_WORKERS_HPP
