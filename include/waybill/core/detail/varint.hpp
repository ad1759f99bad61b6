// SPDX-License-Identifier: MIT
//
// varint: base-128 varints (seven bits per byte) and their sizes, and zigzag encoding for signed
// integers.
//
//     varint_size(300)     // 2
//     zigzag_size(-1)      // 1: numbers near zero are short, positive or negative
//
// Kafka, MQTT, protobuf and the library's binary formats use these encodings.
//
// Cost: a size takes constant time, without branches or loops; the processor counts the bits.
// put_varint and take_varint take one step per byte, at most 10.

#ifndef WAYBILL_CORE_DETAIL_VARINT_HPP
#define WAYBILL_CORE_DETAIL_VARINT_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace waybill::inline v0_2::detail {

/// The number of bytes of an unsigned base-128 varint: 1 to 10. Constant time.
/// Source: protobuf, "Base 128 Varints", https://protobuf.dev/programming-guides/encoding/.
/// Tested against a loop that encodes the number (varint.prop.cpp), and at each boundary
/// (varint.test.cpp).
[[nodiscard]] constexpr std::uint64_t varint_size(std::uint64_t n) noexcept
{
    // `top` is the index of the highest set bit, so the width is top + 1. The number 0 counts as
    // one bit wide. For widths of 1 to 64 bits, (9 * width + 64) / 64 equals width / 7 rounded up.
    const auto top = static_cast<unsigned>(std::countl_zero(n | 1U) ^ 63);
    return (top * 9U + 73U) / 64U;
}

/// Appends n as a base-128 varint, lowest bits first: `varint_size(n)` bytes. They are appended in
/// one call, because a string checks its capacity at each call.
inline void put_varint(std::string& to, std::uint64_t n)
{
    char digits[10];
    std::size_t size = 0;
    for (; n >= 0x80; n >>= 7U) digits[size++] = static_cast<char>(n | 0x80U);
    digits[size++] = static_cast<char>(n);
    to.append(digits, size);
}

/// Removes the varint at the start of `bytes` and returns it. If the number is incomplete, exceeds
/// 64 bits or is longer than necessary: returns empty and leaves `bytes` unchanged.
[[nodiscard]] constexpr std::optional<std::uint64_t> take_varint(std::string_view& bytes) noexcept
{
    std::uint64_t n = 0;
    for (std::size_t at = 0; at != bytes.size(); ++at) {
        const std::uint64_t b = static_cast<unsigned char>(bytes[at]);
        // A tenth byte has only bit 63. A last byte of 0 is longer than necessary.
        if ((at == 9 && b > 1) || (at != 0 && b == 0)) break;
        n |= (b & 0x7FU) << 7 * at;
        if (b >= 0x80) continue;
        bytes.remove_prefix(at + 1);
        return n;
    }
    return std::nullopt;
}

/// Zigzag encoding: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
/// Source: protobuf, "Signed Integers", https://protobuf.dev/programming-guides/encoding/.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t n) noexcept
{
    const auto bits = static_cast<std::uint64_t>(n);
    return (bits << 1U) ^ (0U - (bits >> 63U));
}

/// The signed number that `zigzag` encoded as n.
[[nodiscard]] constexpr std::int64_t from_zigzag(std::uint64_t n) noexcept
{
    return static_cast<std::int64_t>((n >> 1U) ^ (0U - (n & 1U)));
}

/// The number of bytes of a zigzag varint: 1 for -64 to 63, 10 for the extremes. Constant time. For
/// numbers of at most 32 bits, a 32-bit zigzag varint has the same size.
[[nodiscard]] constexpr std::uint64_t zigzag_size(std::int64_t n) noexcept
{
    return varint_size(zigzag(n));
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CORE_DETAIL_VARINT_HPP
