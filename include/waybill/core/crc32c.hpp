// SPDX-License-Identifier: MIT
//
// crc32c: a checksum that tells what was stored from what became of it.
//
// The cyclic redundancy check with Castagnoli's polynomial, as iSCSI and many file formats have it
// (RFC 3720, appendix B.4, has the examples that the test repeats). One wrong bit is always found,
// and so is whatever is wrong within four bytes in a row; of other damage one in 2^32 passes. It
// says nothing about who wrote the bytes: whoever wants to deceive can make the checksum, too.

#ifndef WAYBILL_CORE_CRC32C_HPP
#define WAYBILL_CORE_CRC32C_HPP

#include <cstdint>
#include <string_view>

namespace waybill::inline v0_1 {

namespace detail {

/// What each value of a byte does to the checksum.
struct crc32c_table {
    std::uint32_t of[256] = {};

    constexpr crc32c_table() noexcept
    {
        for (std::uint32_t byte = 0; byte != 256; ++byte) {
            std::uint32_t rest = byte;
            for (int bit = 0; bit != 8; ++bit) {
                rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0x82F63B78U : 0U);
            }
            of[byte] = rest;
        }
    }
};
inline constexpr crc32c_table crc32c_steps{};

}  // namespace detail

/// The checksum of all of `bytes`.
[[nodiscard]] constexpr std::uint32_t crc32c(std::string_view bytes) noexcept
{
    std::uint32_t rest = 0xFFFFFFFFU;
    for (const char c : bytes) {
        const std::uint32_t step = (rest ^ static_cast<unsigned char>(c)) & 0xFFU;
        rest = (rest >> 8U) ^ detail::crc32c_steps.of[step];
    }
    return ~rest;
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_CORE_CRC32C_HPP
