// SPDX-License-Identifier: MIT
//
// dead_letter_options: how much of a failed event or message its dead letter contains.
//
// `batch_policy`, `at_least_once_policy` and `pipeline_dead_letter::policy` contain these options.

#ifndef WAYBILL_CONSUME_DEAD_LETTER_OPTIONS_HPP
#define WAYBILL_CONSUME_DEAD_LETTER_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The part of the event's body that a dead letter contains. Size and checksum are always included.
enum class dead_letter_body : std::uint8_t {
    body,     ///< All of it; a summary if it is larger than `body_bytes`.
    pointer,  ///< Nothing: the dead letter refers to the event by its position in the log.
    summary,  ///< Its first `summary_bytes` bytes, cut between characters.
    /// No dead letter is written. The report counts the event. It lists position and reason of the
    /// first `batch_report::max_dropped_events` such events. The caller logs them, or they are
    /// lost.
    discard,
};

[[nodiscard]] constexpr std::string_view texts_of(dead_letter_body) noexcept
{
    return "body, pointer, summary, discard";
}

/// The parts of the reason and of the body that a dead letter contains.
struct dead_letter_options {
    std::size_t reason_bytes = 1'024;                 ///< Maximum size of the reason, in bytes.
    dead_letter_body keeps = dead_letter_body::body;  ///< The part of the body that is kept.
    /// Maximum size of the body, in bytes; a larger body becomes a summary.
    std::uint64_t body_bytes = detail::highest_size;
    std::uint64_t summary_bytes = 256;  ///< Maximum size of a summary, in bytes.

    friend bool operator==(const dead_letter_options&, const dead_letter_options&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_DEAD_LETTER_OPTIONS_HPP
