// SPDX-License-Identifier: MIT
//
// sqlite_leases: who has which partition, in SQLite, for processes that share a file.
//
//     engines::database db("sink.sqlite");
//     engines::sqlite_leases leases(db);
//     manager.on(waybill::perform(leases, call, draw), now);
//
// On the connection of a sqlite_store it fences that one's checkpoints: see fenced_store.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_LEASES_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_LEASES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "sqlite.hpp"
#include <waybill/lease/lease.hpp>

namespace engines {

class sqlite_leases {
public:
    explicit sqlite_leases(database& db) : db_(db) {}

    [[nodiscard]] waybill::result<waybill::lease_table> list(const std::string& source,
                                                             const std::string& group)
    {
        waybill::lease_table t;
        return attempt<waybill::lease_table>([&] {
            const auto lease = [&] {
                t.leases.push_back({{source, group, rows_.bytes(0)},
                                    {rows_.bytes(1), number(rows_, 2)},
                                    number(rows_, 3),
                                    number(rows_, 4)});
            };
            rows_.each(lease, source, group);
            const auto owner = [&] {
                t.owners.push_back(
                    {source, group, {owners_.bytes(0), number(owners_, 1)}, number(owners_, 2)});
            };
            owners_.each(owner, source, group);
            return t;
        });
    }

    /// One statement, so nobody comes between the comparison and the write. A new row begins with a
    /// version drawn by SQLite, so one that was made again is not taken for the one before.
    [[nodiscard]] waybill::result<waybill::claim_result> claim(const waybill::lease_claim& c)
    {
        const waybill::partition_key& k = c.key;
        return attempt<waybill::claim_result>([&] {
            waybill::claim_result o;
            const auto won = [&](const statement& s) {
                return [&] {
                    o = {waybill::claim_result::claim_outcome::won, c.epoch, number(s, 0)};
                };
            };
            if (c.expected) {
                update_.each(won(update_), c.owner.name, c.owner.incarnation, c.epoch, k.source,
                             k.group, k.partition, *c.expected);
            } else {
                insert_.each(won(insert_), k.source, k.group, k.partition, c.owner.name,
                             c.owner.incarnation, c.epoch);
            }
            return o;
        });
    }

    [[nodiscard]] waybill::result<void> heartbeat(const waybill::owner_heartbeat& p)
    {
        return attempt<void>([&] {
            announce_.run(p.source, p.group, p.owner.name, p.owner.incarnation, p.version);
        });
    }

    [[nodiscard]] waybill::result<void> leave(const waybill::owner_heartbeat& p)
    {
        return attempt<void>([&] {
            withdraw_.run(p.source, p.group, p.owner.name, p.owner.incarnation, p.version);
        });
    }

    /// The epoch of a lease. Inside of a transaction that began with BEGIN IMMEDIATE, as those of
    /// sqlite_store do, nobody can change it before the commit.
    template <class Transaction>
    [[nodiscard]] waybill::result<std::optional<std::uint64_t>> epoch(
        Transaction&, const waybill::partition_key& k)
    {
        return attempt<std::optional<std::uint64_t>>([&] {
            std::optional<std::uint64_t> found;
            const auto row = [&] { found = number(epoch_, 0); };
            epoch_.each(row, k.source, k.group, k.partition);
            return found;
        });
    }

private:
    static constexpr const char* tables =
        "CREATE TABLE IF NOT EXISTS leases (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " part TEXT NOT NULL, owner TEXT NOT NULL, incarnation INTEGER NOT NULL,"
        " epoch INTEGER NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (source, grp, part));"
        "CREATE TABLE IF NOT EXISTS owners (source TEXT NOT NULL, grp TEXT NOT NULL,"
        " owner TEXT NOT NULL, incarnation INTEGER NOT NULL, version INTEGER NOT NULL,"
        " PRIMARY KEY (source, grp, owner, incarnation))";

    template <class T, class F>
    [[nodiscard]] static waybill::result<T> attempt(F&& f)
    {
        try {
            if constexpr (std::is_void_v<T>) {
                f();
                return {};
            } else {
                return f();
            }
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
    }

    [[nodiscard]] static std::uint64_t number(const statement& s, int column)
    {
        return s.whole<std::uint64_t>(column);
    }

    database& db_;
    statement rows_{db_.exec(tables),
                    "SELECT part, owner, incarnation, epoch, version FROM leases"
                    " WHERE source = ? AND grp = ?"};
    statement owners_{
        db_, "SELECT owner, incarnation, version FROM owners WHERE source = ? AND grp = ?"};
    statement insert_{db_,
                      "INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?, abs(random() / 2))"
                      " ON CONFLICT DO NOTHING RETURNING version"};
    statement update_{db_,
                      "UPDATE leases SET owner = ?, incarnation = ?, epoch = ?,"
                      " version = version + 1"
                      " WHERE source = ? AND grp = ? AND part = ? AND version = ?"
                      " RETURNING version"};
    statement announce_{db_,
                        "INSERT INTO owners VALUES (?, ?, ?, ?, ?)"
                        " ON CONFLICT DO UPDATE SET version = excluded.version"};
    statement withdraw_{db_,
                        "DELETE FROM owners WHERE source = ? AND grp = ? AND owner = ?"
                        " AND incarnation = ? AND version = ?"};
    statement epoch_{db_, "SELECT epoch FROM leases WHERE source = ? AND grp = ? AND part = ?"};
};

static_assert(waybill::lease_store<sqlite_leases>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_LEASES_HPP
