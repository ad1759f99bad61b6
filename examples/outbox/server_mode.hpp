// SPDX-License-Identifier: MIT
//
// server_mode: outbox --table postgres: --to nats:
//
//     the servers and the processes, and their kills   server_mode.cpp
//     shop      an order and its outbox row in one transaction of PostgreSQL     server_roles.cpp
//     relays    waybill::relay from the table to a stream of NATS JetStream      server_roles.cpp
//     the check, which reads the table of orders and the whole stream            server_check.cpp
//
// Own servers end with the program. Their data is in its folder; a further run continues with it.

#ifndef WAYBILL_EXAMPLES_OUTBOX_SERVER_MODE_HPP
#define WAYBILL_EXAMPLES_OUTBOX_SERVER_MODE_HPP

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/worker_page.hpp"
#include "options.hpp"
#include "shop.hpp"

namespace outbox::servers {

inline constexpr const char* stream = "WAYBILL_ORDERS";
inline constexpr std::chrono::seconds duplicate_window{120};
inline constexpr std::uint64_t relays = 2;

/// The addresses for libpq and nats.c. In a file of the folder, because a password is no argument
/// of a process.
struct addresses {
    std::string table{};
    std::string to{};
};
[[nodiscard]] addresses addresses_in(const std::string& db);

/// The shop writes each eighth order and its row, and then rolls the transaction back.
[[nodiscard]] inline bool is_rolled_back(std::uint64_t id)
{
    return id % 8 == 0;
}

/// One of 40 customers, by the item. The order of the messages of a customer is kept.
[[nodiscard]] inline std::string customer_of(const order& o)
{
    std::uint32_t hash = 2'166'136'261U;  // FNV-1a
    for (const char c : o.item) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
    return fmt::format("customer-{}", hash % 40);
}

/// The id and the body of the message of an order.
[[nodiscard]] inline std::string message_id(std::uint64_t id)
{
    return fmt::format("order-{}", id);
}
[[nodiscard]] inline std::string body_of(std::uint64_t id, const order& o)
{
    return nlohmann::json{{"order", id}, {"item", o.item}, {"at", o.at}}.dump();
}

/// The state of a process. A kill proves little while the process is asleep.
enum class phase : std::uint8_t {
    asleep,
    at_work,     ///< The shop is in a transaction; a relay claims rows or marks them.
    publishing,  ///< A relay waits for acknowledgements.
};
using place = support::worker_place<phase>;

/// Place 0 is of the shop, the others are of the relays.
struct phases : support::worker_page<phase> {
    explicit phases(const std::string& db) : worker_page(db + "/phases", 1 + relays) {}
};

/// The messages that each relay has sent again, and that the server has discarded.
struct repetitions : support::worker_page<std::uint64_t> {
    explicit repetitions(const std::string& db) : worker_page(db + "/repetitions", 1 + relays) {}
};

/// Longer than any step takes on a busy machine.
inline constexpr std::chrono::minutes patience{10};

/// The whole program. Returns its exit code.
[[nodiscard]] int run(options o, const std::vector<order>& orders);

/// The processes. They return their exit codes.
[[nodiscard]] int run_shop(const options& o);
[[nodiscard]] int run_relay(const options& o);

struct findings {
    std::uint64_t committed = 0;  ///< Orders,
    std::uint64_t customers = 0;  ///< and their customers.
    std::uint64_t rolled_back = 0;
    std::uint64_t messages = 0;  ///< In the stream.
    std::uint64_t late = 0;      ///< Of these again, after the duplicate window.
    std::vector<std::string> wrong{};
};

/// Reads the tables in SQL of its own, and each message of the stream.
[[nodiscard]] findings check(const addresses& at, const std::vector<order>& orders);

}  // namespace outbox::servers

#endif  // WAYBILL_EXAMPLES_OUTBOX_SERVER_MODE_HPP
