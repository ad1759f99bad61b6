// SPDX-License-Identifier: MIT
//
// postgres_store: checkpoints, attempts and dead letters in PostgreSQL, in the database of the
// effects.
//
//     engines::postgres db("host=127.0.0.1 dbname=sink");
//     engines::postgres_store store(db);
//     auto r = waybill::process_batch(store, mine, events, [&](auto&, const order& o) {
//         insert.run(o.id, o.total);             // engines::prepared on db
//         return waybill::fault{};
//     }, now);
//
//   1. Effects that use the same connection are in the same transaction as the checkpoint.
//   2. Only `begin` and calls that read connect again; no call does so within a transaction.
//   3. A commit of unknown outcome may still be in progress when the checkpoint is read back. A
//      successor that starts from the old checkpoint waits for its lock, and is then refused.
//   4. With more than 64 savepoints with writes in a transaction, the server keeps their count on
//      disk, and all readers are slow: batches of at most 64 events are the best.
//
// Commit                                                        Outcome
// the reply was lost                                            unknown
// refused (serialization failure, deferred constraint)          not_applied
// after a failed statement (the server replies ROLLBACK)        not_applied
// Any other failure is `infrastructure`. Statements of a handler throw; see classify_postgres.
//
// Sequence numbers and epochs are numeric(20), because bigint ends at half of them. Reasons, bodies
// and offsets are bytea, because text has neither NUL nor invalid UTF-8: convert_from(reason,
// 'UTF8') is the reason as a text. Times are nanoseconds since 1970, or NULL.

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_STORE_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_STORE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "postgres.hpp"
#include <waybill/consume.hpp>
#include <waybill/lease.hpp>

namespace engines {

/// The isolation level of transactions. The store is correct with both. A handler that reads before
/// it writes may need `serializable`.
enum class isolation { read_committed, serializable };

class postgres_store {
public:
    /// Rolled back at its end unless it was committed.
    class transaction {
    public:
        transaction(transaction&& other) noexcept : store_(std::exchange(other.store_, nullptr)) {}
        transaction& operator=(transaction&& other) noexcept
        {
            if (this != &other) {
                rollback();
                store_ = std::exchange(other.store_, nullptr);
            }
            return *this;
        }
        ~transaction() { rollback(); }

        [[nodiscard]] waybill::result<void> savepoint() { return executed("SAVEPOINT event"); }
        [[nodiscard]] waybill::result<void> release_savepoint()
        {
            return executed("RELEASE SAVEPOINT event");
        }
        /// Also repairs a transaction in which a statement has failed since the savepoint.
        [[nodiscard]] waybill::result<void> rollback_to_savepoint()
        {
            return executed("ROLLBACK TO SAVEPOINT event; RELEASE SAVEPOINT event");
        }

        [[nodiscard]] waybill::result<waybill::commit_outcome> commit()
        {
            if (!store_) return waybill::commit_outcome::not_applied;
            const waybill::commit_outcome o = ended();
            // Closes the connection, so that a transaction that is still open is never committed.
            if (o == waybill::commit_outcome::unknown) store_->db_.drop();
            rollback();
            return o;
        }

        void rollback() noexcept
        {
            postgres_store* const s = std::exchange(store_, nullptr);
            if (!s) return;
            s->open_ = false;
            if (s->db_.in_transaction() && !s->db_.ask("ROLLBACK").ok()) s->db_.drop();
        }

    private:
        friend postgres_store;
        explicit transaction(postgres_store& s) noexcept : store_(&s) { s.open_ = true; }

        [[nodiscard]] waybill::result<void> executed(const char* sql)
        {
            return store_ ? store_->within(*this, [&] { store_->db_.exec(sql); }) : over();
        }

        [[nodiscard]] waybill::commit_outcome ended()
        {
            postgres& db = store_->db_;
            // The connection was lost before the COMMIT was sent.
            if (!db.alive()) return waybill::commit_outcome::not_applied;
            // A handler may have committed it or rolled it back.
            if (!db.in_transaction()) return waybill::commit_outcome::unknown;
            const rows r = db.ask("COMMIT");
            if (r.ok() && r.tag() == "COMMIT") return waybill::commit_outcome::applied;
            if (r.ok()) return waybill::commit_outcome::not_applied;
            // Refused by a server that still runs. Exceptions: class 08, lost connections that a
            // pooler reports, and 40003, "statement completion unknown".
            const std::string state = r.state();
            const bool refused =
                db.alive() && !state.empty() && !state.starts_with("08") && state != "40003";
            return refused ? waybill::commit_outcome::not_applied
                           : waybill::commit_outcome::unknown;
        }

        postgres_store* store_;
    };

    /// Does not connect yet.
    explicit postgres_store(postgres& db, isolation i = isolation::read_committed)
        : db_(db),
          begin_(i == isolation::serializable ? "BEGIN ISOLATION LEVEL SERIALIZABLE, READ WRITE"
                                              : "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE")
    {
    }

    [[nodiscard]] waybill::result<transaction> begin()
    {
        if (open_ || db_.in_transaction()) {  // a second BEGIN is only a warning
            return waybill::unexpected(waybill::infrastructure("a transaction is open"));
        }
        const auto begun = outside([&] { db_.exec(begin_); });
        if (!begun) return waybill::unexpected(begun.error());
        return transaction(*this);
    }

    [[nodiscard]] waybill::result<std::optional<waybill::checkpoint>> load(
        const waybill::partition_key& key)
    {
        std::optional<waybill::checkpoint> found;
        const auto read = outside([&] { found = stored(key).at(); });
        if (!read) return waybill::unexpected(read.error());
        return found;
    }

    /// Each of the two statements compares and writes at once. The second of two transactions waits
    /// for the end of the first, and then compares with its result. This includes a first insert.
    [[nodiscard]] waybill::result<waybill::advance_outcome> advance(
        transaction& tx, const waybill::partition_key& key,
        const std::optional<waybill::position>& from, const waybill::position& to,
        std::uint64_t epoch)
    {
        auto outcome = waybill::advance_outcome::applied;
        const auto written = within(tx, [&] {
            const rows r = from ? move_.run(key.source, key.group, key.partition, to.sequence,
                                            to.offset, epoch, from->sequence)
                                : first_.run(key.source, key.group, key.partition, to.sequence,
                                             to.offset, epoch);
            outcome = outcome_of(r, key, epoch);
        });
        if (!written) return waybill::unexpected(written.error());
        return outcome;
    }

    /// The row stays, without a sequence.
    [[nodiscard]] waybill::result<waybill::advance_outcome> reset(transaction& tx,
                                                                  const waybill::partition_key& key,
                                                                  const waybill::position& from,
                                                                  std::uint64_t epoch)
    {
        auto outcome = waybill::advance_outcome::applied;
        const auto written = within(tx, [&] {
            const rows r = reset_.run(key.source, key.group, key.partition, epoch, from.sequence);
            outcome = outcome_of(r, key, epoch);
        });
        if (!written) return waybill::unexpected(written.error());
        return outcome;
    }

    [[nodiscard]] waybill::result<void> put(transaction& tx, const waybill::dead_letter& d)
    {
        return within(tx, [&] {
            put_.run(d.key.source, d.key.group, d.key.partition, d.at.sequence, d.at.offset,
                     static_cast<int>(d.kind), d.reason, d.body, d.tries, stored(d.occurred),
                     stored(d.dead_lettered_at), static_cast<int>(d.kept), d.size, d.checksum);
        });
    }

    [[nodiscard]] waybill::result<std::optional<waybill::dead_letter>> find(
        const waybill::partition_key& key, std::uint64_t sequence)
    {
        std::optional<waybill::dead_letter> found;
        const auto read = outside([&] {
            found.reset();
            const rows r = find_.run(key.source, key.group, key.partition, sequence);
            if (!r.empty()) found = letter(r, 0, key);
        });
        if (!read) return waybill::unexpected(read.error());
        return found;
    }

    /// If two transactions remove the same one, the second waits for the first and finds nothing.
    [[nodiscard]] waybill::result<bool> remove(transaction& tx, const waybill::partition_key& key,
                                               std::uint64_t sequence)
    {
        bool there = false;
        const auto removed = within(tx, [&] {
            there = remove_.run(key.source, key.group, key.partition, sequence).touched() != 0;
        });
        if (!removed) return waybill::unexpected(removed.error());
        return there;
    }

    [[nodiscard]] waybill::result<std::vector<waybill::dead_letter>> list(
        const waybill::partition_key& key, const std::optional<std::uint64_t>& after,
        std::uint64_t most)
    {
        std::vector<waybill::dead_letter> found;
        const auto read = outside([&] {
            found.clear();
            const rows r = list_.run(key.source, key.group, key.partition, after,
                                     most < INT64_MAX ? most : INT64_MAX);
            for (int i = 0; i != r.size(); ++i) found.push_back(letter(r, i, key));
        });
        if (!read) return waybill::unexpected(read.error());
        return found;
    }

    /// The keys of all partitions that have a dead letter.
    [[nodiscard]] waybill::result<std::vector<waybill::partition_key>> dead_letter_keys()
    {
        std::vector<waybill::partition_key> keys;
        const auto read = outside([&] {
            keys.clear();
            const rows r = keys_.run();
            const auto text = [&](int row, int column) { return std::string(r.text(row, column)); };
            for (int i = 0; i != r.size(); ++i)
                keys.push_back({text(i, 0), text(i, 1), text(i, 2)});
        });
        if (!read) return waybill::unexpected(read.error());
        return keys;
    }

    [[nodiscard]] waybill::result<std::optional<waybill::crash_record>> load_crash_record(
        const waybill::partition_key& key)
    {
        std::optional<waybill::crash_record> found;
        const auto read = outside([&] {
            found.reset();
            const rows r = attempted_.run(key.source, key.group, key.partition);
            if (r.empty()) return;
            found = waybill::crash_record{{},
                                          r.number<std::uint64_t>(0, 1),
                                          r.number<std::uint64_t>(0, 2),
                                          r.number<std::uint32_t>(0, 3),
                                          r.number<std::uint64_t>(0, 4),
                                          r.number<std::uint64_t>(0, 5)};
            if (!r.null(0, 0)) found->from = r.number<std::uint64_t>(0, 0);
        });
        if (!read) return waybill::unexpected(read.error());
        return found;
    }

    [[nodiscard]] waybill::result<void> store_crash_record(transaction& tx,
                                                           const waybill::partition_key& key,
                                                           const waybill::crash_record& a)
    {
        return within(tx, [&] {
            note_.run(key.source, key.group, key.partition, a.from, a.to, a.suspects, a.deaths,
                      a.incarnation, a.epoch);
        });
    }

    [[nodiscard]] waybill::result<void> clear_crash_record(transaction& tx,
                                                           const waybill::partition_key& key)
    {
        return within(tx, [&] { forget_.run(key.source, key.group, key.partition); });
    }

private:
    static constexpr const char* tables =
        // One transaction. Two sessions that create the tables at once would be errors.
        "SELECT pg_advisory_xact_lock(7742136601);"
        "CREATE TABLE IF NOT EXISTS checkpoints (source text NOT NULL, grp text NOT NULL,"
        " part text NOT NULL, sequence numeric(20), place bytea NOT NULL,"
        " epoch numeric(20) NOT NULL, PRIMARY KEY (source, grp, part));"
        "CREATE TABLE IF NOT EXISTS dead_letters (source text NOT NULL, grp text NOT NULL,"
        " part text NOT NULL, sequence numeric(20) NOT NULL, place bytea NOT NULL,"
        " class smallint NOT NULL, reason bytea NOT NULL, body bytea NOT NULL,"
        " tries bigint NOT NULL, occurred bigint, parked bigint, kept smallint NOT NULL,"
        " size numeric(20) NOT NULL, checksum bigint NOT NULL,"
        " PRIMARY KEY (source, grp, part, sequence));"
        "CREATE TABLE IF NOT EXISTS attempts (source text NOT NULL, grp text NOT NULL,"
        " part text NOT NULL, behind numeric(20), up_to numeric(20) NOT NULL,"
        " suspects numeric(20) NOT NULL, deaths bigint NOT NULL, by numeric(20) NOT NULL,"
        " epoch numeric(20) NOT NULL, PRIMARY KEY (source, grp, part))";

    [[nodiscard]] static waybill::result<void> over()
    {
        return waybill::unexpected(waybill::infrastructure("the transaction is over"));
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

    /// A step of a transaction, which must be open: outside of it a write would be committed at
    /// once.
    template <class F>
    [[nodiscard]] waybill::result<void> within(const transaction& tx, F&& f)
    {
        if (tx.store_ != this || !db_.in_transaction()) return over();
        return attempt(std::forward<F>(f));
    }

    template <class F>
    [[nodiscard]] waybill::result<void> outside(F&& f)
    {
        return attempt([&] {
            if (open_) return f();
            db_.outside([&] {
                if (made_ != db_.life()) db_.exec(tables);
                made_ = db_.life();
                f();
            });
        });
    }

    /// The row of a checkpoint; all empty if there is none.
    struct checkpoint_row {
        std::optional<waybill::position> where{};
        std::uint64_t epoch = 0;

        [[nodiscard]] std::optional<waybill::checkpoint> at() const
        {
            if (!where) return {};
            return waybill::checkpoint{*where, epoch};
        }
    };
    [[nodiscard]] checkpoint_row stored(const waybill::partition_key& key)
    {
        checkpoint_row row;
        const rows r = get_.run(key.source, key.group, key.partition);
        if (r.empty()) return row;
        if (!r.null(0, 0)) row.where = {r.number<std::uint64_t>(0, 0), r.bytes(0, 1)};
        row.epoch = r.number<std::uint64_t>(0, 2);
        return row;
    }

    /// The outcome of a conditional statement on the row of `key`.
    [[nodiscard]] waybill::advance_outcome outcome_of(const rows& r,
                                                      const waybill::partition_key& key,
                                                      std::uint64_t epoch)
    {
        if (r.touched() == 1) return waybill::advance_outcome::applied;
        return stored(key).epoch > epoch ? waybill::advance_outcome::stale_epoch
                                         : waybill::advance_outcome::conflict;
    }

    /// Reads the columns after the key, in the order of the table.
    [[nodiscard]] static waybill::dead_letter letter(const rows& r, int row,
                                                     const waybill::partition_key& key)
    {
        return {key,
                {r.number<std::uint64_t>(row, 0), r.bytes(row, 1)},
                static_cast<waybill::fault_kind>(r.number(row, 2)),
                r.bytes(row, 3),
                r.bytes(row, 4),
                r.number<std::uint32_t>(row, 5),
                time_in(r, row, 6),
                time_in(r, row, 7),
                static_cast<waybill::dead_letter_body>(r.number(row, 8)),
                r.number<std::uint64_t>(row, 9),
                r.number<std::uint32_t>(row, 10)};
    }

    [[nodiscard]] static std::optional<std::int64_t> stored(waybill::wall_time t)
    {
        if (t == waybill::wall_time{}) return {};
        return t.since_epoch().count();
    }
    [[nodiscard]] static waybill::wall_time time_in(const rows& r, int row, int column)
    {
        if (r.null(row, column)) return {};
        return waybill::wall_time::at(waybill::duration::nanoseconds(r.number(row, column)));
    }

    postgres& db_;
    const char* begin_;
    bool open_ = false;
    std::uint64_t made_ = 0;  ///< The connection on which the tables were created or found.
    prepared get_{db_,
                  "SELECT sequence, place, epoch FROM checkpoints"
                  " WHERE source = $1 AND grp = $2 AND part = $3"};
    prepared first_{db_,
                    "INSERT INTO checkpoints AS c VALUES ($1, $2, $3, $4, $5, $6)"
                    " ON CONFLICT (source, grp, part) DO UPDATE SET sequence = excluded.sequence,"
                    " place = excluded.place, epoch = excluded.epoch"
                    " WHERE c.sequence IS NULL AND c.epoch <= excluded.epoch"};
    prepared reset_{db_,
                    "UPDATE checkpoints SET sequence = NULL, place = '', epoch = $4"
                    " WHERE source = $1 AND grp = $2 AND part = $3 AND sequence = $5"
                    " AND epoch <= $4"};
    prepared move_{db_,
                   "UPDATE checkpoints SET sequence = $4, place = $5, epoch = $6"
                   " WHERE source = $1 AND grp = $2 AND part = $3 AND sequence = $7"
                   " AND epoch <= $6"};
    prepared put_{db_,
                  "INSERT INTO dead_letters"
                  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
                  " ON CONFLICT (source, grp, part, sequence) DO UPDATE SET place = excluded.place,"
                  " class = excluded.class, reason = excluded.reason, body = excluded.body,"
                  " tries = excluded.tries, occurred = excluded.occurred, parked = excluded.parked,"
                  " kept = excluded.kept, size = excluded.size, checksum = excluded.checksum"};
    prepared find_{db_,
                   "SELECT sequence, place, class, reason, body, tries, occurred, parked, kept,"
                   " size, checksum FROM dead_letters"
                   " WHERE source = $1 AND grp = $2 AND part = $3 AND sequence = $4"};
    prepared list_{db_,
                   "SELECT sequence, place, class, reason, body, tries, occurred, parked, kept,"
                   " size, checksum FROM dead_letters"
                   " WHERE source = $1 AND grp = $2 AND part = $3"
                   " AND ($4::numeric IS NULL OR sequence > $4) ORDER BY sequence LIMIT $5"};
    prepared keys_{db_, "SELECT DISTINCT source, grp, part FROM dead_letters ORDER BY 1, 2, 3"};
    prepared remove_{db_,
                     "DELETE FROM dead_letters"
                     " WHERE source = $1 AND grp = $2 AND part = $3 AND sequence = $4"};
    prepared attempted_{db_,
                        "SELECT behind, up_to, suspects, deaths, by, epoch FROM attempts"
                        " WHERE source = $1 AND grp = $2 AND part = $3"};
    prepared note_{db_,
                   "INSERT INTO attempts VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
                   " ON CONFLICT (source, grp, part) DO UPDATE SET behind = excluded.behind,"
                   " up_to = excluded.up_to, suspects = excluded.suspects,"
                   " deaths = excluded.deaths, by = excluded.by, epoch = excluded.epoch"};
    prepared forget_{db_, "DELETE FROM attempts WHERE source = $1 AND grp = $2 AND part = $3"};
};

static_assert(waybill::savepoint_scope<postgres_store::transaction>);
static_assert(waybill::checkpoint_reset<postgres_store> &&
              waybill::dead_letter_queue<postgres_store> &&
              waybill::crash_record_store<postgres_store>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_STORE_HPP
