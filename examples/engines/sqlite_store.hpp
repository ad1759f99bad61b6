// SPDX-License-Identifier: MIT
//
// sqlite_store: checkpoints, attempts and dead letters in SQLite, beside whatever else it holds.
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
#include <vector>

#include "sqlite_transaction.hpp"

namespace engines {

class sqlite_store : public sqlite_transactions {
public:
    explicit sqlite_store(database& db) : sqlite_transactions(db) {}

    [[nodiscard]] waybill::result<std::optional<waybill::checkpoint>> load(
        const waybill::partition_key& key)
    {
        return answer([&] { return stored(key); });
    }

    /// What is stored is compared and replaced inside of the transaction, which holds the write
    /// lock by then.
    [[nodiscard]] waybill::result<waybill::advance_outcome> advance(
        transaction&, const waybill::partition_key& key,
        const std::optional<waybill::position>& from, const waybill::position& to,
        std::uint64_t epoch)
    {
        return answer([&] {
            const std::optional<waybill::checkpoint> old = stored(key);
            if (old && old->epoch > epoch) return waybill::advance_outcome::stale_epoch;
            const bool same = old ? from && from->sequence == old->at.sequence : !from;
            if (!same) return waybill::advance_outcome::conflict;
            set_.run(key.source, key.group, key.partition, to.sequence, to.offset, epoch);
            return waybill::advance_outcome::applied;
        });
    }

    [[nodiscard]] waybill::result<void> put(transaction&, const waybill::dead_letter& d)
    {
        return attempt([&] {
            put_.run(d.key.source, d.key.group, d.key.partition, d.at.sequence, d.at.offset,
                     static_cast<int>(d.how), d.reason, blob{d.body}, d.tries, stored(d.occurred),
                     stored(d.parked), static_cast<int>(d.kept), d.size, d.checksum);
        });
    }

    [[nodiscard]] waybill::result<std::optional<waybill::dead_letter>> find(
        const waybill::partition_key& key, std::uint64_t sequence)
    {
        return answer([&] {
            std::optional<waybill::dead_letter> found;
            find_.query(key.source, key.group, key.partition, sequence);
            while (find_.step()) found = letter_in(find_, key);
            return found;
        });
    }

    /// Sequences above 2^63 are negative numbers in SQLite. With the sign as the first thing to
    /// order by they come last all the same.
    [[nodiscard]] waybill::result<std::vector<waybill::dead_letter>> list(
        const waybill::partition_key& key, const std::optional<std::uint64_t>& after,
        std::uint64_t most)
    {
        return answer([&] {
            std::vector<waybill::dead_letter> found;
            const bool high = after && *after >> 63U != 0;
            const std::uint64_t least = waybill::lesser(most, INT64_MAX);
            list_.query(key.source, key.group, key.partition, after.has_value(), high, after, least);
            while (list_.step()) found.push_back(letter_in(list_, key));
            return found;
        });
    }

    [[nodiscard]] waybill::result<bool> remove(transaction&, const waybill::partition_key& key,
                                               std::uint64_t sequence)
    {
        return answer([&] {
            remove_.run(key.source, key.group, key.partition, sequence);
            return sqlite3_changes(db_.handle()) != 0;
        });
    }

    [[nodiscard]] waybill::result<std::optional<waybill::attempt>> attempted(
        const waybill::partition_key& key)
    {
        return answer([&] {
            std::optional<waybill::attempt> row;
            attempted_.query(key.source, key.group, key.partition);
            while (attempted_.step()) {
                row.emplace();
                if (!attempted_.null(0)) row->from = attempted_.size(0);
                row->suspects = attempted_.size(1);
                row->deaths = static_cast<std::uint32_t>(attempted_.integer(2));
                row->by = attempted_.size(3);
            }
            return row;
        });
    }
    [[nodiscard]] waybill::result<void> note(transaction&, const waybill::partition_key& key,
                                             const waybill::attempt& row)
    {
        return attempt([&] {
            note_.run(key.source, key.group, key.partition, row.from, row.suspects, row.deaths,
                      row.by);
        });
    }
    [[nodiscard]] waybill::result<void> forget(transaction&, const waybill::partition_key& key)
    {
        return attempt([&] { forget_.run(key.source, key.group, key.partition); });
    }

private:
    // The tables are there before any statement on them is made.
    static constexpr const char* tables =
        "CREATE TABLE IF NOT EXISTS checkpoints (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, sequence INTEGER NOT NULL, place TEXT NOT NULL,"
        " epoch INTEGER NOT NULL, PRIMARY KEY (source, grp, part));"
        "CREATE TABLE IF NOT EXISTS attempts (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, sequence INTEGER, suspects INTEGER NOT NULL, deaths INTEGER NOT NULL,"
        " incarnation INTEGER NOT NULL, PRIMARY KEY (source, grp, part));"
        "CREATE TABLE IF NOT EXISTS dead_letters (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, sequence INTEGER NOT NULL, place TEXT NOT NULL,"
        " class INTEGER NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL, tries INTEGER NOT NULL,"
        " occurred INTEGER, parked INTEGER, kept INTEGER NOT NULL, size INTEGER NOT NULL,"
        " checksum INTEGER NOT NULL, PRIMARY KEY (source, grp, part, sequence))";

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
    [[nodiscard]] static waybill::dead_letter letter_in(const statement& s,
                                                        const waybill::partition_key& key)
    {
        return {key,
                {s.size(0), std::string(s.text(1))},
                static_cast<waybill::fault_class>(s.integer(2)),
                std::string(s.text(3)),
                std::string(s.text(4)),
                static_cast<std::uint32_t>(s.integer(5)),
                time_in(s, 6),
                time_in(s, 7),
                static_cast<waybill::letter_keeps>(s.integer(8)),
                s.size(9),
                static_cast<std::uint32_t>(s.integer(10))};
    }

    static database& prepared(database& db)
    {
        db.exec(tables);
        return db;
    }

    statement get_{prepared(db_),
                   "SELECT sequence, place, epoch FROM checkpoints"
                   " WHERE source = ? AND grp = ? AND part = ?"};
    statement set_{db_,
                   "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT (source, grp, part) DO UPDATE SET sequence = excluded.sequence,"
                   " place = excluded.place, epoch = excluded.epoch"};
    statement put_{db_,
                   "INSERT OR REPLACE INTO dead_letters"
                   " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    statement find_{db_,
                    "SELECT sequence, place, class, reason, body, tries, occurred, parked, kept,"
                    " size, checksum FROM dead_letters"
                    " WHERE source = ? AND grp = ? AND part = ? AND sequence = ?"};
    statement list_{db_,
                    "SELECT sequence, place, class, reason, body, tries, occurred, parked, kept,"
                    " size, checksum FROM dead_letters WHERE source = ? AND grp = ? AND part = ?"
                    " AND (NOT ? OR (sequence < 0, sequence) > (?, ?))"
                    " ORDER BY sequence < 0, sequence LIMIT ?"};
    statement remove_{db_,
                      "DELETE FROM dead_letters"
                      " WHERE source = ? AND grp = ? AND part = ? AND sequence = ?"};
    statement attempted_{db_,
                         "SELECT sequence, suspects, deaths, incarnation FROM attempts"
                         " WHERE source = ? AND grp = ? AND part = ?"};
    statement note_{db_, "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)"};
    statement forget_{db_, "DELETE FROM attempts WHERE source = ? AND grp = ? AND part = ?"};
};

static_assert(waybill::checkpoint_store<sqlite_store> && waybill::attempt_store<sqlite_store> &&
              waybill::dead_letter_queue<sqlite_store>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_STORE_HPP
