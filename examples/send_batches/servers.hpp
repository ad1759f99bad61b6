// SPDX-License-Identifier: MIT
//
// servers: the destinations on client libraries. Each of them is a file that CMake leaves out if
// the library is missing.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_SERVERS_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_SERVERS_HPP

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "destination.hpp"
#include "options.hpp"

namespace send_batches {

/// The destination of an engine that reports its limits.
template <class Engine>
[[nodiscard]] destination into(std::string name, std::shared_ptr<Engine> e)
{
    destination d{.name = std::move(name), .reported = e->about()};
    d.limit = d.reported.limit;
    d.size_of = &Engine::size_of;
    d.send = [e](std::span<const std::string_view> bodies, std::uint64_t attempt) {
        return e->send(bodies, attempt);
    };
    d.said = [e] { return e->said(); };
    return d;
}

/// server_kafka.cpp: a topic. No other producer writes into it during the run.
[[nodiscard]] destination into_kafka(const std::string& name, const std::string& brokers,
                                     const std::string& topic);

/// server_kafka.cpp: a topic of librdkafka's mock cluster. A record batch larger than --limit is
/// refused, by default one larger than 1,048,588 bytes.
[[nodiscard]] destination into_mock_kafka(const options& o);

/// server_rabbitmq.cpp: a queue. `address` is what follows the scheme.
[[nodiscard]] destination into_rabbitmq(const std::string& to, const std::string& address);

/// server_rabbitmq.cpp: a quorum queue of a server that ends with the program. --limit is its
/// max_message_size.
[[nodiscard]] destination into_own_rabbitmq(const options& o);

/// server_redis.cpp: a stream. `address` is what follows the scheme.
[[nodiscard]] destination into_redis(const std::string& to, const std::string& address);

/// server_redis.cpp: a stream of a server that ends with the program. --limit is its
/// proto-max-bulk-len, at least 1,048,576.
[[nodiscard]] destination into_own_redis(const options& o);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_SERVERS_HPP
