// SPDX-License-Identifier: MIT
//
// partition_threads: four threads work on the partitions of one process, and a fifth one renews the
// leases meanwhile. The first event takes longer than a lease lasts.
//
//     partition_threads DATABASE OWNER EVENTS
//
// Appends EVENTS events, processes them, and ends when all of them are invoices.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../engines/sqlite_leases.hpp"
#include "../engines/sqlite_log.hpp"
#include "../engines/sqlite_store.hpp"
#include "../support/environment.hpp"
#include <waybill/ext/exceptions.hpp>
#include <waybill/lease.hpp>

namespace {

using namespace std::chrono_literals;

constexpr int partitions = 8;
constexpr auto expiry = 1500ms;

/// The connection of one thread, with its stores.
struct connection {
    engines::database db;
    engines::sqlite_log log{db, partitions};
    engines::sqlite_store store{db};
    engines::sqlite_leases leases{
        db.exec("CREATE TABLE IF NOT EXISTS invoice (part TEXT, number INTEGER)")};
    engines::statement insert{db, "INSERT INTO invoice VALUES (?, ?)"};
    support::standard_environment env{};

    explicit connection(const std::string& path) : db(path) {}
};

/// The data that the threads share, under `mutex`.
struct shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false;
    waybill::partition_tasks work;

    explicit shared(waybill::partition_tasks w) : work(std::move(w)) {}
};

void run_thread(shared& s, const std::string& path, bool only_leases)
{
    connection c(path);
    const auto handle = [&](auto&, const auto& event, const auto& key) {
        if (event.body == "slow") std::this_thread::sleep_for(expiry);
        c.insert.run(key.partition, event.sequence);
    };
    const auto catching = waybill::catching(handle, engines::classify);
    std::unique_lock lock(s.mutex);
    while (true) {
        const waybill::steady_time now = c.env.now();
        if (s.stopping) s.work.on(waybill::stop_requested{}, now);
        auto task = only_leases ? s.work.next_lease_task(now) : s.work.next_task(now);
        if (task.ended()) break;
        if (task.waits()) {
            s.changed.wait_until(lock, task.until().to_chrono());
            continue;
        }
        lock.unlock();
        s.work.run(task, c.log, c.store, c.leases, catching, c.env);
        lock.lock();
        s.work.complete(std::move(task), c.env.now());
        s.changed.notify_all();
    }
    s.changed.notify_all();
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 4) return std::fputs("partition_threads DATABASE OWNER EVENTS\n", stderr), 2;
    const std::string path = argv[1];
    const int events = std::atoi(argv[3]);
    connection c(path);
    for (int n = 0; n != events; ++n)
        c.log.append(std::to_string(n % partitions), n == 0 ? "slow" : "order");

    shared s(waybill::partition_tasks({.group = "billing",
                                       .owner = argv[2],
                                       .leases = {.interval = 100ms, .expiry = expiry},
                                       .lifecycle = {.poll = 50ms}},
                                      *c.log.partitions(), c.env));
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { run_thread(s, path, true); });
    for (int n = 0; n != 4; ++n) threads.emplace_back([&] { run_thread(s, path, false); });

    engines::statement count(c.db,
                             "SELECT (SELECT count(*) FROM invoice) = (SELECT count(*) FROM log)");
    while (count.number() != 1) std::this_thread::sleep_for(20ms);
    {
        const std::lock_guard lock(s.mutex);
        s.stopping = true;
    }
    s.changed.notify_all();
    threads.clear();  // joins
    std::puts(waybill::describe(s.work.report()).c_str());
    return s.work.report().released ? 0 : 1;
}
