// SPDX-License-Identifier: MIT
//
// depth_rabbitmq: the depth of a queue of RabbitMQ, by the HTTP API of its management plugin.
//
//     engines::rabbitmq_depth queue({.host = "127.0.0.1", .port = "15672", .user = "guest",
//                                    .password = "guest"}, "/", "orders");
//     engines::depth_reading r = queue.read();
//
//  1. A depth is returned only for a response with both numbers, of a node that is running.
//     Everything else is unknown, with the reason.
//  2. The numbers are the broker's statistics. It refreshes them every 5 s by default
//     (collect_statistics_interval). A new queue is unknown until the first refresh.
//  3. The age is that of the first message in whole seconds, if its sender set a timestamp.
//  4. With the scheme https, certificates are checked as http_client.hpp describes.
//
//     response                                       meaning
//     200 with numbers                               the depth
//     200 without numbers; state down, crashed,      unknown
//       stopped
//     401                                            unknown: user or password not accepted
//     404                                            unknown: no such queue
//     another status, no response                    unknown

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_RABBITMQ_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_RABBITMQ_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "depth.hpp"
#include "http_client.hpp"
#include <waybill/core/result.hpp>

namespace engines {

class rabbitmq_depth {
public:
    rabbitmq_depth(server at, std::string vhost, std::string queue, std::string scheme = "http")
        : at_(std::move(at)),
          vhost_(std::move(vhost)),
          queue_(std::move(queue)),
          scheme_(std::move(scheme))
    {
    }

    [[nodiscard]] std::string name() const { return queue_; }

    [[nodiscard]] depth_reading read() const
    {
        try {
            http_client http(http_origin(scheme_, at_.host, at_.port), {.user = at_.user,
                                                                        .password = at_.password,
                                                                        .patience = at_.patience,
                                                                        .repeatable = true});
            const std::string path = "/api/queues/" + url_part(vhost_) + "/" + url_part(queue_);
            return taken(http.ask("GET", path, {}, ""));
        } catch (const http_error& e) {
            return unknown(e.what());
        }
    }

private:
    [[nodiscard]] depth_reading taken(const http_answer& r) const
    {
        if (r.status == 401) return unknown("the user or the password is not accepted");
        if (r.status == 404) return unknown("there is no such queue in virtual host " + vhost_);
        if (r.status != 200) return unknown("status " + std::to_string(r.status));
        const auto statistics = nlohmann::json::parse(r.body, nullptr, false);
        const auto number = [&statistics](const char* field) {
            std::optional<std::uint64_t> n;
            if (!statistics.is_object()) return n;
            const auto found = statistics.find(field);
            if (found != statistics.end() && found->is_number_unsigned())
                n = found->get<std::uint64_t>();
            return n;
        };
        const auto ready = number("messages_ready");
        const auto unacked = number("messages_unacknowledged");
        if (!ready || !unacked) return unknown("the broker has no statistics of the queue yet");
        // If the node of a queue is down, the numbers are those of its last refresh.
        for (const char* state : {"down", "crashed", "stopped"}) {
            if (statistics.contains("state") && statistics["state"] == state) return unknown(state);
        }
        depth d{.ready = *ready, .in_flight = *unacked};
        const auto head = number("head_message_timestamp");
        if (d.ready == 0) d.age = 0;
        else if (head) d.age = age_at(static_cast<std::int64_t>(*head));
        return d;
    }

    [[nodiscard]] waybill::unexpected<std::string> unknown(const std::string& why) const
    {
        return waybill::unexpected("RabbitMQ, queue " + queue_ + ": " + why);
    }

    server at_;
    std::string vhost_;
    std::string queue_;
    std::string scheme_;
};

static_assert(depth_source<rabbitmq_depth>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_RABBITMQ_HPP
