// SPDX-License-Identifier: MIT
//
// Dead letters in an Azure table. Without libcurl or OpenSSL, each address is refused.

#include <cstdlib>
#include <string_view>

#include "letter_table.hpp"
#ifdef WAYBILL_ENGINES_CURL
#include "../engines/azure_table.hpp"
#endif

namespace order_pipeline {

#ifdef WAYBILL_ENGINES_CURL

namespace {

using place_or_flaw = waybill::result<engines::azure_table_place, std::string>;

place_or_flaw place_at(std::string_view address)
{
    constexpr std::string_view scheme = "azure-table:";
    constexpr const char* variable = "AZURE_STORAGE_CONNECTION_STRING";
    const auto is_no_table = waybill::unexpected(
        "is no Azure table: azure-table://HOST:PORT/devstoreaccount1/TABLE is expected");
    if (!address.starts_with(scheme)) return is_no_table;
    address.remove_prefix(scheme.size());
    if (engines::is_azure_table_name(address)) {
        const char* const connection = std::getenv(variable);
        if (connection == nullptr) {
            return waybill::unexpected(std::string("needs the variable ") + variable);
        }
        auto place = engines::azure_table_of_connection(connection, address);
        if (!place) {
            return waybill::unexpected(std::string("is not found by ") + variable + ": " +
                                       place.error());
        }
        return place;
    }
    const bool tls = address.starts_with("https://");
    if (!tls && !address.starts_with("//")) return is_no_table;
    if (!tls) address.remove_prefix(2);
    auto place = engines::azure_table_at(address);
    if (!place) return is_no_table;
    if (place->account != engines::development_account) {
        return waybill::unexpected(std::string("is no Azure table of an emulator. For the table of "
                                               "an account, set ") +
                                   variable + " and name azure-table:TABLE");
    }
    return *place;
}

}  // namespace

std::optional<std::string> azure_flaw(const std::string& address)
{
    const auto place = place_at(address);
    if (place) return {};
    return place.error();
}

std::string full_address(const std::string& address)
{
    if (address.empty()) return {};
    const auto place = place_at(address);
    if (!place || address.find('/') == address.npos) return address;
    const std::string_view scheme = place->scheme == "https" ? "azure-table:https" : "azure-table";
    return engines::http_origin(scheme, place->host, place->port) + "/" + place->account + "/" +
           place->table;
}

std::unique_ptr<letter_table> azure_letters(const std::string& address)
{
    return std::make_unique<letters_in<engines::azure_table>>(*place_at(address));
}

#else

std::optional<std::string> azure_flaw(const std::string&)
{
    return "this program was built without libcurl or OpenSSL: install libcurl4-openssl-dev and "
           "libssl-dev, and build it again";
}

std::string full_address(const std::string& address)
{
    return address;
}

std::unique_ptr<letter_table> azure_letters(const std::string&)
{
    return {};
}

#endif

}  // namespace order_pipeline
