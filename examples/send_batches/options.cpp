// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "destination.hpp"

// The folder of the recording; CMake sets it. The default is the working directory.
#ifndef WAYBILL_MAILROOM_RECORDING
#define WAYBILL_MAILROOM_RECORDING "recording.ndjson"
#endif

namespace send_batches {

namespace {

constexpr std::string_view usage = R"(usage: send_batches [options]

Sends the lines of a file in as few batches as the limits of a broker allow. Shows the size of each
batch, the limits that it has learnt, and the lines that were not accepted.

  --to WHERE         {}
                     Without it: an SQLite queue that is removed at the end
  --input FILE       one JSON object a line; - is the standard input. Without it: a recording of
                     dpkg events. Blank lines are skipped. Other lines are sent unchanged, with the
                     \r of a line that ends in \r\n
  --limit BYTES      with sqlite: and kafka: the maximum size of a batch (default {} and 1048588);
                     with rabbitmq: and redis: the maximum size of a message (redis: at least
                     1048576); with others: the first limit, instead of the one that the broker
                     reports
  --items N          maximum number of lines in a batch
  --blind            ignores the limits that the broker reports, and learns them from refusals
  --calibration FILE reads the limits that an earlier run has learnt about this broker, and writes
                     the new ones at the end
  --report FILE      writes the figures as JSON
  --plain            no colours and no progress bar
  --help             prints this text

If no limit is known, the first one is a guess of {} bytes a batch, and a line counts with its own
bytes only. The exit code is 0 if each line was accepted and, if the program can read the queue, is
in it exactly once.
)";

ending wrong(std::string text)
{
    return {2, std::move(text) + "\nsend_batches --help lists all options."};
}

/// Sets an option that takes a value; returns the error, if any.
std::optional<ending> set(options& o, std::string_view name, const std::string& value)
{
    if (name == "--to") o.to = value;
    if (name == "--input") o.input = value;
    if (name == "--report") o.report = value;
    if (name == "--calibration") o.calibration = value;
    if (name == "--limit" || name == "--items") {
        const auto n = support::number_in(value);
        if (!n || *n == 0) {
            return wrong(fmt::format("{} {}: a number above zero is expected", name, value));
        }
        (name == "--limit" ? o.limit : o.items) = n;
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
            return ending{0, fmt::format(usage, places(), queue_limit, first_guess)};
        }
        if (name == "--plain") {
            o.plain = true;
        } else if (name == "--blind") {
            o.blind = true;
        } else if (name == "--to" || name == "--input" || name == "--limit" || name == "--items" ||
                   name == "--report" || name == "--calibration") {
            if (auto bad = support::value_error(name, argv[++i])) return wrong(*std::move(bad));
            if (auto bad = set(o, name, argv[i])) return *bad;
        } else {
            return wrong(support::no_option(name));
        }
    }
    if (o.input.empty()) o.input = WAYBILL_MAILROOM_RECORDING;
    return o;
}

}  // namespace send_batches
