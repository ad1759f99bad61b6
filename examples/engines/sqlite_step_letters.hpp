// SPDX-License-Identifier: MIT
//
// sqlite_step_letters: the dead letters of pipeline steps, in a table of SQLite.
//
//     engines::sqlite_step_letters letters(db);
//     letters.upsert(waybill::make_pipeline_dead_letter(m, a, reason, pipe.progress(), wall()));
//     std::vector<waybill::pipeline_dead_letter> all = *letters.list();      // for plan_redrive
//     letters.remove(std::span(all).first(5));
//
//   1. Of several dead letters all are written or removed, or none.
//   2. The key of a row is that of an Azure table: the session, and the sequence number in 20
//      digits.
//
// Failures of SQLite, and rows that cannot be read, are `infrastructure`; the text names the row.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_STEP_LETTERS_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_STEP_LETTERS_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sqlite_transaction.hpp"
#include <waybill/session.hpp>

namespace engines {

class sqlite_step_letters : private sqlite_transactions {
public:
    explicit sqlite_step_letters(database& db) : sqlite_transactions(db) {}

    /// Inserts the dead letter, or replaces the stored one by `pipeline_dead_letter::merged`.
    [[nodiscard]] waybill::fault upsert(const waybill::pipeline_dead_letter& letter)
    {
        return each({&letter, 1}, [&](const waybill::pipeline_dead_letter& l) {
            const auto stored = stored_as(l);
            put(stored ? waybill::pipeline_dead_letter::merged(*stored, l) : l);
        });
    }
    /// Writes the last redriven step of stored dead letters, which never decreases: see
    /// waybill::pipeline_dead_letter::with_mark.
    [[nodiscard]] waybill::fault mark(std::span<const waybill::pipeline_dead_letter> letters)
    {
        return each(letters, [&](const waybill::pipeline_dead_letter& l) {
            mark_.run(l.last_redriven_step, l.resume_at, l.properties.total, l.properties.session,
                      waybill::row_key::of(l.sequence), std::to_string(l.sequence),
                      l.last_redriven_step);
        });
    }
    /// Replaces stored dead letters without merging.
    [[nodiscard]] waybill::fault write(std::span<const waybill::pipeline_dead_letter> letters)
    {
        return each(letters, [&](const waybill::pipeline_dead_letter& l) { put(l); });
    }

    /// An absent dead letter counts as removed. Other tools write their keys without zeros.
    [[nodiscard]] waybill::fault remove(std::span<const waybill::pipeline_dead_letter> letters)
    {
        return each(letters, [&](const waybill::pipeline_dead_letter& l) {
            remove_.run(l.properties.session, waybill::row_key::of(l.sequence),
                        std::to_string(l.sequence));
        });
    }

    /// All, in the order of their keys.
    [[nodiscard]] waybill::result<std::vector<waybill::pipeline_dead_letter>> list()
    {
        return answer([&] {
            std::vector<waybill::pipeline_dead_letter> all;
            list_.each([&] { all.push_back(letter_in(list_)); });
            return all;
        });
    }

private:
    static constexpr const char* table =
        "CREATE TABLE IF NOT EXISTS step_letters (session TEXT NOT NULL, row_key TEXT NOT NULL,"
        " step INTEGER NOT NULL, first INTEGER NOT NULL, total INTEGER NOT NULL,"
        " last INTEGER NOT NULL, origin TEXT NOT NULL, origin_sequence INTEGER NOT NULL,"
        " generation INTEGER NOT NULL, origin_tries INTEGER NOT NULL, message_id TEXT NOT NULL,"
        " reason TEXT NOT NULL, cause INTEGER NOT NULL, resume_at INTEGER NOT NULL,"
        " alone INTEGER NOT NULL, sent_to INTEGER NOT NULL, text TEXT NOT NULL,"
        " tries INTEGER NOT NULL, enqueued INTEGER NOT NULL, parked INTEGER NOT NULL,"
        " kept INTEGER NOT NULL, body BLOB NOT NULL, size INTEGER NOT NULL,"
        " checksum INTEGER NOT NULL, state BLOB NOT NULL, state_cut INTEGER NOT NULL,"
        " origin_state BLOB NOT NULL, origin_message TEXT NOT NULL, PRIMARY KEY (session, "
        "row_key)) WITHOUT ROWID";

    void put(const waybill::pipeline_dead_letter& l)
    {
        const waybill::step_properties& s = l.properties;
        const waybill::step_properties::origin& o = l.origin;
        put_.run(s.session, waybill::row_key::of(l.sequence), s.step, s.first, s.total, s.last,
                 o.session, o.sequence, o.generation, o.tries, l.message_id, name(l.reason),
                 l.cause, l.resume_at, l.independent, l.last_redriven_step, l.text, l.tries,
                 l.enqueued.since_epoch().count(), l.dead_lettered_at.since_epoch().count(),
                 static_cast<int>(l.kept), blob{l.body}, l.size, l.checksum, blob{l.state},
                 l.state_omitted, blob{o.state}, o.message_id);
    }
    [[nodiscard]] std::optional<waybill::pipeline_dead_letter> stored_as(
        const waybill::pipeline_dead_letter& l)
    {
        std::optional<waybill::pipeline_dead_letter> stored;
        const std::string key = waybill::row_key::of(l.sequence);
        find_.each([&] { stored = letter_in(find_); }, l.properties.session, key);
        return stored;
    }

    template <class F>
    [[nodiscard]] waybill::fault each(std::span<const waybill::pipeline_dead_letter> letters, F&& f)
    {
        auto tx = begin();
        if (!tx) return std::move(tx).error();
        const auto done = within(*tx, [&] {
            for (const waybill::pipeline_dead_letter& l : letters) f(l);
        });
        if (!done) return done.error();
        const auto end = tx->commit();
        if (end && *end == waybill::commit_outcome::applied) return {};
        return waybill::infrastructure("the commit of the table step_letters failed");
    }

    [[nodiscard]] static waybill::pipeline_dead_letter letter_in(const statement& s)
    {
        waybill::pipeline_dead_letter l;
        l.properties = {s.bytes(0), s.size(2), s.size(3), s.size(4), s.integer(5) != 0};
        const auto key = waybill::row_key::read(s.text(1));
        if (!key.readable()) throw sqlite_error(describe(key), SQLITE_CORRUPT);
        l.sequence = key.sequence;
        l.origin = {s.bytes(6), s.size(7), s.size(8), s.size(9), s.bytes(26), s.bytes(27)};
        l.message_id = s.bytes(10);
        l.reason = reason_in(s.text(11));
        l.cause = s.size(12);
        l.resume_at = s.size(13);
        l.independent = s.integer(14) != 0;
        l.last_redriven_step = s.size(15);
        l.text = s.bytes(16);
        l.tries = s.size(17);
        l.enqueued = time_in(s, 18);
        l.dead_lettered_at = time_in(s, 19);
        l.kept = s.one_of(20, waybill::dead_letter_body::discard);
        l.body = s.bytes(21);
        l.size = s.size(22);
        l.checksum = s.whole<std::uint32_t>(23);
        l.state = s.bytes(24);
        l.state_omitted = s.integer(25) != 0;
        return l;
    }
    [[nodiscard]] static waybill::wall_time time_in(const statement& s, int column)
    {
        return waybill::wall_time::at(waybill::duration::nanoseconds(s.integer(column)));
    }
    [[nodiscard]] static waybill::dead_letter_reason reason_in(std::string_view text)
    {
        constexpr auto last = static_cast<unsigned>(waybill::dead_letter_reason::broker);
        for (unsigned n = 0; n <= last; ++n) {
            if (name(static_cast<waybill::dead_letter_reason>(n)) == text) {
                return static_cast<waybill::dead_letter_reason>(n);
            }
        }
        throw sqlite_error("the reason in the table step_letters is unknown: " + std::string(text),
                           SQLITE_CORRUPT);
    }

    statement put_{db_.exec(table),
                   "INSERT OR REPLACE INTO step_letters VALUES"
                   " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                   " ?, ?)"};
    statement mark_{db_,
                    "UPDATE step_letters SET sent_to = ?, resume_at = ?, total = ?"
                    " WHERE session = ? AND row_key IN (?, ?) AND sent_to <= ?"};
    statement remove_{db_, "DELETE FROM step_letters WHERE session = ? AND row_key IN (?, ?)"};
    statement list_{db_, "SELECT * FROM step_letters ORDER BY session, row_key"};
    statement find_{db_, "SELECT * FROM step_letters WHERE session = ? AND row_key = ?"};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_STEP_LETTERS_HPP
