// SPDX-License-Identifier: MIT
//
// options: the command line of outbox.

#ifndef WAYBILL_EXAMPLES_OUTBOX_OPTIONS_HPP
#define WAYBILL_EXAMPLES_OUTBOX_OPTIONS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace outbox {

/// The role of a process of this program.
enum class role : std::uint8_t {
    family,  ///< The main process: shop, supervisor and check.
    server,  ///< The mail server.
    relay,   ///< Sends the mails of the outbox.
    shop,    ///< With --servers: writes the orders.
    naive,   ///< The naive loop instead of the relay.
};

[[nodiscard]] constexpr std::string_view name(role r) noexcept
{
    switch (r) {
        case role::family: return "family";
        case role::server: return "server";
        case role::relay: return "relay";
        case role::shop: return "shop";
        case role::naive: return "naive";
    }
    return "?";
}

struct options {
    std::string input{};
    std::string db{};  ///< Empty: a temporary folder.
    std::uint64_t outage = 3;
    std::uint64_t seed = 1;
    bool kill = false;
    bool plain = false;
    std::string table{};         ///< The server of the outbox; "postgres:" starts one.
    std::string to{};            ///< The server for messages; "nats:" starts one.
    bool cluster = false;        ///< Three nodes of NATS, and a standby of PostgreSQL.
    std::uint64_t kill_for = 0;  ///< Seconds of random kills with --table and --to.

    // Between outbox and its processes; not in --help.
    role as = role::family;      ///< --as ROLE
    std::uint64_t progress = 2;  ///< --tell FD: for progress reports
    std::uint64_t port = 0;      ///< --port N: of the mail server
    std::uint64_t busy = 0;      ///< --busy MS: the mail server refuses all mails for this time
    std::uint64_t begun = 0;     ///< --begun NS: the wall time at 0 s in reports
    bool at_servers = false;     ///< --servers: use the addresses in the folder
    std::uint64_t worker = 0;    ///< --worker N: the place of a relay in its pages
    std::uint64_t pace = 0;      ///< --pace US: the pause after each order
};

/// The exit code and text if the program is to end at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_OPTIONS_HPP
