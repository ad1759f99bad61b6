// SPDX-License-Identifier: MIT
//
// reliable_consumer: each event takes effect once, even if workers are killed.
//
//     the loop of a worker        worker.cpp       leases, checkpoints, process_batch
//     the effect of an event      ledger.cpp
//     kills the workers           supervisor.cpp
//     dead letters, once more     reprocessing.cpp
//     independent check           verify.cpp
//     NATS, Kafka and PostgreSQL  server_worker.hpp, server_tables.hpp, servers.cpp
//     the same for Kafka          kafka.cpp        at least once, a watermark, a dead-letter topic

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "../support/cleanup.hpp"
#include "../support/input.hpp"
#include "../support/locked_folder.hpp"
#include "../support/program.hpp"
#include "../support/terminal.hpp"
#include "options.hpp"
#include "reprocessing.hpp"
#include "supervisor.hpp"
#include "verify.hpp"
#include "worker.hpp"
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
#include "kafka.hpp"
#endif
#ifdef WAYBILL_RELIABLE_CONSUMER_SERVERS
#include "servers.hpp"
#endif

namespace {

using namespace reliable_consumer;
using support::counted;
using support::grouped;

void print(const options& o, const casualties& c, const findings& f)
{
    fmt::print("partition     events   position    applied  dead  owners\n");
    partition_row all;
    for (std::size_t p = 0; p != f.partitions.size(); ++p) {
        const partition_row& r = f.partitions[p];
        fmt::print("{:>9} {:>10} {:>10} {:>10} {:>5} {:>7}\n", p, grouped(r.events),
                   grouped(r.position), grouped(r.applied), r.dead, r.owners);
        all.events += r.events;
        all.applied += r.applied;
        all.dead += r.dead;
        all.owners += r.owners;
    }
    fmt::print("{:>9} {:>10} {:>10} {:>10} {:>5} {:>7}\n", "all", grouped(all.events), "",
               grouped(all.applied), all.dead, all.owners);
    fmt::print("{} in {:.1f} s", counted(o.workers, "worker"), c.seconds);
    if (c.kills != 0)
        fmt::print("; {} with -9, {} of them in the middle of a batch", counted(c.kills, "kill"),
                   c.in_a_batch);
    if (c.by_poison != 0)
        fmt::print("; {} by an event that ends its process", counted(c.by_poison, "death"));
    fmt::print("\n");
}

/// All violations, one text each.
std::vector<std::string> reasons_of(const findings& f)
{
    std::vector<std::string> all;
    const auto count = [&](std::uint64_t n, std::string_view what) {
        if (n != 0) all.push_back(fmt::format("{} {}", counted(n, "event"), what));
    };
    count(f.lost, "lost");
    count(f.doubled, "doubled");
    count(f.out_of_order, "out of order");
    all.insert(all.end(), f.wrong.begin(), f.wrong.end());
    return all;
}

/// Prints the findings, and returns the exit code of the program.
int verdict(const findings& f)
{
    for (const std::string& w : f.wrong) support::say(fmt::format("reliable_consumer: {}\n", w));
    const std::vector<std::string> reasons = reasons_of(f);
    if (!reasons.empty()) {
        fmt::print("{}", support::verdict_of(reasons));
        return 1;
    }
    fmt::print(
        "checked: each event took effect exactly once, in the order of its partition, or is a "
        "dead\n"
        "letter with its reason; all partitions were given back\n");
    return 0;
}

int run(options o)
{
    support::end_on_signals();
    support::expect_input(o.input);
    const support::locked_folder folder(o.db, "reliable_consumer");
    o.db = folder.path();
    folder.belongs_to(o.input);
    std::unique_ptr<server_faults> servers;
    std::unique_ptr<tables> all;
    if (o.log.empty()) {
        all = sqlite_tables(o);
    } else {
#ifdef WAYBILL_RELIABLE_CONSUMER_SERVERS
        // PostgreSQL may run as another user, which needs access to its folder.
        if (folder.temporary()) chmod(o.db.c_str(), S_IRWXU | S_IXGRP | S_IXOTH);
        servers = start_servers(o);
        all = tables_at_servers(o);
#else
        support::say(
            fmt::format("reliable_consumer: --log {}: this program was built without "
                        "libnats-dev or libpq-dev; install both and build it again\n",
                        o.log));
        return 2;
#endif
    }
    const casualties c = supervise(o, *all, servers.get());
    const findings f = verify(o, *all);
    print(o, c, f);
    if (servers) fmt::print("{}\n", servers->summary());
    return verdict(f);
}

int run_again(options o)
{
    support::end_on_signals();
    const support::locked_folder folder(o.db, "reliable_consumer");
    o.db = folder.path();
    const waybill::dead_letter::run_report r = reprocess(o);
    fmt::print("dead letters: {}\n", describe(r));
    for (const auto& each : r.failed) fmt::print("  {}\n", describe(each));
    return verdict(verify(o, *sqlite_tables(o)));
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
#ifdef WAYBILL_RELIABLE_CONSUMER_SERVERS
    if (o.worker && o.at_servers) return work_at_servers(o);
#endif
    if (o.worker) return work(o);
    if (o.what == command::reprocess) return run_again(o);
    if (o.kafka.empty()) return run(o);
    support::end_on_signals();
    support::expect_input(o.input);
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
    return run_kafka(o);
#else
    support::say(
        "reliable_consumer: --from: this program was built without librdkafka-dev; install it "
        "and build it again\n");
    return 2;
#endif
}

}  // namespace

int main(int argc, char** argv)
{
    support::keep_standard_streams();
    support::wrap_lines();
    try {
        const int code = do_as_told(argc, argv);
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        support::say("reliable_consumer: the standard output cannot be written\n");
    } catch (const std::exception& e) {
        support::say(fmt::format("reliable_consumer: {}\n", e.what()));
    }
    return 1;
}
