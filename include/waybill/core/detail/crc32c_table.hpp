// SPDX-License-Identifier: MIT
//
// crc32c_table: the lookup table of the CRC-32C checksum, computed at compile time.

#ifndef WAYBILL_CORE_DETAIL_CRC32C_TABLE_HPP
#define WAYBILL_CORE_DETAIL_CRC32C_TABLE_HPP

#include <cstddef>
#include <cstdint>

namespace waybill::inline v0_2::detail {

/// of[n][b] is the effect of byte b on the checksum after n further bytes.
struct crc32c_table {
    static constexpr std::size_t bytes_per_step = 16;
    static constexpr std::uint32_t polynomial = 0x82F63B78;  // Castagnoli, bits reversed

    std::uint32_t of[bytes_per_step][256] = {};

    constexpr crc32c_table() noexcept
    {
        for (std::uint32_t byte = 0; byte != 256; ++byte) {
            std::uint32_t rest = byte;
            for (int bit = 0; bit != 8; ++bit) {
                rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? polynomial : 0U);
            }
            of[0][byte] = rest;
        }
        for (std::size_t n = 1; n != bytes_per_step; ++n) {
            for (std::size_t byte = 0; byte != 256; ++byte) {
                const std::uint32_t before = of[n - 1][byte];
                of[n][byte] = (before >> 8U) ^ of[0][before & 0xFFU];
            }
        }
    }
};
inline constexpr crc32c_table crc32c_steps{};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_CRC32C_TABLE_HPP
