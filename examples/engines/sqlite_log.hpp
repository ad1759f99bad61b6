// SPDX-License-Identifier: MIT
//
// sqlite_log: a partitioned log in SQLite, as a waybill event log.
//
//     engines::sqlite_log log(db, 4);                    // partitions "0" to "3"
//     log.append("2", "an order");
//     waybill::run_partitions(log, store, leases, handle, policy, env);
//
//   1. The sequence numbers of a partition ascend and may have gaps.
//   2. `append` uses the open transaction of the connection, or one of its own.
//
// `append` throws sqlite_error. `read` and `end` return it as `infrastructure`.

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_LOG_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_LOG_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sqlite.hpp"
#include <waybill/lease/event_log.hpp>

namespace engines {

class sqlite_log {
public:
    struct event {
        std::uint64_t sequence = 0;
        std::string body{};
    };

    sqlite_log(database& db, std::uint64_t partitions) : partitions_(partitions), db_(db) {}

    /// Appends an event in a transaction of its own, or in the open one of this connection.
    void append(std::string_view partition, std::string_view body)
    {
        append_.run(partition, body, partition);
    }

    [[nodiscard]] waybill::result<std::vector<std::string>> partitions() const
    {
        std::vector<std::string> names;
        for (std::uint64_t p = 0; p != partitions_; ++p) names.push_back(std::to_string(p));
        return names;
    }

    [[nodiscard]] waybill::result<std::vector<event>> read(
        const std::string& partition, const std::optional<waybill::position>& after,
        std::uint64_t max_count)
    {
        try {
            std::vector<event> events;
            const auto row = [&] {
                events.push_back({read_.whole<std::uint64_t>(0), read_.bytes(1)});
            };
            const auto integer = [](std::uint64_t n) {
                return std::min<std::uint64_t>(n, INT64_MAX);  // SQLite has no larger ones
            };
            read_.each(row, partition, integer(after ? after->sequence : 0), integer(max_count));
            return events;
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
    }

    /// Empty if all events were removed.
    [[nodiscard]] waybill::result<std::optional<waybill::position>> end(
        const std::string& partition)
    {
        try {
            std::optional<waybill::position> last;
            if (const auto n = end_.number(partition))
                last = waybill::position{static_cast<std::uint64_t>(*n), {}};
            return last;
        } catch (const sqlite_error& e) {
            return waybill::unexpected(waybill::infrastructure(e.what()));
        }
    }

private:
    static constexpr const char* table =
        "CREATE TABLE IF NOT EXISTS log (part TEXT NOT NULL, sequence INTEGER NOT NULL,"
        " body BLOB NOT NULL, PRIMARY KEY (part, sequence)) WITHOUT ROWID";

    std::uint64_t partitions_;
    database& db_;
    statement append_{db_.exec(table),
                      "INSERT INTO log SELECT ?, coalesce(max(sequence), 0) + 1, ? FROM log"
                      " WHERE part = ?"};
    statement read_{db_,
                    "SELECT sequence, body FROM log WHERE part = ? AND sequence > ?"
                    " ORDER BY sequence LIMIT ?"};
    statement end_{db_, "SELECT max(sequence) FROM log WHERE part = ?"};
};

static_assert(waybill::event_log<sqlite_log>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_LOG_HPP
