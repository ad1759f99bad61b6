// SPDX-License-Identifier: MIT
//
// sqlite_work_queue: a queue in a file for several workers, who take messages for a while.
//
//     engines::sqlite_work_queue queue(db);
//     queue.put("order 7");
//     if (auto w = queue.take(10s)) {          // nobody else gets it for ten seconds
//         work_on(w->body);
//         if (!queue.done(*w)) undo();         // too late: it is somebody else's by now
//     }
//
// Taking and finishing are one statement each, so two workers never get the same message at once,
// whenever either of them is killed. What a dead worker had is taken again when its time is up: a
// message is worked on at least once. The order is that of arrival. Times are those of the wall
// clock, in milliseconds, since the processes of one machine have that in common.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_WORK_QUEUE_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_WORK_QUEUE_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "depth.hpp"
#include "sqlite.hpp"

namespace engines {

class sqlite_work_queue {
public:
    struct work {
        std::uint64_t number = 0;
        std::uint64_t turn = 0;  ///< 1 when it is handed out for the first time.
        std::string body{};
    };

    /// What waits, what somebody has, and when the oldest that waits was sent, at the time ?1.
    static constexpr std::string_view figures =
        "SELECT count(*) FILTER (WHERE until <= ?1), count(*) FILTER (WHERE until > ?1),"
        " min(sent) FILTER (WHERE until <= ?1) FROM work";

    explicit sqlite_work_queue(database& db) : db_(db) {}

    void put(std::string_view body) { put_.run(now(), body); }

    /// The oldest that nobody has; it belongs to the caller for so long.
    [[nodiscard]] std::optional<work> take(std::chrono::milliseconds lease)
    {
        std::optional<work> w;
        const std::int64_t at = now();
        for (take_.query(at + lease.count(), at); take_.step();) {
            w = work{take_.size(0), take_.size(1), std::string(take_.text(2))};
        }
        return w;
    }

    /// False, and nothing is changed, if the time was up and somebody else has got it since.
    [[nodiscard]] bool done(const work& w)
    {
        bool ours = false;
        for (done_.query(w.number, w.turn); done_.step();) ours = true;
        return ours;
    }

    [[nodiscard]] engines::depth depth() { return read(figures_); }

    /// All that was ever put there, and all that is finished.
    [[nodiscard]] std::uint64_t sent()
    {
        return static_cast<std::uint64_t>(sent_.number().value_or(0));
    }
    [[nodiscard]] std::uint64_t finished()
    {
        return static_cast<std::uint64_t>(finished_.number().value_or(0));
    }

    /// Runs `figures`, prepared by somebody who only looks.
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

    static database& prepared(database& db)
    {
        db.exec(
            "CREATE TABLE IF NOT EXISTS work (number INTEGER PRIMARY KEY AUTOINCREMENT,"
            " sent INTEGER NOT NULL, until INTEGER NOT NULL DEFAULT 0,"
            " turn INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL)");
        return db;
    }

    database& db_;
    statement put_{prepared(db_), "INSERT INTO work (sent, body) VALUES (?, ?)"};
    statement take_{db_,
                    "UPDATE work SET until = ?1, turn = turn + 1 WHERE number ="
                    " (SELECT number FROM work WHERE until <= ?2 ORDER BY number LIMIT 1)"
                    " RETURNING number, turn, body"};
    statement done_{db_, "DELETE FROM work WHERE number = ? AND turn = ? RETURNING number"};
    statement figures_{db_, figures};
    statement finished_{db_,
                        "SELECT seq - (SELECT count(*) FROM work) FROM sqlite_sequence"
                        " WHERE name = 'work'"};
    statement sent_{db_, "SELECT seq FROM sqlite_sequence WHERE name = 'work'"};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_WORK_QUEUE_HPP
