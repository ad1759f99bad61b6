// SPDX-License-Identifier: MIT
//
// depth_any: reads the depth of any kind of queue, chosen by its address.
//
//     rabbitmq://USER:PASSWORD@HOST:15672/VHOST/QUEUE     without VHOST: the default, /
//     rabbitmq+https://...                                the same with TLS, port 15671
//     nats://HOST:4222/STREAM/CONSUMER                    a durable consumer of JetStream
//     sqs:https://HOST/ACCOUNT/QUEUE                      the URL of the queue, or with http
//     servicebus:QUEUE
//     sqlite:FILE
//
//     auto q = engines::depth_from("nats://127.0.0.1/ORDERS/workers");
//     if (!q) return complain(q.error());            // does not connect
//     engines::depth_reading r = q->read();
//
// The ports above are the defaults. Without a user, RabbitMQ gets guest with the password guest,
// and NATS no user. %2F, %40 and %3A are the characters / @ and : inside a part.
//
// SQS has its keys in variables (sqs.hpp), and Service Bus its connection string in the variable
// AZURE_SERVICEBUS_CONNECTION_STRING.
//
// The error of an address names its invalid part. The errors of `read` are those of the chosen
// file.
//
// RabbitMQ and SQS need libcurl and the macro WAYBILL_ENGINES_CURL; Service Bus also OpenSSL,
// pugixml and the macro WAYBILL_ENGINES_SERVICE_BUS; NATS needs nats.c and the macro
// WAYBILL_ENGINES_NATS. Otherwise such an address is an error that names the missing package.

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_ANY_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_ANY_HPP

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "address.hpp"
#include "depth.hpp"
#include "depth_sqlite.hpp"
#ifdef WAYBILL_ENGINES_CURL
#include "depth_rabbitmq.hpp"
#include "depth_sqs.hpp"
#endif
#ifdef WAYBILL_ENGINES_SERVICE_BUS
#include "depth_service_bus.hpp"
#endif
#include <waybill/core/result.hpp>
#ifdef WAYBILL_ENGINES_NATS
#include "depth_nats.hpp"
#endif

namespace engines {

inline constexpr std::string_view depth_forms =
    "rabbitmq://USER:PASSWORD@HOST:PORT/VHOST/QUEUE, rabbitmq+https://..., "
    "nats://HOST:PORT/STREAM/CONSUMER, "
    "sqs:https://HOST/ACCOUNT/QUEUE, servicebus:QUEUE or sqlite:FILE";

class any_depth {
public:
    template <depth_source Q>
    explicit any_depth(Q q) : held_(std::move(q))
    {
    }

    [[nodiscard]] depth_reading read() const
    {
        return std::visit([](const auto& q) { return q.read(); }, held_);
    }
    /// The name for messages: of the queue, the consumer or the file.
    [[nodiscard]] std::string name() const
    {
        return std::visit([](const auto& q) { return q.name(); }, held_);
    }

private:
    std::variant<sqlite_depth
#ifdef WAYBILL_ENGINES_CURL
                 ,
                 rabbitmq_depth, sqs_depth
#endif
#ifdef WAYBILL_ENGINES_SERVICE_BUS
                 ,
                 service_bus_depth
#endif
#ifdef WAYBILL_ENGINES_NATS
                 ,
                 nats_depth
#endif
                 >
        held_;
};

/// The queue at that address, or the error in the address. The text does not contain the address,
/// as it may contain a password.
[[nodiscard]] inline waybill::result<any_depth, std::string> depth_from(std::string_view where)
{
    const auto after_scheme = [&](std::string_view scheme) -> std::optional<std::string_view> {
        if (!where.starts_with(scheme)) return {};
        return where.substr(scheme.size());
    };
    if (const auto file = after_scheme("sqlite:"); file && !file->empty()) {
        return any_depth(sqlite_depth(std::string(*file)));
    }
    if (const auto rest = after_scheme("nats://")) {
        const auto a = address_in(*rest, "4222");
#ifdef WAYBILL_ENGINES_NATS
        if (a && a->path.size() == 2) return any_depth(nats_depth(a->at, a->path[0], a->path[1]));
#else
        if (a && a->path.size() == 2)
            return waybill::unexpected(
                std::string("nats: this program was built without nats.c: install "
                            "libnats-dev and build it again"));
#endif
    }
    if (const auto queue = after_scheme("servicebus:")) {
#ifdef WAYBILL_ENGINES_SERVICE_BUS
        const char* const variable = std::getenv("AZURE_SERVICEBUS_CONNECTION_STRING");
        if (!variable) {
            return waybill::unexpected(std::string(
                "servicebus: set the variable AZURE_SERVICEBUS_CONNECTION_STRING to the connection "
                "string of the namespace"));
        }
        auto at = service_bus_of_connection(variable, *queue);
        if (!at) return waybill::unexpected("servicebus: " + at.error());
        return any_depth(service_bus_depth(*std::move(at)));
#else
        return waybill::unexpected(std::string(
            "servicebus: this program was built without libcurl, OpenSSL or pugixml: install "
            "libcurl4-openssl-dev, libssl-dev and libpugixml-dev, and build it again"));
#endif
    }
#ifdef WAYBILL_ENGINES_CURL
    for (const bool tls : {false, true}) {
        const auto rest = after_scheme(tls ? "sqs:https://" : "sqs:http://");
        if (!rest) continue;
        const auto a = address_in(*rest, tls ? "443" : "80");
        if (!a || !a->at.user.empty()) continue;
        const std::string origin = http_origin(tls ? "https" : "http", a->at.host, a->at.port);
        const auto at = signed_by_environment(
            {.endpoint = origin, .path = std::string(rest->substr(rest->find('/') + 1))});
        if (!at) return waybill::unexpected("sqs: " + at.error());
        return any_depth(sqs_depth(*at));
    }
    for (const bool tls : {false, true}) {
        const auto rest = after_scheme(tls ? "rabbitmq+https://" : "rabbitmq://");
        if (!rest) continue;
        auto a = address_in(*rest, tls ? "15671" : "15672");
        if (a && a->at.user.empty()) a->at.user = a->at.password = "guest";
        if (a && a->path.size() == 1) a->path.insert(a->path.begin(), "/");
        if (a && a->path.size() == 2) {
            return any_depth(rabbitmq_depth(a->at, a->path[0], a->path[1], tls ? "https" : "http"));
        }
    }
#else
    for (const char* scheme : {"rabbitmq://", "rabbitmq+https://", "sqs:"}) {
        if (after_scheme(scheme)) {
            return waybill::unexpected(std::string(scheme) +
                                       ": this program was built without libcurl: install "
                                       "libcurl4-openssl-dev and build it again");
        }
    }
#endif
    return waybill::unexpected("expected " + std::string(depth_forms));
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_ANY_HPP
