// SPDX-License-Identifier: MIT
//
// mail_table: the outbox for its relay: the next mail, and the outcome of a mail.
//
// The outcome of a mail and the entries of deferred mails are written in one transaction, so they
// are always consistent.

#ifndef WAYBILL_EXAMPLES_OUTBOX_MAIL_TABLE_HPP
#define WAYBILL_EXAMPLES_OUTBOX_MAIL_TABLE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../engines/sqlite.hpp"
#include "letter.hpp"
#include "tables.hpp"
#include <waybill/core/time.hpp>

namespace outbox {

class mail_table {
public:
    explicit mail_table(const std::string& db) : db_(shop_in(db)) {}

    /// The oldest mail without an attempt.
    [[nodiscard]] std::optional<letter> next_fresh()
    {
        fresh_.query();
        return read(fresh_);
    }

    [[nodiscard]] std::optional<letter> find(std::uint64_t id)
    {
        by_id_.query(id);
        return read(by_id_);
    }

    /// True if the shop is closed and each mail was tried. (Checked in this order, as an order may
    /// be added just before the shop closes.)
    [[nodiscard]] bool all_tried() { return closed_.number() && !next_fresh(); }

    /// The stored entries of deferred mails, if any.
    [[nodiscard]] std::optional<std::string> deferred_bytes()
    {
        std::optional<std::string> bytes;
        for (load_.query(); load_.step();) bytes = load_.text(0);
        return bytes;
    }

    void sent(const letter& l, const std::string& entries)
    {
        all_at_once([&] { become(l, "sent", entries); });
    }

    void deferred(const letter& l, const std::string& entries)
    {
        all_at_once([&] { become(l, "deferred", entries); });
    }

    void dead(const letter& l, const std::string& entries, std::string_view why,
              waybill::wall_time now)
    {
        all_at_once([&] {
            become(l, "dead", entries);
            bury_.run(l.id, l.recipient, l.subject, why, l.tries, now.since_epoch().count());
        });
    }

private:
    void become(const letter& l, std::string_view state, const std::string& entries)
    {
        state_.run(state, l.id);
        if (entries != stored_) save_.run(engines::blob{entries});
        stored_ = entries;
    }

    template <class F>
    void all_at_once(F&& f)
    {
        db_.exec("BEGIN IMMEDIATE");
        f();
        db_.exec("COMMIT");
    }

    static std::optional<letter> read(engines::statement& rows)
    {
        std::optional<letter> l;
        while (rows.step()) l = letter_in(rows);
        return l;
    }

    engines::database db_;
    std::string stored_{};  // the entries as last written
    engines::statement fresh_{db_,
                              "SELECT id, recipient, subject FROM outbox"
                              " WHERE state = 'fresh' ORDER BY id LIMIT 1"};
    engines::statement by_id_{db_, "SELECT id, recipient, subject FROM outbox WHERE id = ?"};
    engines::statement closed_{db_, "SELECT one FROM closed"};
    engines::statement load_{db_, "SELECT bytes FROM books WHERE name = 'deferred'"};
    engines::statement save_{db_, "INSERT OR REPLACE INTO books VALUES ('deferred', ?)"};
    engines::statement state_{db_, "UPDATE outbox SET state = ? WHERE id = ?"};
    engines::statement bury_{db_,
                             "INSERT INTO dead_letters"
                             " (id, recipient, subject, reason, tries, parked)"
                             " VALUES (?, ?, ?, ?, ?, ?)"};
};

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_MAIL_TABLE_HPP
