// SPDX-License-Identifier: MIT
//
// order_pipeline: after a failure the other steps of an order stop, too; they are redriven
// together.
//
//     the pipeline of a session     worker.cpp       codec, pipeline, dead letters
//     the work of the steps         shop.cpp
//     orders and products           jobs.cpp         numbered steps, sent in batches
//     redrive                       returning.cpp    import, plan, redrive
//     states of killed workers      sweeping.cpp     required: see sweeping.hpp
//     kills the workers             worker_pool.cpp
//     SQLite or PostgreSQL          sqlite_services.cpp postgres_services.cpp
//     the screen and the picture    dashboard.cpp picture.cpp
//     independent check             verify.cpp

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

#include <fmt/format.h>
#include <sys/stat.h>

#include "../support/cleanup.hpp"
#include "../support/input.hpp"
#include "../support/locked_folder.hpp"
#include "../support/program.hpp"
#include "../support/terminal.hpp"
#include "dashboard.hpp"
#include "jobs.hpp"
#include "options.hpp"
#include "returning.hpp"
#include "sessions_server.hpp"
#include "shop.hpp"
#include "shop_services.hpp"
#include "verify.hpp"
#include "worker.hpp"
#include "worker_pool.hpp"

namespace {

using namespace order_pipeline;
using support::counted;
using support::grouped;

std::string batches(std::uint64_t n)
{
    return n == 1 ? "1 batch" : grouped(n) + " batches";
}

/// Prints the progress in one line, at most every 500 ms.
class news {
public:
    explicit news(shop_services& w) : services_(w) {}

    /// `why` is the reason of a standstill; empty if there is progress.
    void report(const std::string& why)
    {
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return;
        next_ = now + 500ms;
        std::string line;
        std::uint64_t complete = 0;
        const dashboard b = read_effects(services_);
        for (const row& r : b) {
            if (r.complete()) ++complete;
            if (!is_import(r.job) || line.size() > 80) continue;
            const std::uint64_t done = r.marks.size() - r.count(mark::waiting);
            if (!line.empty()) line += ", ";
            line += fmt::format("{} {} of {}", r.job, done, r.marks.size());
        }
        if (line.empty()) {
            line = fmt::format("{} of {} complete", complete, counted(b.size(), "job"));
        }
        fmt::print("  {}{}{}\n", line, why.empty() ? "" : "; no progress: ", why);
        std::fflush(stdout);
    }

private:
    shop_services& services_;
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + 100ms;
};

/// Processes the queue, then shows and checks the result.
bool work_and_check(shop_services& services, const options& o, sessions_server& server)
{
    news all(services);
    const casualties c =
        work_off(services, o, server, [&](const std::string& why) { all.report(why); });
    const dashboard b = read_dashboard(services);
    print(b, o.what == command::redrive || o.fix ? shown::what_came_back : shown::all);
    support::write_file("picture", o.chart, picture(b));
    const findings f = verify(o);
    fmt::print("{} in {:.1f} s; {} of steps repeated", counted(o.workers, "worker"), c.seconds,
               counted(f.repeated, "run"));
    if (c.kills != 0) {
        fmt::print("; {} with -9, {} of them during a step", counted(c.kills, "kill"),
                   grouped(c.at_work));
    }
    if (c.swept != 0) fmt::print("; {} of killed workers removed", counted(c.swept, "state"));
    fmt::print("\n");
    for (const std::string& w : f.wrong) support::say(fmt::format("order_pipeline: {}\n", w));
    if (!f.wrong.empty()) {
        fmt::print("{}", support::verdict_of(f.wrong));
        return false;
    }
    fmt::print(
        "checked: each order is complete in the order of its steps or stopped with the\n"
        "rest dead-lettered, each product is imported or dead-lettered; none is lost,\n"
        "doubled or incomplete\n");
    return true;
}

bool redrive(shop_services& w, const options& o, sessions_server& server)
{
    if (o.fix && !o.dry_run) {
        write_templates(w, true);
        fmt::print("the templates of receipts and labels are repaired\n");
    }
    const returned r = bring_back(w, o);
    if (o.dry_run) return true;
    fmt::print("{} of {} sent again in {}\n\n", counted(r.letters, "step"),
               counted(r.sessions, "job"), batches(r.batches));
    std::fflush(stdout);
    return work_and_check(w, o, server);
}

/// Throws if the picture would replace a file of the program. Requires: the folder exists.
void expect_picture(const options& o)
{
    namespace fs = std::filesystem;
    if (o.chart.empty()) return;
    std::error_code e;
    const fs::path chart = fs::weakly_canonical(o.chart, e);
    const fs::path folder = fs::canonical(o.db);
    for (const std::string_view name : own_files) {
        if (chart != folder / name && !fs::equivalent(o.chart, folder / name, e)) continue;
        throw support::complaint(fmt::format(
            "the picture cannot be written to {}: it is one of the files of --db", o.chart));
    }
    const fs::path server = folder / "postgres";
    if (chart == server || chart.string().starts_with(server.string() + "/")) {
        throw support::complaint(fmt::format(
            "the picture cannot be written to {}: the data of the server are there", o.chart));
    }
}

/// For a further command. An address may contain a password.
std::string sessions_option(const options& o)
{
    if (o.sessions.empty()) return {};
    return o.sessions == "postgres:" ? " --sessions postgres:" : " --sessions postgres://...";
}

/// Checks that the dead letters of a folder are at the first address. It is recorded after the
/// first reply from there.
void keep_address(shop_services& w, const options& o)
{
    const std::string now = full_address(o.dead_letters);
    const std::optional<std::string> then = w.tables.letters_at();
    if (then == now) return;
    if (then) {
        throw support::complaint(
            then->empty()
                ? fmt::format("the dead letters of {} are in this folder: omit --dead-letters",
                              o.db)
                : fmt::format("the dead letters of {} need --dead-letters {}", o.db, *then));
    }
    if (const auto all = w.letters.list(); !all) throw support::complaint(all.error().text);
    w.tables.set_letters_at(now);
}

int run(options o)
{
    support::end_on_signals();
    if (o.what == command::run) support::expect_input(o.input);
    support::expect_file("picture", o.chart, {{"the input", o.input}});
    if (o.what == command::redrive && !std::filesystem::exists(o.db + "/shop.sqlite") &&
        !std::filesystem::exists(sessions_file(o))) {
        throw support::complaint(
            fmt::format("there are no orders in {}: name the --db of a run", o.db));
    }
    const support::locked_folder folder(o.db, "order_pipeline");
    const bool temporary = folder.temporary();
    o.db = folder.path();
    expect_picture(o);
    if (o.what == command::run) folder.belongs_to(o.input);
    // The server may run as another user.
    if (temporary && !o.sessions.empty()) chmod(o.db.c_str(), S_IRWXU | S_IXGRP | S_IXOTH);
    const auto server = start_server(o);
    shop_services w(o);
    keep_address(w, o);
    write_templates(w, false);
    if (o.what == command::redrive) return redrive(w, o, *server) ? 0 : 1;

    const taken_jobs t = take_jobs(w, o);
    if (!t.left_out.empty()) fmt::print("{}\n", t.left_out);
    if (t.jobs == 0) {
        fmt::print(
            "nothing to do: there is no order in {}; an order is a line with \"package\" and "
            "\"dirs\"\n",
            o.input);
        return 0;
    }
    fmt::print("{} with {} in all, {} new, sent in {}\n",
               counted(t.jobs, o.import ? "import" : "order"), counted(t.steps, "step"),
               grouped(t.jobs - t.known), batches(t.batches));
    std::fflush(stdout);
    if (!work_and_check(w, o, *server)) return 1;
    const auto letters = w.letters.list();
    if (!letters || letters->empty()) return 0;
    if (!temporary) {
        fmt::print("\nto redrive them: order_pipeline redrive --fix --db {}{}\n", o.db,
                   (o.dead_letters.empty() ? "" : " --dead-letters " + o.dead_letters) +
                       sessions_option(o));
        return 0;
    }
    fmt::print("\nthe same as order_pipeline redrive --fix:\n");
    o.fix = true;
    o.chart.clear();  // it shows the steps that stopped
    return redrive(w, o, *server) ? 0 : 1;
}

int do_as_told(int argc, char** argv)
{
    const auto asked = options_in(argc, argv);
    if (const auto* end = std::get_if<ending>(&asked)) {
        if (end->code == 0) fmt::print("{}\n", end->text);
        else support::say(end->text + "\n");
        return end->code;
    }
    const options& o = std::get<options>(asked);
    if (!o.worker) return run(o);
    work(o);
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
        support::say("order_pipeline: the standard output cannot be written\n");
    } catch (const std::exception& e) {
        support::say(fmt::format("order_pipeline: {}\n", e.what()));
    }
    return 1;
}
