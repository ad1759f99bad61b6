// SPDX-License-Identifier: MIT
//
// shared_key: how a request says whose it is to Azure Storage's table service.
//
//     const std::string date = engines::http_date(std::time(nullptr));
//     engines::shared_key_lite("devstoreaccount1", key, date, "/devstoreaccount1/Tables")
//
// The answer is the value of Authorization: Shared Key Lite, an HMAC with SHA-256 over the date and
// the path, https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key. Where
// the account stands in the path, as at an emulator, it comes twice.

#ifndef WAYBILL_EXAMPLES_ENGINES_SHARED_KEY_HPP
#define WAYBILL_EXAMPLES_ENGINES_SHARED_KEY_HPP

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/base64_text.hpp>
#include <waybill/core/sha256.hpp>

namespace engines {

/// The account of every emulator, and its key: both are in the documentation for all to read.
inline constexpr std::string_view development_account = "devstoreaccount1";
inline constexpr std::string_view development_key =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"
    "K1SZFPTOtr/KBHBeksoGMGw==";

/// Base64 with its = at the end, as everybody else writes it.
[[nodiscard]] inline std::string padded_base64(std::string_view bytes)
{
    std::string text = waybill::to_base64(bytes);
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}
[[nodiscard]] inline std::optional<std::string> from_padded_base64(std::string_view text)
{
    for (int n = 0; n != 2 && text.ends_with('='); ++n) text.remove_suffix(1);
    return waybill::from_base64(text);
}

/// RFC 2104.
[[nodiscard]] inline std::string hmac_sha256(std::string_view key, std::string_view text)
{
    constexpr std::size_t block = 64;
    const auto digest = [](std::string_view of) {
        std::string bytes;
        for (const auto byte : waybill::sha256(of)) bytes += static_cast<char>(byte);
        return bytes;
    };
    std::string whole = key.size() > block ? digest(key) : std::string(key);
    whole.resize(block, '\0');
    std::string inner = whole;
    std::string outer = whole;
    for (std::size_t n = 0; n != block; ++n) {
        inner[n] = static_cast<char>(inner[n] ^ 0x36);
        outer[n] = static_cast<char>(outer[n] ^ 0x5C);
    }
    return digest(outer.append(digest(inner.append(text))));
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

/// `key` is base64, as accounts have it; of one that is not, the service will say that it is wrong.
[[nodiscard]] inline std::string shared_key_lite(std::string_view account, std::string_view key,
                                                 std::string_view date, std::string_view path)
{
    std::string text(date);
    text.append("\n/").append(account).append(path);
    const std::string bytes = from_padded_base64(key).value_or("");
    return "SharedKeyLite " + std::string(account) + ":" +
           padded_base64(hmac_sha256(bytes, text));
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SHARED_KEY_HPP
