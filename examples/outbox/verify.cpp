// SPDX-License-Identifier: MIT

#include "verify.hpp"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "../engines/sqlite.hpp"
#include "tables.hpp"

namespace outbox {

namespace {

/// Views on both databases: each order with its mails and dead letters. A header is searched at the
/// begin of a line, as a subject may contain the name of another header.
constexpr const char* views = R"(
    CREATE TEMP VIEW received AS
        SELECT CAST(substr(text, instr(text, x'0d0a' || 'X-Order: ') + 11, 20) AS INTEGER) AS id,
               recipient, text, copies FROM server.mails;
    CREATE TEMP VIEW letters AS
        SELECT id, reason FROM main.dead_letters UNION ALL SELECT id, why FROM main.pruned;
    CREATE TEMP VIEW fates AS
        SELECT o.id, ifnull(r.n, 0) AS mails, ifnull(l.n, 0) AS letters FROM main.orders o
        LEFT JOIN (SELECT id, count(*) AS n FROM received GROUP BY id) r ON r.id = o.id
        LEFT JOIN (SELECT id, count(*) AS n FROM letters GROUP BY id) l ON l.id = o.id;
)";

struct rule {
    std::string_view what;  ///< the violation, for the report
    std::string_view count;
};

/// Each query must count 0.
constexpr rule rules[] = {
    {"orders have no row in the outbox",
     "SELECT count(*) FROM orders WHERE id NOT IN (SELECT id FROM outbox)"},
    {"rows of the outbox have no order",
     "SELECT count(*) FROM outbox WHERE id NOT IN (SELECT id FROM orders)"},
    {"mails are neither sent nor dead",
     "SELECT count(*) FROM outbox WHERE state NOT IN ('sent', 'dead')"},
    {"mails are marked as sent, but were not received",
     "SELECT count(*) FROM outbox WHERE state = 'sent' AND id NOT IN (SELECT id FROM received)"},
    {"mails are marked as dead, but have no dead letter",
     "SELECT count(*) FROM outbox WHERE state = 'dead' AND id NOT IN (SELECT id FROM letters)"},
    {"mails were received without an order",
     "SELECT count(*) FROM received WHERE id NOT IN (SELECT id FROM orders)"},
    {"mails differ from their order, or have another recipient",
     "SELECT count(*) FROM received r JOIN outbox b ON b.id = r.id JOIN orders o ON o.id = r.id"
     " WHERE r.recipient <> b.recipient OR instr(r.text, x'0d0a' || 'Subject: ' || b.subject) = 0"
     " OR instr(r.text, o.item) = 0"},
    {"orders have several dead letters", "SELECT count(*) FROM fates WHERE letters > 1"},
    {"mails to missing mailboxes are not dead-lettered with 550",
     "SELECT count(*) FROM outbox b JOIN server.refusals f ON f.recipient = b.recipient"
     " LEFT JOIN letters l ON l.id = b.id WHERE f.code = 550 AND ifnull(l.reason, '')"
     " NOT LIKE '550 %'"},
    {"dead letters contain a reply that the server has not sent",
     "SELECT count(*) FROM letters l JOIN outbox b ON b.id = l.id LEFT JOIN server.refusals f"
     " ON f.recipient = b.recipient AND f.code = CAST(l.reason AS INTEGER) WHERE f.code IS NULL"},
    {"entries of deferred mails are left",
     "SELECT count(*) FROM books WHERE length(bytes) > 9"},  // magic, version, no entries, checksum
};

class witness {
public:
    explicit witness(const std::string& db) : db_(shop_in(db))
    {
        engines::statement(db_, "ATTACH ? AS server").run(std::string_view(server_in(db)));
        db_.exec(views);
    }

    std::uint64_t number(std::string_view sql)
    {
        return static_cast<std::uint64_t>(engines::statement(db_, sql).number().value_or(0));
    }

    void count(findings& f)
    {
        f.orders = number("SELECT count(*) FROM orders");
        f.received = number("SELECT count(*) FROM fates WHERE mails <> 0");
        f.twice = number("SELECT count(*) FROM fates WHERE mails > 1");
        f.dead = number("SELECT count(*) FROM letters");
        f.neither = number("SELECT count(*) FROM fates WHERE mails = 0 AND letters = 0");
        f.both = number("SELECT count(*) FROM fates WHERE mails <> 0 AND letters <> 0");
        f.dropped = number("SELECT sum(copies - 1) FROM received");
        f.tried = number("SELECT count(*) FROM outbox WHERE state IN ('fresh', 'deferred')");
    }

private:
    engines::database db_;
};

}  // namespace

findings verify(const std::string& db, std::uint64_t orders)
{
    witness w(db);
    findings f;
    w.count(f);
    const auto complain = [&](std::uint64_t n, std::string_view what) {
        if (n != 0) f.wrong.push_back(fmt::format("{} {}", n, what));
    };
    if (f.orders != orders)
        complain(f.orders, fmt::format("orders are in the database, and not {}", orders));
    complain(f.twice, "mails were stored twice");
    complain(f.neither, "orders are lost: neither a mail nor a dead letter");
    complain(f.both, "orders have both a mail and a dead letter");
    for (const rule& r : rules) complain(w.number(r.count), r.what);
    return f;
}

std::uint64_t letters_left(const std::string& db)
{
    return witness(db).number("SELECT count(*) FROM main.dead_letters");
}

}  // namespace outbox
