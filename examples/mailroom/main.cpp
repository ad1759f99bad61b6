// SPDX-License-Identifier: MIT
//
// mailroom: sends real events through a queue. Each takes effect exactly once, despite kill -9.
//
//     lines | parse | buffer        job.cpp        the input, read once and kept until it is sent
//     send_all -> queue.sqlite      producer.cpp   a queue with limits that the sender learns
//     process_batch -> sink.sqlite  consumer.cpp   effects, dead letters and checkpoint together
//     the effect of an event        ledger.cpp
//     the same without waybill      naive.cpp
//     kills the worker              supervisor.cpp
//     independent check             verify.cpp
//
// The queue and the sink are separate systems, as in production: no transaction covers both.
// (SQLite could attach one file to the other. But in WAL mode it commits them one after the other,
// and a kill between the two commits loses the batch.)

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "../support/cleanup.hpp"
#include "../support/input.hpp"
#include "../support/locked_folder.hpp"
#include "../support/terminal.hpp"
#include "job.hpp"
#include "options.hpp"
#include "producer.hpp"
#include "report.hpp"
#include "supervisor.hpp"
#include "verify.hpp"

namespace {

using namespace mailroom;

/// Two kills: one within a batch for the queue, one within an event in the sink.
std::vector<hold> kills_after(const place& from, std::uint64_t bytes)
{
    std::vector<hold> plan;
    const std::uint64_t left = bytes - std::min(bytes, from.byte);
    if (left == 0) return plan;
    plan.push_back({.phase = "enqueue.insert", .from = from.byte + left / 3});
    plan.push_back({.phase = "consume.handler", .from = from.byte + left * 2 / 3});
    return plan;
}

/// The position that an earlier run has reached.
place begun_at(const options& o)
{
    engines::database queue_db(queue_in(o.db));
    return bookmark(queue_db).load();
}

contestant run_waybill(const options& o, std::uint64_t bytes)
{
    contestant c;
    const place from = begun_at(o);
    {
        progress bar("waybill", bytes);
        const auto show = [&](const tally& t) { bar.show(t); };
        c.how = o.plain ? work_here(o, show) : supervise(o, kills_after(from, bytes), show);
    }
    c.found = verify(o, &from);
    for (std::string& w : check_sums(o, c.found)) c.found.wrong.push_back(std::move(w));
    return c;
}

contestant run_naive(options o, std::uint64_t bytes)
{
    o.db += "/naive";
    o.naive = true;
    o.stop.reset();
    std::filesystem::remove_all(o.db);  // a naive run cannot be continued
    std::filesystem::create_directories(o.db);
    contestant c;
    progress bar("naive", bytes);
    c.how = supervise(o, kills_after({}, bytes), [&](const tally& t) { bar.show(t); });
    c.found = verify(o, nullptr);
    return c;
}

/// All violations, one text each.
std::vector<std::string> reasons_of(const findings& f)
{
    std::vector<std::string> all;
    const auto count = [&](std::uint64_t n, std::string_view what) {
        if (n != 0) all.push_back(fmt::format("{} {}", support::counted(n, "event"), what));
    };
    count(f.lost, "lost");
    count(f.duplicated, "doubled");
    all.insert(all.end(), f.wrong.begin(), f.wrong.end());
    return all;
}

int run(options o)
{
    const auto begun = std::chrono::steady_clock::now();
    support::end_on_signals();
    support::expect_input(o.input);
    support::expect_file("report", o.report, {{"the input", o.input}});
    results r{.input_bytes = std::filesystem::file_size(o.input)};
    const support::locked_folder folder(o.db, "mailroom");
    o.db = folder.path();
    r.temporary = folder.temporary();
    folder.belongs_to(o.input);

    r.waybill = run_waybill(o, r.input_bytes);
    if (!o.plain && r.waybill.how.counts.worked) r.naive = run_naive(o, r.input_bytes);
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    print(o, r);
    write_report(o, r);

    for (const std::string& w : r.waybill.found.wrong) say(fmt::format("mailroom: {}\n", w));
    const std::vector<std::string> reasons = reasons_of(r.waybill.found);
    if (reasons.empty()) return 0;
    fmt::print("{}", support::verdict_of(reasons));
    return 1;
}

int do_as_told(int argc, char** argv)
{
    const auto asked = options_in(argc, argv);
    if (const auto* end = std::get_if<ending>(&asked)) {
        if (end->code == 0) fmt::print("{}\n", end->text);
        else say(end->text + "\n");
        return end->code;
    }
    const options& o = std::get<options>(asked);
    if (!o.dump && !o.worker) return run(o);
    o.dump ? dump(o) : work_for_parent(o);
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    support::keep_standard_streams();
    support::wrap_lines();
    try {
        const int code = do_as_told(argc, argv);
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        say("mailroom: the standard output cannot be written\n");
    } catch (const std::exception& e) {
        say(fmt::format("mailroom: {}\n", e.what()));
    }
    return 1;
}
