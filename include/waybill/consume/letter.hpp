// SPDX-License-Identifier: MIT
//
// letter: the dead letter of an event, with as much of the event as the policy keeps.
//
//     auto letter = waybill::make_letter(key, event, waybill::permanent("no total"), 1, now, policy);
//     letter.kept          // body, pointer or summary: what `letter.body` is
//     letter.size          // of the whole body, and letter.checksum its CRC-32C
//
// Whoever fetches the event again by its position can tell by size and checksum whether it is still
// the same one.

#ifndef WAYBILL_CONSUME_LETTER_HPP
#define WAYBILL_CONSUME_LETTER_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/text.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// The first `most` of the bytes, between characters where it is text.
[[nodiscard]] inline std::string beginning(std::string_view bytes, std::uint64_t most)
{
    const std::size_t within = lesser(bytes.size(), most);
    return std::string(utf8_prefix(bytes, within));
}

/// Fills in what is kept of a body.
inline void keep(dead_letter& d, std::string_view body, const batch_policy& p)
{
    d.size = body.size();
    d.checksum = crc32c(body);
    d.kept = p.keeps;
    if (p.keeps == letter_keeps::body && d.size > p.body_bytes) d.kept = letter_keeps::summary;
    if (d.kept == letter_keeps::body) d.body = body;
    if (d.kept == letter_keeps::summary) d.body = beginning(body, p.summary_bytes);
}

}  // namespace detail

/// Why an event failed, in a text of at most `reason_bytes`. It is a copy: a text that is cut where
/// it stands would keep all of its megabytes.
[[nodiscard]] inline std::string bounded_reason(std::string_view text, const batch_policy& p)
{
    return detail::beginning(text, p.reason_bytes);
}

/// The dead letter of `e`.
template <sequenced E>
[[nodiscard]] dead_letter make_letter(const partition_key& key, const E& e, const fault& why,
                                      std::uint32_t tries, wall_time now, const batch_policy& p = {})
{
    dead_letter d;
    d.key = key;
    d.at = waybill::position_of(e);
    d.how = why.how;
    d.reason = bounded_reason(why.text, p);
    d.tries = tries;
    d.parked = now;
    if constexpr (requires { std::string_view(e.body); }) {
        detail::keep(d, std::string_view(e.body), p);
    } else if constexpr (requires { e.body; }) {
        static_assert(requires { requires sizeof(*e.body.data()) == 1; e.body.size(); },
                      "an event's `body` is a text or a contiguous range of bytes");
        std::string bytes;
        for (const auto byte : e.body) bytes += static_cast<char>(byte);
        detail::keep(d, bytes, p);
    } else {
        detail::keep(d, {}, p);
    }
    if constexpr (requires { e.time; }) {
        static_assert(std::convertible_to<decltype(e.time), wall_time>,
                      "an event's `time` is a wall_time or a std::chrono::system_clock point");
        d.occurred = wall_time(e.time);
    }
    return d;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_LETTER_HPP
