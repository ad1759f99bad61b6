// SPDX-License-Identifier: MIT
//
// redrive_names: the ids of a redriven session and of its messages. They follow from what is
// redriven, so that whoever begins again after a crash goes on in the same session.
//
//     waybill::redriven_session("order-17", 1)                // "order-17~1", then "order-17~2"
//     waybill::redriven_message_id("order-17", 42, 1)         // "order-17/00000000000000000042~1"
//
// What holds:
//   1. the id of a session is that of the original and which redrive it is. A random one would
//      split a session in two where a redrive dies half-way;
//   2. a message sent again has the same id, and a broker that detects duplicates drops it for as
//      long as it remembers;
//   3. both have at most `most` bytes. A longer one keeps the beginning of the original id, cut
//      between characters, and has 32 digits of its SHA-256 behind it;
//   4. their form does not change any more.

#ifndef WAYBILL_SESSION_REDRIVE_NAMES_HPP
#define WAYBILL_SESSION_REDRIVE_NAMES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/sha256.hpp>
#include <waybill/core/text.hpp>
#include <waybill/session/row_key.hpp>

namespace waybill::inline v0_2 {

/// The least that `most` reads as: a mark, a digest, and the longest end.
inline constexpr std::size_t least_redriven_bytes = 80;

namespace detail {

/// `id` and then `end`, the id shortened where both have more than `most` bytes.
[[nodiscard]] inline std::string shortened_id(std::string_view id, std::string_view end,
                                           std::size_t most)
{
    if (most < least_redriven_bytes) most = least_redriven_bytes;
    std::string text;
    if (id.size() + end.size() <= most) {
        text.reserve(id.size() + end.size());
        text += id;
        text += end;
        return text;
    }
    constexpr std::string_view hex = "0123456789abcdef";
    constexpr std::size_t digits = 32;
    const std::array<std::uint8_t, 32> digest = sha256(id);
    text += utf8_prefix(id, most - end.size() - digits - 1);
    text += '.';
    for (std::size_t i = 0; i != digits / 2; ++i) {
        text += hex[digest[i] / 16];
        text += hex[digest[i] % 16];
    }
    text += end;
    return text;
}

}  // namespace detail

/// The id of the session that `origin` becomes when it is redriven for the n-th time.
[[nodiscard]] inline std::string redriven_session(std::string_view origin, std::uint64_t n,
                                                  std::size_t most = 128)
{
    return detail::shortened_id(origin, "~" + std::to_string(n), most);
}

/// The id of the message that had this number in `origin`, in the n-th redrive.
[[nodiscard]] inline std::string redriven_message_id(std::string_view origin,
                                                     std::uint64_t sequence, std::uint64_t n,
                                                     std::size_t most = 128)
{
    return detail::shortened_id(origin, "/" + row_key(sequence) + "~" + std::to_string(n), most);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_REDRIVE_NAMES_HPP
