// SPDX-License-Identifier: MIT
//
// sqlite_work_queue: a queue in a file for several workers, as a waybill::message_queue.
//
//     engines::sqlite_work_queue queue(db);
//     queue.put("order 7");
//     waybill::run_queue(queue, handle, {.lock = 90s}, env);
//
//   1. `receive` and `complete` are one statement each, so two workers never have one message at
//      once, also if a worker is killed.
//   2. A message whose worker has ended is delivered again after the end of its lock: at least
//      once.
//   3. Messages are received in the order of their arrival.
//   4. Times are milliseconds of the wall clock, because processes share it.
//
// Failure                                                    Fault
// the lock has ended, and the message was received again     ownership_lost
// SQLite                                                     infrastructure

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_WORK_QUEUE_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_WORK_QUEUE_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depth.hpp"
#include "sqlite.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace engines {

class sqlite_work_queue {
public:
    struct message {
        std::uint64_t number = 0;
        std::uint64_t turn = 0;  ///< Names the lock. It grows with each change of the row.
        std::uint64_t deliveries = 0;
        std::uint64_t crashes = 0;  ///< Deliveries before this one, in a row, without a settlement.
        std::string body{};
    };

    /// Waiting messages, locked messages, and the time of the oldest waiting one, at the time ?1.
    static constexpr std::string_view figures =
        "SELECT count(*) FILTER (WHERE until <= ?1), count(*) FILTER (WHERE until > ?1),"
        " min(sent) FILTER (WHERE until <= ?1) FROM work";

    explicit sqlite_work_queue(database& db) : db_(db) {}

    void put(std::string_view body) { put_.run(now(), body); }

    // The calls of a waybill::message_queue. A deferred message is locked until its time.
    // Each call is one statement or one transaction, so a kill at any time leaves all or nothing.

    [[nodiscard]] waybill::result<std::optional<message>> receive(waybill::duration lock)
    {
        std::optional<message> m;
        waybill::fault f = guarded([&] {
            const std::int64_t at = now();
            receive_.each(
                [&] {
                    m = message{receive_.size(0), receive_.size(1), receive_.size(2),
                                receive_.size(3), std::string(receive_.text(4))};
                },
                at + milliseconds_of(lock), at);
        });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return m;
    }

    [[nodiscard]] waybill::fault complete(const message& m)
    {
        return settled_by(done_, m.number, m.turn);
    }

    [[nodiscard]] waybill::fault renew(const message& m, waybill::duration lock)
    {
        return settled_by(renew_, m.number, m.turn, now() + milliseconds_of(lock));
    }

    [[nodiscard]] waybill::fault abandon(const message& m, bool failed)
    {
        return settled_by(release_, m.number, m.turn, 0, failed ? 1 : 2, 0);
    }

    [[nodiscard]] waybill::fault defer(const message& m, waybill::duration delay, bool failed)
    {
        const std::int64_t at = now() + milliseconds_of(delay);
        return settled_by(release_, m.number, m.turn, at, failed ? 1 : 2, failed ? 0 : 1);
    }

    /// Ends the deferrals that were no failed tries.
    [[nodiscard]] waybill::fault make_due()
    {
        return guarded([&] { make_due_.run(); });
    }

    /// Moves the message to the table `dead_work`.
    [[nodiscard]] waybill::fault dead_letter(const message& m, std::string_view reason)
    {
        waybill::fault result;
        waybill::fault f = guarded([&] {
            begin_.run();
            bury_.run(m.number, m.turn, reason);
            result = settled_by(done_, m.number, m.turn);
            commit_.run();
        });
        if (f.ok()) return result;
        if (db_.in_transaction()) (void)guarded([&] { rollback_.run(); });
        return f;
    }

    [[nodiscard]] waybill::result<bool> empty()
    {
        bool none = false;
        waybill::fault f = guarded([&] { none = count_.number().value_or(0) == 0; });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return none;
    }

    /// The reasons of dead letters, in the order of the messages.
    [[nodiscard]] std::vector<std::string> reasons()
    {
        std::vector<std::string> all;
        reasons_.each([&] { all.emplace_back(reasons_.text(0)); });
        return all;
    }

    [[nodiscard]] engines::depth depth() { return read(figures_); }

    /// The number of all messages, and of the finished ones.
    [[nodiscard]] std::uint64_t sent()
    {
        return static_cast<std::uint64_t>(sent_.number().value_or(0));
    }
    [[nodiscard]] std::uint64_t finished()
    {
        return static_cast<std::uint64_t>(finished_.number().value_or(0));
    }

    /// Runs `figures`, prepared on a connection that only reads.
    [[nodiscard]] static engines::depth read(statement& s)
    {
        engines::depth d;
        const std::int64_t at = now();
        for (s.query(at); s.step();) {
            d = {.ready = s.size(0), .in_flight = s.size(1), .age = 0};
            if (!s.null(2)) d.age = age_at(s.integer(2) / 1'000);
        }
        return d;
    }

private:
    [[nodiscard]] static std::int64_t now()
    {
        using namespace std::chrono;
        return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    }

    [[nodiscard]] static std::int64_t milliseconds_of(waybill::duration d)
    {
        return d.count() / 1'000'000;
    }

    /// A failure of the database is not caused by a message.
    template <class F>
    [[nodiscard]] static waybill::fault guarded(F&& f)
    {
        try {
            f();
            return {};
        } catch (const sqlite_error& e) {
            return waybill::infrastructure(e.what());
        }
    }

    /// The statement returns a row if the lock is still that of the message.
    template <class... V>
    [[nodiscard]] static waybill::fault settled_by(statement& s, const V&... values)
    {
        bool ours = false;
        waybill::fault f = guarded([&] { s.each([&] { ours = true; }, values...); });
        if (f.ok() && !ours) return waybill::ownership_lost("the lock of the message is lost");
        return f;
    }

    static database& prepared(database& db)
    {
        db.exec(
            "CREATE TABLE IF NOT EXISTS work (number INTEGER PRIMARY KEY AUTOINCREMENT,"
            " sent INTEGER NOT NULL, until INTEGER NOT NULL DEFAULT 0,"
            " turn INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL,"
            " uncounted INTEGER NOT NULL DEFAULT 0,"  // turns that are no delivery
            " returned INTEGER NOT NULL DEFAULT 0,"   // the turn of the last settlement
            " waiting INTEGER NOT NULL DEFAULT 0);"   // 1 if deferred, and not as a failed try
            "CREATE TABLE IF NOT EXISTS dead_work (number INTEGER PRIMARY KEY,"
            " body TEXT NOT NULL, reason TEXT NOT NULL)");
        return db;
    }

    database& db_;
    statement put_{prepared(db_), "INSERT INTO work (sent, body) VALUES (?, ?)"};
    statement done_{db_, "DELETE FROM work WHERE number = ? AND turn = ? RETURNING number"};
    statement receive_{db_,
                       "UPDATE work SET until = ?1, turn = turn + 1, waiting = 0 WHERE number ="
                       " (SELECT number FROM work WHERE until <= ?2 ORDER BY number LIMIT 1)"
                       " RETURNING number, turn, turn - uncounted, turn - returned - 1, body"};
    statement renew_{db_,
                     "UPDATE work SET until = ?3 WHERE number = ?1 AND turn = ?2"
                     " RETURNING number"};
    statement release_{db_,
                       "UPDATE work SET until = ?3, turn = turn + 1, returned = turn + 1,"
                       " uncounted = uncounted + ?4, waiting = ?5 WHERE number = ?1 AND turn = ?2 "
                       "RETURNING number"};
    statement make_due_{db_, "UPDATE work SET until = 0, waiting = 0 WHERE waiting = 1"};
    statement bury_{db_,
                    "INSERT OR REPLACE INTO dead_work (number, body, reason)"
                    " SELECT number, body, ?3 FROM work WHERE number = ?1 AND turn = ?2"};
    statement reasons_{db_, "SELECT reason FROM dead_work ORDER BY number"};
    statement count_{db_, "SELECT count(*) FROM work"};
    statement begin_{db_, "BEGIN IMMEDIATE"};
    statement commit_{db_, "COMMIT"};
    statement rollback_{db_, "ROLLBACK"};
    statement figures_{db_, figures};
    statement finished_{db_,
                        "SELECT seq - (SELECT count(*) FROM work) FROM sqlite_sequence"
                        " WHERE name = 'work'"};
    statement sent_{db_, "SELECT seq FROM sqlite_sequence WHERE name = 'work'"};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_WORK_QUEUE_HPP
