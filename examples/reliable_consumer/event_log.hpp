// SPDX-License-Identifier: MIT
//
// event_log: a partitioned log in SQLite, with features of real logs: sequence numbers that ascend
// in each partition and have gaps, and readers that begin at any position.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_EVENT_LOG_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_EVENT_LOG_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../engines/sqlite.hpp"
#include "tables.hpp"

namespace reliable_consumer {

class event_log {
public:
    explicit event_log(const std::string& path) : db_(path) {}

    /// Appends all of `bodies` to the partitions of their keys, in one transaction.
    template <class Bodies, class PartitionOf>
    void append(const Bodies& bodies, PartitionOf partition_of)
    {
        std::map<std::uint64_t, std::uint64_t> ends;
        db_.exec("BEGIN IMMEDIATE");
        for (const auto& body : bodies) {
            const std::uint64_t partition = partition_of(body);
            auto [end, first] = ends.try_emplace(partition, 0);
            if (first) end->second = static_cast<std::uint64_t>(end_.number(partition).value_or(0));
            // Every seventh number is left out, as by transactions and compaction in real logs.
            end->second += end->second % 7 == 5 ? 2U : 1U;
            put_.run(partition, end->second, std::string_view(body));
        }
        db_.exec("COMMIT");
    }

    /// The next events after `after`, in order.
    [[nodiscard]] std::vector<event> read(std::uint64_t partition, std::uint64_t after,
                                          std::uint64_t most)
    {
        std::vector<event> events;
        read_.query(partition, after, most);
        while (read_.step()) events.push_back({read_.size(0), std::string(read_.text(1))});
        return events;
    }

    /// The last event of a partition, and the number of events.
    struct extent {
        std::uint64_t last = 0;
        std::uint64_t events = 0;
    };
    [[nodiscard]] extent extent_of(std::uint64_t partition)
    {
        extent e;
        extent_.query(partition);
        while (extent_.step()) e = {extent_.size(0), extent_.size(1)};
        return e;
    }

private:
    static engines::database& prepared(engines::database& db)
    {
        db.exec(
            "CREATE TABLE IF NOT EXISTS log (part INTEGER NOT NULL, sequence INTEGER NOT NULL,"
            " body TEXT NOT NULL, PRIMARY KEY (part, sequence)) WITHOUT ROWID");
        return db;
    }

    engines::database db_;
    engines::statement put_{prepared(db_), "INSERT INTO log VALUES (?, ?, ?)"};
    engines::statement end_{db_, "SELECT max(sequence) FROM log WHERE part = ?"};
    engines::statement read_{db_,
                             "SELECT sequence, body FROM log WHERE part = ? AND sequence > ?"
                             " ORDER BY sequence LIMIT ?"};
    engines::statement extent_{
        db_, "SELECT coalesce(max(sequence), 0), count(*) FROM log WHERE part = ?"};
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_EVENT_LOG_HPP
