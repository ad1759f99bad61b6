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

Sends the lines of a file in as few batches as a broker takes, shows each batch against the limit,
and tells what it has learnt about it and which lines did not get in.

  --to WHERE         {}
                     without it an SQLite queue that is removed at the end
  --input FILE       one JSON object a line, - for the standard input; without it a recording of
                     what dpkg does. Blank lines are skipped; others are sent as they are, the \r
                     of a line that ends in \r\n included
  --limit BYTES      of sqlite: and kafka: what the queue takes in a batch (default {} and
                     1048588); of rabbitmq: and redis: what it takes in a message (of redis:
                     at least 1048576); of any other: what is believed at first, whatever the
                     broker says of itself
  --items N          most lines in a batch
  --blind            believe nothing that the broker says of itself before it refuses something
  --calibration FILE what an earlier run has learnt about this broker; written at the end
  --report FILE      the figures as JSON
  --plain            neither colours nor a bar that moves
  --help             this

Where nobody has told a limit it begins with a guess of {} bytes a batch, and with lines that take
no more than they have.
It exits with 0 if each line is where it should be, exactly once.
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
