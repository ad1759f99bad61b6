// SPDX-License-Identifier: MIT
//
// outbox: keeps orders and mails consistent while the mail server is down.
//
//     an order and its mail, together  shop.cpp
//     sends the mails                  relay.cpp  circuit_breaker, deferred_messages, retry levels
//     prunes dead letters by a plan    dead_letter_pruning.cpp
//     the loop as usually written      naive.cpp
//     a mail server with faults        server.cpp
//     kills, and their times           scenario.cpp
//     independent check                verify.cpp
//     PostgreSQL and NATS JetStream    server_mode.hpp  relay

#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "../support/cleanup.hpp"
#include "../support/locked_folder.hpp"
#include "../support/program.hpp"
#include "../support/terminal.hpp"
#include "dead_letter_pruning.hpp"
#include "event_log.hpp"
#include "naive.hpp"
#include "options.hpp"
#include "relay.hpp"
#include "scenario.hpp"
#include "server.hpp"
#include "shop.hpp"
#include "verify.hpp"
#ifdef WAYBILL_OUTBOX_SERVERS
#include "server_mode.hpp"
#endif

namespace {

using namespace outbox;
using support::counted;
using support::grouped;

/// The run of one sender, and the result of its check.
struct contestant {
    outcome how{};
    findings found{};
};

contestant run_waybill(const options& o, const std::vector<order>& orders)
{
    event_log log(false);
    contestant c{play(o, role::relay, orders, log), {}};
    c.found = verify(o.db, orders.size());
    return c;
}

/// Runs the naive sender with the same orders, outage and kills, in its own folder.
contestant run_naive_beside(options o, const std::vector<order>& orders)
{
    o.db += "/naive";
    std::filesystem::remove_all(o.db);
    std::filesystem::create_directories(o.db);
    event_log log(true);
    contestant c{play(o, role::naive, orders, log), {}};
    c.found = verify(o.db, orders.size());
    return c;
}

void print_table(const contestant& ours, const std::optional<contestant>& naive)
{
    const auto row = [&](std::string_view what, auto value) {
        const std::string other = naive ? fmt::format(" {:>12}", value(*naive)) : "";
        fmt::print("  {:<42}{:>10}{}\n", what, value(ours), other);
    };
    const contestant* const first = &ours;
    row("", [&](const contestant& c) { return &c == first ? "waybill" : "naive loop"; });
    row("orders", [](const contestant& c) { return grouped(c.found.orders); });
    row("mails received", [](const contestant& c) { return grouped(c.found.received); });
    row("  of these twice", [](const contestant& c) { return grouped(c.found.twice); });
    row("duplicates that the server could drop",
        [](const contestant& c) { return grouped(c.found.dropped); });
    row("dead letters, each with its reason",
        [](const contestant& c) { return grouped(c.found.dead); });
    row("mails that would be tried for ever",
        [](const contestant& c) { return grouped(c.found.tried); });
    row("calls", [](const contestant& c) { return grouped(c.how.calls); });
    row("  of these while the server was down",
        [](const contestant& c) { return grouped(c.how.calls_down); });
    row("the sender was killed with -9", [](const contestant& c) { return grouped(c.how.kills); });
    row("seconds", [](const contestant& c) { return fmt::format("{:.1f}", c.how.seconds); });
}

/// Checks the number of calls during the outage, which the tables do not contain.
void judge_calls(contestant& c)
{
    const outcome& h = c.how;
    const bool closed =
        h.closed != 0 || h.kills_open != 0;  // a new relay begins with a closed circuit breaker
    if (h.calls >= enough_orders && (h.opened == 0 || !closed)) {
        c.found.wrong.push_back(fmt::format(
            "the circuit breaker opened {} and closed {}; at least once each is expected",
            counted(h.opened, "time"), counted(h.closed, "time")));
    }
    // A new relay begins with a closed circuit breaker. Later it sends one probe at a time.
    const std::uint64_t few = 10 * h.starts + 10 * static_cast<std::uint64_t>(h.seconds_down + 1);
    if (h.calls_down > few) {
        c.found.wrong.push_back(fmt::format(
            "{} calls while the server was down; at most {} are expected", h.calls_down, few));
    }
}

int run(options o)
{
    support::end_on_signals();
    const std::vector<order> orders = orders_in(o.input);
    if (orders.empty()) {
        fmt::print(
            "nothing to do: there is no order in {}; an order is a line with "
            "\"event\":\"installed\" and a \"package\"\n",
            o.input);
        return 0;
    }
    if (!o.table.empty()) {
#ifdef WAYBILL_OUTBOX_SERVERS
        return servers::run(std::move(o), orders);
#else
        support::say(
            fmt::format("outbox: --table {}: this program was built without libnats-dev "
                        "or libpq-dev; install both and build it again\n",
                        o.table));
        return 2;
#endif
    }
    const support::locked_folder folder(o.db, "outbox");
    o.db = folder.path();
    folder.belongs_to(o.input);
    contestant ours = run_waybill(o, orders);
    if (ours.how.calls != 0) judge_calls(ours);
    const pruning p = prune_letters(o.db);
    if (const std::uint64_t left = letters_left(o.db); p.removed != p.planned || left != p.left) {
        ours.found.wrong.push_back(
            fmt::format("the pruning removed {} dead letters and left {}; its plan was {} and {}",
                        p.removed, left, p.planned, p.left));
    }
    std::optional<contestant> naive;
    if (!o.plain) {
        fmt::print("the same run with a naive loop that sends all unsent mails each second ...\n");
        std::fflush(stdout);
        naive = run_naive_beside(o, orders);
    }
    print_table(ours, naive);
    for (const std::string& w : ours.found.wrong) support::say(fmt::format("outbox: {}\n", w));
    if (!ours.found.wrong.empty()) {
        fmt::print("{}", support::verdict_of(ours.found.wrong));
        return 1;
    }
    fmt::print("checked: each order has exactly one mail or one dead letter with a reason\n");
    return 0;
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
#ifdef WAYBILL_OUTBOX_SERVERS
    if (o.at_servers && o.as == role::shop) return servers::run_shop(o);
    if (o.at_servers && o.as == role::relay) return servers::run_relay(o);
#endif
    switch (o.as) {
        case role::family: return run(o);
        case role::server: run_server(o); break;
        case role::relay: run_relay(o); break;
        case role::naive: run_naive(o); break;
        case role::shop: break;  // a process of --servers
    }
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
        support::say("outbox: the standard output cannot be written\n");
    } catch (const std::exception& e) {
        support::say(fmt::format("outbox: {}\n", e.what()));
    }
    return 1;
}
