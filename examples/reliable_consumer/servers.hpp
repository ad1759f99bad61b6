// SPDX-License-Identifier: MIT
//
// servers: a log in NATS JetStream, and the tables of the ledger in PostgreSQL.
//
//     NATS        one stream, a subject for each partition; three nodes with --cluster
//     PostgreSQL  effects, checkpoints, dead letters and leases; with --cluster a synchronous standby
//
// Own servers end with the program. Their data is in its folder, so a further run continues with it.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVERS_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVERS_HPP

#include <memory>
#include <string>

#include "options.hpp"
#include "supervisor.hpp"
#include "tables.hpp"

namespace reliable_consumer {

/// The stream on every NATS server.
inline constexpr const char* stream = "WAYBILL_EVENTS";

/// For nats.c and libpq. In a file of the folder, because a password is no argument of a process.
struct addresses {
    std::string log{};
    std::string store{};
};
[[nodiscard]] addresses addresses_in(const options& o);

/// Starts the servers that have no address, and writes the file of addresses.
[[nodiscard]] std::unique_ptr<server_faults> start_servers(const options& o);

/// Refers to `o`.
[[nodiscard]] std::unique_ptr<tables> server_tables(const options& o);

/// A worker: works until SIGTERM, and then gives its leases back. The exit code of the process.
[[nodiscard]] int work_at_servers(const options& o);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVERS_HPP
