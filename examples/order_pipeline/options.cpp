// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../support/lines.hpp"
#include "../support/program.hpp"
#include "letter_table.hpp"

// The folder of the recording; CMake sets it. The default is the working directory.
#ifndef WAYBILL_MAILROOM_RECORDING
#define WAYBILL_MAILROOM_RECORDING "recording.ndjson"
#endif

namespace order_pipeline {

namespace {

constexpr std::string_view usage = R"(usage: order_pipeline [options]
       order_pipeline redrive --db DIR [--fix] [--dry-run] [options]

Each order is a session of five steps: number, total, payment, receipt, mail. The template of the
receipts is broken for some of them. Such an order stops, and its last steps are dead-lettered with
the reason. All other orders continue. `redrive` sends the dead letters as new sessions, in order.

  --import         imports of products instead: sessions of many independent steps, where a failed
                   step stops no other
  --workers N      number of processes (default {}, at most 32)
  --kill           kills them with -9 at random for three seconds, and starts others
  --seed N         seed of these kills
  --input FILE     JSON lines of at most {} bytes; a line with "package" and "dirs" is an order.
                   Without it: a recording of dpkg events
  --most N         only the first N orders (default and maximum {})
  --imports N      number of imports that share the products (default {}, at most 1,000)
  --db DIR         keeps the databases in this folder, and continues with those that are there.
                   Without it: a temporary folder, and the redrive follows at once
  --chart FILE     draws all orders; without --db, as they were before the redrive
  --dead-letters azure-table://HOST:PORT/devstoreaccount1/TABLE
                   keeps the dead letters in a table of an Azure emulator; DIR keeps its address.
                   With TLS: azure-table:https://HOST:PORT/... The table of an account is
                   azure-table:TABLE, with AZURE_STORAGE_CONNECTION_STRING
  --sessions postgres:
                   keeps everything in PostgreSQL, with row locks as session locks: in a server of
                   its own, with its data in DIR, or at postgres://...
  --help           prints this text

  redrive          sends the dead letters again, in the order of their steps
  --fix            repairs the template first
  --dry-run        only prints what would be sent
  --failed-step N  only sessions that stopped at step N, with all of their steps; of an import only
                   the steps N

The exit code is 0 if each order is complete in the order of its steps, or stopped with all of its
other steps dead-lettered, and no order is lost, doubled or incomplete.
)";

std::string usage_text(const options& o)
{
    return fmt::format(usage, o.workers, support::grouped(support::longest_line),
                       support::grouped(o.most), o.imports);
}

ending wrong(std::string text)
{
    return {2, std::move(text) + "\norder_pipeline --help lists all options."};
}

struct flag_option {
    std::string_view name;
    bool options::* into;
};
constexpr flag_option flags[] = {
    {"--import", &options::import},
    {"--kill", &options::kill},
    {"--fix", &options::fix},
    {"--dry-run", &options::dry_run},
};

struct count_option {
    std::string_view name;
    std::uint64_t options::* into;
    std::uint64_t lowest;
    std::uint64_t highest;
};
constexpr count_option counts[] = {
    {"--workers", &options::workers, 1, most_workers},
    {"--most", &options::most, 1, most_jobs},
    {"--imports", &options::imports, 1, 1'000},
    {"--failed-step", &options::failed_step, 1, most_jobs},
    {"--seed", &options::seed, 0, ~std::uint64_t{0}},
};

struct text_option {
    std::string_view name;
    std::string options::* into;
};
constexpr text_option texts[] = {
    {"--input", &options::input},       {"--db", &options::db},
    {"--chart", &options::chart},       {"--dead-letters", &options::dead_letters},
    {"--sessions", &options::sessions},
};

bool set_flag(options& o, std::string_view name)
{
    for (const flag_option& f : flags) {
        if (name != f.name) continue;
        o.*f.into = true;
        return true;
    }
    return false;
}

/// Sets an option that takes a value; returns the error, if any.
std::optional<ending> set_option(options& o, std::string_view name, const char* value)
{
    const auto needs = [&]() -> std::optional<ending> {
        if (auto bad = support::value_error(name, value)) return wrong(*std::move(bad));
        return {};
    };
    for (const text_option& t : texts) {
        if (name != t.name) continue;
        if (auto bad = needs()) return bad;
        o.*t.into = value;
        return {};
    }
    if (name == "--worker") {
        if (auto bad = needs()) return bad;
        o.worker = support::number_in(value);
        return {};
    }
    for (const count_option& c : counts) {
        if (name != c.name) continue;
        if (auto bad = needs()) return bad;
        const auto n = support::number_in(value);
        if (!n || *n < c.lowest || *n > c.highest) {
            return wrong(fmt::format("{} {}: a number from {} to {} is expected", name, value,
                                     c.lowest, c.highest));
        }
        o.*c.into = *n;
        return {};
    }
    return wrong(support::no_option(name));
}

}  // namespace

std::variant<options, ending> options_in(int argc, char** argv)
{
    options o;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help" || name == "-h") {
            return ending{0, usage_text(o)};
        }
        if (i == 1 && name == "redrive") o.what = command::redrive;
        else if (set_flag(o, name)) continue;
        else if (auto bad = set_option(o, name, i + 1 < argc ? argv[i + 1] : nullptr)) return *bad;
        else ++i;
    }
    if (o.what == command::redrive && o.db.empty()) {
        return wrong("redrive needs --db DIR, the folder with the dead letters");
    }
    if (o.what == command::run && (o.fix || o.dry_run || o.failed_step != 0)) {
        return wrong("--fix, --dry-run and --failed-step are only for redrive: omit them");
    }
    if (const auto flaw = azure_flaw(o.dead_letters); flaw && !o.dead_letters.empty()) {
        return wrong(fmt::format("--dead-letters {}: {}", o.dead_letters, *flaw));
    }
    const std::string_view s = o.sessions;
    const bool address = s.starts_with("postgres://") || s.starts_with("postgresql://");
    if (!s.empty() && s != "postgres:" && !address) {
        return wrong(fmt::format("--sessions {}: postgres: or postgres://... is expected", s));
    }
    if (!s.empty() && !o.dead_letters.empty()) {
        return wrong(
            "--dead-letters is not for --sessions, whose dead letters are in PostgreSQL, "
            "too: omit one of them");
    }
    if (o.input.empty()) o.input = WAYBILL_MAILROOM_RECORDING;
    return o;
}

}  // namespace order_pipeline
