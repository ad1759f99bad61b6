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
//   3. An id has at most `max_bytes` bytes. A longer one consists of the beginning of the original
//      id, cut between characters, a dot, 32 digits of the original id's SHA-256, and the suffix.
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

/// The minimum of `max_bytes`; a smaller value counts as this one. It has space for 5 bytes of the
/// original id, a dot, 32 digits of the digest and the longest suffix (42 bytes).
inline constexpr std::size_t min_redriven_bytes = 80;

/// Returns `id` followed by `suffix`. If both have more than `max_bytes` bytes, `id` is shortened.
[[nodiscard]] inline std::string shortened_id(std::string_view id, std::string_view suffix,
                                              std::size_t max_bytes)
{
    if (max_bytes < min_redriven_bytes) max_bytes = min_redriven_bytes;
    std::string text;
    if (id.size() + suffix.size() <= max_bytes) {
        text.reserve(id.size() + suffix.size());
        text += id;
        text += suffix;
        return text;
    }
    constexpr std::string_view hex = "0123456789abcdef";
    constexpr std::size_t digest_digits = 32;  // of the 64 digits of a SHA-256
    constexpr std::size_t dot_bytes = 1;
    const std::array<std::uint8_t, 32> digest = sha256(id);
    text += utf8_prefix(id, max_bytes - suffix.size() - digest_digits - dot_bytes);
    text += '.';
    for (std::size_t i = 0; i != digest_digits / 2; ++i) {
        text += hex[digest[i] / 16];
        text += hex[digest[i] % 16];
    }
    text += suffix;
    return text;
}

/// The session id of the n-th redrive of the session `origin`, in at most `max_bytes` bytes.
[[nodiscard]] inline std::string redriven_session(std::string_view origin, std::uint64_t n,
                                                  std::size_t max_bytes = 128)
{
    return detail::shortened_id(origin, "~" + std::to_string(n), max_bytes);
}

/// The message id in the n-th redrive, in at most `max_bytes` bytes. `origin` and `sequence` are
/// the session and the sequence number with which the message was sent first.
[[nodiscard]] inline std::string redriven_message_id(std::string_view origin,
                                                     std::uint64_t sequence, std::uint64_t n,
                                                     std::size_t max_bytes = 128)
{
    return detail::shortened_id(origin, "/" + row_key::of(sequence) + "~" + std::to_string(n),
                                max_bytes);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_REDRIVE_NAMES_HPP
