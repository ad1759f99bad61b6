// SPDX-License-Identifier: MIT
//
// servers: a log in NATS JetStream or Kafka, and the tables of the ledger in PostgreSQL.
//
//     NATS        one stream, a subject for each partition; three nodes with --cluster
//     Kafka       one topic, on librdkafka's mock cluster of three brokers in a process
//     PostgreSQL  effects, checkpoints, dead letters, leases; with --cluster a synchronous standby
//
// Own servers end with the program. The data of NATS and PostgreSQL is in its folder, so a further
// run continues with it.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVERS_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVERS_HPP

#include <memory>
#include <string>
#include <string_view>

#include "options.hpp"
#include "supervisor.hpp"
#include "tables.hpp"

namespace reliable_consumer {

/// The stream of NATS, or the topic of Kafka.
inline constexpr const char* stream = "WAYBILL_EVENTS";

inline constexpr std::string_view kafka_scheme = "kafka://";

/// The address of the log begins with nats:// or kafka://, that of the store is for libpq. In a
/// file of the folder, because a password is no argument of a process.
struct addresses {
    std::string log{};
    std::string store{};
};

/// Starts the servers that have no address, and writes the file of addresses.
[[nodiscard]] std::unique_ptr<server_faults> start_servers(const options& o);

/// Refers to `o`.
[[nodiscard]] std::unique_ptr<tables> tables_at_servers(const options& o);

/// A worker: works until SIGTERM, and then releases its leases. Returns the exit code.
[[nodiscard]] int work_at_servers(const options& o);

// The same for one kind of log.
[[nodiscard]] std::unique_ptr<tables> tables_at_nats(const options& o, const addresses& at);
[[nodiscard]] std::unique_ptr<tables> tables_at_kafka(const options& o, const addresses& at);
[[nodiscard]] int work_at_nats(const options& o, const addresses& at);
[[nodiscard]] int work_at_kafka(const options& o, const addresses& at);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_SERVERS_HPP
