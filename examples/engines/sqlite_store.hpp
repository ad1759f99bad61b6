// SPDX-License-Identifier: MIT
//
// sqlite_store: checkpoints and dead letters in SQLite, beside whatever else the database holds.
//
// It is what process_batch asks of a store. The effects of a handler go through the same
// connection, and so they are in the same transaction:
//
//     engines::database db("sink.sqlite");
//     engines::sqlite_store store(db);
//     auto r = waybill::process_batch(store, mine, events, [&](auto&, const order& o) {
//         insert.run(o.id, o.total);             // a statement on db
//         return waybill::fault{};
//     }, now);
//
// Times are nanoseconds since 1970; where there is none, NULL.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_STORE_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_STORE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sqlite.hpp"
#include <waybill/consume.hpp>

namespace engines {

class sqlite_store {
public:
    /// Open until it is committed; without that it is rolled back.
    class transaction {
    public:
        explicit transaction(sqlite_store& s) : store_(&s) { s.begin_.run(); }
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

        [[nodiscard]] waybill::result<void> savepoint()
        {
            return attempt([&] { store_->savepoint_.run(); });
        }
        [[nodiscard]] waybill::result<void> release()
        {
            return attempt([&] { store_->release_.run(); });
        }
        [[nodiscard]] waybill::result<void> undo()
        {
            return attempt([&] {
                store_->undo_.run();
                store_->release_.run();
            });
        }

        /// A commit that failed and left the transaction open has not happened; of one that failed
        /// and closed it nobody knows.
        [[nodiscard]] waybill::result<waybill::commit_outcome> commit()
        {
            if (!store_) return waybill::commit_outcome::not_applied;
            const auto done = attempt([&] { store_->commit_.run(); });
            if (done) {
                store_ = nullptr;
                return waybill::commit_outcome::applied;
            }
            const bool open = store_->db_.in_transaction();
            rollback();
            return open ? waybill::commit_outcome::not_applied : waybill::commit_outcome::unknown;
        }

        void rollback() noexcept
        {
            sqlite_store* const s = std::exchange(store_, nullptr);
            if (!s || !s->db_.in_transaction()) return;
            static_cast<void>(attempt([&] { s->rollback_.run(); }));
        }

    private:
        sqlite_store* store_;
    };

    explicit sqlite_store(database& db) : db_(db) {}

    [[nodiscard]] waybill::result<transaction> begin()
    {
        try {
            return transaction(*this);
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
    }

    [[nodiscard]] waybill::result<std::optional<waybill::checkpoint>> load(
        const waybill::partition_key& key)
    {
        std::optional<waybill::checkpoint> found;
        const auto read = attempt([&] { found = stored(key); });
        if (!read) return waybill::unexpected(read.error());
        return found;
    }

    /// What is stored is compared and replaced inside of the transaction, which holds the only
    /// write lock of the database by then: BEGIN IMMEDIATE.
    [[nodiscard]] waybill::result<waybill::advance_outcome> advance(
        transaction&, const waybill::partition_key& key,
        const std::optional<waybill::position>& from, const waybill::position& to,
        std::uint64_t epoch)
    {
        auto outcome = waybill::advance_outcome::applied;
        const auto written = attempt([&] {
            const std::optional<waybill::checkpoint> old = stored(key);
            if (old && old->epoch > epoch) {
                outcome = waybill::advance_outcome::stale_epoch;
            } else if (old.has_value() != from.has_value() ||
                       (old && old->at.sequence != from->sequence)) {
                outcome = waybill::advance_outcome::conflict;
            } else {
                set_.run(key.source, key.group, key.partition, to.sequence, to.offset, epoch);
            }
        });
        if (!written) return waybill::unexpected(written.error());
        return outcome;
    }

    [[nodiscard]] waybill::result<void> put(transaction&, const waybill::dead_letter& d)
    {
        return attempt([&] {
            put_.run(d.key.source, d.key.group, d.key.partition, d.at.sequence, d.at.offset,
                     static_cast<int>(d.how), d.reason, blob{d.body}, d.tries, stored(d.occurred),
                     stored(d.parked));
        });
    }

    [[nodiscard]] waybill::result<std::optional<waybill::dead_letter>> find(
        const waybill::partition_key& key, std::uint64_t sequence)
    {
        std::optional<waybill::dead_letter> found;
        const auto read = attempt([&] {
            find_.query(key.source, key.group, key.partition, sequence);
            while (find_.step()) {
                found = waybill::dead_letter{key,
                                             {sequence, std::string(find_.text(0))},
                                             static_cast<waybill::fault_class>(find_.integer(1)),
                                             std::string(find_.text(2)),
                                             std::string(find_.text(3)),
                                             static_cast<std::uint32_t>(find_.integer(4)),
                                             time_in(find_, 5),
                                             time_in(find_, 6)};
            }
        });
        if (!read) return waybill::unexpected(read.error());
        return found;
    }

private:
    // The tables are there before any statement on them is made.
    static constexpr const char* tables =
        "CREATE TABLE IF NOT EXISTS checkpoints (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, sequence INTEGER NOT NULL, place TEXT NOT NULL,"
        " epoch INTEGER NOT NULL, PRIMARY KEY (source, grp, part));"
        "CREATE TABLE IF NOT EXISTS dead_letters (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, sequence INTEGER NOT NULL, place TEXT NOT NULL, class INTEGER NOT "
        "NULL,"
        " reason TEXT NOT NULL, body BLOB NOT NULL, tries INTEGER NOT NULL, occurred INTEGER,"
        " parked INTEGER, PRIMARY KEY (source, grp, part, sequence))";

    template <class F>
    [[nodiscard]] static waybill::result<void> attempt(F&& f)
    {
        try {
            f();
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
        return {};
    }

    [[nodiscard]] std::optional<waybill::checkpoint> stored(const waybill::partition_key& key)
    {
        std::optional<waybill::checkpoint> c;
        get_.query(key.source, key.group, key.partition);
        while (get_.step()) {
            c = waybill::checkpoint{{get_.size(0), std::string(get_.text(1))}, get_.size(2)};
        }
        return c;
    }

    [[nodiscard]] static std::optional<std::int64_t> stored(waybill::wall_time t)
    {
        if (t == waybill::wall_time{}) return {};
        return t.since_epoch().count();
    }
    [[nodiscard]] static waybill::wall_time time_in(const statement& s, int column)
    {
        if (s.null(column)) return {};
        return waybill::wall_time::at(waybill::duration::nanoseconds(s.integer(column)));
    }

    static database& prepared(database& db)
    {
        db.exec(tables);
        return db;
    }

    database& db_;
    statement get_{prepared(db_),
                   "SELECT sequence, place, epoch FROM checkpoints"
                   " WHERE source = ? AND grp = ? AND part = ?"};
    statement set_{db_,
                   "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT (source, grp, part) DO UPDATE SET sequence = excluded.sequence,"
                   " place = excluded.place, epoch = excluded.epoch"};
    statement put_{
        db_,
        "INSERT INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (source, grp, part, sequence) DO UPDATE SET place = excluded.place,"
        " class = excluded.class, reason = excluded.reason, body = excluded.body,"
        " tries = excluded.tries, occurred = excluded.occurred, parked = excluded.parked"};
    statement find_{db_,
                    "SELECT place, class, reason, body, tries, occurred, parked FROM dead_letters"
                    " WHERE source = ? AND grp = ? AND part = ? AND sequence = ?"};
    statement begin_{db_, "BEGIN IMMEDIATE"};
    statement commit_{db_, "COMMIT"};
    statement rollback_{db_, "ROLLBACK"};
    statement savepoint_{db_, "SAVEPOINT event"};
    statement release_{db_, "RELEASE event"};
    statement undo_{db_, "ROLLBACK TO event"};
};

static_assert(waybill::savepoint_scope<sqlite_store::transaction>);
static_assert(waybill::checkpoint_store<sqlite_store> && waybill::dead_letter_store<sqlite_store>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_STORE_HPP
