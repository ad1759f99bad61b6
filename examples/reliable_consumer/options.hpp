// SPDX-License-Identifier: MIT
//
// options: what reliable_consumer was asked to do.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_OPTIONS_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace reliable_consumer {

inline constexpr std::uint64_t most_workers = 32;

enum class command : std::uint8_t {
    run,        ///< Takes the events into effect.
    reprocess,  ///< Repairs the rule of the ledger, and handles the dead letters again.
};

struct options {
    command what = command::run;
    std::string input{};  ///< Lines that become events.
    std::string db{};     ///< Empty: a temporary folder.
    std::string kafka{};  ///< Not empty: Kafka at this address; "mock" is a cluster in the process.
    std::string log{};    ///< Not empty: the log is at this address; "nats:" is a server of its own.
    std::string store{};  ///< The tables of such a log; "postgres:" is a server of its own.
    bool cluster = false;  ///< Three nodes of NATS, and a standby of PostgreSQL.
    std::uint64_t workers = 3;
    std::uint64_t partitions = 8;
    std::uint64_t batch = 50;
    double kill_for = 0;        ///< Seconds of random kills.
    std::uint64_t seed = 1;     ///< Of these kills.
    bool poison = false;        ///< Plants an event that ends whatever process handles it.

    // Between the program and its workers; not in --help.
    std::optional<std::uint64_t> worker{};  ///< --worker N: be this one.
    bool at_servers = false;                ///< --servers: with the addresses in the folder.
};

/// What ends the program at once.
struct ending {
    int code = 0;
    std::string text{};
};

[[nodiscard]] std::variant<options, ending> options_in(int argc, char** argv);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_OPTIONS_HPP
