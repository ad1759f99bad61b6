// SPDX-License-Identifier: MIT
//
// sqlite_store: checkpoints, attempts and dead letters in SQLite, in the database of the effects.
//
//     engines::database db("sink.sqlite");
//     engines::sqlite_store store(db);
//     auto r = waybill::process_batch(store, mine, events, [&](auto&, const order& o) {
//         insert.run(o.id, o.total);             // a statement on db
//         return waybill::fault{};
//     }, now);
//
//   1. Effects that use the same connection are in the same transaction as the checkpoint.
//   2. Each process has a connection of its own.
//
// Failures of SQLite are `infrastructure`; statements of a handler throw, see classify in
// sqlite_transaction.hpp. A row with invalid values is an error that names the row. Times are
// nanoseconds since 1970, or NULL.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_STORE_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_STORE_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sqlite_transaction.hpp"

namespace engines {

class sqlite_store : public sqlite_transactions {
public:
    explicit sqlite_store(database& db) : sqlite_transactions(db) {}

    [[nodiscard]] waybill::result<std::optional<waybill::checkpoint>> load(
        const waybill::partition_key& key)
    {
        return answer([&] {
            const checkpoint_row row = stored(key);
            return row.where ? std::optional(waybill::checkpoint{*row.where, row.epoch})
                             : std::nullopt;
        });
    }

    /// Compares and replaces the stored position within the transaction, which has the write lock.
    [[nodiscard]] waybill::result<waybill::advance_outcome> advance(
        transaction& tx, const waybill::partition_key& key,
        const std::optional<waybill::position>& from, const waybill::position& to,
        std::uint64_t epoch)
    {
        return replace(tx, key, from, to.sequence, to.offset, epoch);
    }

    /// The row stays, without a sequence.
    [[nodiscard]] waybill::result<waybill::advance_outcome> reset(transaction& tx,
                                                                  const waybill::partition_key& key,
                                                                  const waybill::position& from,
                                                                  std::uint64_t epoch)
    {
        return replace(tx, key, from, {}, "", epoch);
    }

    [[nodiscard]] waybill::result<void> put(transaction& tx, const waybill::dead_letter& d)
    {
        return within(tx, [&] {
            put_.run(d.key.source, d.key.group, d.key.partition, d.at.sequence, d.at.offset,
                     static_cast<int>(d.kind), d.reason, blob{d.body}, d.tries, stored(d.occurred),
                     stored(d.dead_lettered_at), static_cast<int>(d.kept), d.size, d.checksum);
        });
    }

    [[nodiscard]] waybill::result<std::optional<waybill::dead_letter>> find(
        const waybill::partition_key& key, std::uint64_t sequence)
    {
        return answer([&] {
            std::optional<waybill::dead_letter> found;
            const auto row = [&] { found = letter_in(find_, key); };
            find_.each(row, key.source, key.group, key.partition, sequence);
            return found;
        });
    }

    /// Sequence numbers of at least 2^63 are negative in SQLite. The rows are ordered by the sign
    /// first, so that these are the last.
    [[nodiscard]] waybill::result<std::vector<waybill::dead_letter>> list(
        const waybill::partition_key& key, const std::optional<std::uint64_t>& after,
        std::uint64_t most)
    {
        return answer([&] {
            std::vector<waybill::dead_letter> found;
            const bool high = after && *after >> 63U != 0;
            const std::uint64_t least = std::min<std::uint64_t>(most, INT64_MAX);
            const auto row = [&] { found.push_back(letter_in(list_, key)); };
            list_.each(row, key.source, key.group, key.partition, after.has_value(), high, after,
                       least);
            return found;
        });
    }

    /// The keys of all partitions that have a dead letter.
    [[nodiscard]] waybill::result<std::vector<waybill::partition_key>> dead_letter_keys()
    {
        return answer([&] {
            std::vector<waybill::partition_key> keys;
            keys_.each([&] { keys.push_back({keys_.bytes(0), keys_.bytes(1), keys_.bytes(2)}); });
            return keys;
        });
    }

    [[nodiscard]] waybill::result<bool> remove(transaction& tx, const waybill::partition_key& key,
                                               std::uint64_t sequence)
    {
        return within(tx, [&] {
            remove_.run(key.source, key.group, key.partition, sequence);
            return sqlite3_changes(db_.handle()) != 0;
        });
    }

    [[nodiscard]] waybill::result<std::optional<waybill::crash_record>> load_crash_record(
        const waybill::partition_key& key)
    {
        return answer([&] {
            std::optional<waybill::crash_record> found;
            const auto row = [&] {
                const statement& s = attempted_;
                found = {s.whole_or_null<std::uint64_t>(0), s.whole<std::uint64_t>(1),
                         s.whole<std::uint64_t>(2),         s.whole<std::uint32_t>(3),
                         s.whole<std::uint64_t>(4),         s.whole<std::uint64_t>(5)};
            };
            attempted_.each(row, key.source, key.group, key.partition);
            return found;
        });
    }
    [[nodiscard]] waybill::result<void> store_crash_record(transaction& tx,
                                                           const waybill::partition_key& key,
                                                           const waybill::crash_record& row)
    {
        return within(tx, [&] {
            note_.run(key.source, key.group, key.partition, row.from, row.to, row.suspects,
                      row.deaths, row.incarnation, row.epoch);
        });
    }
    [[nodiscard]] waybill::result<void> clear_crash_record(transaction& tx,
                                                           const waybill::partition_key& key)
    {
        return within(tx, [&] { forget_.run(key.source, key.group, key.partition); });
    }

private:
    // The tables are created before any statement on them is prepared.
    static constexpr const char* tables =
        "CREATE TABLE IF NOT EXISTS checkpoints (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, sequence INTEGER, place TEXT NOT NULL,"
        " epoch INTEGER NOT NULL, PRIMARY KEY (source, grp, part));"
        "CREATE TABLE IF NOT EXISTS attempts (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, sequence INTEGER, last INTEGER NOT NULL, suspects INTEGER NOT NULL,"
        " deaths INTEGER NOT NULL, incarnation INTEGER NOT NULL, epoch INTEGER NOT NULL,"
        " PRIMARY KEY (source, grp, part));"
        "CREATE TABLE IF NOT EXISTS dead_letters (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, sequence INTEGER NOT NULL, place TEXT NOT NULL,"
        " class INTEGER NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL, tries INTEGER NOT NULL,"
        " occurred INTEGER, parked INTEGER, kept INTEGER NOT NULL, size INTEGER NOT NULL,"
        " checksum INTEGER NOT NULL, PRIMARY KEY (source, grp, part, sequence))";

    /// The row of a checkpoint; all empty if there is none.
    struct checkpoint_row {
        std::optional<waybill::position> where{};
        std::uint64_t epoch = 0;
    };
    [[nodiscard]] checkpoint_row stored(const waybill::partition_key& key)
    {
        checkpoint_row row;
        const auto read = [&] {
            const auto sequence = get_.whole_or_null<std::uint64_t>(0);
            if (sequence) row.where = {*sequence, get_.bytes(1)};
            row.epoch = get_.whole<std::uint64_t>(2);
        };
        get_.each(read, key.source, key.group, key.partition);
        return row;
    }

    [[nodiscard]] waybill::result<waybill::advance_outcome> replace(
        transaction& tx, const waybill::partition_key& key,
        const std::optional<waybill::position>& from, const std::optional<std::uint64_t>& to,
        std::string_view place, std::uint64_t epoch)
    {
        return within(tx, [&] {
            const auto [where, last_epoch] = stored(key);
            if (last_epoch > epoch) return waybill::advance_outcome::stale_epoch;
            const bool same = where ? from && from->sequence == where->sequence : !from;
            if (!same) return waybill::advance_outcome::conflict;
            set_.run(key.source, key.group, key.partition, to, place, epoch);
            return waybill::advance_outcome::applied;
        });
    }

    [[nodiscard]] static std::optional<std::int64_t> stored(waybill::wall_time t)
    {
        if (t == waybill::wall_time{}) return {};
        return t.since_epoch().count();
    }
    [[nodiscard]] static waybill::wall_time time_in(const statement& s, int column)
    {
        if (!s.whole_or_null<std::uint64_t>(column)) return {};
        return waybill::wall_time::at(waybill::duration::nanoseconds(s.integer(column)));
    }
    [[nodiscard]] static waybill::dead_letter letter_in(const statement& s,
                                                        const waybill::partition_key& key)
    {
        return {key,
                {s.whole<std::uint64_t>(0), s.bytes(1)},
                s.one_of(2, waybill::fault_kind::cancelled),
                s.bytes(3),
                s.bytes(4),
                s.whole<std::uint32_t>(5),
                time_in(s, 6),
                time_in(s, 7),
                s.one_of(8, waybill::dead_letter_body::discard),
                s.whole<std::uint64_t>(9),
                s.whole<std::uint32_t>(10)};
    }

    statement get_{db_.exec(tables),
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
    statement keys_{db_, "SELECT DISTINCT source, grp, part FROM dead_letters ORDER BY 1, 2, 3"};
    statement remove_{db_,
                      "DELETE FROM dead_letters"
                      " WHERE source = ? AND grp = ? AND part = ? AND sequence = ?"};
    statement attempted_{db_,
                         "SELECT sequence, last, suspects, deaths, incarnation, epoch FROM attempts"
                         " WHERE source = ? AND grp = ? AND part = ?"};
    statement note_{db_, "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    statement forget_{db_, "DELETE FROM attempts WHERE source = ? AND grp = ? AND part = ?"};
};

static_assert(waybill::checkpoint_reset<sqlite_store> &&
              waybill::crash_record_store<sqlite_store> &&
              waybill::dead_letter_queue<sqlite_store>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_STORE_HPP
