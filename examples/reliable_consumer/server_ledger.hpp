// SPDX-License-Identifier: MIT
//
// server_ledger: the ledger in PostgreSQL. Its rule is not repaired there.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_LEDGER_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_LEDGER_HPP

#include <cstdint>
#include <string>

#include "../engines/postgres.hpp"
#include "ledger.hpp"

namespace reliable_consumer {

class server_ledger {
public:
    /// `db` is the connection of the store, so that all is in one transaction. Connects when it is
    /// used.
    explicit server_ledger(engines::postgres& db) : db_(db) {}

    void make_tables()
    {
        db_.outside([&] {
            db_.exec(
                "SELECT pg_advisory_xact_lock(7742136610);"
                "CREATE TABLE IF NOT EXISTS effects (n bigserial PRIMARY KEY,"
                " part bigint NOT NULL, sequence numeric(20) NOT NULL);"
                "CREATE INDEX IF NOT EXISTS effects_part ON effects (part);"
                "CREATE TABLE IF NOT EXISTS packages (name text PRIMARY KEY,"
                " events bigint NOT NULL, version text NOT NULL)");
        });
    }

    [[nodiscard]] waybill::fault apply(std::uint64_t partition, const event& e)
    {
        const auto line = [&] { line_.run(partition, e.sequence); };
        const auto sum = [&](const std::string& package, const std::string& version) {
            return !sum_.run(package, version).text(0, 0).empty();
        };
        return reliable_consumer::apply(e, false, line, sum);
    }

private:
    engines::postgres& db_;
    engines::prepared line_{db_, "INSERT INTO effects (part, sequence) VALUES ($1, $2)"};
    engines::prepared sum_{
        db_,
        "INSERT INTO packages AS p VALUES ($1, 1, $2) ON CONFLICT (name) DO UPDATE SET"
        " events = p.events + 1, version = CASE $2 WHEN '' THEN p.version ELSE $2 END"
        " RETURNING version"};
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVER_LEDGER_HPP
