// SPDX-License-Identifier: MIT
//
// autoscaler: decides when to scale, and shows the reasons.
//
//     rows -> ticks            trace.cpp, ticks.cpp     times of the decisions, and their data
//     ticks -> decisions       brain.cpp                windows, decide, the state afterwards
//     --state, --json          state_file.cpp, record_file.hpp
//     independent check        history.cpp              computes all decisions a second time
//     lines, table, chart      report.cpp, picture.cpp
//     a trace, --from, --live  run_trace.cpp, run_watch.cpp, run_live.cpp
//
// Without arguments: a recording of a RabbitMQ queue under real load, see `record`.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "../support/cleanup.hpp"
#include "../support/input.hpp"
#include "../support/program.hpp"
#include "../support/terminal.hpp"
#include "brain.hpp"
#include "live_queue.hpp"
#include "options.hpp"
#include "run.hpp"
#include <waybill/ext/json/read.hpp>
#include <waybill/ext/json/scaling.hpp>

namespace {

using namespace autoscaler;

waybill::scaling::policy policy_in(const std::string& path)
{
    support::expect_input(path, "policy");
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    auto p = waybill::scaling::parse_policy(text);
    if (!p) throw complaint(fmt::format("{}: {}", path, waybill::describe(p.error())));
    return *std::move(p);
}

/// Checks all output files before any work.
void expect_files(const options& o)
{
    const std::string input = o.input == "-" ? "/dev/stdin" : o.input;
    const std::string queue = o.from.starts_with("sqlite:") ? o.from.substr(7) : std::string();
    // A missing queue is unknown, not an error. Opening a FIFO would block.
    if (std::filesystem::exists(queue)) support::expect_regular(queue, "queue");
    support::expect_file("state", o.state,
                         {{"the trace", input}, {"the policy", o.policy}, {"the queue", queue}});
    support::expect_file("records", o.records,
                         {{"the trace", input},
                          {"the policy", o.policy},
                          {"the state", o.state},
                          {"the queue", queue}});
    support::expect_file("chart", o.chart,
                         {{"the trace", input},
                          {"the policy", o.policy},
                          {"the state", o.state},
                          {"the records", o.records},
                          {"the queue", queue}});
}

int run(const options& o)
{
    support::end_on_signals();
    if (!o.input.empty()) support::expect_input(o.input);
    rules r{.policy = policy_in(o.policy), .window = o.window, .every = o.every, .delay = o.delay};
    expect_files(o);
    r.start = o.instances.value_or(r.policy.instances.lowest);
    if (o.live) {
        r.instances = instances_are::real;
        return run_live(o, std::move(r));
    }
    if (o.advise) r.instances = instances_are::recorded;
    return o.from.empty() ? run_trace(o, std::move(r)) : run_watch(o, std::move(r));
}

int do_as_told(int argc, char** argv)
{
    const auto asked = options_in(argc, argv);
    if (const auto* o = std::get_if<options>(&asked)) return run(*o);
    const ending& end = std::get<ending>(asked);
    if (end.code == 0) fmt::print("{}", end.text);
    else support::say(end.text + "\n");
    return end.code;
}

}  // namespace

int main(int argc, char** argv)
{
    support::keep_standard_streams();
    support::wrap_lines();
    if (const auto code = autoscaler::live_child(argc, argv)) return *code;
    std::ios::sync_with_stdio(false);
    try {
        const int code = do_as_told(argc, argv);
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        support::say("autoscaler: the standard output cannot be written\n");
    } catch (const std::exception& e) {
        support::say(fmt::format("autoscaler: {}\n", e.what()));
    }
    return 1;
}
