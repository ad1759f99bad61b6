// SPDX-License-Identifier: MIT
//
// sha256: the SHA-256 digest of FIPS 180-4, to shorten names practically without collisions.
//
//     constexpr auto d = waybill::detail::sha256("abc");      // 32 bytes, BA 78 16 BF ...
//
// Texts are not erased from memory.

#ifndef WAYBILL_CORE_DETAIL_SHA256_HPP
#define WAYBILL_CORE_DETAIL_SHA256_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <waybill/core/detail/sha256_block.hpp>

namespace waybill::inline v0_2::detail {

/// The 32 bytes of the digest of `text`, first byte first. Linear.
[[nodiscard]] constexpr std::array<std::uint8_t, 32> sha256(std::string_view text)
{
    // The initial hash value of FIPS 180-4, section 5.3.3.
    std::array<std::uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    // Padding: the bit 1, zeros, and the length in bits as 8 bytes.
    constexpr std::uint64_t block_bytes = 64;
    constexpr std::uint64_t length_bytes = 8;
    const std::uint64_t size = text.size();
    const std::uint64_t padded = (size + length_bytes) / block_bytes * block_bytes + block_bytes;
    for (std::uint64_t begin = 0; begin != padded; begin += block_bytes) {
        sha256_block(state, [&](std::size_t i) -> std::uint32_t {
            const std::uint64_t at = begin + i;
            if (at < size) return static_cast<unsigned char>(text[static_cast<std::size_t>(at)]);
            if (at == size) return 0x80U;
            if (at < padded - length_bytes) return 0;
            return static_cast<std::uint32_t>((size * 8) >> (8 * (padded - 1 - at))) & 0xFFU;
        });
    }
    std::array<std::uint8_t, 32> digest{};
    for (std::size_t i = 0; i != 32; ++i) {
        digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_SHA256_HPP
