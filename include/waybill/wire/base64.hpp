// SPDX-License-Identifier: MIT
//
// base64: number of characters of base64 text for a number of bytes.
//
//     waybill::wire::base64_size(n)               // "AQ==": padded to a multiple of four
//     waybill::wire::base64_unpadded_size(n)      // "AQ": usual in base64url
//
// JSON requests contain binary data in base64, so three quarters of a limit remain for the data.
// Line breaks are not counted.
//
// Source: RFC 4648, sections 3.2, 4 and 5, https://www.rfc-editor.org/rfc/rfc4648. Tested against
// an independent writer in varint.prop.cpp.

#ifndef WAYBILL_WIRE_BASE64_HPP
#define WAYBILL_WIRE_BASE64_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire {

/// Characters of `bytes` bytes in base64, padding included. Constant time.
[[nodiscard]] constexpr std::uint64_t base64_size(std::uint64_t bytes) noexcept
{
    return waybill::detail::saturating_mul(bytes / 3 + (bytes % 3 == 0 ? 0U : 1U), 4);
}

/// Characters of `bytes` bytes in base64 without padding. Constant time.
[[nodiscard]] constexpr std::uint64_t base64_unpadded_size(std::uint64_t bytes) noexcept
{
    const std::uint64_t rest = bytes % 3;
    return waybill::detail::saturating_add(waybill::detail::saturating_mul(bytes / 3, 4),
                                           rest == 0 ? 0U : rest + 1);
}

}  // namespace waybill::inline v0_2::wire

#endif  // WAYBILL_WIRE_BASE64_HPP
