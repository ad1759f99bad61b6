// SPDX-License-Identifier: MIT
//
// partition_owners: three owners of eight partitions, each a thread with run_partitions, while the
// store of their effects has faults.
//
//     partition_owners owners(events, {.interval = 300ms});
//     owners.run("kill -9", [&](int w) { return std::make_unique<worker>(w); },
//                [&] { fault(); }, [&] { return count(*) of the effects; }, 200s);
//     arrivals found = rows of the effects, in order;
//     owners.report("kill -9", found, at_least(kills, 2, "kills"), "");
//
// After the last effect, further owners run for 2 s. They continue at the stored checkpoints, so a
// stale checkpoint repeats effects. The log is in memory. Event n is in partition n % 8. A worker
// has `store`, `leases`, `insert(partition, body)` and `classify(exception)`.

#ifndef WAYBILL_TESTS_ENGINES_PARTITION_OWNERS_HPP
#define WAYBILL_TESTS_ENGINES_PARTITION_OWNERS_HPP

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"
#include <waybill/ext/chrono.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/memory_log.hpp>

namespace engines_test {

struct owner_options {
    milliseconds interval{500};  ///< Of the leases; their expiry is six times that.
    milliseconds slow{0};        ///< The time of one event in 10,000 at its first delivery.
    std::uint64_t batch = 64;
    std::size_t owners = 3;
};

class partition_owners {
public:
    static constexpr std::uint64_t partitions = 8;

    partition_owners(const std::vector<std::string>& events, owner_options o)
        : events_(events), options_(o), begin_(clock::now())
    {
        std::vector<std::vector<waybill::testing::memory_event>> all(partitions);
        for (std::size_t n = 0; n != events.size(); ++n) {
            auto& part = all[n % partitions];
            part.push_back({part.size() + 1, events[n]});
        }
        log_.emplace(all);
    }

    /// Calls `disturb()` in this thread until `count()`, which may throw, returns the number of
    /// events.
    template <class Make, class Disturb, class Count>
    void run(Make make, Disturb disturb, Count count, seconds limit)
    {
        in_owners(make, total_, [&] { disturb_until(disturb, count, limit); });
        waybill::partitions_report later;
        in_owners(make, later, [] { std::this_thread::sleep_for(seconds(2)); });
        if (later.batches == 0) return;
        ++failures;
        std::printf("%llu batches after the last event\n",
                    static_cast<unsigned long long>(later.batches));
    }

    /// `missing`: of the fault that the test injects. A fault that no owner has seen is missing, too.
    void report(const std::string& fault, const arrivals& found, const std::string& missing,
                const std::string& detail)
    {
        const std::string text = std::to_string(total_.failed_batches) + " batches failed, " +
                                 std::to_string(total_.lost_batches) + " lost, " +
                                 std::to_string(total_.unknown_commits) + " commits unknown, " +
                                 std::to_string(total_.failed_lease_calls) + " lease calls failed" +
                                 detail;
        engines_test::report(fault, found, begin_,
                             {.missing = missing + at_least(faults(), 1, "faults of owners") +
                                         none(total_.dead_lettered, "dead letters")},
                             text);
    }

    /// Faults of the store, the leases and the commits, by the reports of the owners.
    [[nodiscard]] std::uint64_t faults() const
    {
        return total_.failed_batches + total_.lost_batches + total_.unknown_commits +
               total_.failed_opens + total_.failed_lease_calls;
    }
    /// Events that were handled again after a handler that exceeded its lease.
    [[nodiscard]] std::uint64_t slow_repeated() const { return slow_repeated_; }

private:
    /// Runs the owners until `wait` returns.
    template <class Make, class Wait>
    void in_owners(Make& make, waybill::partitions_report& total, Wait wait)
    {
        stop_ = false;
        std::vector<std::thread> threads;
        for (std::size_t w = 0; w != options_.owners; ++w)
            threads.emplace_back([&, w] { own(make, w, total); });
        wait();
        stop_ = true;
        for (std::thread& t : threads) t.join();
    }

    template <class Disturb, class Count>
    void disturb_until(Disturb& disturb, Count& count, seconds limit)
    {
        auto next = clock::now();
        for (const auto until = clock::now() + limit; clock::now() < until;) {
            disturb();
            std::this_thread::sleep_for(milliseconds(10));
            if (clock::now() < next) continue;
            next = clock::now() + milliseconds(250);
            try {
                if (count() >= events_.size()) break;
            } catch (const std::exception&) {
                // The server has a fault.
            }
        }
    }

    template <class Make>
    void own(Make& make, std::size_t w, waybill::partitions_report& total)
    {
        auto worker = make(w);
        auto log = *log_;
        stoppable env;
        env.stop = &stop_;
        const auto handle = [&](auto&, const auto& event, const auto& key) -> waybill::fault {
            if (is_slow(event.body)) std::this_thread::sleep_for(options_.slow);
            worker->insert(key.partition, event.body);
            return {};
        };
        waybill::partitions_report r;
        const waybill::partition_tasks::policy policy{
            .source = "events",
            .group = "effects",
            .owner = "owner-" + std::to_string(w),
            .max_events = options_.batch,
            .leases = {.interval = options_.interval, .expiry = 6 * options_.interval},
            .lifecycle = {.poll = milliseconds(50),
                          .pause = {.base = milliseconds(50), .cap = milliseconds(500)}}};
        waybill::run_partitions(
            log, worker->store, worker->leases,
            waybill::catching(handle,
                              [](const std::exception& e) {
                                  return std::remove_reference_t<decltype(*worker)>::classify(e);
                              }),
            policy, env, r);
        const std::lock_guard guard(mutex_);
        if (r.invalid) {
            ++failures;
            std::puts(describe(r).c_str());
        }
        total.failed_batches += r.failed_batches;
        total.lost_batches += r.lost_batches;
        total.unknown_commits += r.unknown_commits;
        total.failed_opens += r.failed_opens;
        total.failed_lease_calls += r.failed_lease_calls;
        total.dead_lettered += r.dead_lettered;
        total.batches += r.batches;
    }

    bool is_slow(const std::string& body)
    {
        if (options_.slow.count() == 0) return false;
        const auto n = std::strtoull(body.c_str(), nullptr, 10);
        if (n % 10'000 != 9'999) return false;
        const std::lock_guard guard(mutex_);
        if (slow_.insert(n).second) return true;
        ++slow_repeated_;
        return false;
    }

    const std::vector<std::string>& events_;
    owner_options options_;
    clock::time_point begin_;
    std::optional<waybill::testing::memory_log<>> log_{};
    std::atomic<bool> stop_ = false;
    std::mutex mutex_{};
    std::set<std::uint64_t> slow_{};
    std::uint64_t slow_repeated_ = 0;
    waybill::partitions_report total_{};
};

}  // namespace engines_test

#endif  // WAYBILL_TESTS_ENGINES_PARTITION_OWNERS_HPP
