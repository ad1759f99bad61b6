// SPDX-License-Identifier: MIT
//
// send_batches: sends any NDJSON file to any broker, in as few requests as possible.
//
//     send_all -> outcomes          work.cpp         one loop for all brokers
//     --to scheme://...             destination.cpp  selects the adapter in engines/
//     --calibration, or a guess     known.cpp        knowledge from before, stored for the next run
//     codes -> outcomes             ../engines/*.hpp a table at the head of each
//     bars, totals, JSON            report.cpp
//
// Without arguments: sends the recording of the mailroom to an SQLite queue with an unknown limit
// and unknown headers. The sender learns both from refusals. At the end the queue is read back.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "../support/cleanup.hpp"
#include "../support/input.hpp"
#include "../support/terminal.hpp"
#include "destination.hpp"
#include "known.hpp"
#include "options.hpp"
#include "report.hpp"
#include "work.hpp"

namespace {

using namespace send_batches;

/// Checks all output files before the first batch.
void expect_files(const options& o)
{
    // The standard input may be a file, too.
    const std::string input = o.input == "-" ? "/dev/stdin" : o.input;
    expect_known(o, input);
    const std::string queue = queue_file(o);
    if (std::filesystem::exists(queue)) support::expect_regular(queue, "queue");
    support::expect_file("queue", queue, {{"the input", input}});
    support::expect_file(
        "report", o.report,
        {{"the input", input}, {"the queue", queue_file(o)}, {"the calibration", o.calibration}});
}

int run(const options& o)
{
    support::end_on_signals();
    support::expect_input(o.input);
    expect_files(o);
    const bool piped = o.input == "-";
    std::ifstream file;
    if (!piped) file.open(o.input, std::ios::binary);
    const waybill::calibration known = known_from(o.calibration);
    destination to = open_destination(o);
    results r;
    {
        picture bars(o, to.limit.bytes);
        r = send_lines(o, to, known, piped ? std::cin : file, [&](const sent& s) { bars.show(s); });
    }
    print(o, to, r);
    try {
        keep(o.calibration, r.learnt);
    } catch (const complaint& c) {
        r.wrong.emplace_back(c.what());
    }
    for (const std::string& w : r.wrong) say(fmt::format("send_batches: {}\n", w));
    if (!r.wrong.empty()) fmt::print("{}", support::verdict_of(r.wrong));
    write_report(o, to, r);
    return r.wrong.empty() && r.report.not_accepted == 0 && !r.report.stopped ? 0 : 1;
}

int do_as_told(int argc, char** argv)
{
    const auto asked = options_in(argc, argv);
    if (const auto* o = std::get_if<options>(&asked)) return run(*o);
    const ending& end = std::get<ending>(asked);
    if (end.code == 0) fmt::print("{}", end.text);
    else say(end.text + "\n");
    return end.code;
}

}  // namespace

int main(int argc, char** argv)
{
    support::keep_standard_streams();
    support::wrap_lines();
    std::ios::sync_with_stdio(false);
    try {
        const int code = do_as_told(argc, argv);
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        say("send_batches: the standard output cannot be written\n");
    } catch (const std::exception& e) {
        say(fmt::format("send_batches: {}\n", e.what()));
    }
    return 1;
}
