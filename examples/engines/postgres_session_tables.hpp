// SPDX-License-Identifier: MIT
//
// postgres_session_tables: the tables of a queue of sessions in PostgreSQL, its statements, and the
// connection that holds the row lock of a session.
//
// Part of postgres_sessions.hpp.
//
//     session_messages   a row for each message that is neither complete nor a dead letter
//     session_states     the token of the last acceptance, the end of the pause, and the state
//     session_locks      a row for each session, which is locked and never changed
//     session_ids        the ids of messages, until the end of duplicate detection
//     session_dead       dead letters of the queue itself
//
// Sessions, ids, properties, bodies and states are bytea. `taken` has the token of the acceptance
// that has received the message.

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_SESSION_TABLES_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_SESSION_TABLES_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>

#include "postgres.hpp"

namespace engines::detail {

/// The server ends a connection that is idle in a transaction for this time.
inline void limit_idle_transactions(postgres& db, std::chrono::milliseconds limit)
{
    const std::string sql =
        "SET idle_in_transaction_session_timeout = " + std::to_string(limit.count());
    db.exec(sql.c_str());
}

/// A connection whose transaction has the row lock of one session. The transaction writes nothing,
/// so that its end can only release the lock.
class session_lock_holder {
public:
    session_lock_holder(const std::string& where, std::chrono::milliseconds idle)
        : db_(where), idle_(idle)
    {
    }

    /// Locks the row of the session that has the oldest message, no lock and no pause.
    [[nodiscard]] std::optional<std::string> lock_next()
    {
        begin();
        return session_in(next_.run());
    }
    /// Locks the row of this session. Returns false if another transaction has the lock.
    [[nodiscard]] bool lock(const std::string& session)
    {
        begin();
        return session_in(this_.run(session)).has_value();
    }

    void release() noexcept
    {
        if (db_.in_transaction() && db_.ask("ROLLBACK").ok()) return;
        db_.drop();
    }

    /// False if the end of the connection has arrived at this process. Does not wait.
    [[nodiscard]] bool open() noexcept
    {
        for (;;) {
            pollfd p{.fd = PQsocket(db_.handle()), .events = POLLIN, .revents = 0};
            if (!db_.in_transaction() || p.fd < 0) return false;
            if (::poll(&p, 1, 0) <= 0) return true;
            if (PQconsumeInput(db_.handle()) != 1) return false;
        }
    }
    /// Asks the server, which restarts the limit of an idle transaction.
    [[nodiscard]] bool confirm() noexcept
    {
        return db_.in_transaction() && db_.ask("SELECT 1").ok();
    }

    /// The process of the server that has the lock.
    [[nodiscard]] int server_process() const noexcept { return PQbackendPID(db_.handle()); }

private:
    void begin()
    {
        db_.outside([&] {
            if (limited_ != db_.life()) limit_idle_transactions(db_, idle_);
            limited_ = db_.life();
            db_.exec("BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE");
        });
    }
    [[nodiscard]] std::optional<std::string> session_in(const rows& r)
    {
        if (!r.empty()) return r.bytes(0, 0);
        release();
        return {};
    }

    postgres db_;
    std::chrono::milliseconds idle_;
    std::uint64_t limited_ = 0;  // the connection that has the limit
    prepared next_{db_,
                   "SELECT l.session FROM session_messages AS m JOIN session_states AS s"
                   " USING (session) JOIN session_locks AS l USING (session)"
                   " WHERE s.not_before <= clock_timestamp()"
                   " ORDER BY m.place LIMIT 1 FOR UPDATE OF l SKIP LOCKED"};
    prepared this_{db_,
                   "SELECT session FROM session_locks WHERE session = $1::bytea"
                   " FOR UPDATE SKIP LOCKED"};
};

struct postgres_session_statements {
    static constexpr const char* tables =
        // One transaction. Two sessions that create the tables at once would be errors.
        "SELECT pg_advisory_xact_lock(7742136604);"
        "CREATE SEQUENCE IF NOT EXISTS session_tokens;"
        "CREATE TABLE IF NOT EXISTS session_messages (place bigserial PRIMARY KEY,"
        " session bytea NOT NULL, id bytea NOT NULL, properties bytea NOT NULL,"
        " body bytea NOT NULL, enqueued bigint NOT NULL, deliveries bigint NOT NULL DEFAULT 0,"
        " taken bigint NOT NULL DEFAULT 0);"
        "CREATE INDEX IF NOT EXISTS session_messages_of ON session_messages (session, place);"
        "CREATE TABLE IF NOT EXISTS session_states (session bytea PRIMARY KEY,"
        " token bigint NOT NULL DEFAULT 0, not_before timestamptz NOT NULL DEFAULT '-infinity',"
        " state bytea);"
        "CREATE TABLE IF NOT EXISTS session_locks (session bytea PRIMARY KEY);"
        "CREATE TABLE IF NOT EXISTS session_ids (id bytea PRIMARY KEY, at timestamptz NOT NULL);"
        "CREATE INDEX IF NOT EXISTS session_ids_at ON session_ids (at);"
        "CREATE TABLE IF NOT EXISTS session_dead (place bigint PRIMARY KEY,"
        " session bytea NOT NULL, id bytea NOT NULL, properties bytea NOT NULL,"
        " body bytea NOT NULL, enqueued bigint NOT NULL, deliveries bigint NOT NULL,"
        " reason text NOT NULL, held_until timestamptz NOT NULL DEFAULT '-infinity')";

    explicit postgres_session_statements(postgres& db) : on_(db) {}

    postgres& on_;
    // A send. One at a time: the order of the places is then the order of the commits.
    prepared one_sender_{on_, "SELECT pg_advisory_xact_lock(7742136605)"};
    prepared forget_{on_,
                     "DELETE FROM session_ids"
                     " WHERE at <= clock_timestamp() - $1::bigint * interval '1 millisecond'"};
    prepared put_{on_,
                  "WITH fresh AS (INSERT INTO session_ids SELECT $2::bytea, clock_timestamp()"
                  " WHERE $2::bytea <> ''::bytea ON CONFLICT DO NOTHING RETURNING id),"
                  " wanted AS (SELECT $1::bytea AS session"
                  " WHERE $2::bytea = ''::bytea OR EXISTS (SELECT FROM fresh)),"
                  " state_row AS (INSERT INTO session_states (session) SELECT session"
                  " FROM wanted AS w WHERE NOT EXISTS (SELECT FROM session_states AS s"
                  " WHERE s.session = w.session) ON CONFLICT DO NOTHING),"
                  " lock_row AS (INSERT INTO session_locks SELECT session FROM wanted AS w"
                  " WHERE NOT EXISTS (SELECT FROM session_locks AS l WHERE l.session = w.session)"
                  " ON CONFLICT DO NOTHING)"
                  " INSERT INTO session_messages (session, id, properties, body, enqueued)"
                  " SELECT session, $2, $3, $4,"
                  " floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM wanted"};
    // An acceptance, after the row in session_locks is locked.
    prepared state_row_{on_,
                        "INSERT INTO session_states (session) VALUES ($1::bytea)"
                        " ON CONFLICT DO NOTHING"};
    prepared lock_row_{on_, "INSERT INTO session_locks VALUES ($1::bytea) ON CONFLICT DO NOTHING"};
    prepared take_next_{on_,
                        "UPDATE session_states SET token = nextval('session_tokens')"
                        " WHERE session = $1::bytea AND not_before <= clock_timestamp()"
                        " AND EXISTS (SELECT FROM session_messages WHERE session = $1::bytea)"
                        " RETURNING token"};
    prepared take_{on_,
                   "UPDATE session_states SET token = nextval('session_tokens')"
                   " WHERE session = $1::bytea RETURNING token"};
    prepared bury_{on_,
                   "WITH gone AS (DELETE FROM session_messages"
                   " WHERE session = $1::bytea AND taken = 0 AND deliveries >= $2 RETURNING *)"
                   " INSERT INTO session_dead SELECT place, session, id, properties, body,"
                   " enqueued, deliveries, 'delivered ' || deliveries || ' times' FROM gone"};
    prepared untake_lost_{on_,
                          "UPDATE session_messages SET taken = 0"
                          " WHERE session = $1::bytea AND taken <> 0"};
    // The calls with a lock. The first statement of each transaction stops an older holder.
    prepared held_{on_,
                   "SELECT FROM session_states WHERE session = $1::bytea AND token = $2"
                   " FOR UPDATE"};
    prepared receive_{on_,
                      "UPDATE session_messages SET taken = $2, deliveries = deliveries + 1"
                      " WHERE place = (SELECT place FROM session_messages"
                      " WHERE session = $1::bytea AND taken = 0 ORDER BY place LIMIT 1)"
                      " RETURNING place, session, id, properties, body, enqueued, deliveries"};
    prepared complete_{on_,
                       "DELETE FROM session_messages"
                       " WHERE place = $1 AND session = $2::bytea AND taken = $3"};
    prepared abandon_{on_,
                      "UPDATE session_messages SET taken = 0"
                      " WHERE place = $1 AND session = $2::bytea AND taken = $3"};
    prepared untake_{on_,
                     "UPDATE session_messages SET taken = 0, deliveries = deliveries - 1"
                     " WHERE session = $1::bytea AND taken = $2"};
    prepared pause_{on_,
                    "UPDATE session_states SET not_before ="
                    " clock_timestamp() + $2::bigint * interval '1 millisecond'"
                    " WHERE session = $1::bytea"};
    prepared state_{on_, "SELECT state FROM session_states WHERE session = $1::bytea"};
    prepared set_state_{on_,
                        "UPDATE session_states SET state = $3::bytea"
                        " WHERE session = $1::bytea AND token = $2"};
    // The rest.
    prepared with_state_{on_,
                         "SELECT session FROM session_states WHERE state IS NOT NULL ORDER BY 1"};
    prepared depth_{on_, "SELECT count(*) FROM session_messages"};
    prepared dead_{on_,
                   "UPDATE session_dead SET held_until ="
                   " clock_timestamp() + $1::bigint * interval '1 millisecond'"
                   " WHERE place = (SELECT place FROM session_dead"
                   " WHERE held_until <= clock_timestamp() ORDER BY place LIMIT 1"
                   " FOR UPDATE SKIP LOCKED)"
                   " RETURNING place, session, id, properties, body, enqueued, deliveries,"
                   " reason"};
    prepared peek_dead_{on_,
                        "SELECT place, session, id, properties, body, enqueued, deliveries,"
                        " reason FROM session_dead WHERE place > $1 ORDER BY place LIMIT 1"};
    prepared remove_dead_{on_, "DELETE FROM session_dead WHERE place = $1"};
};

}  // namespace engines::detail

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_SESSION_TABLES_HPP
