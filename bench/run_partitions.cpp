// SPDX-License-Identifier: MIT
//
// bench/run_partitions: the cost of one event in run_partitions, relative to loops by hand.
//
// A log of four partitions in SQLite, in memory, with checkpoints and leases in the same database.
// The handler inserts one row for each event, in batches of at most 100 events. One iteration
// starts a process, handles 250 events of each partition, and gives all leases back. The loop over
// `processor` is the one of the guide: it has the same leases and the same fence, but counts
// nothing, and ends no batch early. The short loop has no leases. One operation is one event.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "../examples/engines/sqlite_leases.hpp"
#include "../examples/engines/sqlite_log.hpp"
#include "../examples/engines/sqlite_store.hpp"
#include "measure.hpp"
#include <waybill/lease.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace run_partitions_bench {
namespace {

using waybill::batch_outcome;
using waybill::partition_lifecycle;

constexpr std::uint64_t partitions = 4;
constexpr std::uint64_t events_of_partition = 250;
constexpr std::uint64_t events = partitions * events_of_partition;
constexpr std::uint64_t max_events = 100;

/// The database of one benchmark, and an environment that stops when all events are handled.
struct host : waybill::testing::manual_environment {
    engines::database db{":memory:"};
    engines::sqlite_log log{db, partitions};
    engines::sqlite_store store{db};
    engines::sqlite_leases leases{db};
    engines::statement insert{
        db.exec("CREATE TABLE invoice (part TEXT, number INTEGER, bytes INTEGER)"),
        "INSERT INTO invoice VALUES (?, ?, ?)"};
    engines::statement append{db, "INSERT INTO log VALUES (?, ?, ?)"};
    std::uint64_t sequence = 0;
    std::uint64_t handled = 0;

    [[nodiscard]] bool stop_requested() const noexcept { return handled == events; }

    waybill::fault handle(const engines::sqlite_log::event& e, const std::string& partition)
    {
        insert.run(partition, e.sequence, e.body.size());
        ++handled;
        return {};
    }

    void append_events()
    {
        handled = 0;
        db.exec("BEGIN; DELETE FROM log; DELETE FROM invoice");
        for (std::uint64_t n = 0; n != events_of_partition; ++n) {
            ++sequence;
            for (std::uint64_t p = 0; p != partitions; ++p)
                append.run(std::to_string(p), sequence, std::string(200, 'x'));
        }
        db.exec("COMMIT");
    }
};

void short_loop(host& h)
{
    const auto names = h.log.partitions();
    for (const std::string& name : *names) {
        waybill::assignment mine{.key = {"orders", "billing", name}};
        const auto stored = h.store.load(mine.key);
        mine.from = waybill::position_of(*stored);
        for (;;) {
            const auto read = h.log.read(name, mine.from, max_events);
            if (!read || read->empty()) break;
            const auto handle = [&](auto&, const auto& e) { return h.handle(e, name); };
            const auto r = waybill::process_batch(h.store, mine, *read, handle, h.wall_now());
            if (r.outcome != batch_outcome::committed) break;
            mine.from = r.reached;
        }
    }
}

void over_processor(host& h)
{
    const auto names = *h.log.partitions();
    waybill::fenced_store store(h.store, h.leases);
    const auto incarnation = static_cast<std::uint64_t>(h.random() * 0x1p53);
    waybill::processor work({.group = {"orders", "billing", names, {"host-7", incarnation}}});
    std::vector<waybill::assignment> mine(names.size());
    while (!work.ended()) {
        if (h.stop_requested()) work.on(waybill::stop_requested{}, h.now());
        waybill::match(
            work.next(h.now()),
            [&](const waybill::lease_manager::lease_call& c) {
                work.on(waybill::perform(h.leases, c, h.random()), h.now());
            },
            [&](partition_lifecycle::open a) {
                const auto stored = store.load(work.key(a.partition));
                if (stored) mine[a.partition] = work.assignment_of(a, *stored);
                work.on(partition_lifecycle::partition_opened::of(a, stored), h.now());
            },
            [&](partition_lifecycle::process a) {
                waybill::assignment& m = mine[a.partition];
                const auto read = h.log.read(m.key.partition, m.from, max_events);
                auto outcome = batch_outcome::redeliver;
                if (read) {
                    const auto handle = [&](auto&, const auto& e) {
                        return h.handle(e, m.key.partition);
                    };
                    const auto r = waybill::process_batch(store, m, *read, handle, h.wall_now());
                    if (r.outcome == batch_outcome::committed) m.from = r.reached;
                    outcome = r.outcome;
                }
                work.on(partition_lifecycle::processed::of(a, outcome), h.now());
            },
            [&](partition_lifecycle::close a) {
                work.on(partition_lifecycle::partition_closed{a.partition, a.epoch}, h.now());
            },
            [&](partition_lifecycle::save a) {
                work.on(partition_lifecycle::partition_saved{a.partition, a.epoch}, h.now());
            },
            [&](waybill::wait_until w) { h.sleep_until(w.time); }, [](waybill::idle) {});
    }
}

void driver(host& h)
{
    const auto handle = [&](auto&, const auto& e, const auto& key) {
        return h.handle(e, key.partition);
    };
    const auto r = waybill::run_partitions(
        h.log, h.store, h.leases, handle,
        {.source = "orders", .group = "billing", .owner = "host-7", .max_events = max_events}, h);
    benchmark::DoNotOptimize(r.handled);
}

template <class Run>
void measure(benchmark::State& state, Run run)
{
    host h;
    for ([[maybe_unused]] auto i : state) {
        bench::exclude(state, [&] { h.append_events(); });
        run(h);
        if (h.handled != events) state.SkipWithError("an event was not handled once");
    }
}

}  // namespace
}  // namespace run_partitions_bench

int main(int argc, char** argv)
{
    using namespace run_partitions_bench;
    bench::runner all(argc, argv);
    const bench::run_options few{.counted_operations = 3.0 * events};
    all.add("without leases", events, [](benchmark::State& s) { measure(s, short_loop); }, few);
    all.add("over processor", events, [](benchmark::State& s) { measure(s, over_processor); }, few);
    all.add("run_partitions", events, [](benchmark::State& s) { measure(s, driver); }, few);
    if (!all.run("without leases")) return 2;
    all.print_spread();
    all.print("one event", {{"without leases", "over processor"},
                            {"over processor", "over processor"},
                            {"run_partitions", "over processor"}});
    return all.failed() ? 1 : 0;
}
