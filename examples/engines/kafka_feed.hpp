// SPDX-License-Identifier: MIT
//
// kafka_feed: appends events to a topic, and waits until all of them are acknowledged.
//
//     engines::kafka_feed feed(settings, "orders");
//     auto offsets = feed.append({{.partition = 0, .key = "7", .body = "an order"}}, 60s);
//     if (!offsets) log(offsets.error().text);
//
//   1. The events of one partition have the order of the list.
//   2. librdkafka retries while brokers are down and leaders move. An idempotent producer appends
//      each event once.
//   3. After a fault, some of the events may be in the topic. The feed must not be used again.
//
// Fault                  Cause
// permanent              an event is too large
// infrastructure         no acknowledgement in time, or the brokers refuse the event

#ifndef WAYBILL_EXAMPLES_ENGINES_KAFKA_FEED_HPP
#define WAYBILL_EXAMPLES_ENGINES_KAFKA_FEED_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kafka_producer.hpp"
#include <waybill/core/result.hpp>

namespace engines {

class kafka_feed {
public:
    struct record {
        std::int32_t partition = 0;
        std::optional<std::string> key{};
        std::string body{};
    };

    kafka_feed(kafka_settings s, std::string topic) : topic_(std::move(topic)), out_(std::move(s))
    {
    }

    /// The offset of each event, in the order of the list. -1 if a retry was acknowledged as a
    /// duplicate: then its offset is unknown.
    [[nodiscard]] waybill::result<std::vector<std::int64_t>> append(
        const std::vector<record>& all, std::chrono::milliseconds within)
    {
        const auto until = std::chrono::steady_clock::now() + within;
        std::vector<std::int64_t> offsets(all.size(), -1);
        std::size_t sent = 0;
        std::size_t acknowledged = 0;
        while (acknowledged != all.size()) {
            while (sent != all.size()) {
                const record& r = all[sent];
                const auto is_sent = out_.send({topic_, r.partition, r.key, r.body, {}}, sent);
                if (!is_sent) return failed(is_sent.error(), acknowledged, all.size());
                if (!*is_sent) break;
                ++sent;
            }
            for (const kafka_delivery& d : out_.poll(std::chrono::milliseconds(10))) {
                if (!d.how.ok()) return failed(d.how, acknowledged, all.size());
                offsets[d.token] = d.offset;
                ++acknowledged;
            }
            if (acknowledged != all.size() && std::chrono::steady_clock::now() > until) {
                return failed(waybill::infrastructure("no acknowledgement within " +
                                                      std::to_string(within.count()) +
                                                      " ms; start the brokers"),
                              acknowledged, all.size());
            }
        }
        return offsets;
    }

private:
    [[nodiscard]] waybill::unexpected<waybill::fault> failed(waybill::fault why,
                                                             std::size_t acknowledged,
                                                             std::size_t all) const
    {
        why.text = "Kafka, topic " + topic_ + ": " + std::to_string(acknowledged) + " of " +
                   std::to_string(all) + " events are acknowledged: " + why.text;
        return waybill::unexpected(std::move(why));
    }

    std::string topic_;
    kafka_producer out_;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_KAFKA_FEED_HPP
