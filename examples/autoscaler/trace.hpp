// SPDX-License-Identifier: MIT
//
// trace: measurements of resources over time, as rows, and the rejected rows.
//
//     time,resource,metric,value,instances                    CSV, columns in any order, or
//     {"time": "...", "resource": "orders", "metric": "backlog", "value": 12}     one JSON a line
//
// `instances` is optional, as a column and in each row. An invalid row is ignored. Invalid rows are
// counted by reason and field, with the line of the first one.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_TRACE_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_TRACE_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <waybill/core/time.hpp>

namespace autoscaler {

struct row {
    waybill::wall_time at{};
    std::string resource{};
    std::string metric{};
    double value = 0;
    std::optional<std::uint64_t> instances{};
    std::uint64_t line = 0;

    friend bool operator==(const row&, const row&) = default;
};

/// Rows that were rejected for one reason.
struct rejected {
    std::uint64_t rows = 0;
    std::uint64_t first = 0;  ///< The line of the first of them.

    friend bool operator==(const rejected&, const rejected&) = default;
};
using rejections = std::map<std::string, rejected>;

inline void reject(rejections& all, const std::string& why, std::uint64_t line)
{
    rejected& r = all[why];
    if (r.rows++ == 0) r.first = line;
}

struct trace {
    std::string name{};
    std::vector<row> rows{};  ///< In the order of the file.
    rejections rejected_rows{};
};

/// Reads a file, or the standard input if the path is "-". Throws a complaint if it cannot be read
/// or has no row.
[[nodiscard]] trace read_trace(const std::string& path);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_TRACE_HPP
