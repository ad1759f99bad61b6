// SPDX-License-Identifier: MIT
//
// consumer: run_partitions over the log of an engine, and a loop by hand over its client library.
// Both write into SQLite.
//
// Each event inserts one row with its body. A batch of at most 100 events of one partition is one
// transaction, which also stores the position. Each commit is synced to the disk. A turn reads a
// log from the beginning, ends before the log does, and is timed after its first 1,000 events, so
// that neither the start nor the wait at the end of a partition counts. Before its first event,
// run_partitions waits for other owners. The loop by hand makes the same pause, because a short
// turn has another rate after a pause.
//
// Both have one commit for each batch: batch_policy has savepoints = false and crash_records = false.
// A crash record would be a second commit. The loop by hand has no leases and no dead letters.

#ifndef WAYBILL_BENCH_ENGINES_CONSUMER_HPP
#define WAYBILL_BENCH_ENGINES_CONSUMER_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "../../examples/engines/sqlite.hpp"
#include "../../examples/engines/sqlite_leases.hpp"
#include "../../examples/engines/sqlite_store.hpp"
#include "frame.hpp"
#include <waybill/lease.hpp>

namespace engines_bench {

inline constexpr std::uint64_t partitions = 4;
inline constexpr std::uint64_t max_events = 100;

/// Counts events, and measures the time after the first 1,000 of them.
class stopwatch {
public:
    void count()
    {
        if (++events_ == first) begin_ = clock::now();
        if (events_ == 1) start_ = clock::now();
    }
    [[nodiscard]] std::uint64_t events() const { return events_; }
    [[nodiscard]] double elapsed() const
    {
        return std::chrono::duration<double>(clock::now() - begin_).count();
    }

    /// From the construction to the first event.
    [[nodiscard]] clock::duration start() const { return start_ - made_; }

    static constexpr std::uint64_t first = 1'000;

private:
    std::uint64_t events_ = 0;
    clock::time_point made_ = clock::now();
    clock::time_point start_ = made_;
    clock::time_point begin_{};
};

/// The tables of the consumers. Each turn is a group of its own.
class sink {
public:
    explicit sink(engines::database& db) : db_(db) {}

    /// Stops after `events` events. The last batch can be rolled back.
    template <class Log>
    [[nodiscard]] double by_run_partitions(Log& log, std::uint64_t events)
    {
        struct : support::standard_environment {
            stopwatch time{};
            std::uint64_t events = 0;
            [[nodiscard]] bool stop_requested() const { return time.events() == events; }
        } env;
        begin_turn();
        env.events = events;
        const auto handle = [&](auto&, const auto& e, const waybill::partition_key& key) {
            env.time.count();
            insert_.run(key.partition, e.sequence, engines::blob{e.body});
            return waybill::fault{};
        };
        (void)waybill::run_partitions(log, store_, leases_, handle,
                                      {.source = "log",
                                       .group = group(),
                                       .owner = "bench",
                                       .max_events = max_events,
                                       .leases = {.interval = waybill::duration::milliseconds(500),
                                                  .expiry = waybill::duration::seconds(5)},
                                       .batch = {.savepoints = false, .crash_records = false}},
                                      env);
        const double seconds = env.time.elapsed();
        pause_ = env.time.start();
        return checked(seconds, events);
    }

    /// `read(partition, take)` calls take(sequence, body) for each event of the next batch.
    template <class Read>
    [[nodiscard]] double by_hand(std::uint64_t events, Read read)
    {
        begin_turn();
        std::this_thread::sleep_for(pause_);
        stopwatch time;
        for (std::uint64_t p = 0; time.events() < events; p = (p + 1) % partitions) {
            const std::string partition = std::to_string(p);
            std::optional<std::uint64_t> last;
            read(p, [&](std::uint64_t sequence, std::string_view body) {
                time.count();
                if (!last) begin_.run();
                insert_.run(partition, sequence, engines::blob{body});
                last = sequence;
            });
            if (!last) continue;
            move_.run(group(), partition, *last);
            commit_.run();
        }
        return checked(time.elapsed(), events);
    }

private:
    [[nodiscard]] std::string group() const { return "turn-" + std::to_string(turn_); }

    void begin_turn()
    {
        ++turn_;
        db_.exec("DELETE FROM effects; DELETE FROM places; PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// The rate of the committed events.
    [[nodiscard]] double checked(double seconds, std::uint64_t events)
    {
        const auto rows = static_cast<std::uint64_t>(count_.number().value_or(0));
        expect(rows + max_events >= events, "consumer: an event is missing");
        expect(distinct_.number() == static_cast<std::int64_t>(rows),
               "consumer: an event is twice");
        return static_cast<double>(rows - stopwatch::first) / seconds;
    }

    static constexpr const char* tables =
        "PRAGMA synchronous=FULL;"
        "CREATE TABLE IF NOT EXISTS effects (part TEXT, sequence INTEGER, body BLOB);"
        "CREATE TABLE IF NOT EXISTS places (grp TEXT, part TEXT, sequence INTEGER,"
        " PRIMARY KEY (grp, part)) WITHOUT ROWID";

    engines::database& db_;
    engines::statement insert_{db_.exec(tables), "INSERT INTO effects VALUES (?, ?, ?)"};
    engines::statement move_{db_, "INSERT OR REPLACE INTO places VALUES (?, ?, ?)"};
    engines::statement begin_{db_, "BEGIN IMMEDIATE"};
    engines::statement commit_{db_, "COMMIT"};
    engines::statement count_{db_, "SELECT count(*) FROM effects"};
    engines::statement distinct_{
        db_, "SELECT count(*) FROM (SELECT DISTINCT part, sequence FROM effects)"};
    engines::sqlite_store store_{db_};
    engines::sqlite_leases leases_{db_};
    std::uint64_t turn_ = 0;
    clock::duration pause_{};  ///< Of the last turn of run_partitions, before its first event.
};

}  // namespace engines_bench

#endif  // WAYBILL_BENCH_ENGINES_CONSUMER_HPP
