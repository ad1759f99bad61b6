// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "event.hpp"

// The folder of the recording; CMake sets it. The default is the working directory.
#ifndef WAYBILL_MAILROOM_RECORDING
#define WAYBILL_MAILROOM_RECORDING "recording.ndjson"
#endif

namespace mailroom {

namespace {

constexpr std::uint64_t highest_limit = 268'435'456;

constexpr std::string_view usage = R"(usage: mailroom [options]

Sends real events (one JSON object a line) through a queue that refuses batches over its limit. Each
event takes effect exactly once, although the program kills its own worker with -9 twice. Then it
repeats the run with a naive loop and counts the lost and doubled events of both.

  --input FILE    the events. Without it: a recording of dpkg events
  --db DIR        keeps queue, sink and backlog.csv in this folder, and continues with those that
                  are there. Without it: a temporary folder
  --limit BYTES   maximum size of a batch for the queue (default {}, at least {})
  --report FILE   writes the figures as JSON
  --plain         no kills and no naive loop
  --help          prints this text

Blank lines are skipped. A line becomes a dead letter if it is no JSON object, if it is too large
for the queue, or if a package is installed and no event up to then has its version.
)";

ending wrong(std::string text)
{
    return {2, std::move(text) + "\nmailroom --help lists all options."};
}

/// Sets an option that takes a value; returns the error, if any.
std::optional<ending> set(options& o, std::string_view name, const std::string& value)
{
    if (name == "--input") o.input = value;
    if (name == "--db") o.db = value;
    if (name == "--report") o.report = value;
    if (name == "--limit") {
        const auto n = support::number_in(value);
        if (!n) return wrong(fmt::format("--limit {}: a number of bytes is expected", value));
        if (*n < smallest_limit) {
            return wrong(fmt::format(
                "--limit {}: must be at least {}, the size of the marker that replaces an event "
                "that is too large",
                value, smallest_limit));
        }
        if (*n > highest_limit)
            return wrong(fmt::format("--limit {}: must be at most {}", value, highest_limit));
        o.limit = *n;
    }
    if (name == "--hold") {
        o.stop = hold_in(value);
        if (!o.stop) {
            return wrong(
                fmt::format("--hold {}: a phase such as consume.handler is expected", value));
        }
    }
    if (name == "--worker") {
        const auto n = support::number_in(value);
        if (!n || *n > 1'023) {
            return wrong(
                fmt::format("--worker {}: a file descriptor from 0 to 1023 is expected", value));
        }
        o.worker = static_cast<int>(*n);
    }
    return {};
}

}  // namespace

std::variant<options, ending> options_in(int argc, char** argv)
{
    options o;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help" || name == "-h") {
            return ending{0, fmt::format(usage, o.limit, smallest_limit)};
        }
        if (name == "--plain") {
            o.plain = true;
        } else if (name == "--naive") {
            o.naive = true;
        } else if (name == "--dump") {
            o.dump = true;
        } else if (name == "--input" || name == "--db" || name == "--limit" || name == "--report" ||
                   name == "--hold" || name == "--worker") {
            if (auto bad = support::value_error(name, argv[++i])) return wrong(*std::move(bad));
            if (auto bad = set(o, name, argv[i])) return *bad;
        } else {
            return wrong(support::no_option(name));
        }
    }
    if (o.dump && o.db.empty()) return wrong("--dump needs --db: name the folder of the run");
    if (o.input.empty()) o.input = WAYBILL_MAILROOM_RECORDING;
    return o;
}

}  // namespace mailroom
