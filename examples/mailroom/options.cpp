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

Sends real events (one JSON object a line) through a queue that refuses batches over its limit, and
takes each of them into effect exactly once, though it kills its own worker on the way. Beside it
runs the loop that people usually write. At the end it counts what either lost and doubled.

  --input FILE    the events; without it a recording of what dpkg does
  --db DIR        keeps queue, sink and backlog.csv there, and goes on with what is there; without
                  it they are in a temporary folder
  --limit BYTES   what the queue takes in a batch (default {}, at least {})
  --report FILE   the figures as JSON
  --plain         no kills and no naive loop
  --help          this

Blank lines are skipped. Lines that are no JSON object, events that are too large for the queue, and
events that break the rule of the ledger (what is installed has a version) become dead letters.
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
                "--limit {}: must be at least {}, or the marker of an event that is too "
                "large may be too large itself",
                value, smallest_limit));
        }
        if (*n > highest_limit)
            return wrong(fmt::format("--limit {}: must be at most {}", value, highest_limit));
        o.limit = *n;
    }
    if (name == "--hold") {
        o.stop = hold_in(value);
        if (!o.stop) return wrong(fmt::format("--hold {}: no such phase", value));
    }
    if (name == "--worker") {
        const auto n = support::number_in(value);
        if (!n || *n > 1'023) return wrong("--worker: a file descriptor is expected");
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
    if (o.dump && o.db.empty()) return wrong("--dump needs --db");
    if (o.input.empty()) o.input = WAYBILL_MAILROOM_RECORDING;
    return o;
}

}  // namespace mailroom
