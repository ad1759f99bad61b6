// SPDX-License-Identifier: MIT
//
// tables: the databases of the shop and of the mail server, which are independent of each other.

#ifndef WAYBILL_EXAMPLES_OUTBOX_TABLES_HPP
#define WAYBILL_EXAMPLES_OUTBOX_TABLES_HPP

#include <string>

#include "../engines/sqlite.hpp"

namespace outbox {

[[nodiscard]] inline std::string shop_in(const std::string& db)
{
    return db + "/shop.sqlite";
}
[[nodiscard]] inline std::string server_in(const std::string& db)
{
    return db + "/server.sqlite";
}

/// The tables of the shop. An order and its mail have one number. A mail is fresh, deferred, sent
/// or dead.
inline void make_shop_tables(engines::database& db)
{
    db.exec(R"(
        CREATE TABLE IF NOT EXISTS orders (
            id INTEGER PRIMARY KEY, item TEXT NOT NULL, at TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS outbox (
            id INTEGER PRIMARY KEY, recipient TEXT NOT NULL, subject TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'fresh');
        CREATE INDEX IF NOT EXISTS fresh_mails ON outbox (id) WHERE state = 'fresh';
        CREATE TABLE IF NOT EXISTS books (name TEXT PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS dead_letters (
            id INTEGER PRIMARY KEY, recipient TEXT NOT NULL, subject TEXT NOT NULL,
            reason TEXT NOT NULL, tries INTEGER NOT NULL, parked INTEGER NOT NULL,
            held INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE IF NOT EXISTS pruned (
            id INTEGER PRIMARY KEY, parked INTEGER NOT NULL, why TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS closed (one INTEGER PRIMARY KEY);
    )");
}

/// The tables of the mail server: mails with their copies, and refusals by recipient and code.
inline void make_server_tables(engines::database& db)
{
    db.exec(R"(
        CREATE TABLE IF NOT EXISTS mails (
            message_id TEXT PRIMARY KEY, recipient TEXT NOT NULL, text TEXT NOT NULL,
            copies INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS refusals (
            recipient TEXT NOT NULL, code INTEGER NOT NULL, times INTEGER NOT NULL,
            PRIMARY KEY (recipient, code));
    )");
}

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_TABLES_HPP
