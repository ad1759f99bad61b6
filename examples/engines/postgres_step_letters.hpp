// SPDX-License-Identifier: MIT
//
// postgres_step_letters: the dead letters of pipeline steps, in PostgreSQL.
//
//     engines::postgres db("host=127.0.0.1 dbname=shop");
//     engines::postgres_step_letters letters(db);
//     letters.upsert(waybill::make_pipeline_dead_letter(m, a, reason, pipe.progress(), wall()));
//     std::vector<waybill::pipeline_dead_letter> all = *letters.list();    // for plan_redrive
//     letters.remove(std::span(all).first(5));
//
// Each call is one transaction: of several dead letters all are written or removed, or none.
// `upsert(tx, letter)` writes in a transaction on the same connection, for example with
// `postgres_sessions::confirm`. Writers wait for each other, readers do not wait.
//
// Faults: SQLSTATE 22, 23 and 54 are `permanent`, all others and a lost connection are
// `infrastructure`. If the reply to a commit was lost, the call may have been applied; each call
// can be repeated.
//
// Numbers are numeric(20), because bigint ends at half of them. Sessions, texts, bodies and states
// are bytea: convert_from(text, 'UTF8') is the reason as a text. Times are nanoseconds since 1970.

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_STEP_LETTERS_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_STEP_LETTERS_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "postgres.hpp"
#include "postgres_store.hpp"
#include <waybill/session.hpp>

namespace engines {

class postgres_step_letters {
public:
    using letter = waybill::pipeline_dead_letter;
    using letters = std::span<const waybill::pipeline_dead_letter>;
    using transaction = postgres_store::transaction;

    /// Does not connect yet.
    explicit postgres_step_letters(postgres& db) : db_(db), transactions_(db) {}

    /// Inserts the dead letter, or replaces the stored one by `pipeline_dead_letter::merged`.
    [[nodiscard]] waybill::fault upsert(const letter& l)
    {
        return together([&] { merge(l); });
    }
    /// The same in a transaction of the caller.
    [[nodiscard]] waybill::fault upsert(transaction&, const letter& l)
    {
        return attempt([&] {
            if (!db_.in_transaction()) throw postgres_error("the transaction is over", "");
            db_.exec(tables);
            merge(l);
        });
    }
    /// Replaces each stored one by `pipeline_dead_letter::with_mark`. An absent one stays absent.
    [[nodiscard]] waybill::fault mark(letters all)
    {
        return together([&] {
            for (const letter& l : all) {
                mark_.run(l.properties.session, l.sequence, l.last_redriven_step, l.resume_at,
                          l.properties.total);
            }
        });
    }
    [[nodiscard]] waybill::fault remove(letters all)
    {
        return together([&] {
            for (const letter& l : all) remove_.run(l.properties.session, l.sequence);
        });
    }

    /// All, in the order of sessions and sequences.
    [[nodiscard]] waybill::result<std::vector<letter>> list()
    {
        std::vector<letter> all;
        const auto f = attempt([&] {
            db_.outside([&] {
                make_tables();
                all.clear();
                const rows r = list_.run();
                for (int i = 0; i != r.size(); ++i) all.push_back(letter_in(r, i));
            });
        });
        if (!f.ok()) return waybill::unexpected(f);
        return all;
    }

private:
    static constexpr const char* tables =
        "SELECT pg_advisory_xact_lock(7742136606);"
        "CREATE TABLE IF NOT EXISTS step_letters (session bytea NOT NULL,"
        " sequence numeric(20) NOT NULL, step numeric(20) NOT NULL, first numeric(20) NOT NULL,"
        " total numeric(20) NOT NULL, last boolean NOT NULL, origin bytea NOT NULL,"
        " origin_sequence numeric(20) NOT NULL, generation numeric(20) NOT NULL,"
        " origin_tries numeric(20) NOT NULL, message_id bytea NOT NULL, reason text NOT NULL,"
        " cause numeric(20) NOT NULL, resume_at numeric(20) NOT NULL, alone boolean NOT NULL,"
        " sent_to numeric(20) NOT NULL, text bytea NOT NULL, tries numeric(20) NOT NULL,"
        " enqueued bigint NOT NULL, parked bigint NOT NULL, kept smallint NOT NULL,"
        " body bytea NOT NULL, size numeric(20) NOT NULL, checksum bigint NOT NULL,"
        " state bytea NOT NULL, state_cut boolean NOT NULL, origin_state bytea NOT NULL,"
        " origin_message bytea NOT NULL, PRIMARY KEY (session, sequence))";

    template <class F>
    [[nodiscard]] static waybill::fault attempt(F&& f)
    {
        try {
            f();
        } catch (const postgres_error& e) {
            return {classify_postgres(e),
                    std::string("the table step_letters in PostgreSQL: ") + e.what()};
        }
        return {};
    }

    template <class F>
    [[nodiscard]] waybill::fault together(F&& f)
    {
        waybill::fault failed = attempt([&] { db_.outside([&] { make_tables(); }); });
        if (!failed.ok()) return failed;
        auto tx = transactions_.begin();
        if (!tx) return std::move(tx).error();
        failed = attempt([&] {
            lock_.run();
            f();
        });
        if (!failed.ok()) return failed;
        const auto end = tx->commit();
        if (end && *end == waybill::commit_outcome::applied) return {};
        return waybill::infrastructure(
            "the table step_letters in PostgreSQL: the transaction did "
            "not commit, or its reply was lost");
    }

    void make_tables()
    {
        if (db_.in_transaction()) throw postgres_error("a transaction is open", "");
        if (made_ == db_.life() && db_.alive()) return;
        if (!db_.alive()) db_.connect();
        db_.exec(tables);
        made_ = db_.life();
    }

    void merge(const letter& written)
    {
        lock_.run();
        const rows r = find_.run(written.properties.session, written.sequence);
        const letter l = r.empty() ? written : letter::merged(letter_in(r, 0), written);
        if (!r.empty()) remove_.run(l.properties.session, l.sequence);
        const waybill::step_properties& s = l.properties;
        const waybill::step_properties::origin& o = l.origin;
        put_.run(s.session, l.sequence, s.step, s.first, s.total, flag(s.last), o.session,
                 o.sequence, o.generation, o.tries, l.message_id, name(l.reason), l.cause,
                 l.resume_at, flag(l.independent), l.last_redriven_step, l.text, l.tries,
                 l.enqueued.since_epoch().count(), l.dead_lettered_at.since_epoch().count(),
                 static_cast<int>(l.kept), l.body, l.size, l.checksum, l.state,
                 flag(l.state_omitted), o.state, o.message_id);
    }
    /// A number is sent as a text, which PostgreSQL reads as a boolean if it is 0 or 1.
    [[nodiscard]] static int flag(bool b) { return b ? 1 : 0; }

    [[nodiscard]] static letter letter_in(const rows& r, int row)
    {
        const auto whole = [&](int column) { return r.number<std::uint64_t>(row, column); };
        const auto yes = [&](int column) { return r.text(row, column) == "t"; };
        const auto time = [&](int column) {
            return waybill::wall_time::at(waybill::duration::nanoseconds(r.number(row, column)));
        };
        letter l;
        l.properties = {r.bytes(row, 0), whole(2), whole(3), whole(4), yes(5)};
        l.sequence = whole(1);
        l.origin = {r.bytes(row, 6), whole(7),         whole(8),
                    whole(9),        r.bytes(row, 26), r.bytes(row, 27)};
        l.message_id = r.bytes(row, 10);
        l.reason = reason_in(r.text(row, 11));
        l.cause = whole(12);
        l.resume_at = whole(13);
        l.independent = yes(14);
        l.last_redriven_step = whole(15);
        l.text = r.bytes(row, 16);
        l.tries = whole(17);
        l.enqueued = time(18);
        l.dead_lettered_at = time(19);
        l.kept = kept_in(r.number(row, 20));
        l.body = r.bytes(row, 21);
        l.size = whole(22);
        l.checksum = r.number<std::uint32_t>(row, 23);
        l.state = r.bytes(row, 24);
        l.state_omitted = yes(25);
        return l;
    }
    [[nodiscard]] static waybill::dead_letter_body kept_in(std::int64_t n)
    {
        if (n >= 0 && n <= static_cast<int>(waybill::dead_letter_body::discard))
            return static_cast<waybill::dead_letter_body>(n);
        throw postgres_error(
            "the column kept of the table step_letters is " + std::to_string(n) +
                ", and not 0 to " +
                std::to_string(static_cast<int>(waybill::dead_letter_body::discard)),
            "");
    }
    [[nodiscard]] static waybill::dead_letter_reason reason_in(std::string_view text)
    {
        constexpr auto last = static_cast<unsigned>(waybill::dead_letter_reason::broker);
        for (unsigned n = 0; n <= last; ++n) {
            const auto reason = static_cast<waybill::dead_letter_reason>(n);
            if (name(reason) == text) return reason;
        }
        throw postgres_error(
            "the reason in the table step_letters is unknown: " + std::string(text), "");
    }

    postgres& db_;
    postgres_store transactions_;
    std::uint64_t made_ = 0;  // the connection on which the table is known to exist
    prepared lock_{db_, "LOCK TABLE step_letters IN SHARE ROW EXCLUSIVE MODE"};
    prepared find_{db_, "SELECT * FROM step_letters WHERE session = $1::bytea AND sequence = $2"};
    prepared put_{db_,
                  "INSERT INTO step_letters VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,"
                  " $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27,"
                  " $28)"};
    prepared mark_{db_,
                   "UPDATE step_letters SET sent_to = $3, resume_at = $4, total = $5"
                   " WHERE session = $1::bytea AND sequence = $2 AND sent_to <= $3"};
    prepared remove_{db_, "DELETE FROM step_letters WHERE session = $1::bytea AND sequence = $2"};
    prepared list_{db_, "SELECT * FROM step_letters ORDER BY session, sequence"};
};

static_assert(waybill::pipeline_dead_letter_store<postgres_step_letters>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_STEP_LETTERS_HPP
