// SPDX-License-Identifier: MIT
//
// seal: checksums at the end of stored bytes, and the varints before them.
//
//     std::string out = head;
//     detail::put_whole(out, 300);
//     detail::put_seal(out);
//     ...
//     if (!detail::seal_holds(bytes)) return problem::corrupt;
//     bytes.remove_suffix(detail::seal_bytes);
//     bytes.remove_prefix(head.size());
//     const std::optional<std::uint64_t> n = detail::take_whole(bytes);      // 300
//
// The library's binary formats use this header, most of them through sealed_bytes.hpp. Formats that
// must save each byte, such as tracker_bytes.hpp, use it directly. Each number has exactly one
// encoding; any other is refused.

#ifndef WAYBILL_CORE_DETAIL_SEAL_HPP
#define WAYBILL_CORE_DETAIL_SEAL_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/crc32c.hpp>

namespace waybill::inline v0_2::detail {

inline constexpr std::size_t seal_bytes = 4;

/// Appends n as a base-128 varint, lowest bits first: `varint_size(n)` bytes. All bytes go in at
/// once, since a string checks its capacity at each append.
inline void put_whole(std::string& to, std::uint64_t n)
{
    char digits[10];
    std::size_t size = 0;
    for (; n >= 0x80; n >>= 7U) digits[size++] = static_cast<char>(n | 0x80U);
    digits[size++] = static_cast<char>(n);
    to.append(digits, size);
}

/// Removes the varint at the start of `bytes` and returns it. If the number is incomplete, exceeds
/// 64 bits or is longer than necessary: returns empty and leaves `bytes` unchanged.
[[nodiscard]] constexpr std::optional<std::uint64_t> take_whole(std::string_view& bytes) noexcept
{
    std::uint64_t n = 0;
    for (std::size_t at = 0; at != bytes.size(); ++at) {
        const std::uint64_t b = static_cast<unsigned char>(bytes[at]);
        if ((at == 9 && b > 1) || (at != 0 && b == 0)) break;
        n |= (b & 0x7FU) << 7 * at;
        if (b >= 0x80) continue;
        bytes.remove_prefix(at + 1);
        return n;
    }
    return std::nullopt;
}

/// Appends the checksum of `bytes`: 4 bytes, lowest first.
inline void put_seal(std::string& bytes)
{
    std::uint32_t sum = crc32c(bytes);
    for (std::size_t n = 0; n != seal_bytes; ++n, sum >>= 8U) {
        bytes += static_cast<char>(sum & 0xFFU);
    }
}

/// True if the last 4 bytes are the checksum of all bytes before them.
[[nodiscard]] constexpr bool seal_holds(std::string_view bytes) noexcept
{
    if (bytes.size() < seal_bytes) return false;
    std::uint32_t sum = 0;
    for (std::size_t n = 0; n != seal_bytes; ++n) {
        sum = sum << 8U | static_cast<unsigned char>(bytes.back());
        bytes.remove_suffix(1);
    }
    return sum == crc32c(bytes);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_SEAL_HPP
