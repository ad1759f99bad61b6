// SPDX-License-Identifier: MIT
//
// depth_service_bus: the depth of a queue of Azure Service Bus, by its management API.
//
//     auto at = engines::service_bus_of_connection(connection, "orders");
//     if (!at) print(at.error());                    // names the field, without the key
//     engines::service_bus_depth queue(*at);
//     engines::depth_reading r = queue.read();
//
//  1. `ready` is the number of active messages. It contains the messages that workers have locked,
//     and those of locked sessions: the service does not count them apart. `in_flight` is 0.
//  2. Scheduled messages and dead letters are not counted.
//  3. There is no age.
//  4. The key needs the claim Manage. Its token is valid for 5 minutes.
//  5. Certificates are checked as http_client.hpp describes. For the emulator
//     (UseDevelopmentEmulator=true) there is no TLS, and the default of the port is 5300.
//
//     response                                       meaning
//     200, an entry with ActiveMessageCount          the depth
//     200 without                                    unknown: no such queue, or a topic
//     401, 404, another status, no response          unknown

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_SERVICE_BUS_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_SERVICE_BUS_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pugixml.hpp>

#include "address.hpp"
#include "azure_account.hpp"
#include "depth.hpp"
#include "http_client.hpp"
#include "number.hpp"
#include "shared_key.hpp"
#include <waybill/core/result.hpp>

namespace engines {

struct service_bus_place {
    std::string scheme{"https"};
    std::string host{};  ///< "shop.servicebus.windows.net"
    std::string port{"443"};
    std::string queue{};
    std::string key_name{};
    std::string key{};
};

/// The queue of the namespace that a connection string names:
///
///     Endpoint=sb://NAMESPACE.servicebus.windows.net/;SharedAccessKeyName=NAME;SharedAccessKey=KEY
///
/// With EntityPath it must be that queue.
[[nodiscard]] inline waybill::result<service_bus_place, std::string> service_bus_of_connection(
    std::string_view connection, std::string_view queue)
{
    const auto wrong = [](const char* field, const char* rule) {
        return waybill::unexpected(std::string("connection string: ") + field + " " + rule);
    };
    const auto read = connection_fields_in(connection);
    if (!read) return waybill::unexpected(read.error());
    connection_fields fields = *read;
    if (queue.empty()) return waybill::unexpected(std::string("the name of the queue is missing"));
    service_bus_place p{.queue = std::string(queue),
                        .key_name = fields["SharedAccessKeyName"],
                        .key = fields["SharedAccessKey"]};
    if (p.key_name.empty()) return wrong("SharedAccessKeyName", "is missing");
    if (p.key.empty()) return wrong("SharedAccessKey", "is missing");
    const std::string& only = fields["EntityPath"];
    if (!only.empty() && only != queue) return wrong("EntityPath", "names another queue");
    if (fields["UseDevelopmentEmulator"] == "true") {
        p.scheme = "http";
        p.port = "5300";
    }
    std::string_view endpoint = fields["Endpoint"];
    if (!endpoint.starts_with("sb://")) return wrong("Endpoint", "is not sb://HOST/");
    endpoint.remove_prefix(5);
    while (endpoint.ends_with('/')) endpoint.remove_suffix(1);
    // An address needs a path.
    const auto a = address_in(std::string(endpoint) + "/x", p.port);
    if (!a || a->path.size() != 1 || !a->at.user.empty())
        return wrong("Endpoint", "is not sb://HOST/");
    p.host = a->at.host;
    p.port = a->at.port;
    return p;
}

class service_bus_depth {
public:
    explicit service_bus_depth(
        service_bus_place at, std::chrono::milliseconds patience = std::chrono::milliseconds(5'000))
        : at_(std::move(at)), patience_(patience)
    {
    }

    [[nodiscard]] std::string name() const { return at_.queue; }

    [[nodiscard]] depth_reading read() const
    {
        try {
            http_client http(http_origin(at_.scheme, at_.host, at_.port),
                             {.patience = patience_, .repeatable = true});
            const std::string path = "/" + url_path(at_.queue);
            return taken(http.ask("GET", path + "?api-version=2021-05",
                                  {{"Authorization", token("http://" + at_.host + path)}}, ""));
        } catch (const http_error& e) {
            return unknown(e.what());
        }
    }

private:
    /// A shared access signature:
    /// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-sas
    [[nodiscard]] std::string token(const std::string& resource) const
    {
        using namespace std::chrono;
        const auto now = duration_cast<seconds>(system_clock::now().time_since_epoch());
        const std::string end = std::to_string((now + minutes(5)).count());
        const std::string name = url_part(resource);
        const std::string signature = padded_base64(hmac_sha256(at_.key, name + "\n" + end));
        return "SharedAccessSignature sr=" + name + "&sig=" + url_part(signature) + "&se=" + end +
               "&skn=" + url_part(at_.key_name);
    }

    [[nodiscard]] depth_reading taken(const http_answer& r) const
    {
        if (r.status == 401) return unknown("the key is not accepted, or has no claim Manage");
        if (r.status == 404) return unknown("there is no such queue");
        if (r.status != 200) return unknown("status " + std::to_string(r.status));
        pugi::xml_document entry;
        std::optional<std::uint64_t> active;
        if (entry.load_buffer(r.body.data(), r.body.size())) {
            // The prefix of the namespace is not fixed.
            const pugi::xml_node count = entry.find_node([](const pugi::xml_node& n) {
                const std::string_view name = n.name();
                return name.substr(name.rfind(':') + 1) == "ActiveMessageCount";
            });
            active = number_in(count.child_value());
        }
        if (!active) return unknown("there is no such queue, or it is a topic");
        return depth{.ready = *active};
    }

    [[nodiscard]] waybill::unexpected<std::string> unknown(const std::string& why) const
    {
        return waybill::unexpected("Service Bus, queue " + at_.queue + ": " + why);
    }

    service_bus_place at_;
    std::chrono::milliseconds patience_;
};

static_assert(depth_source<service_bus_depth>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_SERVICE_BUS_HPP
