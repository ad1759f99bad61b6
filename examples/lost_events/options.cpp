// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"
#include <waybill/core/time_text.hpp>

// The folder of the recording; CMake sets it. The default is the working directory.
#ifndef WAYBILL_LOST_EVENTS_FOLDER
#define WAYBILL_LOST_EVENTS_FOLDER "."
#endif

namespace lost_events {

namespace {

constexpr std::string_view usage = R"(usage: lost_events [FILE] [options]

A dashboard shows fewer events. Were events lost, or were they sampled? Reads telemetry, compares
the number of rows with the number of events that they stand for, and prints the result as a
sentence.

  FILE               telemetry, one JSON object a line; - is the standard input. Without it: a
                     recording of a service whose writer begins to sample midway
  --bin WIDTH        width of a bin: 30s, 1min, 1h, 1d (default: 1d for rows of at least three days,
                     else a width that makes ten bins or more). Days begin at midnight UTC
  --chart FILE.svg   draws rows, events and the share that was recorded
  --truth FILE.csv   lines minute,events of a full count. Checks the weights against it and fails if
                     they are wrong. The recording has such a file
  --keep-duplicates  counts rows that are equal in all fields as separate events
  --name OPERATION   only the rows of this operation
  --count FIELD      multiplies item_count by this number of a row, or of its customMeasurements
  --last SPAN        only the rows of the last days, such as 22d, up to the end of the last one
  --weekdays         compares each day with the same weekday of the week before
  --help             prints this text

A row has time (2026-01-31T10:07:00.25Z), operation, item_count (the number of events that it
stands for) and, optionally, duration_ms. The names of Application Insights are valid, too
(timestamp, name, duration, itemCount, and TimeGenerated, Name, DurationMs, ItemCount). Rows may be
in any order. Other lines are counted by reason and are in no figure.
)";

ending wrong(std::string text)
{
    return {2, std::move(text) + "\nlost_events --help lists all options."};
}

/// A duration in the form of the library, or in days.
std::optional<waybill::duration> width_in(const std::string& text)
{
    if (!text.ends_with('d')) return waybill::parse_duration(text);
    const auto days = support::number_in(std::string_view(text).substr(0, text.size() - 1));
    if (!days || *days > 100'000) return {};
    return waybill::duration::seconds(static_cast<std::int64_t>(*days) * 86'400);
}

std::optional<ending> set(options& o, std::string_view name, const std::string& value)
{
    if (name == "--chart") o.chart = value;
    if (name == "--truth") o.truth = value;
    if (name == "--name") o.select.operation = value;
    if (name == "--count") o.select.count_field = value;
    if (name != "--bin" && name != "--last") return {};
    std::optional<waybill::duration>& to = name == "--bin" ? o.bin : o.last;
    to = width_in(value);
    if (!to || *to == waybill::duration::highest()) {
        return wrong(fmt::format("{} {}: a time such as 30s, 1min or 1d is expected", name, value));
    }
    if (*to <= waybill::duration()) {
        return wrong(fmt::format("{} {}: must be more than 0", name, value));
    }
    return {};
}

}  // namespace

std::variant<options, ending> options_in(int argc, char** argv)
{
    options o;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help" || name == "-h") return ending{0, std::string(usage)};
        if (name == "--keep-duplicates") {
            o.select.keep_duplicates = true;
        } else if (name == "--weekdays") {
            o.weekdays = true;
        } else if (name == "--bin" || name == "--chart" || name == "--truth" || name == "--name" ||
                   name == "--count" || name == "--last") {
            if (auto bad = support::value_error(name, argv[++i])) return wrong(*std::move(bad));
            if (auto bad = set(o, name, argv[i])) return *bad;
        } else if (name.empty() || (name.starts_with('-') && name != "-")) {
            return wrong(support::no_option(name));
        } else if (!o.input.empty()) {
            return wrong(fmt::format("two files, {} and {}: name only one", o.input, name));
        } else {
            o.input = name;
        }
    }
    if (o.input.empty()) {
        const std::string folder = WAYBILL_LOST_EVENTS_FOLDER;
        o.input = folder + "/recording.ndjson";
        const bool all = o.select.operation.empty() && o.select.count_field.empty() && !o.last;
        if (o.truth.empty() && all) o.truth = folder + "/recording.truth.csv";
    }
    return o;
}

}  // namespace lost_events
