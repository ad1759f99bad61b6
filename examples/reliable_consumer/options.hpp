// SPDX-License-Identifier: MIT
//
// options: the command line of reliable_consumer.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_OPTIONS_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace reliable_consumer {

inline constexpr std::uint64_t most_workers = 32;

enum class command : std::uint8_t {
    run,        ///< Handles the events.
    reprocess,  ///< Repairs the rule of the ledger, and handles the dead letters again.
};

struct options {
    command what = command::run;
    std::string input{};   ///< Lines that become events.
    std::string db{};      ///< Empty: a temporary folder.
    std::string kafka{};   ///< The address of Kafka; "mock" is a cluster in the process.
    std::string log{};     ///< The address of the log; "nats:" starts a server.
    std::string store{};   ///< The address of its tables; "postgres:" starts a server.
    bool cluster = false;  ///< Three nodes of NATS, and a standby of PostgreSQL.
    std::uint64_t workers = 3;
    std::uint64_t partitions = 8;
    std::uint64_t batch = 50;
    double kill_for = 0;     ///< Seconds of random kills.
    std::uint64_t seed = 1;  ///< Of these kills.
    bool poison = false;     ///< Adds an event that ends each process that handles it.

    // Between the program and its workers; not in --help.
    std::optional<std::uint64_t> worker{};  ///< --worker N: run as this worker.
    bool at_servers = false;                ///< --servers: with the addresses in the folder.
};

/// The exit code and text if the program is to end at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_OPTIONS_HPP
