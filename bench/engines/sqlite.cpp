// SPDX-License-Identifier: MIT
//
// SQLite: a queue and a log in a file, with a sync of the disk in each commit.

#include <cstdint>
#include <string>
#include <vector>

#include "../../examples/engines/sqlite_log.hpp"
#include "../../examples/engines/sqlite_queue.hpp"
#include "consumer.hpp"
#include "frame.hpp"

namespace engines_bench {

namespace {

constexpr waybill::batch_limits limit{.items = 100};

double by_queue(engines::sqlite_queue& queue, std::uint64_t count)
{
    return by_send_all(
        messages(count), limit, [](std::uint64_t size) { return size; },
        [&](auto batch) {
            std::vector<engines::message> rows;
            for (const message& m : batch) rows.push_back({m.id, m.body});
            return queue.enqueue(rows, [] {});
        });
}

/// A transaction for each event.
double one_at_a_time(engines::statement& insert, std::uint64_t count)
{
    const std::vector<message> all = messages(count);
    return events_in(all.size(), [&] {
        for (const message& m : all) insert.run(m.id, engines::blob{m.body});
    });
}

}  // namespace

row sqlite(const std::string& folder)
{
    engines::database out(folder + "/queue.sqlite");
    out.exec("PRAGMA synchronous=FULL");
    engines::sqlite_queue queue(out, waybill::unlimited);
    engines::statement insert(out, "INSERT INTO queue (header, body) VALUES (?, ?)");
    peers send;
    send.add("ours", [&](std::uint64_t n) { return by_queue(queue, n); });
    send.add("single", [&](std::uint64_t n) { return one_at_a_time(insert, n); });
    send.take_turns();

    constexpr std::uint64_t events = 16'000;
    engines::database db(folder + "/log.sqlite");
    engines::sqlite_log log(db, partitions);
    db.exec("BEGIN");
    for (std::uint64_t n = 0; n != events + events / 4; ++n)
        log.append(std::to_string(n % partitions), body(n));
    db.exec("COMMIT");
    sink to(db);
    engines::statement select(db,
                              "SELECT sequence, body FROM log WHERE part = ? AND sequence > ?"
                              " ORDER BY sequence LIMIT ?");
    peers consume;
    consume.add("ours", [&](std::uint64_t n) { return to.by_run_partitions(log, n); }, events);
    consume.add(
        "by hand",
        [&](std::uint64_t n) {
            std::vector<std::uint64_t> last(partitions);
            return to.by_hand(n, [&](std::uint64_t p, auto take) {
                std::vector<engines::sqlite_log::event> batch;
                const auto add = [&] {
                    batch.push_back({select.whole<std::uint64_t>(0), select.bytes(1)});
                };
                select.each(add, std::to_string(p), last[p], max_events);
                for (const auto& e : batch) take(e.sequence, e.body);
                last[p] = batch.back().sequence;
            });
        },
        events);
    consume.take_turns();
    return {.engine = std::string("SQLite ") + sqlite3_libversion(),
            .adapters = "sqlite_queue.hpp sqlite_log.hpp sqlite_store.hpp",
            .ours = send.at("ours"),
            .single = send.at("single"),
            .consumer = consume.at("ours"),
            .by_hand = consume.at("by hand")};
}

}  // namespace engines_bench
