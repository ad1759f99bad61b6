// SPDX-License-Identifier: MIT
//
// simulated_broker: a broker in memory with the replies of Azure Service Bus over AMQP.
//
//     engines::simulated_broker broker({.limit = 262'144, .header = 60, .busy_every = 10});
//     const auto answer = broker.send(batch);              // a range of messages with key and body
//     if (!answer.ok()) waybill::wire::outcome_of(waybill::wire::azure_amqp_errors, answer.code,
//                                                 answer.text);
//
//   1. A batch is stored as a whole or not at all.
//   2. The size of a batch is 40 bytes, and `header` bytes and the body of each message.
//
// Code                               Condition
// empty                              stored
// amqp:link:message-size-exceeded    the batch exceeds `limit`; the text has both numbers
// com.microsoft:server-busy          each `busy_every`th call

#ifndef WAYBILL_EXAMPLES_ENGINES_SIMULATED_BROKER_HPP
#define WAYBILL_EXAMPLES_ENGINES_SIMULATED_BROKER_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace engines {

class simulated_broker {
public:
    struct config {
        std::uint64_t limit = 262'144;
        std::uint64_t header = 60;
        std::uint64_t busy_every = 0;  ///< 0: never.
    };
    struct message {
        std::string key{}, body{};

        friend bool operator==(const message&, const message&) = default;
    };
    /// The result of a call: an AMQP error condition and its text, both empty on success.
    struct answer {
        std::string code{}, text{};

        [[nodiscard]] bool ok() const noexcept { return code.empty(); }
    };

    explicit simulated_broker(const config& c) : config_(c) {}

    template <class Batch>
    [[nodiscard]] answer send(const Batch& batch)
    {
        ++calls_;
        if (config_.busy_every != 0 && calls_ % config_.busy_every == 0)
            return {"com.microsoft:server-busy", "The server is busy. Please retry later."};
        std::uint64_t bytes = 40;
        for (const message& m : batch) bytes += config_.header + m.body.size();
        if (bytes > config_.limit) {
            return {"amqp:link:message-size-exceeded",
                    "The received message (delivery-id:1, size:" + std::to_string(bytes) +
                        " bytes) exceeds the limit (" + std::to_string(config_.limit) +
                        " bytes) currently allowed on the link."};
        }
        for (const message& m : batch) messages_.push_back(m);
        ++batches_;
        return {};
    }

    [[nodiscard]] const std::vector<message>& messages() const noexcept { return messages_; }
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
    [[nodiscard]] std::uint64_t batches() const noexcept { return batches_; }

private:
    config config_;
    std::vector<message> messages_;
    std::uint64_t calls_ = 0;
    std::uint64_t batches_ = 0;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SIMULATED_BROKER_HPP
