// SPDX-License-Identifier: MIT
//
// depth_sqlite: the depth of a file with the tables of sqlite_queue or sqlite_work_queue.
//
//     engines::sqlite_depth queue("orders.sqlite");
//     engines::depth_reading r = queue.read();
//
//   1. For a sqlite_work_queue, `ready`, `in_flight` and the age are exact at the time of the
//      reading.
//   2. A sqlite_queue has no record of its readers. All messages that were not trimmed are ready,
//      and there is no age.
//
// The error is the text of SQLite, or that the file has neither of the two tables.

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_SQLITE_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_SQLITE_HPP

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "depth.hpp"
#include "sqlite.hpp"
#include "sqlite_work_queue.hpp"
#include <waybill/core/result.hpp>

namespace engines {

class sqlite_depth {
public:
    explicit sqlite_depth(std::string file) : file_(std::move(file)) {}

    [[nodiscard]] std::string name() const { return file_.substr(file_.rfind('/') + 1); }

    [[nodiscard]] depth_reading read() const
    {
        // SQLite would create a missing file, so a mistyped name would be an empty queue. It would
        // also switch any other database to WAL mode, which all our queues have.
        std::string head(20, '\0');
        std::ifstream file(file_, std::ios::binary);
        if (!file) return waybill::unexpected("there is no file " + file_);
        file.read(head.data(), 20);
        if (!head.starts_with("SQLite format 3") || head[18] != 2) {
            return waybill::unexpected("there is no queue in " + file_);
        }
        try {
            database db(file_);
            const auto has = [&db](std::string_view table) {
                statement s(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
                return s.number(table).has_value();
            };
            if (has("work")) {
                statement s(db, sqlite_work_queue::figures);
                return sqlite_work_queue::read(s);
            }
            if (!has("queue")) return waybill::unexpected("there is no queue in " + file_);
            statement s(db, "SELECT count(*) FROM queue");
            return depth{.ready = static_cast<std::uint64_t>(s.number().value_or(0))};
        } catch (const sqlite_error& e) {
            return waybill::unexpected(std::string(e.what()));
        }
    }

private:
    std::string file_;
};

static_assert(depth_source<sqlite_depth>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_SQLITE_HPP
