// SPDX-License-Identifier: MIT
//
// sqlite_session_tables: the tables of a queue of sessions in SQLite, and all statements on them.
//
// Part of sqlite_sessions.hpp. A complete message is deleted; a dead letter is moved to its own
// table. A session has a row from its first acceptance on. `held_until` is NULL while no receiver
// has it.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_SESSION_TABLES_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_SESSION_TABLES_HPP

#include "sqlite.hpp"

namespace engines::detail {

struct session_statements {
    static constexpr const char* tables =
        "CREATE TABLE IF NOT EXISTS messages (place INTEGER PRIMARY KEY AUTOINCREMENT,"
        " sequence INTEGER NOT NULL UNIQUE, session TEXT NOT NULL, id TEXT NOT NULL,"
        " properties BLOB NOT NULL, body BLOB NOT NULL, enqueued INTEGER NOT NULL,"
        " failures INTEGER NOT NULL DEFAULT 0, taken INTEGER NOT NULL DEFAULT 0);"
        "CREATE INDEX IF NOT EXISTS in_session ON messages (session, place);"
        "CREATE TABLE IF NOT EXISTS sessions (session TEXT PRIMARY KEY, token INTEGER NOT NULL,"
        " held_until INTEGER, not_before INTEGER NOT NULL DEFAULT 0, state BLOB);"
        "CREATE INDEX IF NOT EXISTS held ON sessions (held_until) WHERE held_until IS NOT NULL;"
        "CREATE TABLE IF NOT EXISTS used_ids (id TEXT PRIMARY KEY, at INTEGER NOT NULL);"
        "CREATE INDEX IF NOT EXISTS used_at ON used_ids (at);"
        "CREATE TABLE IF NOT EXISTS numbers (part INTEGER PRIMARY KEY, last INTEGER NOT NULL);"
        "CREATE TABLE IF NOT EXISTS dead (place INTEGER PRIMARY KEY, sequence INTEGER NOT NULL"
        " UNIQUE, session TEXT NOT NULL, id TEXT NOT NULL, properties BLOB NOT NULL,"
        " body BLOB NOT NULL, enqueued INTEGER NOT NULL, failures INTEGER NOT NULL,"
        " reason TEXT NOT NULL, held_until INTEGER NOT NULL DEFAULT 0)";

    explicit session_statements(database& db) : on_(db.exec(tables)) {}

    database& on_;
    // Calls of a session's holder.
    statement held_{on_,
                    "SELECT 1 FROM sessions WHERE session = ? AND token = ? AND held_until > ?"};
    statement take_{on_,
                    "UPDATE messages SET taken = ?2 WHERE place = (SELECT place FROM messages"
                    " WHERE session = ?1 AND taken = 0 ORDER BY place LIMIT 1)"
                    " RETURNING sequence, session, id, properties, body, enqueued, failures + 1"};
    statement complete_{on_,
                        "DELETE FROM messages WHERE sequence = ? AND session = ? AND taken = ?"};
    statement abandon_{on_,
                       "UPDATE messages SET taken = 0, failures = failures + 1"
                       " WHERE sequence = ? AND session = ? AND taken = ?"};
    statement renew_{on_, "UPDATE sessions SET held_until = ? WHERE session = ?"};
    statement untake_{on_, "UPDATE messages SET taken = 0 WHERE session = ? AND taken <> 0"};
    statement unlock_{on_,
                      "UPDATE sessions SET held_until = NULL, not_before = ? WHERE session = ?"};
    statement state_{on_, "SELECT state FROM sessions WHERE session = ?"};
    statement set_state_{on_, "UPDATE sessions SET state = ? WHERE session = ?"};
    statement with_state_{on_, "SELECT session FROM sessions WHERE state IS NOT NULL"};
    // The next session.
    statement next_{on_,
                    "SELECT session FROM messages LEFT JOIN sessions USING (session)"
                    " WHERE held_until IS NULL AND coalesce(not_before, 0) <= ?"
                    " ORDER BY place LIMIT 1"};
    statement lock_{on_,
                    "INSERT INTO sessions (session, token, held_until) VALUES (?, 1, ?)"
                    " ON CONFLICT DO UPDATE SET token = token + 1, held_until = excluded.held_until"
                    " RETURNING token"};
    statement has_holder_{on_,
                          "SELECT 1 FROM sessions WHERE session = ? AND held_until IS NOT NULL"};
    statement ended_{on_, "SELECT 1 FROM sessions WHERE held_until <= ? LIMIT 1"};
    statement count_{on_,
                     "UPDATE messages SET taken = 0, failures = failures + 1 WHERE taken <> 0"
                     " AND session IN (SELECT session FROM sessions WHERE held_until <= ?)"};
    statement end_{on_, "UPDATE sessions SET held_until = NULL WHERE held_until <= ?"};
    statement bury_{on_,
                    "INSERT INTO dead SELECT place, sequence, session, id, properties, body,"
                    " enqueued, failures, 'delivered ' || failures || ' times', 0"
                    " FROM messages WHERE failures >= ?"};
    statement buried_{on_, "DELETE FROM messages WHERE failures >= ?"};
    statement dead_{on_,
                    "UPDATE dead SET held_until = ? WHERE place ="
                    " (SELECT place FROM dead WHERE held_until <= ? ORDER BY place LIMIT 1)"
                    " RETURNING sequence, session, id, properties, body, enqueued, failures,"
                    " reason"};
    statement peek_dead_{on_,
                         "SELECT sequence, session, id, properties, body, enqueued, failures,"
                         " reason FROM dead WHERE sequence > ? ORDER BY sequence LIMIT 1"};
    statement remove_dead_{on_, "DELETE FROM dead WHERE sequence = ?"};
    // Sending.
    statement forget_{on_, "DELETE FROM used_ids WHERE at <= ?"};
    statement use_id_{on_, "INSERT OR IGNORE INTO used_ids VALUES (?, ?)"};
    statement number_{on_,
                      "INSERT INTO numbers VALUES (?, 1)"
                      " ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last"};
    statement put_{on_,
                   "INSERT INTO messages (sequence, session, id, properties, body, enqueued)"
                   " VALUES (?, ?, ?, ?, ?, ?)"};
    statement depth_{on_, "SELECT count(*) FROM messages"};
};

}  // namespace engines::detail

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_SESSION_TABLES_HPP
