// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"

// The folder of the recording; CMake sets it. The default is the working directory.
#ifndef WAYBILL_MAILROOM_RECORDING
#define WAYBILL_MAILROOM_RECORDING "recording.ndjson"
#endif

namespace outbox {

namespace {

constexpr std::string_view usage = R"(usage: outbox [options]

What happens to orders and mails while the mail server is down? A shop stores each order and its
mail in one transaction of one database. A relay sends the mails to an SMTP server that outbox
starts on 127.0.0.1. The server is killed with -9. After the outage it is started again and first
refuses all mails. It has no mailbox for some receivers, and sometimes closes the connection after
it has stored a mail, without a reply. The relay is killed with -9, too. The program prints the
decisions of the relay. Then it repeats the run with a naive loop, for comparison.

  --outage SECONDS  duration of the outage (default {}, 1 to 60); then the server refuses all mails
                    for half as long
  --kill            kills the relay with -9 at random times during the run, instead of twice
  --seed N          seed of the random kills and pauses, and of the receivers that cannot be reached
  --input FILE      JSON lines; a line with "event":"installed" and a "package" is an order. Without
                    it: a recording of dpkg events
  --db DIR          keeps the databases in this folder, and continues with those that are there.
                    Without it: a temporary folder
  --plain           no run with the naive loop
  --table postgres: --to nats:
                    orders and messages in PostgreSQL instead, and relays that send the messages to
                    a stream of NATS JetStream: servers of its own, or postgres://... and
                    nats://HOST:PORT. --kill [SECONDS] then kills relays and the shop with -9 for
                    that time (default 10, 1 to 3600)
  --cluster         three nodes of NATS with a replicated stream, and a PostgreSQL server with a
                    synchronous standby. --kill then also kills, in turn, the leader of the stream
                    and the primary, each at least once
  --help            prints this text

The exit code is 0 if each order has exactly one mail at its receiver, or one dead letter with its
reason. With --table and --to: if each committed order has exactly one message in the stream, in the
order of its customer, and an order that was rolled back has none. NATS discards repetitions within
2 minutes (the duplicate window of the stream).
)";

ending wrong_option(std::string text)
{
    return {2, std::move(text) + "\noutbox --help lists all options."};
}

struct number_option {
    std::string_view name;
    std::uint64_t options::* into;
    std::uint64_t lowest;
    std::uint64_t highest;
};

constexpr number_option number_options[] = {
    {"--outage", &options::outage, 1, 60},    {"--seed", &options::seed, 0, ~std::uint64_t{0}},
    {"--tell", &options::progress, 0, 1'023}, {"--port", &options::port, 1, 65'535},
    {"--busy", &options::busy, 0, 60'000},    {"--begun", &options::begun, 0, ~std::uint64_t{0}},
    {"--worker", &options::worker, 1, 2},     {"--pace", &options::pace, 0, 3'600'000'000},
};

std::optional<role> role_in(std::string_view text)
{
    for (const role r : {role::server, role::relay, role::shop, role::naive}) {
        if (text == name(r)) return r;
    }
    return {};
}

bool has_value(std::string_view name)
{
    for (const number_option& n : number_options) {
        if (name == n.name) return true;
    }
    for (const std::string_view each : {"--input", "--db", "--as", "--table", "--to"}) {
        if (name == each) return true;
    }
    return false;
}

bool has_address(const std::string& value, std::string_view scheme)
{
    return value.starts_with(scheme) && value.size() > scheme.size();
}

/// Sets an option that takes a value; returns the error, if any.
std::optional<ending> set_option(options& o, std::string_view name, const std::string& value)
{
    if (name == "--input") o.input = value;
    if (name == "--db") o.db = value;
    if (name == "--as") {
        const auto r = role_in(value);
        if (!r) {
            return wrong_option(
                fmt::format("--as {}: server, relay, shop or naive is expected", value));
        }
        o.as = *r;
    }
    if (name == "--table") {
        if (value != "postgres:" && !has_address(value, "postgres://") &&
            !has_address(value, "postgresql://")) {
            return wrong_option(
                fmt::format("--table {}: postgres: or postgres://... is expected", value));
        }
        o.table = value;
    }
    if (name == "--to") {
        if (value != "nats:" && !has_address(value, "nats://")) {
            return wrong_option(
                fmt::format("--to {}: nats: or nats://HOST:PORT is expected", value));
        }
        o.to = value;
    }
    for (const number_option& each : number_options) {
        if (name != each.name) continue;
        const auto n = support::number_in(value);
        if (!n || *n < each.lowest || *n > each.highest) {
            return wrong_option(fmt::format("{} {}: a number from {} to {} is expected", name,
                                            value, each.lowest, each.highest));
        }
        o.*each.into = *n;
    }
    return {};
}

/// --kill with or without seconds. Returns the number of words that it takes after its name.
std::variant<int, ending> set_kill(options& o, const char* next)
{
    o.kill = true;
    const auto seconds = next != nullptr ? support::number_in(next) : std::nullopt;
    if (!seconds) return 0;
    if (*seconds == 0 || *seconds > 3'600)
        return wrong_option(fmt::format("--kill {}: 1 to 3600 seconds are expected", *seconds));
    o.kill_for = *seconds;
    return 1;
}

/// `of_mails` is a given option that is valid only with the mail server, or empty.
std::optional<ending> contradiction(options& o, std::string_view of_mails)
{
    if (o.table.empty() != o.to.empty()) {
        return wrong_option(o.table.empty() ? "--to needs --table postgres:"
                                            : "--table needs --to nats:");
    }
    if (o.table.empty() && o.cluster && !o.at_servers)
        return wrong_option("--cluster needs --table postgres: --to nats:");
    if (o.table.empty() && o.kill_for != 0) {
        return wrong_option(fmt::format(
            "--kill {}: seconds need --table postgres: --to nats:; add these, or omit the seconds",
            o.kill_for));
    }
    if (!o.table.empty() && !of_mails.empty()) {
        return wrong_option(
            fmt::format("{} is only for the mail server: omit it, or --table and --to", of_mails));
    }
    if (o.kill && o.kill_for == 0) o.kill_for = 10;
    return {};
}

}  // namespace

std::variant<options, ending> options_in(int argc, char** argv)
{
    options o;
    std::string_view of_mails;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help" || name == "-h") return ending{0, fmt::format(usage, o.outage)};
        if (name == "--outage" || name == "--plain") of_mails = name;
        if (name == "--kill") {
            const auto taken = set_kill(o, argv[i + 1]);
            if (const auto* bad = std::get_if<ending>(&taken)) return *bad;
            i += std::get<int>(taken);
        } else if (name == "--plain") {
            o.plain = true;
        } else if (name == "--cluster") {
            o.cluster = true;
        } else if (name == "--servers") {
            o.at_servers = true;
        } else if (has_value(name)) {
            if (auto bad = support::value_error(name, argv[++i])) {
                return wrong_option(*std::move(bad));
            }
            if (auto bad = set_option(o, name, argv[i])) return *bad;
        } else {
            return wrong_option(support::no_option(name));
        }
    }
    if (auto bad = contradiction(o, of_mails)) return *std::move(bad);
    if (o.input.empty()) o.input = WAYBILL_MAILROOM_RECORDING;
    return o;
}

}  // namespace outbox
