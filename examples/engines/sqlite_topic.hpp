// SPDX-License-Identifier: MIT
//
// sqlite_topic: a broker in a file with duplicate detection by message id, as Azure Service Bus and
// NATS JetStream have it for a limited time.
//
//     engines::sqlite_topic topic(db, 4'096);
//     waybill::send_outcome o = topic.publish(batch);    // a range of messages with key, id, body
//
//   1. A batch is stored as a whole or not at all. A message with a known id is not stored again.
//   2. The size of a message is its key, id and body, and 8 bytes.
//
// A batch above the limit is `too_large`, with its size and the limit. Failures throw sqlite_error.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_TOPIC_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_TOPIC_HPP

#include <cstdint>
#include <string_view>

#include "sqlite.hpp"
#include <waybill/batch.hpp>

namespace engines {

class sqlite_topic {
public:
    sqlite_topic(database& db, std::uint64_t limit) : db_(db), limit_(limit) {}

    template <class Batch>
    [[nodiscard]] waybill::send_outcome publish(const Batch& batch)
    {
        std::uint64_t bytes = 0;
        for (const auto& m : batch) bytes += 8 + m.key.size() + m.id.size() + m.body.size();
        if (bytes > limit_)
            return waybill::batch_sender::too_large{.actual = bytes, .limit = limit_};
        db_.exec("BEGIN IMMEDIATE");
        for (const auto& m : batch) put_.run(m.id, m.key, m.body);
        db_.exec("COMMIT");
        return waybill::batch_sender::accepted{.actual = bytes};
    }

private:
    // `copies` counts the arrivals of a message.
    static constexpr const char* table =
        "CREATE TABLE IF NOT EXISTS topic (number INTEGER PRIMARY KEY AUTOINCREMENT,"
        " id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, body TEXT NOT NULL,"
        " copies INTEGER NOT NULL DEFAULT 1)";

    database& db_;
    std::uint64_t limit_;
    statement put_{db_.exec(table),
                   "INSERT INTO topic (id, key, body) VALUES (?, ?, ?)"
                   " ON CONFLICT (id) DO UPDATE SET copies = copies + 1"};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_TOPIC_HPP
