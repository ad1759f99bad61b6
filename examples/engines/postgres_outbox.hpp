// SPDX-License-Identifier: MIT
//
// postgres_outbox: an outbox in PostgreSQL: messages are written in the transaction of their
// effect.
//
//     engines::postgres db("host=127.0.0.1 dbname=shop");
//     engines::postgres_outbox outbox(db);
//     auto tx = *outbox.begin();
//     insert_order.run(o.id, o.total);           // engines::prepared on db
//     outbox.add(tx, {.key = o.customer, .id = o.id, .body = confirmation(o)});
//     tx.commit();
//
//     waybill::relay(outbox, sender, publish, env);         // on a connection of its own
//
//   1. It is an `outbox_store`. `add` also takes the transaction of a postgres_store on the same
//      connection.
//   2. A sent row is deleted. A dead row stays, with its reason in the column `dead`.
//   3. `add` locks the key until the end of the transaction. Otherwise a transaction could commit a
//      row with a lower number after a relay has sent a higher number of the same key.
//   4. Claims take one lock, so two relays never claim at the same time.
//   5. `add` of several messages adds all or none, in their order. It is two statements, whatever
//      their number: one for the locks of their keys, and one for the rows.
//
//     outbox.add(tx, std::vector<engines::postgres_outbox::message>{bill, parcel, thanks});
//
// `add` of several messages locks their keys in one order. A transaction that calls `add` for
// several keys one after the other should do it in one order too; otherwise the server may end it
// as a deadlock (40P01).
//
// Failure                                               Fault
// a row that another claim has                          ownership_lost
// SQLSTATE 22, 23, 54 in `add`, as for a second id      permanent
// all others, no connection                             infrastructure
//
// Keys, ids and bodies are bytea. Times are nanoseconds since 1970.

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_OUTBOX_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_OUTBOX_HPP

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "postgres.hpp"
#include "postgres_store.hpp"
#include <waybill/queue/outbox_store.hpp>

namespace engines {

class postgres_outbox {
public:
    using transaction = postgres_store::transaction;
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

    /// Does not connect yet.
    explicit postgres_outbox(postgres& db) : db_(db), transactions_(db) {}

    [[nodiscard]] waybill::result<transaction> begin()
    {
        const auto made = attempt([&] { db_.outside([&] { make_tables(); }); });
        if (!made) return waybill::unexpected(made.error());
        return transactions_.begin();
    }

    [[nodiscard]] waybill::result<void> add(transaction&, const message& m)
    {
        return within([&] {
            if (!m.key.empty()) lock_key_.run(m.key);
            add_.run(m.key, m.id, m.body);
        });
    }

    /// All of them, or none.
    [[nodiscard]] waybill::result<void> add(transaction&, std::span<const message> all)
    {
        return within([&] {
            bytea_array keys, ids, bodies;
            bool any_key = false;
            for (const message& m : all) {
                keys.add(m.key);
                ids.add(m.id);
                bodies.add(m.body);
                any_key = any_key || !m.key.empty();
            }
            const std::string of_keys = keys.value();
            if (any_key) lock_keys_.run(of_keys);
            add_all_.run(of_keys, ids.value(), bodies.value());
        });
    }

    [[nodiscard]] waybill::result<claimed_rows> claim(std::uint64_t max_rows,
                                                      waybill::wall_time now,
                                                      waybill::wall_time until)
    {
        claimed_rows c;
        const auto done = together(claims::locked, [&] {
            c = {};
            c.token = token_.run().number<std::uint64_t>(0, 0);
            const auto most = std::min<std::uint64_t>(max_rows, INT64_MAX);
            read(claim_.run(ns(now), most, c.token, ns(until)), c);
            if (c.numbers.empty()) c.pending = !pending_.run(ns(now)).empty();
        });
        if (!done) return waybill::unexpected(done.error());
        return c;
    }

    [[nodiscard]] waybill::result<void> hold(const claimed_rows& c, const positions& rows,
                                             waybill::wall_time until)
    {
        bool all = true;
        const auto done = together(claims::locked, [&] {
            all = hold_.run(ns(until), numbers_of(c, rows), c.token).touched() == rows.size();
        });
        if (!done) return waybill::unexpected(done.error());
        if (!all)
            return waybill::unexpected(waybill::ownership_lost("another relay has claimed a row"));
        return {};
    }

    [[nodiscard]] waybill::result<void> mark_sent(const claimed_rows& c, const positions& rows)
    {
        return together(claims::free, [&] { sent_.run(numbers_of(c, rows), c.token); });
    }

    [[nodiscard]] waybill::result<void> mark_dead(const claimed_rows& c, std::uint64_t row,
                                                  const std::string& reason, bool blocks_key)
    {
        return together(claims::locked, [&] {
            dead_.run(reason, static_cast<int>(blocks_key), c.numbers.at(row), c.token);
        });
    }

private:
    static constexpr const char* tables =
        // One transaction. Two sessions that create the tables at once would be errors.
        "SELECT pg_advisory_xact_lock(7742136603);"
        "CREATE SEQUENCE IF NOT EXISTS outbox_tokens;"
        "CREATE TABLE IF NOT EXISTS outbox (number bigserial PRIMARY KEY, key bytea NOT NULL,"
        " id bytea NOT NULL UNIQUE, body bytea NOT NULL, token bigint NOT NULL DEFAULT 0,"
        " until bigint NOT NULL DEFAULT 0, dead bytea, blocks int NOT NULL DEFAULT 0);"
        "CREATE INDEX IF NOT EXISTS outbox_keys ON outbox (key, number);"
        "CREATE INDEX IF NOT EXISTS outbox_ready ON outbox (number) WHERE dead IS NULL";

    /// Whether a transaction excludes claims until its end.
    enum class claims { free, locked };

    [[nodiscard]] static std::int64_t ns(waybill::wall_time t) { return t.since_epoch().count(); }

    [[nodiscard]] static std::string numbers_of(const claimed_rows& c, const positions& rows)
    {
        std::string all;
        for (const std::uint64_t n : rows) {
            if (!all.empty()) all += ',';
            all += std::to_string(c.numbers.at(n));
        }
        return all;
    }

    /// RETURNING has no order, so the rows are sorted here.
    static void read(const rows& r, claimed_rows& c)
    {
        std::vector<int> order;
        for (int i = 0; i != r.size(); ++i) order.push_back(i);
        std::sort(order.begin(), order.end(), [&](int a, int b) {
            return r.number<std::uint64_t>(a, 0) < r.number<std::uint64_t>(b, 0);
        });
        for (const int i : order) {
            c.numbers.push_back(r.number<std::uint64_t>(i, 0));
            c.messages.push_back({r.bytes(i, 1), r.bytes(i, 2), r.bytes(i, 3)});
        }
    }

    template <class F>
    [[nodiscard]] static waybill::result<void> attempt(F&& f)
    {
        try {
            f();
        } catch (const postgres_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
        return {};
    }

    /// Runs f in the open transaction. The fault is `permanent` if the server refuses a value.
    template <class F>
    [[nodiscard]] waybill::result<void> within(F&& f)
    {
        try {
            if (!db_.in_transaction()) throw postgres_error("the transaction has ended", "");
            if (made_ != db_.life() && there_.run().null(0, 0)) db_.exec(tables);
            f();
        } catch (const postgres_error& e) {
            return waybill::unexpected(waybill::fault{classify_postgres(e), e.what()});
        }
        return {};
    }

    /// Runs f in one transaction.
    template <class F>
    [[nodiscard]] waybill::result<void> together(claims how, F&& f)
    {
        return attempt([&] {
            db_.outside([&] { make_tables(); });
            db_.exec("BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE");
            try {
                if (how == claims::locked) db_.exec("SELECT pg_advisory_xact_lock(7742136604)");
                f();
                if (db_.exec("COMMIT").tag() != "COMMIT")
                    throw postgres_error("the transaction was rolled back", "");
            } catch (const postgres_error&) {
                if (db_.in_transaction()) (void)db_.ask("ROLLBACK");
                throw;
            }
        });
    }

    void make_tables()
    {
        if (db_.in_transaction()) throw postgres_error("a transaction is open", "");
        db_.connect();
        if (made_ != db_.life()) db_.exec(tables);
        made_ = db_.life();
    }

    postgres& db_;
    postgres_store transactions_;
    std::uint64_t made_ = 0;  ///< The connection on which the tables were created or found.
    prepared there_{db_, "SELECT to_regclass('outbox')"};
    prepared lock_key_{db_, "SELECT pg_advisory_xact_lock(77421, hashtext(encode($1, 'hex')))"};
    prepared add_{db_, "INSERT INTO outbox (key, id, body) VALUES ($1, $2, $3)"};
    prepared lock_keys_{db_,
                        "SELECT pg_advisory_xact_lock(77421, hash) FROM"
                        " (SELECT DISTINCT hashtext(encode(key, 'hex')) AS hash"
                        " FROM unnest($1::bytea[]) AS key WHERE length(key) > 0"
                        " ORDER BY hash) AS ordered"};
    prepared add_all_{db_,
                      "INSERT INTO outbox (key, id, body) SELECT key, id, body"
                      " FROM unnest($1::bytea[], $2::bytea[], $3::bytea[])"
                      " WITH ORDINALITY AS m (key, id, body, position) ORDER BY position"};
    prepared token_{db_, "SELECT nextval('outbox_tokens')"};
    // A row waits for the earlier rows of its key that are in a claim, or dead and block the key.
    prepared claim_{db_,
                    "UPDATE outbox AS r SET token = $3, until = $4 FROM"
                    " (SELECT number FROM outbox AS o WHERE dead IS NULL AND until <= $1"
                    " AND (length(key) = 0 OR NOT EXISTS"
                    " (SELECT FROM outbox AS e WHERE e.key = o.key AND e.number < o.number"
                    " AND CASE WHEN e.dead IS NULL THEN e.until > $1 ELSE e.blocks = 1 END))"
                    " ORDER BY number LIMIT $2) AS ready WHERE r.number = ready.number"
                    " RETURNING r.number, r.key, r.id, r.body"};
    prepared pending_{db_, "SELECT 1 FROM outbox WHERE dead IS NULL AND until > $1 LIMIT 1"};
    prepared hold_{db_,
                   "UPDATE outbox SET until = $1"
                   " WHERE number = ANY (string_to_array($2::text, ',')::bigint[])"
                   " AND token = $3 AND dead IS NULL"};
    prepared sent_{db_,
                   "DELETE FROM outbox"
                   " WHERE number = ANY (string_to_array($1::text, ',')::bigint[])"
                   " AND token = $2 AND dead IS NULL"};
    prepared dead_{db_,
                   "UPDATE outbox SET dead = $1, blocks = $2"
                   " WHERE number = $3 AND token = $4 AND dead IS NULL"};
};

static_assert(waybill::outbox_store<postgres_outbox>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_OUTBOX_HPP
