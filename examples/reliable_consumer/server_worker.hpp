// SPDX-License-Identifier: MIT
//
// server_worker: a worker over a log of a server and tables in PostgreSQL.
//
// The worker is one call of run_partitions. The rest connects it with its log and its tables, and
// shows its supervisor what it does.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_WORKER_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_WORKER_HPP

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../engines/postgres.hpp"
#include "../engines/postgres_leases.hpp"
#include "../engines/postgres_store.hpp"
#include "../support/environment.hpp"
#include "../support/program.hpp"
#include "files.hpp"
#include "phases.hpp"
#include "server_ledger.hpp"
#include <waybill/ext/exceptions.hpp>
#include <waybill/lease.hpp>

namespace reliable_consumer {

using place = support::worker_place<phase>;

/// Set by SIGTERM.
inline volatile std::sig_atomic_t asked_to_end = 0;

/// Shows when the worker sleeps, and its last fault.
class shown_environment : public support::standard_environment {
public:
    shown_environment(place& p, const waybill::partition_tasks& work) : place_(p), work_(work) {}

    [[nodiscard]] bool stop_requested() const { return asked_to_end != 0; }
    void sleep_until(waybill::steady_time t)
    {
        place_.at = phase::asleep;
        const waybill::fault& f = work_.report().last_fault;
        if (!f.ok() && f.kind != waybill::fault_kind::ownership_lost) place_.report(f.text);
        while (!stop_requested() && now() < t)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }

private:
    place& place_;
    const waybill::partition_tasks& work_;
};

/// Shows when the worker reads.
template <class Log>
class shown_log {
public:
    shown_log(Log& log, place& p) : log_(log), place_(p) {}

    [[nodiscard]] auto partitions() { return log_.partitions(); }
    [[nodiscard]] auto read(const std::string& partition,
                            const std::optional<waybill::position>& after, std::uint64_t max_count)
    {
        place_.at = phase::reading;
        auto events = log_.read(partition, after, max_count);
        place_.at = phase::batch;
        return events;
    }

private:
    Log& log_;
    place& place_;
};

/// Shows when the worker renews or takes leases.
class shown_leases : public engines::postgres_leases {
public:
    shown_leases(engines::postgres& db, place& p) : postgres_leases(db), place_(p) {}
    [[nodiscard]] auto renew(const waybill::owner_heartbeat& own, std::uint64_t seen)
    {
        place_.at = phase::leases;
        return postgres_leases::renew(own, seen);
    }
    [[nodiscard]] auto claim_all(const std::vector<waybill::lease_claim>& claims)
    {
        place_.at = phase::leases;
        return postgres_leases::claim_all(claims);
    }

private:
    place& place_;
};

/// Works until SIGTERM, then releases its leases. Returns the exit code of the process.
template <class Log>
[[nodiscard]] int consume(const options& o, Log& log, const std::string& tables)
{
    std::signal(SIGTERM, [](int) { asked_to_end = 1; });
    sigset_t early;  // blocked by the supervisor until here
    sigemptyset(&early);
    sigaddset(&early, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &early, nullptr);

    phases page(phases_in(o));
    place& shown = page.of(*o.worker);
    shown_log<Log> source_log(log, shown);
    engines::postgres db(tables);
    engines::postgres_store store(db);
    shown_leases leases(db, shown);
    server_ledger ledger(db);
    const auto handle = [&](auto&, const auto& e, const waybill::partition_key& key) {
        shown.at = phase::handler;
        return ledger.apply(support::number_in(key.partition).value_or(0), {e.sequence, e.body});
    };
    std::vector<std::string> partitions;
    for (std::uint64_t p = 0; p != o.partitions; ++p) partitions.push_back(std::to_string(p));
    using std::chrono::milliseconds;
    // In a real service these are seconds. Here a worker is killed every second.
    const waybill::partition_tasks::policy policy{
        .source = source,
        .group = group,
        .owner = fmt::format("worker-{}", *o.worker),
        .max_events = o.batch,
        .leases = {.interval = milliseconds(400), .expiry = milliseconds(2'400)},
        .lifecycle = {.poll = milliseconds(50),
                      .pause = {.base = milliseconds(50), .cap = milliseconds(1'000)}}};
    const auto incarnation =
        std::random_device{}() | static_cast<std::uint64_t>(std::random_device{}()) << 32U;
    waybill::partition_tasks work(policy, partitions, incarnation);
    shown_environment env(shown, work);
    const auto report =
        waybill::run_partitions(source_log, store, leases,
                                waybill::catching(handle, engines::classify_postgres), work, env);
    return report.released ? 0 : 1;
}

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_WORKER_HPP
