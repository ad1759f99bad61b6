// SPDX-License-Identifier: MIT
//
// postgres_leases: leases of partitions in PostgreSQL, as a waybill lease store.
//
//     engines::postgres db("host=127.0.0.1 dbname=sink");
//     engines::postgres_leases leases(db);
//
//   1. A claim is one statement that compares the version and writes. Of two concurrent claims the
//      second one waits for the first, and then finds another version.
//   2. Versions come from a sequence and are never used twice.
//   3. A round is one transaction: one heartbeat renews all leases of its owner. It reads all rows,
//      because no trigger counts changes.
//   4. The claims of one call lock their rows in one order: first the heartbeats, then the leases.
//   5. Each call but `epoch` needs a connection without an open transaction.
//
// Failure                                   Result
// another version in the row                the claim is lost
// a transaction is open                     infrastructure
// an error of the server, no connection     infrastructure
// the reply to a claim is lost              infrastructure. The call is not repeated: it could take
//                                           its own claim for that of another owner. The next
//                                           round reads the table.

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_LEASES_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_LEASES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "postgres.hpp"
#include <waybill/lease/lease.hpp>

namespace engines {

class postgres_leases {
public:
    /// Does not connect yet.
    explicit postgres_leases(postgres& db) : db_(db) {}

    [[nodiscard]] waybill::result<waybill::lease_table> list(const std::string& source,
                                                             const std::string& group)
    {
        waybill::lease_table all;
        const auto read = attempt([&] {
            db_.outside([&] {
                make_tables();
                all = rows_of(source, group);
            });
        });
        if (!read) return waybill::unexpected(read.error());
        return all;
    }

    [[nodiscard]] waybill::result<waybill::lease_table> renew(const waybill::owner_heartbeat& own,
                                                              std::uint64_t)
    {
        waybill::lease_table all;
        const auto done = together([&] {
            write(own);
            all = rows_of(own.source, own.group);
        });
        if (!done) return waybill::unexpected(done.error());
        return all;
    }

    [[nodiscard]] waybill::result<std::vector<waybill::lease_claim::result>> claim_all(
        const std::vector<waybill::lease_claim>& claims)
    {
        std::vector<std::size_t> order(claims.size());
        for (std::size_t n = 0; n != order.size(); ++n) order[n] = n;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return claims[a].key < claims[b].key;
        });
        std::vector<waybill::lease_claim::result> results(claims.size());
        const auto done = together([&] {
            // The version of the heartbeat of each owner that seems to be dead, locked.
            std::map<std::tuple<std::string, std::string, waybill::owner_id>,
                     std::optional<std::uint64_t>>
                heartbeats;
            for (const waybill::lease_claim& c : claims) {
                if (!c.expired_owner.none())
                    heartbeats[{c.key.source, c.key.group, c.expired_owner}] = std::nullopt;
            }
            for (auto& [at, version] : heartbeats) {
                const auto& [source, group, owner] = at;
                const rows r = heartbeat_.run(source, group, owner.name, owner.incarnation);
                if (!r.empty()) version = r.number<std::uint64_t>(0, 0);
            }
            for (const std::size_t n : order) {
                const waybill::lease_claim& c = claims[n];
                const bool dead =
                    c.expired_owner.none() ||
                    heartbeats[{c.key.source, c.key.group, c.expired_owner}] == c.expired_heartbeat;
                if (dead) results[n] = write(c);
            }
        });
        if (!done) return waybill::unexpected(done.error());
        return results;
    }

    [[nodiscard]] waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim& c)
    {
        waybill::lease_claim::result outcome;
        const auto written = once([&] { outcome = write(c); });
        if (!written) return waybill::unexpected(written.error());
        return outcome;
    }

    [[nodiscard]] waybill::result<void> heartbeat(const waybill::owner_heartbeat& p)
    {
        return once([&] { write(p); });
    }

    [[nodiscard]] waybill::result<void> leave(const waybill::owner_heartbeat& p)
    {
        return once([&] {
            withdraw_.run(p.source, p.group, p.owner.name, p.owner.incarnation, p.version);
        });
    }

    /// The epoch of a lease, read within a transaction on this connection, as a postgres_store has.
    /// It locks the row: no other owner can take the lease before the commit. Without tables there
    /// is no lease. They are not created here, because a rollback would remove them.
    template <class Transaction>
    [[nodiscard]] waybill::result<std::optional<std::uint64_t>> epoch(
        Transaction&, const waybill::partition_key& k)
    {
        std::optional<std::uint64_t> found;
        const auto read = attempt([&] {
            if (made_ != db_.life() && there_.run().null(0, 0)) return;
            made_ = db_.life();
            const rows r = epoch_.run(k.source, k.group, k.partition);
            if (!r.empty()) found = r.number<std::uint64_t>(0, 0);
        });
        if (!read) return waybill::unexpected(read.error());
        return found;
    }

private:
    static constexpr const char* tables =
        "SELECT pg_advisory_xact_lock(7742136602);"
        "CREATE SEQUENCE IF NOT EXISTS lease_versions;"
        "CREATE TABLE IF NOT EXISTS leases (source text NOT NULL, grp text NOT NULL,"
        " part text NOT NULL, owner text NOT NULL, incarnation numeric(20) NOT NULL,"
        " epoch numeric(20) NOT NULL, version bigint NOT NULL, PRIMARY KEY (source, grp, part));"
        "CREATE TABLE IF NOT EXISTS lease_owners (source text NOT NULL, grp text NOT NULL,"
        " owner text NOT NULL, incarnation numeric(20) NOT NULL, version numeric(20) NOT NULL,"
        " renews_leases boolean NOT NULL, PRIMARY KEY (source, grp, owner, incarnation))";

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

    template <class F>
    [[nodiscard]] waybill::result<void> once(F&& f)
    {
        return attempt([&] {
            db_.outside([&] { make_tables(); });
            f();
        });
    }

    /// One transaction.
    template <class F>
    [[nodiscard]] waybill::result<void> together(F&& f)
    {
        return once([&] {
            db_.exec("BEGIN");
            try {
                f();
                if (db_.exec("COMMIT").tag() != "COMMIT")
                    throw postgres_error("the transaction was rolled back", "");
            } catch (const postgres_error&) {
                if (db_.in_transaction()) (void)db_.ask("ROLLBACK");
                throw;
            }
        });
    }

    [[nodiscard]] waybill::lease_table rows_of(const std::string& source, const std::string& group)
    {
        waybill::lease_table all;
        const rows l = leases_.run(source, group);
        for (int i = 0; i != l.size(); ++i) {
            all.leases.push_back({{source, group, std::string(l.text(i, 0))},
                                  {std::string(l.text(i, 1)), l.number<std::uint64_t>(i, 2)},
                                  l.number<std::uint64_t>(i, 3),
                                  l.number<std::uint64_t>(i, 4)});
        }
        const rows o = owners_.run(source, group);
        for (int i = 0; i != o.size(); ++i) {
            all.owners.push_back({source,
                                  group,
                                  {std::string(o.text(i, 0)), o.number<std::uint64_t>(i, 1)},
                                  o.number<std::uint64_t>(i, 2),
                                  o.number<std::uint64_t>(i, 3) != 0});
        }
        return all;
    }

    void write(const waybill::owner_heartbeat& p)
    {
        announce_.run(p.source, p.group, p.owner.name, p.owner.incarnation, p.version,
                      p.renews_leases);
    }
    [[nodiscard]] waybill::lease_claim::result write(const waybill::lease_claim& c)
    {
        const waybill::partition_key& k = c.key;
        const rows r = c.expected ? take_.run(k.source, k.group, k.partition, c.owner.name,
                                              c.owner.incarnation, c.epoch, *c.expected)
                                  : first_.run(k.source, k.group, k.partition, c.owner.name,
                                               c.owner.incarnation, c.epoch);
        if (r.empty()) return {};
        return {waybill::lease_claim::result::claim_outcome::won, c.epoch,
                r.number<std::uint64_t>(0, 0)};
    }

    void make_tables()
    {
        if (db_.in_transaction()) throw postgres_error("a transaction is open", "");
        if (made_ != db_.life()) db_.exec(tables);
        made_ = db_.life();
    }

    postgres& db_;
    std::uint64_t made_ = 0;  ///< The connection on which the tables were created or found.
    prepared leases_{db_,
                     "SELECT part, owner, incarnation, epoch, version FROM leases"
                     " WHERE source = $1 AND grp = $2"};
    prepared owners_{db_,
                     "SELECT owner, incarnation, version, renews_leases::int FROM lease_owners"
                     " WHERE source = $1 AND grp = $2"};
    prepared heartbeat_{db_,
                        "SELECT version FROM lease_owners WHERE source = $1 AND grp = $2"
                        " AND owner = $3 AND incarnation = $4 FOR SHARE"};
    prepared first_{db_,
                    "INSERT INTO leases VALUES ($1, $2, $3, $4, $5, $6, nextval('lease_versions'))"
                    " ON CONFLICT DO NOTHING RETURNING version"};
    prepared take_{db_,
                   "UPDATE leases SET owner = $4, incarnation = $5, epoch = $6,"
                   " version = nextval('lease_versions')"
                   " WHERE source = $1 AND grp = $2 AND part = $3 AND version = $7::numeric"
                   " RETURNING version"};
    prepared announce_{db_,
                       "INSERT INTO lease_owners VALUES ($1, $2, $3, $4, $5, $6)"
                       " ON CONFLICT (source, grp, owner, incarnation)"
                       " DO UPDATE SET version = excluded.version,"
                       " renews_leases = excluded.renews_leases"};
    prepared withdraw_{db_,
                       "DELETE FROM lease_owners WHERE source = $1 AND grp = $2 AND owner = $3"
                       " AND incarnation = $4 AND version = $5"};
    prepared there_{db_, "SELECT to_regclass('leases')"};
    prepared epoch_{db_,
                    "SELECT epoch FROM leases WHERE source = $1 AND grp = $2 AND part = $3"
                    " FOR SHARE"};
};

static_assert(waybill::lease_store<postgres_leases>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_LEASES_HPP
