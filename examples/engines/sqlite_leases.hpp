// SPDX-License-Identifier: MIT
//
// sqlite_leases: leases of partitions in SQLite, for processes that share a file.
//
//     engines::database db("sink.sqlite");
//     engines::sqlite_leases leases(db);
//     manager.on(waybill::perform(leases, call, draw), now);
//
//   1. On the connection of a sqlite_store it fences the checkpoints of that store; see
//      fenced_store.
//   2. A round is one transaction: one heartbeat renews all leases of its owner.
//   3. Triggers record each row that changes, so a round reads changed rows only.
//
// Failures of SQLite are `infrastructure`; the transaction was rolled back. A claim with an old
// version is lost, which is not a failure.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_LEASES_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_LEASES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sqlite.hpp"
#include <waybill/lease/lease.hpp>

namespace engines {

class sqlite_leases {
public:
    explicit sqlite_leases(database& db) : db_(db) {}

    [[nodiscard]] waybill::result<waybill::lease_table> list(const std::string& source,
                                                             const std::string& group)
    {
        return attempt<waybill::lease_table>([&] {
            waybill::lease_table t;
            read_all(t, source, group);
            read_owners(t, source, group);
            return t;
        });
    }

    [[nodiscard]] waybill::result<waybill::lease_table> renew(const waybill::owner_heartbeat& own,
                                                              std::uint64_t since)
    {
        return together<waybill::lease_table>([&] {
            write(own);
            waybill::lease_table t;
            last_change_.each([&] { t.version = number(last_change_, 0); });
            t.partial = since != 0 && since <= t.version;
            bool deleted = false;
            const auto changed = [&] {
                if (changes_.null(1)) deleted = true;
                else t.leases.push_back(row_in(changes_, own.source, own.group));
            };
            if (t.partial) changes_.each(changed, own.source, own.group, since);
            if (!t.partial || deleted) {
                t.partial = false;
                t.leases.clear();
                read_all(t, own.source, own.group);
            }
            read_owners(t, own.source, own.group);
            return t;
        });
    }

    [[nodiscard]] waybill::result<std::vector<waybill::lease_claim::result>> claim_all(
        const std::vector<waybill::lease_claim>& claims)
    {
        return together<std::vector<waybill::lease_claim::result>>([&] {
            std::vector<waybill::lease_claim::result> results;
            for (const waybill::lease_claim& c : claims)
                results.push_back(owner_has_changed(c) ? waybill::lease_claim::result{} : write(c));
            return results;
        });
    }

    /// One statement, so no other write comes between the comparison and the write. A new row begins
    /// with a random version of SQLite, so it differs from a row that was deleted before.
    [[nodiscard]] waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim& c)
    {
        return attempt<waybill::lease_claim::result>([&] { return write(c); });
    }

    [[nodiscard]] waybill::result<void> heartbeat(const waybill::owner_heartbeat& p)
    {
        return attempt<void>([&] { write(p); });
    }

    [[nodiscard]] waybill::result<void> leave(const waybill::owner_heartbeat& p)
    {
        return attempt<void>([&] {
            withdraw_.run(p.source, p.group, p.owner.name, p.owner.incarnation, p.version);
        });
    }

    /// The epoch of a lease. In a transaction that began with BEGIN IMMEDIATE, as those of
    /// sqlite_store do, no other connection can change it before the commit.
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
        " renews_leases INTEGER NOT NULL, PRIMARY KEY (source, grp, owner, incarnation));"
        // The last change of each lease. A lease whose row was deleted stays here.
        "CREATE TABLE IF NOT EXISTS lease_changes (change INTEGER PRIMARY KEY AUTOINCREMENT,"
        " source TEXT NOT NULL, grp TEXT NOT NULL, part TEXT NOT NULL, UNIQUE (source, grp, part));"
        "CREATE TRIGGER IF NOT EXISTS lease_inserted AFTER INSERT ON leases BEGIN"
        " DELETE FROM lease_changes WHERE source = new.source AND grp = new.grp"
        " AND part = new.part;"
        " INSERT INTO lease_changes (source, grp, part) VALUES (new.source, new.grp, new.part);"
        "END;"
        "CREATE TRIGGER IF NOT EXISTS lease_updated AFTER UPDATE ON leases BEGIN"
        " DELETE FROM lease_changes WHERE source = new.source AND grp = new.grp"
        " AND part = new.part;"
        " INSERT INTO lease_changes (source, grp, part) VALUES (new.source, new.grp, new.part);"
        "END;"
        "CREATE TRIGGER IF NOT EXISTS lease_deleted AFTER DELETE ON leases BEGIN"
        " DELETE FROM lease_changes WHERE source = old.source AND grp = old.grp"
        " AND part = old.part;"
        " INSERT INTO lease_changes (source, grp, part) VALUES (old.source, old.grp, old.part);"
        "END";

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

    /// One transaction.
    template <class T, class F>
    [[nodiscard]] waybill::result<T> together(F&& f)
    {
        return attempt<T>([&] {
            db_.exec("BEGIN IMMEDIATE");
            try {
                T result = f();
                db_.exec("COMMIT");
                return result;
            } catch (const sqlite_error&) {
                if (sqlite3_get_autocommit(db_.handle()) == 0) db_.exec("ROLLBACK");
                throw;
            }
        });
    }

    [[nodiscard]] static waybill::lease row_in(const statement& s, const std::string& source,
                                               const std::string& group)
    {
        return {
            {source, group, s.bytes(0)}, {s.bytes(1), number(s, 2)}, number(s, 3), number(s, 4)};
    }
    void read_all(waybill::lease_table& t, const std::string& source, const std::string& group)
    {
        rows_.each([&] { t.leases.push_back(row_in(rows_, source, group)); }, source, group);
    }
    void read_owners(waybill::lease_table& t, const std::string& source, const std::string& group)
    {
        const auto owner = [&] {
            t.owners.push_back({source,
                                group,
                                {owners_.bytes(0), number(owners_, 1)},
                                number(owners_, 2),
                                number(owners_, 3) != 0});
        };
        owners_.each(owner, source, group);
    }
    void write(const waybill::owner_heartbeat& p)
    {
        announce_.run(p.source, p.group, p.owner.name, p.owner.incarnation, p.version,
                      p.renews_leases);
    }
    [[nodiscard]] waybill::lease_claim::result write(const waybill::lease_claim& c)
    {
        const waybill::partition_key& k = c.key;
        waybill::lease_claim::result o;
        const auto won = [&](const statement& s) {
            return [&] {
                o = {waybill::lease_claim::result::claim_outcome::won, c.epoch, number(s, 0)};
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
    }
    [[nodiscard]] bool owner_has_changed(const waybill::lease_claim& c)
    {
        const waybill::owner_id& owner = c.expired_owner;
        if (owner.none()) return false;
        bool same = false;
        heartbeat_.each([&] { same = number(heartbeat_, 0) == c.expired_heartbeat; }, c.key.source,
                        c.key.group, owner.name, owner.incarnation);
        return !same;
    }

    [[nodiscard]] static std::uint64_t number(const statement& s, int column)
    {
        return s.whole<std::uint64_t>(column);
    }

    database& db_;
    statement rows_{db_.exec(tables),
                    "SELECT part, owner, incarnation, epoch, version FROM leases"
                    " WHERE source = ? AND grp = ?"};
    statement owners_{db_,
                      "SELECT owner, incarnation, version, renews_leases FROM owners"
                      " WHERE source = ? AND grp = ?"};
    statement heartbeat_{db_,
                         "SELECT version FROM owners WHERE source = ? AND grp = ? AND owner = ?"
                         " AND incarnation = ?"};
    statement last_change_{db_, "SELECT coalesce(max(change), 0) FROM lease_changes"};
    statement changes_{db_,
                       "SELECT c.part, l.owner, l.incarnation, l.epoch, l.version"
                       " FROM lease_changes AS c LEFT JOIN leases AS l USING (source, grp, part)"
                       " WHERE c.source = ? AND c.grp = ? AND c.change > ?"};
    statement insert_{db_,
                      "INSERT INTO leases VALUES (?, ?, ?, ?, ?, ?, abs(random() / 2))"
                      " ON CONFLICT DO NOTHING RETURNING version"};
    statement update_{db_,
                      "UPDATE leases SET owner = ?, incarnation = ?, epoch = ?,"
                      " version = version + 1"
                      " WHERE source = ? AND grp = ? AND part = ? AND version = ?"
                      " RETURNING version"};
    statement announce_{db_,
                        "INSERT INTO owners VALUES (?, ?, ?, ?, ?, ?)"
                        " ON CONFLICT DO UPDATE SET version = excluded.version,"
                        " renews_leases = excluded.renews_leases"};
    statement withdraw_{db_,
                        "DELETE FROM owners WHERE source = ? AND grp = ? AND owner = ?"
                        " AND incarnation = ? AND version = ?"};
    statement epoch_{db_, "SELECT epoch FROM leases WHERE source = ? AND grp = ? AND part = ?"};
};

static_assert(waybill::lease_store<sqlite_leases>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_LEASES_HPP
