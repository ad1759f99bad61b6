// SPDX-License-Identifier: MIT
//
// sqlite_outbox: an outbox in SQLite: messages are written in the transaction of their effect.
//
//     engines::database db("shop.sqlite");
//     engines::sqlite_outbox outbox(db);
//     auto tx = *outbox.begin();
//     insert_order.run(o.id, o.total);           // a statement on db
//     outbox.add(tx, {.key = o.customer, .id = o.id, .body = confirmation(o)});
//     tx.commit();
//
//     waybill::relay(outbox, sender, publish, env);         // in the same or in another process
//
//   1. It is an `outbox_store`. Each process has its own connection. `add` also takes the
//      transaction of another store on the same connection, for example in a handler of
//      process_batch.
//   2. A sent row is deleted. A dead row stays, with its reason in the column `dead`.
//   3. Claims begin with the write lock of the database, so two relays never claim at the same
//      time.
//
// A row that another claim has is `ownership_lost`. Failures of SQLite are `infrastructure`. Times
// are nanoseconds since 1970.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_OUTBOX_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_OUTBOX_HPP

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sqlite_transaction.hpp"
#include <waybill/queue/outbox_store.hpp>

namespace engines {

class sqlite_outbox : public sqlite_transactions {
public:
    struct message {
        std::string key{}, id{}, body{};
    };
    struct claimed_rows {
        std::vector<message> messages{};
        bool pending = false;
        std::uint64_t token = 0;
        std::vector<std::uint64_t> numbers{};  // of the rows of these messages
    };
    using positions = std::vector<std::uint64_t>;

    explicit sqlite_outbox(database& db) : sqlite_transactions(db) {}

    [[nodiscard]] waybill::result<void> add(transaction& tx, const message& m)
    {
        return within(tx, [&] { add_.run(blob{m.key}, blob{m.id}, blob{m.body}); });
    }

    [[nodiscard]] waybill::result<claimed_rows> claim(std::uint64_t max_rows,
                                                      waybill::wall_time now,
                                                      waybill::wall_time until)
    {
        return together([&] {
            claimed_rows c;
            const auto read = [&] {
                c.numbers.push_back(ready_.size(0));
                c.messages.push_back({ready_.bytes(1), ready_.bytes(2), ready_.bytes(3)});
            };
            ready_.each(read, ns(now), std::min<std::uint64_t>(max_rows, INT64_MAX));
            if (c.numbers.empty()) {
                c.pending = pending_.number(ns(now)).has_value();
                return c;
            }
            new_token_.run();
            c.token = static_cast<std::uint64_t>(token_.number().value_or(0));
            for (const std::uint64_t number : c.numbers) claim_.run(c.token, ns(until), number);
            return c;
        });
    }

    [[nodiscard]] waybill::result<void> hold(const claimed_rows& c, const positions& rows,
                                             waybill::wall_time until)
    {
        const auto all = together([&] {
            bool held = true;
            for (const std::uint64_t n : rows) {
                hold_.run(ns(until), c.numbers.at(n), c.token);
                held = sqlite3_changes(db_.handle()) == 1 && held;
            }
            return held;
        });
        if (!all) return waybill::unexpected(all.error());
        if (!*all)
            return waybill::unexpected(waybill::ownership_lost("another relay has claimed a row"));
        return {};
    }

    [[nodiscard]] waybill::result<void> mark_sent(const claimed_rows& c, const positions& rows)
    {
        return together([&] {
            for (const std::uint64_t n : rows) sent_.run(c.numbers.at(n), c.token);
        });
    }

    [[nodiscard]] waybill::result<void> mark_dead(const claimed_rows& c, std::uint64_t row,
                                                  const std::string& reason, bool blocks_key)
    {
        return together([&] {
            dead_.run(blob{reason}, static_cast<int>(blocks_key), c.numbers.at(row), c.token);
        });
    }

private:
    // The tables are created before any statement on them is prepared.
    static constexpr const char* tables =
        "CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY AUTOINCREMENT,"
        " key BLOB NOT NULL, id BLOB NOT NULL UNIQUE, body BLOB NOT NULL,"
        " token INTEGER NOT NULL DEFAULT 0, until INTEGER NOT NULL DEFAULT 0,"
        " dead BLOB, blocks INTEGER NOT NULL DEFAULT 0);"
        "CREATE INDEX IF NOT EXISTS outbox_keys ON outbox (key, number);"
        "CREATE INDEX IF NOT EXISTS outbox_ready ON outbox (number) WHERE dead IS NULL;"
        "CREATE TABLE IF NOT EXISTS outbox_claims (one INTEGER PRIMARY KEY CHECK (one = 1),"
        " token INTEGER NOT NULL);"
        "INSERT OR IGNORE INTO outbox_claims VALUES (1, 0)";

    [[nodiscard]] static std::int64_t ns(waybill::wall_time t) { return t.since_epoch().count(); }

    /// Runs f in one transaction of this connection.
    template <class F>
    [[nodiscard]] auto together(F&& f) -> waybill::result<decltype(f())>
    {
        auto tx = begin();
        if (!tx) return waybill::unexpected(tx.error());
        auto r = within(*tx, std::forward<F>(f));
        if (!r) return r;
        const auto done = tx->commit();
        if (!done) return waybill::unexpected(done.error());
        if (*done != waybill::commit_outcome::applied)
            return waybill::unexpected(waybill::infrastructure("the commit has failed"));
        return r;
    }

    statement add_{db_.exec(tables), "INSERT INTO outbox (key, id, body) VALUES (?, ?, ?)"};
    // A row waits for the earlier rows of its key that are in a claim, or dead and block the key.
    statement ready_{db_,
                     "SELECT number, key, id, body FROM outbox AS o"
                     " WHERE dead IS NULL AND until <= ?1 AND (length(key) = 0 OR NOT EXISTS"
                     " (SELECT 1 FROM outbox AS e WHERE e.key = o.key AND e.number < o.number"
                     " AND CASE WHEN e.dead IS NULL THEN e.until > ?1 ELSE e.blocks END))"
                     " ORDER BY number LIMIT ?2"};
    statement pending_{db_, "SELECT 1 FROM outbox WHERE dead IS NULL AND until > ? LIMIT 1"};
    statement new_token_{db_, "UPDATE outbox_claims SET token = token + 1"};
    statement token_{db_, "SELECT token FROM outbox_claims"};
    statement claim_{db_, "UPDATE outbox SET token = ?, until = ? WHERE number = ?"};
    statement hold_{db_,
                    "UPDATE outbox SET until = ?"
                    " WHERE number = ? AND token = ? AND dead IS NULL"};
    statement sent_{db_, "DELETE FROM outbox WHERE number = ? AND token = ? AND dead IS NULL"};
    statement dead_{db_,
                    "UPDATE outbox SET dead = ?, blocks = ?"
                    " WHERE number = ? AND token = ? AND dead IS NULL"};
};

static_assert(waybill::outbox_store<sqlite_outbox>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_OUTBOX_HPP
