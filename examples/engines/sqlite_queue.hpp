// SPDX-License-Identifier: MIT
//
// sqlite_queue: a queue in a file that refuses batches above a limit, as brokers do.
//
//     engines::sqlite_queue queue(db, 65'536);
//     waybill::send_outcome o = queue.enqueue(messages, [&] { position.run(next); });
//
//   1. A batch is stored as a whole or not at all.
//   2. The size of a batch is what is stored: an envelope of 40 bytes, and for each message its
//      header, its body and a few bytes. A caller that knows the bodies only learns the rest from
//      the outcome.
//   3. The function is called in the transaction that stores the batch. If it writes the position
//      of the producer there, a kill at any moment neither loses nor repeats a message.
//   4. Message numbers are never used again, also after all messages were removed.
//
// A batch above the limit is `too_large`, with its size and the limit. Failures of SQLite, and
// exceptions of the function, are thrown after a rollback.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_QUEUE_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_QUEUE_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sqlite.hpp"
#include <waybill/batch.hpp>

namespace engines {

struct message {
    std::string header{};
    std::string body{};
};

/// The moments of an enqueueing, for tests that end the process there.
enum class enqueue_step : std::uint8_t { begin, insert, commit, done };

class sqlite_queue {
public:
    static constexpr std::uint64_t envelope = 40;

    sqlite_queue(database& db, std::uint64_t limit) : db_(db), limit_(limit) {}

    /// The bytes of a message that count against the limit.
    [[nodiscard]] static std::uint64_t size_of(const message& m) noexcept
    {
        return size_of(m.header.size(), m.body.size());
    }
    [[nodiscard]] static constexpr std::uint64_t size_of(std::uint64_t header,
                                                         std::uint64_t body) noexcept
    {
        const std::uint64_t n = header + body;
        return n + (n < 256 ? 5U : 8U);
    }

    /// Stores the whole batch and the writes of `within` to the same database, or nothing.
    template <class Within>
    [[nodiscard]] waybill::send_outcome enqueue(const std::vector<message>& batch, Within&& within)
    {
        std::uint64_t bytes = envelope;
        for (const message& m : batch) bytes += size_of(m);
        if (bytes > limit_)
            return waybill::batch_sender::too_large{.actual = bytes, .limit = limit_};

        notify(enqueue_step::begin);
        begin_.run();
        try {
            std::size_t left = batch.size();
            for (const message& m : batch) {
                insert_.run(m.header, blob{m.body});
                if (--left == batch.size() / 2) notify(enqueue_step::insert);
            }
            within();
            notify(enqueue_step::commit);
            commit_.run();
        } catch (...) {
            if (db_.in_transaction()) rollback_.run();
            throw;
        }
        notify(enqueue_step::done);
        return waybill::batch_sender::accepted{.actual = bytes};
    }

    /// Calls `take(number, header, body)` for at most `most` messages after number `after`, in
    /// order.
    template <class Take>
    void read(std::uint64_t after, std::size_t most, Take&& take)
    {
        for (read_.query(after, most); read_.step();)
            take(read_.size(0), read_.text(1), read_.text(2));
    }

    /// Removes the messages up to number `upto`.
    void trim(std::uint64_t upto) { trim_.run(upto); }

    /// The number of the last message that was ever stored; 0 before the first.
    [[nodiscard]] std::uint64_t last()
    {
        return static_cast<std::uint64_t>(last_.number().value_or(0));
    }

    /// The number of stored messages.
    [[nodiscard]] std::uint64_t depth()
    {
        return static_cast<std::uint64_t>(depth_.number().value_or(0));
    }

    [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }

    /// Called at each step.
    std::function<void(enqueue_step)> watch{};

private:
    void notify(enqueue_step s) const
    {
        if (watch) watch(s);
    }

    static database& prepared(database& db)
    {
        db.exec(
            "CREATE TABLE IF NOT EXISTS queue (id INTEGER PRIMARY KEY AUTOINCREMENT,"
            " header TEXT NOT NULL, body BLOB NOT NULL)");
        return db;
    }

    database& db_;
    std::uint64_t limit_;
    statement insert_{prepared(db_), "INSERT INTO queue (header, body) VALUES (?, ?)"};
    statement read_{db_, "SELECT id, header, body FROM queue WHERE id > ? ORDER BY id LIMIT ?"};
    statement trim_{db_, "DELETE FROM queue WHERE id <= ?"};
    statement last_{db_, "SELECT seq FROM sqlite_sequence WHERE name = 'queue'"};
    statement depth_{db_, "SELECT count(*) FROM queue"};
    statement begin_{db_, "BEGIN IMMEDIATE"};
    statement commit_{db_, "COMMIT"};
    statement rollback_{db_, "ROLLBACK"};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_QUEUE_HPP
