// SPDX-License-Identifier: MIT
//
// redrive_names: the ids of a redriven session and of its messages, derived from the originals.
//
//     redriven_session("order-17", 1)                // "order-17~1", then "order-17~2"
//     redriven_message_id("order-17", 42, 1)         // "order-17/00000000000000000042~1"
//
// Guarantees
//   1. The session id contains the original id and the number of the redrive. If a crash
//      interrupts a redrive, its repetition uses the same session; a random id would split it.
//   2. A message that is sent again has the same id. A broker with duplicate detection drops it
//      within its detection window.
//   3. An id has at most `most` bytes. A longer one consists of the beginning of the original id,
//      cut between characters, a dot, 32 digits of the original id's SHA-256, and the suffix.
//   4. The format does not change in later versions.

#ifndef WAYBILL_SESSION_DETAIL_REDRIVE_NAMES_HPP
#define WAYBILL_SESSION_DETAIL_REDRIVE_NAMES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/detail/sha256.hpp>
#include <waybill/core/text.hpp>
#include <waybill/session/row_key.hpp>

namespace waybill::inline v0_2::detail {

/// The minimum of `most`; a smaller value counts as this one. It has room for a dot, 32 digits of
/// the digest and the longest suffix (42 bytes).
inline constexpr std::size_t min_redriven_bytes = 80;

/// Returns `id` followed by `end`. If both have more than `most` bytes, `id` is shortened.
[[nodiscard]] inline std::string shortened_id(std::string_view id, std::string_view end,
                                              std::size_t most)
{
    if (most < min_redriven_bytes) most = min_redriven_bytes;
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

/// The session id of the n-th redrive of the session `origin`, in at most `most` bytes.
[[nodiscard]] inline std::string redriven_session(std::string_view origin, std::uint64_t n,
                                                  std::size_t most = 128)
{
    return detail::shortened_id(origin, "~" + std::to_string(n), most);
}

/// The message id in the n-th redrive, in at most `most` bytes. `origin` and `sequence` are the
/// session and the sequence number with which the message was sent first.
[[nodiscard]] inline std::string redriven_message_id(std::string_view origin,
                                                     std::uint64_t sequence, std::uint64_t n,
                                                     std::size_t most = 128)
{
    return detail::shortened_id(origin, "/" + row_key::of(sequence) + "~" + std::to_string(n),
                                most);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_REDRIVE_NAMES_HPP
