// SPDX-License-Identifier: MIT
//
// azure_account: the account of Azure Storage that a connection string names.
//
//     auto a = engines::azure_account_of_connection(connection, engines::azure_blobs);
//     if (!a) print(a.error());               // names the field, without the key
//
// The forms of a connection string:
//
//     DefaultEndpointsProtocol=https;AccountName=NAME;AccountKey=KEY;EndpointSuffix=SUFFIX
//     AccountName=NAME;AccountKey=KEY;BlobEndpoint=https://HOST:PORT/PATH
//     UseDevelopmentStorage=true
//
// Default of SUFFIX: core.windows.net. Endpoints of other services are ignored.

#ifndef WAYBILL_EXAMPLES_ENGINES_AZURE_ACCOUNT_HPP
#define WAYBILL_EXAMPLES_ENGINES_AZURE_ACCOUNT_HPP

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "address.hpp"
#include "http_client.hpp"
#include "shared_key.hpp"
#include <waybill/core/result.hpp>

namespace engines {

/// One of the services of an account.
struct azure_service {
    const char* host = nullptr;      ///< The second part of its host name.
    const char* endpoint = nullptr;  ///< Its field in a connection string.
    const char* port = nullptr;      ///< Its port at an emulator.
};
inline constexpr azure_service azure_blobs{"blob", "BlobEndpoint", "10000"};
inline constexpr azure_service azure_tables{"table", "TableEndpoint", "10002"};

struct azure_account {
    std::string host{};
    std::string port{};
    std::string name{std::string(development_account)};
    std::string key{std::string(development_key)};
    std::string scheme{"http"};
    /// The path of the endpoint. Default: /NAME, as in an emulator. Empty: the account is in the
    /// host name.
    std::optional<std::string> path{};
    std::string ca_file{};  ///< See http_options.

    [[nodiscard]] std::string root() const { return path.value_or("/" + name); }
};

using connection_fields = std::map<std::string, std::string, std::less<>>;

/// The fields of a connection string of any service of Azure: NAME=VALUE;NAME=VALUE
[[nodiscard]] inline waybill::result<connection_fields, std::string> connection_fields_in(
    std::string_view connection)
{
    connection_fields fields;
    while (!connection.empty()) {
        const std::string_view part = connection.substr(0, connection.find(';'));
        connection.remove_prefix(std::min(part.size() + 1, connection.size()));
        if (part.empty()) continue;
        const std::size_t sign = part.find('=');  // a key may contain it as well
        if (sign == part.npos) {
            return waybill::unexpected(
                std::string("connection string: each part has the form NAME=VALUE"));
        }
        fields[std::string(part.substr(0, sign))] = part.substr(sign + 1);
    }
    return fields;
}

/// The account, or the reason why the text is no connection string of this service.
[[nodiscard]] inline waybill::result<azure_account, std::string> azure_account_of_connection(
    std::string_view connection, const azure_service& service)
{
    const auto wrong = [](std::string_view field, std::string_view rule) {
        return waybill::unexpected("connection string: " + std::string(field) + " " +
                                   std::string(rule));
    };
    const auto read = connection_fields_in(connection);
    if (!read) return waybill::unexpected(read.error());
    const connection_fields& fields = *read;
    const auto field = [&](std::string_view name, const char* usual = "") {
        const auto found = fields.find(name);
        return found == fields.end() ? std::string(usual) : found->second;
    };
    const std::string endpoint_field = service.endpoint;
    if (field("UseDevelopmentStorage") == "true") {
        if (fields.contains("DevelopmentStorageProxyUri")) {
            return wrong("DevelopmentStorageProxyUri", "is not supported: use " + endpoint_field);
        }
        return azure_account{.host = "127.0.0.1", .port = service.port};
    }
    if (fields.contains("SharedAccessSignature"))
        return wrong("SharedAccessSignature", "is not supported: AccountKey is needed");
    azure_account a{.name = field("AccountName"), .key = field("AccountKey"), .path = ""};
    if (a.name.empty()) return wrong("AccountName", "is missing");
    if (a.key.empty()) return wrong("AccountKey", "is missing");
    if (!from_padded_base64(a.key)) return wrong("AccountKey", "is not base64");
    const std::string usual = field("DefaultEndpointsProtocol", "https") + "://" + a.name + "." +
                              service.host + "." + field("EndpointSuffix", "core.windows.net");
    std::string endpoint = field(endpoint_field, usual.c_str());
    while (endpoint.ends_with('/')) endpoint.pop_back();
    const std::size_t colon = endpoint.find("://");
    a.scheme = endpoint.substr(0, colon);
    if (a.scheme != "http" && a.scheme != "https") {
        return wrong(fields.contains(endpoint_field) ? endpoint_field : "DefaultEndpointsProtocol",
                     "is neither http nor https");
    }
    const char* const port = a.scheme == "https" ? "443" : "80";
    // An address needs a path, and an endpoint may have none.
    const auto found = address_in(endpoint.substr(colon + 3) + "/x", port);
    if (!found || !found->at.user.empty())
        return wrong(endpoint_field, "is not https://HOST:PORT/PATH");
    a.host = found->at.host;
    a.port = found->at.port;
    for (std::size_t n = 0; n + 1 < found->path.size(); ++n)
        *a.path += "/" + url_part(found->path[n]);
    return a;
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_AZURE_ACCOUNT_HPP
