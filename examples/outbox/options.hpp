// SPDX-License-Identifier: MIT
//
// options: what outbox was asked to do.

#ifndef WAYBILL_EXAMPLES_OUTBOX_OPTIONS_HPP
#define WAYBILL_EXAMPLES_OUTBOX_OPTIONS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace outbox {

/// What a process of this program is.
enum class role : std::uint8_t {
    family,  ///< The shop, and who starts the others, and who looks at the end.
    server,  ///< The mail server.
    relay,   ///< Sends what is in the outbox.
    shop,    ///< With --servers: writes the orders.
    naive,   ///< The same as it is usually written.
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
    std::string db{};  ///< Empty: a folder of its own that is removed at the end.
    std::uint64_t outage = 3;
    std::uint64_t seed = 1;
    bool kill = false;
    bool plain = false;
    std::string table{};  ///< Not empty: the outbox is there; "postgres:" is a server of its own.
    std::string to{};     ///< The messages go there; "nats:" is a server of its own.
    bool cluster = false;  ///< Three nodes of NATS, and a standby of PostgreSQL.
    std::uint64_t kill_for = 0;  ///< Seconds of random kills with --table and --to.

    // Between outbox and its processes; not in --help.
    role as = role::family;   ///< --as ROLE
    std::uint64_t progress = 2;  ///< --tell FD: where it says what it does
    std::uint64_t port = 0;   ///< --port N: of the mail server
    std::uint64_t busy = 0;   ///< --busy MS: so long the mail server turns all away
    std::uint64_t begun = 0;  ///< --begun NS: the wall time from which moments are told
    bool at_servers = false;  ///< --servers: with the addresses in the folder
    std::uint64_t worker = 0;  ///< --worker N: the place of a relay in its pages
    std::uint64_t pace = 0;    ///< --pace US: the pause after each order
};

/// What ends the program at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_OPTIONS_HPP
