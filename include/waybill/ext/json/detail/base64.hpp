// SPDX-License-Identifier: MIT
//
// ext/json/detail/base64: base64 with padding, for bytes that are not UTF-8.
//
// A JSON string is UTF-8, and nlohmann's library throws if it has to write other bytes. Bytes from
// a broker may be anything. So UTF-8 is written as it is, and other bytes as base64, in a field
// whose name ends in "_base64".

#ifndef WAYBILL_EXT_JSON_DETAIL_BASE64_HPP
#define WAYBILL_EXT_JSON_DETAIL_BASE64_HPP

#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/detail/base64_text.hpp>

namespace waybill::inline v0_2::detail {

/// Encodes bytes as base64 (RFC 4648), with padding.
[[nodiscard]] inline std::string base64(std::string_view bytes)
{
    std::string written = to_base64(bytes);
    while (written.size() % 4 != 0) written += '=';
    return written;
}

/// Decodes base64. Empty if the text is not an encoding that `base64` produces.
[[nodiscard]] inline std::optional<std::string> bytes_in_base64(std::string_view written)
{
    if (written.size() % 4 != 0) return {};
    for (int padding = 0; padding != 2 && written.ends_with('='); ++padding) {
        written.remove_suffix(1);
    }
    return from_base64(written);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_BASE64_HPP
