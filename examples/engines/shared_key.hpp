// SPDX-License-Identifier: MIT
//
// shared_key: the Authorization header of a request to Azure Storage.
//
//     const std::string date = engines::http_date(std::time(nullptr));
//     engines::shared_key_lite("devstoreaccount1", key, date, "/devstoreaccount1/Tables")
//     engines::shared_key("devstoreaccount1", key, text)
//
// An HMAC with SHA-256, https://learn.microsoft.com/rest/api/storageservices/
// authorize-with-shared-key: Shared Key Lite for tables, over the date and the path, and Shared Key
// for blobs, over a text that azure_container.hpp makes. If the path begins with the account, as at
// an emulator, the account is in the signed text twice.

#ifndef WAYBILL_EXAMPLES_ENGINES_SHARED_KEY_HPP
#define WAYBILL_EXAMPLES_ENGINES_SHARED_KEY_HPP

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace engines {

/// The public account of every emulator, and its key, from the documentation.
inline constexpr std::string_view development_account = "devstoreaccount1";
inline constexpr std::string_view development_key =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"
    "K1SZFPTOtr/KBHBeksoGMGw==";

/// Base64 with padding.
[[nodiscard]] inline std::string padded_base64(std::string_view bytes)
{
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock adds a NUL
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

/// Empty if the text is no base64 with padding.
[[nodiscard]] inline std::optional<std::string> from_padded_base64(std::string_view text)
{
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes(text.size() / 4 * 3, '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    std::size_t padding = 0;  // EVP_DecodeBlock counts it
    for (; padding != 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
    bytes.resize(static_cast<std::size_t>(size) - padding);
    return bytes;
}

[[nodiscard]] inline std::string hmac_sha256(std::string_view key, std::string_view text)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
    return {reinterpret_cast<const char*>(digest), size};
}

/// "Sun, 06 Nov 1994 08:49:37 GMT"
[[nodiscard]] inline std::string http_date(std::time_t now)
{
    constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm at{};
    gmtime_r(&now, &at);
    char rest[32];
    std::strftime(rest, sizeof rest, " %Y %H:%M:%S GMT", &at);
    const int day = at.tm_mday;
    return std::string(days[at.tm_wday]) + ", " + (day < 10 ? "0" : "") + std::to_string(day) +
           " " + months[at.tm_mon] + rest;
}

/// `key` is base64, as accounts have it. With an invalid key the service refuses the signature.
[[nodiscard]] inline std::string shared_key(std::string_view account, std::string_view key,
                                            std::string_view text)
{
    const std::string bytes = from_padded_base64(key).value_or("");
    return "SharedKey " + std::string(account) + ":" + padded_base64(hmac_sha256(bytes, text));
}

/// The header of a request to the table service. `key` as above.
[[nodiscard]] inline std::string shared_key_lite(std::string_view account, std::string_view key,
                                                 std::string_view date, std::string_view path)
{
    std::string text(date);
    text.append("\n/").append(account).append(path);
    const std::string bytes = from_padded_base64(key).value_or("");
    return "SharedKeyLite " + std::string(account) + ":" + padded_base64(hmac_sha256(bytes, text));
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SHARED_KEY_HPP
