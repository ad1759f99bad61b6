// SPDX-License-Identifier: MIT
//
// PostgreSQL: one primary with fsync. The rows are those of postgres_outbox; the consumer reads a
// table, and its handler inserts a row.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../../examples/engines/postgres_outbox.hpp"
#include "../../examples/engines/postgres_pair.hpp"
#include "../../examples/engines/postgres_store.hpp"
#include "frame.hpp"
#include <waybill/consume.hpp>

namespace engines_bench {

namespace {

constexpr std::uint64_t max_events = 100;
constexpr waybill::batch_limits limit{.items = max_events};
constexpr std::uint64_t events = 3'000;

/// A transaction for each batch, which adds its messages in one call.
double by_outbox(engines::postgres_outbox& outbox, std::uint64_t count)
{
    return by_send_all(
        messages(count), limit, [](std::uint64_t size) { return size; },
        [&](auto batch) -> waybill::send_outcome {
            auto tx = outbox.begin();
            expect(bool(tx), "postgres_outbox: begin");
            std::vector<engines::postgres_outbox::message> rows;
            for (const message& m : batch) rows.push_back({m.key, m.id, m.body});
            expect(bool(outbox.add(*tx, rows)), "postgres_outbox: add");
            const auto done = tx->commit();
            expect(done && *done == waybill::commit_outcome::applied, "postgres_outbox: commit");
            return waybill::batch_sender::accepted{};
        });
}

/// One statement and one commit for each event, on libpq.
double one_at_a_time(engines::prepared& insert, std::uint64_t count)
{
    const std::vector<message> all = messages(count);
    return events_in(all.size(), [&] {
        for (const message& m : all) insert.run(m.key, m.id, m.body);
    });
}

class consumer {
public:
    explicit consumer(engines::postgres& db) : db_(db), store_(db)
    {
        db.exec(
            "CREATE TABLE log (sequence bigint PRIMARY KEY, body bytea NOT NULL);"
            "CREATE TABLE effects (sequence bigint NOT NULL, bytes bigint NOT NULL);"
            "CREATE TABLE places (grp text PRIMARY KEY, sequence bigint NOT NULL)");
        engines::prepared append(db, "INSERT INTO log VALUES ($1, $2)");
        db.exec("BEGIN");
        for (std::uint64_t n = 1; n <= events; ++n) append.run(n, body(n));
        db.exec("COMMIT");
        db.exec("ANALYZE");
    }

    double by_process_batch(bool savepoints, std::uint64_t count)
    {
        begin_turn();
        const auto begin = clock::now();
        waybill::assignment mine{.key = {"log", group(), "0"}};
        const auto handle = [&](auto&, const event& e) {
            insert_.run(e.sequence, e.body.size());
            return waybill::fault{};
        };
        for (;;) {
            const std::vector<event> batch = read(mine.from ? mine.from->sequence : 0, count);
            if (batch.empty()) break;
            const auto r = waybill::process_batch(store_, mine, batch, handle, env_.wall_now(),
                                                  {.savepoints = savepoints});
            expect(r.outcome == waybill::batch_outcome::committed, "process_batch: no commit");
            mine.from = r.reached;
        }
        return checked(std::chrono::duration<double>(clock::now() - begin).count(), count);
    }

    double by_hand(bool savepoints, std::uint64_t count)
    {
        begin_turn();
        const auto begin = clock::now();
        for (std::uint64_t last = 0;;) {
            const std::vector<event> batch = read(last, count);
            if (batch.empty()) break;
            db_.exec("BEGIN");
            for (const event& e : batch) {
                if (savepoints) db_.exec("SAVEPOINT event");
                insert_.run(e.sequence, e.body.size());
                if (savepoints) db_.exec("RELEASE SAVEPOINT event");
            }
            last = batch.back().sequence;
            move_.run(group(), last);
            db_.exec("COMMIT");
        }
        return checked(std::chrono::duration<double>(clock::now() - begin).count(), count);
    }

private:
    struct event {
        std::uint64_t sequence = 0;
        std::string body{};
    };

    [[nodiscard]] std::string group() const { return "turn-" + std::to_string(turn_); }

    void begin_turn()
    {
        ++turn_;
        db_.exec("TRUNCATE effects");
    }

    /// The next batch of the first `count` events.
    std::vector<event> read(std::uint64_t after, std::uint64_t count)
    {
        const engines::rows found = read_.run(after, std::min(max_events, count - after));
        std::vector<event> batch;
        for (int i = 0; i != found.size(); ++i)
            batch.push_back({found.number<std::uint64_t>(i, 0), found.bytes(i, 1)});
        return batch;
    }

    double checked(double seconds, std::uint64_t count)
    {
        const engines::rows all =
            db_.exec("SELECT count(DISTINCT sequence), count(*) FROM effects");
        expect(all.number<std::uint64_t>(0, 0) == count, "consumer: an event is missing");
        expect(all.number<std::uint64_t>(0, 1) == count, "consumer: an event is twice");
        return static_cast<double>(count) / seconds;
    }

    engines::postgres& db_;
    engines::postgres_store store_;
    engines::prepared read_{
        db_, "SELECT sequence, body FROM log WHERE sequence > $1 ORDER BY sequence LIMIT $2"};
    engines::prepared insert_{db_, "INSERT INTO effects VALUES ($1, $2)"};
    engines::prepared move_{db_,
                            "INSERT INTO places VALUES ($1, $2)"
                            " ON CONFLICT (grp) DO UPDATE SET sequence = excluded.sequence"};
    support::standard_environment env_{};
    std::uint64_t turn_ = 0;
};

}  // namespace

row postgresql(const std::string& folder)
{
    engines::postgres_pair own(folder, false);
    engines::postgres db(own.where());
    db.connect();
    engines::postgres_outbox outbox(db);
    static_cast<void>(outbox.begin());  // creates the tables
    engines::prepared insert(db, "INSERT INTO outbox (key, id, body) VALUES ($1, $2, $3)");
    peers send;
    send.add("ours", [&](std::uint64_t n) { return by_outbox(outbox, n); });
    send.add("single", [&](std::uint64_t n) { return one_at_a_time(insert, n); });
    send.take_turns();

    consumer all(db);
    peers consume;
    for (const bool savepoints : {true, false}) {
        const std::string with = savepoints ? " with savepoints" : "";
        const auto ours = [&, savepoints](std::uint64_t n) {
            return all.by_process_batch(savepoints, n);
        };
        consume.add("ours" + with, ours, events);
        const auto by_hand = [&, savepoints](std::uint64_t n) {
            return all.by_hand(savepoints, n);
        };
        consume.add("by hand" + with, by_hand, events);
    }
    consume.take_turns();
    std::printf(
        "postgresql: with a savepoint for each event: %.0f by process_batch, %.0f by hand\n",
        consume.at("ours with savepoints").highest, consume.at("by hand with savepoints").highest);
    const int version = PQserverVersion(db.handle());
    return {.engine = "PostgreSQL " + std::to_string(version / 10'000) + "." +
                      std::to_string(version % 10'000),
            .adapters = "postgres_outbox.hpp postgres_store.hpp",
            .ours = send.at("ours"),
            .single = send.at("single"),
            .consumer = consume.at("ours"),
            .by_hand = consume.at("by hand")};
}

}  // namespace engines_bench
