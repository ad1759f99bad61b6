// SPDX-License-Identifier: MIT
//
// varint: integers at seven bits a byte, and signed ones in zigzag form.
//
//     waybill::varint_size(300)     // 2
//     waybill::zigzag_size(-1)      // 1: small either way of zero is short
//
// Kafka, MQTT and protobuf have these, and so have our own stored windows. Nothing here branches or
// loops: the width of a number is counted by the processor.

#ifndef WAYBILL_CORE_VARINT_HPP
#define WAYBILL_CORE_VARINT_HPP

#include <bit>
#include <cstdint>

namespace waybill::inline v0_2 {

/// Bytes of an unsigned base-128 varint: 1 to 10. Constant time.
/// Source: protobuf, "Base 128 Varints", https://protobuf.dev/programming-guides/encoding/.
/// Proved by a loop that writes it, in varint.prop.cpp, and at every edge in varint.test.cpp.
[[nodiscard]] constexpr std::uint64_t varint_size(std::uint64_t n) noexcept
{
    // The place of the highest bit, counted from 0; the lowest bit makes 0 as wide as 1. Nine times
    // the width over 64 is the width over seven, rounded up, for every width there is.
    const auto top = static_cast<unsigned>(std::countl_zero(n | 1U) ^ 63);
    return (top * 9U + 73U) / 64U;
}

/// The unsigned number that stands for a signed one: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
/// Source: protobuf, "Signed Integers", same page.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t n) noexcept
{
    const auto bits = static_cast<std::uint64_t>(n);
    return (bits << 1U) ^ (0U - (bits >> 63U));
}

/// And back.
[[nodiscard]] constexpr std::int64_t from_zigzag(std::uint64_t n) noexcept
{
    return static_cast<std::int64_t>((n >> 1U) ^ (0U - (n & 1U)));
}

/// Bytes of a signed varint in zigzag form: 1 for -64 to 63, 10 for the extremes. Constant time.
/// A 32-bit zigzag takes the same bytes wherever both can say the number.
[[nodiscard]] constexpr std::uint64_t zigzag_size(std::int64_t n) noexcept
{
    return varint_size(zigzag(n));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CORE_VARINT_HPP
