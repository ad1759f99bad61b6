// SPDX-License-Identifier: MIT
//
// dead_letter: the dead letter of an event, with as much of the event as the options keep.
//
//     auto letter = waybill::make_dead_letter(key, event, waybill::permanent("no total"), tries,
//                                             now, policy.dead_letters);
//     letter.kept          // body, pointer (the position only) or summary: what `letter.body` is
//     letter.size          // of the whole body in bytes, and letter.checksum its CRC-32C
//
// If the event is read again by its position, size and checksum show whether it is still the same.

#ifndef WAYBILL_CONSUME_DEAD_LETTER_HPP
#define WAYBILL_CONSUME_DEAD_LETTER_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/consume/dead_letter_options.hpp>
#include <waybill/consume/detail/kept_body.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The dead letter of `e`, which failed with `reason` after `tries` tries. `now` is the time in the
/// letter. A `body` of `e` is a text or a contiguous range of bytes; its `time` is optional. Linear
/// in the size of the body.
template <sequenced E>
[[nodiscard]] dead_letter make_dead_letter(const partition_key& key, const E& e,
                                           const fault& reason, std::uint32_t tries, wall_time now,
                                           const dead_letter_options& o = {})
{
    dead_letter d;
    d.key = key;
    d.at = waybill::position_of(e);
    d.kind = reason.kind;
    d.reason = detail::bounded_reason(reason.text, o);
    d.tries = tries;
    d.dead_lettered_at = now;
    if constexpr (requires { std::string_view(e.body); }) {
        detail::keep(d, std::string_view(e.body), o);
    } else if constexpr (requires { e.body; }) {
        static_assert(
            requires {
                requires sizeof(*e.body.data()) == 1;
                e.body.size();
            }, "the `body` of an event must be a text or a contiguous range of bytes");
        std::string bytes;
        for (const auto byte : e.body) bytes += static_cast<char>(byte);
        detail::keep(d, bytes, o);
    } else {
        detail::keep(d, {}, o);
    }
    if constexpr (requires { e.time; }) {
        static_assert(std::convertible_to<decltype(e.time), wall_time>,
                      "the `time` of an event must be a wall_time or a std::chrono::system_clock "
                      "time point");
        d.occurred = wall_time(e.time);
    }
    return d;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_DEAD_LETTER_HPP
