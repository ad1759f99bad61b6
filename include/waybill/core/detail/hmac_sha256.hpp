// SPDX-License-Identifier: MIT
//
// hmac_sha256: the keyed hash of RFC 2104 with SHA-256.
//
// The time depends on the sizes alone. The key is not erased from memory.

#ifndef WAYBILL_CORE_DETAIL_HMAC_SHA256_HPP
#define WAYBILL_CORE_DETAIL_HMAC_SHA256_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/detail/sha256.hpp>

namespace waybill::inline v0_2::detail {

/// The 32 bytes of the hash, first byte first. Linear.
[[nodiscard]] inline std::array<std::uint8_t, 32> hmac_sha256(std::string_view key,
                                                              std::string_view text)
{
    constexpr std::size_t block_bytes = 64;
    constexpr unsigned char inner = 0x36;  // RFC 2104, section 2
    constexpr unsigned char outer = 0x5C;
    std::string padded(key);
    const auto add = [](std::string& to, const std::array<std::uint8_t, 32>& digest) {
        for (const std::uint8_t byte : digest) to += static_cast<char>(byte);
    };
    if (key.size() > block_bytes) {
        padded.clear();
        add(padded, sha256(key));
    }
    padded.resize(block_bytes, '\0');
    const auto masked = [&](unsigned char mask) {
        std::string block = padded;
        for (char& c : block) c = static_cast<char>(static_cast<unsigned char>(c) ^ mask);
        return block;
    };
    std::string second = masked(outer);
    add(second, sha256(masked(inner).append(text)));
    return sha256(second);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_HMAC_SHA256_HPP
