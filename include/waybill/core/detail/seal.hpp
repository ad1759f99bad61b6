// SPDX-License-Identifier: MIT
//
// seal: checksums at the end of stored bytes, and the varints before them.
//
//     std::string out = head;
//     detail::put_varint(out, 300);
//     detail::put_seal(out);
//     ...
//     if (!detail::seal_holds(bytes)) return problem::corrupt;
//     bytes.remove_suffix(detail::seal_bytes);
//     bytes.remove_prefix(head.size());
//     const std::optional<std::uint64_t> n = detail::take_varint(bytes);      // 300
//
// The library's binary formats use this header, most of them through sealed_bytes.hpp. Formats in
// which each byte counts, such as tracker_bytes.hpp, use it directly. Each number has exactly one
// encoding; any other is refused.

#ifndef WAYBILL_CORE_DETAIL_SEAL_HPP
#define WAYBILL_CORE_DETAIL_SEAL_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/crc32c.hpp>
#include <waybill/core/detail/varint.hpp>

namespace waybill::inline v0_2::detail {

inline constexpr std::size_t seal_bytes = 4;

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
