// SPDX-License-Identifier: MIT
//
// scheduled_id: message ids for copies scheduled for later, on brokers with duplicate detection.
//
//     send({.id = waybill::scheduled_id(key, m.sequence_number, m.id),
//           .properties = {{"original-id", original}}, .at = later});
//     complete(m);
//
// If a crash separates the two calls, the redelivered message creates the same id again, and the
// broker drops the second copy.
//
// Guarantees
//   1. The copies of different messages have different ids, also if senders use an id twice. It
//      takes about 2^64 copies to find a collision of 128 bits.
//   2. A sender without the key cannot choose the id of a copy, not even on purpose.
//   3. An id has 32 characters: 0 to 9 and a to f.

#ifndef WAYBILL_QUEUE_SCHEDULED_ID_HPP
#define WAYBILL_QUEUE_SCHEDULED_ID_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/detail/hmac_sha256.hpp>

namespace waybill::inline v0_2 {

/// The id of the copy that replaces a message. `sequence_number` is the broker's number of the
/// message in hand, the same in each delivery; `id` is its id, of any length. All consumers of a
/// queue have the same secret `key` of at least 16 random bytes, and each queue has its own. The
/// first 128 bits of an HMAC-SHA-256 (RFC 2104). Linear in the sizes.
[[nodiscard]] inline std::string scheduled_id(std::string_view key, std::uint64_t sequence_number,
                                              std::string_view id)
{
    constexpr std::size_t id_bytes = 16;
    std::string text;
    for (int shift = 56; shift >= 0; shift -= 8)
        text += static_cast<char>(sequence_number >> shift & 0xFFU);
    text += id;
    const std::array<std::uint8_t, 32> hash = detail::hmac_sha256(key, text);
    std::string hex;
    for (std::size_t i = 0; i != id_bytes; ++i) {
        hex += "0123456789abcdef"[hash[i] >> 4U];
        hex += "0123456789abcdef"[hash[i] & 15U];
    }
    return hex;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_SCHEDULED_ID_HPP
