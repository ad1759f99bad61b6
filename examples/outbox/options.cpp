// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"

// CMake says where the recording is; by hand it is looked for where one stands.
#ifndef WAYBILL_MAILROOM_RECORDING
#define WAYBILL_MAILROOM_RECORDING "recording.ndjson"
#endif

namespace outbox {

namespace {

constexpr std::string_view usage = R"(usage: outbox [options]

The mail server is down: what happens to orders and mails? A shop takes orders and puts a mail for
each into the same database, in the same transaction. A relay sends them to a mail server (a real
one, on 127.0.0.1, which outbox starts), which is killed, comes back, turns all away for a while,
knows some mailboxes not at all, and loses some of its answers. The relay is killed as well. Each
decision of the relay is told. Beside it runs the loop that people usually write.

  --outage SECONDS  for so long the mail server is down (default {}, 1 to 60)
  --kill            kills the relay with -9 at random all the while, and not just twice
  --seed N          of these kills, of the pauses, and of who cannot be reached
  --input FILE      JSON lines; each with "event":"installed" and a "package" is an order. Without
                    it a recording of what dpkg does
  --db DIR          keeps the databases there, and goes on with what is there; without it they are
                    in a temporary folder
  --plain           without the usual loop beside it
  --help            this

It ends with 0 if each order has exactly one mail with its receiver, or one dead letter that says
why.
)";

ending wrong_option(std::string text)
{
    return {2, std::move(text) + "\noutbox --help tells what there is."};
}

struct number_option {
    std::string_view name;
    std::uint64_t options::*into;
    std::uint64_t lowest;
    std::uint64_t highest;
};

constexpr number_option number_options[] = {
    {"--outage", &options::outage, 1, 60},    {"--seed", &options::seed, 0, ~std::uint64_t{0}},
    {"--tell", &options::progress, 0, 1'023}, {"--port", &options::port, 1, 65'535},
    {"--busy", &options::busy, 0, 60'000},    {"--begun", &options::begun, 0, ~std::uint64_t{0}},
};

std::optional<role> role_in(std::string_view text)
{
    for (const role r : {role::server, role::relay, role::naive}) {
        if (text == name(r)) return r;
    }
    return {};
}

bool has_value(std::string_view name)
{
    for (const number_option& n : number_options) {
        if (name == n.name) return true;
    }
    return name == "--input" || name == "--db" || name == "--as";
}

/// Sets an option that takes a value; what is wrong with it, if anything.
std::optional<ending> set_option(options& o, std::string_view name, const std::string& value)
{
    if (name == "--input") o.input = value;
    if (name == "--db") o.db = value;
    if (name == "--as") {
        const auto r = role_in(value);
        if (!r) return wrong_option(fmt::format("--as {}: there is no such role", value));
        o.as = *r;
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

}  // namespace

std::variant<options, ending> options_in(int argc, char** argv)
{
    options o;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help" || name == "-h") return ending{0, fmt::format(usage, o.outage)};
        if (name == "--kill") {
            o.kill = true;
        } else if (name == "--plain") {
            o.plain = true;
        } else if (has_value(name)) {
            if (auto bad = support::value_error(name, argv[++i])) {
                return wrong_option(*std::move(bad));
            }
            if (auto bad = set_option(o, name, argv[i])) return *bad;
        } else {
            return wrong_option(support::no_option(name));
        }
    }
    if (o.input.empty()) o.input = WAYBILL_MAILROOM_RECORDING;
    return o;
}

}  // namespace outbox
