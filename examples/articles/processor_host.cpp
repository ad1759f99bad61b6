// SPDX-License-Identifier: MIT
//
// processor_host: one of several processes that share the partitions of a log.
//
//     processor_host DATABASE OWNER [INTERVAL_MS]
//
// Each order becomes one invoice, also if hosts are killed. It runs until SIGTERM, then gives its
// leases back. tests/integration/articles_processor_host.sh kills two hosts again and again.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "../engines/sqlite_leases.hpp"
#include "../engines/sqlite_log.hpp"
#include "../engines/sqlite_store.hpp"
#include "../support/environment.hpp"
#include <waybill/ext/exceptions.hpp>
#include <waybill/lease.hpp>

volatile std::sig_atomic_t terminated = 0;

struct host_environment : support::standard_environment {
    bool stop_requested() const { return terminated != 0; }
    void sleep_until(waybill::steady_time t)
    {
        while (!stop_requested() && now() < t)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
};

int main(int argc, char** argv)
{
    if (argc < 3) return std::fputs("processor_host DATABASE OWNER [INTERVAL_MS]\n", stderr), 2;
    std::signal(SIGTERM, [](int) { terminated = 1; });
    const std::chrono::milliseconds interval(argc > 3 ? std::atoi(argv[3]) : 10'000);

    engines::database db(argv[1]);
    db.exec("CREATE TABLE IF NOT EXISTS invoice (part TEXT, number INTEGER, total INTEGER)");
    engines::statement insert(db, "INSERT INTO invoice VALUES (?, ?, ?)");
    engines::sqlite_log log(db, 4);
    engines::sqlite_store store(db);
    engines::sqlite_leases leases(db);
    host_environment env;

    //! [processor_host]
    const auto handle = [&](auto&, const auto& order, const auto& key) -> waybill::fault {
        const int total = std::atoi(order.body.c_str());
        if (total < 0) return waybill::permanent("the total is negative");
        insert.run(key.partition, order.sequence, total);
        return {};
    };
    const auto report =
        waybill::run_partitions(log, store, leases, waybill::catching(handle, engines::classify),
                                {.group = "billing",
                                 .owner = argv[2],
                                 .leases = {.interval = interval, .expiry = 6 * interval},
                                 .lifecycle = {.poll = interval}},
                                env);
    std::puts(waybill::describe(report).c_str());
    //! [processor_host]
    return report.released ? 0 : 1;
}
