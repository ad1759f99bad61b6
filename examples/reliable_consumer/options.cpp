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

Takes events from a partitioned log into effect, each exactly once and in the order of its partition,
by several processes that share the partitions through leases. At the end it believes nobody, and
counts what is in the tables.

  --workers N      so many processes (default {}, at most 32)
  --kill [SECONDS] kills them at random with -9 for that long (default 10, with --cluster 30), and
                   starts others
  --seed N         of these kills
  --poison         plants an event that ends each process that handles it
  --partitions N   of the log (default {}, at most 512)
  --batch N        events in a transaction (default {}, at most 10,000)
  --input FILE     lines that become events; without it a recording of what dpkg does
  --db DIR         keeps log and tables there, and goes on with what is there; without it they are in
                   a temporary folder
  --log nats: --store postgres:
                   the log in a stream of NATS JetStream, the tables in PostgreSQL: servers of its own,
                   or nats://HOST:PORT and postgres://...
  --log kafka: --store postgres:
                   the log in a topic of Kafka: a mock cluster of its own, whose brokers --kill makes
                   fail, or kafka://HOST:PORT with the topic WAYBILL_EVENTS
  --cluster        three nodes of NATS with a replicated stream, and a PostgreSQL server with a
                   synchronous standby. --kill then also kills, in turn, a node, the leader of the
                   stream, and the primary
  --from kafka     Kafka instead, with a mock cluster of its own; or kafka://HOST:PORT. Three members of
                   a group, at least once, through a crash and an outage
  --help           this

  reprocess        repairs the rule of the ledger, and handles the dead letters again: an installed
                   package needs no version any more

An event that is no JSON object, or breaks the rule of the ledger (of what is installed some event
has told the version), becomes a dead letter. Kafka's events are handled side by side, and each of them is judged by itself.
)";

ending wrong(std::string text)
{
    return {2, std::move(text) + "\nreliable_consumer --help lists all options."};
}

struct count_option {
    std::string_view name;
    std::uint64_t options::*into;
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
        else if (value.starts_with(scheme) && value.size() > scheme.size()) o.kafka = value.substr(scheme.size());
        else return wrong(fmt::format("--from {}: kafka or kafka://HOST:PORT is expected", value));
    }
    if (name == "--log") {
        const bool known = value == "nats:" || value == "kafka:" || has_address(value, "nats://") ||
                           has_address(value, "kafka://");
        if (!known) {
            return wrong(fmt::format("--log {}: nats:, kafka:, nats://HOST:PORT or kafka://HOST:PORT "
                                     "is expected", value));
        }
        o.log = value;
    }
    if (name == "--store") {
        if (value != "postgres:" && !has_address(value, "postgres://") && !has_address(value, "postgresql://"))
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
            return wrong(fmt::format("{} {}: a number from {} to {} is expected", name, value, c.lowest, c.highest));
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
    for (const std::string_view each : {"--input", "--db", "--from", "--log", "--store", "--worker"}) {
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
        for (const std::string_view its : {"--workers", "--kill", "--poison", "--batch", "--db", "--log", "--store", "--cluster"}) {
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
        return wrong("reprocess --db DIR: where are the dead letters?");
    }
    if (o.what == command::reprocess && (o.kill_for != 0 || o.poison || !o.kafka.empty())) {
        return wrong("--kill, --poison and --from do not belong to reprocess");
    }
    if (!o.kafka.empty() && !of_sqlite.empty()) {
        return wrong(fmt::format("{} is not for --from kafka", of_sqlite));
    }
    if (o.log.empty() != o.store.empty()) {
        return wrong(o.log.empty() ? "--store postgres: needs --log nats: or kafka:"
                                   : "--log needs --store postgres:");
    }
    if (o.log == "kafka:" && !o.db.empty() && !o.at_servers) {
        return wrong("--db is not for --log kafka: as the mock cluster keeps nothing");
    }
    if (o.cluster && o.log.empty() && !o.at_servers) return wrong("--cluster needs --log nats: --store postgres:");
    if (o.what == command::reprocess && !o.log.empty()) {
        return wrong("reprocess is for the tables in SQLite, and not for --log and --store");
    }
    if (o.input.empty()) o.input = WAYBILL_MAILROOM_RECORDING;
    return o;
}

}  // namespace reliable_consumer
