// SPDX-License-Identifier: MIT
//
// crc32c: a checksum that detects corrupted stored data.
//
//     waybill::crc32c(all)
//     waybill::crc32c(second, waybill::crc32c(first))      // the same, where all = first + second
//
// This is the cyclic redundancy check with Castagnoli's polynomial, as in iSCSI and many file
// formats. The test repeats the examples of RFC 3720, appendix B.4.
//
// Guarantees
//   1. Every single-bit error and every error burst within 32 consecutive bits is detected. Other
//      errors remain undetected with probability 2^-32.
//   2. No protection against deliberate changes: an attacker can compute the checksum, too.
//
// Cost: linear; a table lookup per byte, 16 bytes per step. The same code runs in constant
// expressions and at run time, without special CPU instructions.

#ifndef WAYBILL_CORE_CRC32C_HPP
#define WAYBILL_CORE_CRC32C_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <waybill/core/detail/crc32c_table.hpp>

namespace waybill::inline v0_2 {

/// The checksum of `bytes`. With `so_far`, the checksum of earlier bytes: the checksum of the
/// earlier bytes followed by `bytes`. Linear.
[[nodiscard]] constexpr std::uint32_t crc32c(std::string_view bytes,
                                             std::uint32_t so_far = 0) noexcept
{
    constexpr std::size_t bytes_per_step = detail::crc32c_table::bytes_per_step;
    std::uint32_t crc = ~so_far;
    const char* position = bytes.data();
    std::size_t bytes_left = bytes.size();
    for (; bytes_left >= bytes_per_step; bytes_left -= bytes_per_step) {
        std::uint32_t next_crc = 0;
        for (std::size_t n = bytes_per_step; n-- != 0; crc >>= 8U) {
            next_crc ^=
                detail::crc32c_steps.of[n][(crc ^ static_cast<unsigned char>(*position++)) & 0xFFU];
        }
        crc = next_crc;
    }
    for (; bytes_left != 0; --bytes_left, ++position) {
        const std::uint32_t index = (crc ^ static_cast<unsigned char>(*position)) & 0xFFU;
        crc = (crc >> 8U) ^ detail::crc32c_steps.of[0][index];
    }
    return ~crc;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_CRC32C_HPP
