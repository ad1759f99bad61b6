// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"

// The folder of the recording; CMake sets it. The default is the working directory.
#ifndef WAYBILL_MAILROOM_RECORDING
#define WAYBILL_MAILROOM_RECORDING "recording.ndjson"
#endif

namespace reliable_consumer {

namespace {

constexpr std::string_view usage = R"(usage: reliable_consumer [options]
       reliable_consumer reprocess --db DIR [--partitions N]

Handles the events of a partitioned log. Each takes effect exactly once, in the order of its
partition. Several processes share the partitions through leases. At the end the program counts the
rows of the tables and uses no figures of these processes.

  --workers N      number of processes (default {}, at most 32)
  --kill [SECONDS] kills them with -9 at random for SECONDS (default 10, with --cluster 30), and
                   starts others
  --seed N         seed of these kills
  --poison         adds an event that ends each process that handles it
  --partitions N   number of partitions of the log (default {}, at most 512)
  --batch N        events in a transaction (default {}, at most 10,000)
  --input FILE     lines that become events. Without it: a recording of dpkg events
  --db DIR         keeps log and tables in this folder, and continues with those that are there.
                   Without it: a temporary folder
  --log nats: --store postgres:
                   the log is a stream of NATS JetStream, the tables are in PostgreSQL: servers of
                   its own, or nats://HOST:PORT and postgres://...
  --log kafka: --store postgres:
                   the log is a topic of Kafka: a mock cluster of its own, whose brokers fail with
                   --kill, or kafka://HOST:PORT with the topic WAYBILL_EVENTS
  --cluster        three nodes of NATS with a replicated stream, and a PostgreSQL server with a
                   synchronous standby. --kill then also kills, in turn, a node, the leader of the
                   stream, and the primary
  --from kafka     reads from a mock cluster of Kafka of its own, or from kafka://HOST:PORT. Three
                   members of a group handle each event at least once, despite a crash and an outage
  --help           prints this text

  reprocess        handles the dead letters again with a repaired rule: an installed package needs
                   no version

An event becomes a dead letter if it is no JSON object, or if a package is installed and no event up
to then has its version. With --from kafka events are handled concurrently, and the installed event
itself must have the version.
)";

ending wrong(std::string text)
{
    return {2, std::move(text) + "\nreliable_consumer --help lists all options."};
}

struct count_option {
    std::string_view name;
    std::uint64_t options::* into;
    std::uint64_t lowest;
    std::uint64_t highest;
};

constexpr count_option counts[] = {
    {"--workers", &options::workers, 1, most_workers},
    {"--partitions", &options::partitions, 1, 512},
    {"--batch", &options::batch, 1, 10'000},
    {"--seed", &options::seed, 0, ~std::uint64_t{0}},
};

bool has_address(const std::string& value, std::string_view scheme)
{
    return value.starts_with(scheme) && value.size() > scheme.size();
}

/// Sets an option that takes a value; returns the error, if any.
std::optional<ending> set(options& o, std::string_view name, const std::string& value)
{
    if (name == "--input") o.input = value;
    if (name == "--db") o.db = value;
    if (name == "--from") {
        constexpr std::string_view scheme = "kafka://";
        if (value == "kafka") o.kafka = "mock";
        else if (value.starts_with(scheme) && value.size() > scheme.size())
            o.kafka = value.substr(scheme.size());
        else return wrong(fmt::format("--from {}: kafka or kafka://HOST:PORT is expected", value));
    }
    if (name == "--log") {
        const bool known = value == "nats:" || value == "kafka:" || has_address(value, "nats://") ||
                           has_address(value, "kafka://");
        if (!known) {
            return wrong(
                fmt::format("--log {}: nats:, kafka:, nats://HOST:PORT or kafka://HOST:PORT "
                            "is expected",
                            value));
        }
        o.log = value;
    }
    if (name == "--store") {
        if (value != "postgres:" && !has_address(value, "postgres://") &&
            !has_address(value, "postgresql://"))
            return wrong(fmt::format("--store {}: postgres: or postgres://... is expected", value));
        o.store = value;
    }
    if (name == "--worker") {
        o.worker = support::number_in(value);
        if (!o.worker) return wrong("--worker: a number is expected");
    }
    for (const count_option& c : counts) {
        if (name != c.name) continue;
        const auto n = support::number_in(value);
        if (!n || *n < c.lowest || *n > c.highest) {
            return wrong(fmt::format("{} {}: a number from {} to {} is expected", name, value,
                                     c.lowest, c.highest));
        }
        o.*c.into = *n;
    }
    return {};
}

bool takes_value(std::string_view name)
{
    for (const count_option& c : counts) {
        if (name == c.name) return true;
    }
    for (const std::string_view each :
         {"--input", "--db", "--from", "--log", "--store", "--worker"}) {
        if (name == each) return true;
    }
    return false;
}

}  // namespace

std::variant<options, ending> options_in(int argc, char** argv)
{
    options o;
    std::string_view of_sqlite;  // an option that is invalid with Kafka
    bool kills = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (i == 1 && name == "reprocess") {
            o.what = command::reprocess;
            continue;
        }
        for (const std::string_view its : {"--workers", "--kill", "--poison", "--batch", "--db",
                                           "--log", "--store", "--cluster"}) {
            if (name == its) of_sqlite = its;
        }
        if (name == "--help" || name == "-h") {
            return ending{0, fmt::format(usage, o.workers, o.partitions, o.batch)};
        }
        if (name == "--poison") {
            o.poison = true;
        } else if (name == "--cluster") {
            o.cluster = true;
        } else if (name == "--servers") {
            o.at_servers = true;
        } else if (name == "--kill") {
            kills = true;
            const auto seconds = i + 1 < argc ? support::number_in(argv[i + 1]) : std::nullopt;
            if (!seconds) continue;
            if (*seconds == 0 || *seconds > 3'600) {
                return wrong(fmt::format("--kill {}: 1 to 3600 seconds are expected", *seconds));
            }
            o.kill_for = static_cast<double>(*seconds);
            ++i;
        } else if (takes_value(name)) {
            if (auto bad = support::value_error(name, argv[++i])) return wrong(*std::move(bad));
            if (auto bad = set(o, name, argv[i])) return *bad;
        } else {
            return wrong(support::no_option(name));
        }
    }
    if (kills && o.kill_for == 0) o.kill_for = o.cluster ? 30 : 10;
    if (o.what == command::reprocess && o.db.empty()) {
        return wrong("reprocess needs --db DIR, the folder with the dead letters");
    }
    if (o.what == command::reprocess && (o.kill_for != 0 || o.poison || !o.kafka.empty())) {
        return wrong("reprocess has no --kill, --poison and --from: omit them");
    }
    if (!o.kafka.empty() && !of_sqlite.empty()) {
        return wrong(fmt::format("{} is not for --from kafka: omit it", of_sqlite));
    }
    if (o.log.empty() != o.store.empty()) {
        return wrong(o.log.empty() ? "--store postgres: needs --log nats: or kafka:"
                                   : "--log needs --store postgres:");
    }
    if (o.log == "kafka:" && !o.db.empty() && !o.at_servers) {
        return wrong(
            "--db is not for --log kafka: because the mock cluster keeps no events; omit --db");
    }
    if (o.cluster && o.log.empty() && !o.at_servers)
        return wrong("--cluster needs --log nats: --store postgres:");
    if (o.what == command::reprocess && !o.log.empty()) {
        return wrong("reprocess is for the tables in SQLite: omit --log and --store");
    }
    if (o.input.empty()) o.input = WAYBILL_MAILROOM_RECORDING;
    return o;
}

}  // namespace reliable_consumer
