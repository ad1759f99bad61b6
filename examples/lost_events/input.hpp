// SPDX-License-Identifier: MIT
//
// input: telemetry as rows, and the rejected lines.
//
// An invalid row is in no figure. Invalid rows are counted by reason and field, with the line of
// the first one, and reported. Rows may be in any order. Of rows with equal fields only one is
// kept, since telemetry is sent again when a reply is missing; `keep_duplicates` changes this.

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

/// A recorded event that represents `weight` events. The value is the duration in milliseconds; 0
/// if the row has none.
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

/// Lines that were rejected for one reason.
struct rejected {
    std::uint64_t lines = 0;
    std::uint64_t first = 0;
};

struct telemetry {
    std::string name{};
    std::vector<row> rows{};  ///< Ordered by time.
    std::vector<std::string> operations{};
    std::map<std::string, rejected> rejections{};
    std::uint64_t late = 0;        ///< Rows after a row with a later time.
    std::uint64_t duplicates = 0;  ///< Ignored rows that equal another one.
    std::uint64_t others = 0;      ///< Ignored rows of an operation that is not selected.

    [[nodiscard]] std::uint64_t rejected_lines() const
    {
        std::uint64_t n = 0;
        for (const auto& [why, r] : rejections) n += r.lines;
        return n;
    }
};

/// The options of reading rows.
struct selection {
    bool keep_duplicates = false;
    std::string operation{};  ///< If not empty, only rows of this operation are read.
    /// If not empty, the field of a row by which its item count is multiplied.
    std::string count_field{};
};

/// Reads a file, or the standard input if the path is "-". Throws a complaint if it cannot be read.
[[nodiscard]] telemetry read_telemetry(const std::string& path, const selection& s);

/// An exact count of the events of one minute, without sampling.
struct counted_minute {
    waybill::wall_time from{};
    std::uint64_t events = 0;
};

/// Reads lines `time,events`, one for each minute. Throws a complaint with line and field for any
/// invalid line.
[[nodiscard]] std::vector<counted_minute> read_truth(const std::string& path);

}  // namespace lost_events

#endif  // WAYBILL_EXAMPLES_LOST_EVENTS_INPUT_HPP
