// SPDX-License-Identifier: MIT
//
// report: what is printed and drawn.

#ifndef WAYBILL_EXAMPLES_LOST_EVENTS_REPORT_HPP
#define WAYBILL_EXAMPLES_LOST_EVENTS_REPORT_HPP

#include <optional>
#include <string>
#include <vector>

#include "findings.hpp"
#include "input.hpp"
#include <waybill/core/time.hpp>

namespace lost_events {

/// The tables: by bin, by day, by operation. There is at least one row.
[[nodiscard]] std::string tables(const telemetry& t, const binned_rows& bins, bool coloured);

/// Keeps the rows of the last `span` before the end of the last day. There is at least one row.
void keep_last(telemetry& t, waybill::duration span);

/// Each day with the events of the same weekday of the week before.
[[nodiscard]] std::string by_weekday(const telemetry& t,
                                     const std::optional<waybill::duration>& last);

/// A line for each reason of rejected lines.
[[nodiscard]] std::string rejections(const telemetry& t);

/// Whether the sums of weights equal the exact counts, within the error of sampling.
struct verdict {
    std::string said{};
    std::vector<std::string> wrong{};
};
[[nodiscard]] verdict check(const telemetry& t, const std::vector<counted_minute>& truth);

/// Rows, events and the recorded share, as SVG.
[[nodiscard]] std::string picture(const telemetry& t, const binned_rows& bins, const findings& f,
                                  const std::vector<counted_minute>& truth);

}  // namespace lost_events

#endif  // WAYBILL_EXAMPLES_LOST_EVENTS_REPORT_HPP
