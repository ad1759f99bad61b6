// SPDX-License-Identifier: MIT
//
// input: telemetry as rows, and what was no row.
//
// A row that cannot be understood is counted by reason and field, and the first of each is named
// by its line: it is in no figure, and the report says so. Rows may come in any order. Of rows that
// are the same in every field one is kept, since telemetry is sent again when an answer is missing;
// who knows better says so.

#ifndef WAYBILL_EXAMPLES_LOST_EVENTS_INPUT_HPP
#define WAYBILL_EXAMPLES_LOST_EVENTS_INPUT_HPP

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/window/sample.hpp>

namespace lost_events {

/// One that was recorded, standing for `weight` that happened. The value is the duration in
/// milliseconds; 0 if the row has none.
struct row : waybill::weighted_sample<double> {
    std::uint32_t operation = 0;
    bool timed = true;  ///< The row has a duration.

    friend auto operator<=>(const row& a, const row& b)
    {
        if (const auto c = a.at <=> b.at; c != 0) return std::partial_ordering(c);
        if (const auto c = a.operation <=> b.operation; c != 0) return std::partial_ordering(c);
        if (const auto c = a.weight <=> b.weight; c != 0) return std::partial_ordering(c);
        if (const auto c = a.timed <=> b.timed; c != 0) return std::partial_ordering(c);
        return a.value <=> b.value;
    }
    friend bool operator==(const row&, const row&) = default;
};

/// Lines that were not taken for one reason.
struct rejected {
    std::uint64_t lines = 0;
    std::uint64_t first = 0;
};

struct telemetry {
    std::string name{};
    std::vector<row> rows{};  ///< In the order of their times.
    std::vector<std::string> operations{};
    std::map<std::string, rejected> rejections{};
    std::uint64_t late = 0;        ///< Came behind a later one.
    std::uint64_t duplicates = 0;  ///< Not taken: the same row was there already.
    std::uint64_t others = 0;      ///< Not taken: their operation was not asked for.

    [[nodiscard]] std::uint64_t rejected_lines() const
    {
        std::uint64_t n = 0;
        for (const auto& [why, r] : rejections) n += r.lines;
        return n;
    }
};

/// Which rows to read, and how.
struct selection {
    bool keep_duplicates = false;
    std::string operation{};  ///< Only rows of this operation, unless empty.
    /// A number of each row by which its item count is multiplied, unless empty.
    std::string count_field{};
};

/// Of a file, or of the standard input if it is "-". Throws a complaint if it cannot be read.
[[nodiscard]] telemetry read_telemetry(const std::string& path, const selection& s);

/// What somebody counted who did not sample.
struct counted_minute {
    waybill::wall_time from{};
    std::uint64_t events = 0;
};

/// Lines `time,events`, of which each counts one minute. Throws a complaint that names line and
/// field: what is checked against must not have a flaw itself.
[[nodiscard]] std::vector<counted_minute> read_truth(const std::string& path);

}  // namespace lost_events

#endif  // WAYBILL_EXAMPLES_LOST_EVENTS_INPUT_HPP
