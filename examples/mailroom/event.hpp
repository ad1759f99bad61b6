// SPDX-License-Identifier: MIT
//
// event: a line of the input for the queue, and the message that the consumer gets.
//
// A line that is no JSON or too large is replaced by a marker: a small message with an excerpt, the
// reason, the position and the time. It is sent in the same order, and the consumer writes a dead
// letter for it.

#ifndef WAYBILL_EXAMPLES_MAILROOM_EVENT_HPP
#define WAYBILL_EXAMPLES_MAILROOM_EVENT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../engines/sqlite_queue.hpp"
#include "lines.hpp"
#include <waybill/core/time.hpp>

namespace mailroom {

/// The lowest limit of a queue, in bytes: a marker is always smaller.
inline constexpr std::uint64_t smallest_limit = 1'024;

/// Lines of at most this many bytes are parsed even above the queue's limit: the dead letter
/// contains the event's time.
inline constexpr std::size_t longest_line = 1'048'576;

struct event {
    std::uint64_t line = 0;
    std::uint64_t begin = 0;
    place next{};           ///< Reading continues here once the event is in the queue.
    std::string time{};     ///< As text of the event; empty if it has none.
    std::string subject{};  ///< The package and its event, for the header.
    std::string body{};     ///< The line, or the marker instead of it.
    bool marker = false;
};

/// Turns any line into an event or a marker.
[[nodiscard]] event parse(line&& l);

/// The marker that replaces `e`.
[[nodiscard]] event marker_of(const event& e, std::string_view reason);

/// The message of an event, with its header.
[[nodiscard]] engines::message to_message(const event& e);

/// An event for the consumer. process_batch requires the names of its fields.
struct delivery {
    std::uint64_t sequence = 0;  ///< Its number in the queue.
    std::string offset{};        ///< Its position in the input, as text.
    std::uint64_t line = 0;
    std::uint64_t begin = 0;
    waybill::wall_time time{};  ///< The time of the event; 1970 if it has none.
    std::string when{};         ///< The same, as text of the event.
    std::string body{};         ///< The event or, of a marker, an excerpt of the line.
    std::string reason{};       ///< Of a marker: the reason.
    bool marker = false;
};

[[nodiscard]] delivery to_delivery(std::uint64_t number, std::string_view header,
                                   std::string_view body);

/// The time in a text such as 2026-11-20T18:29:22.092607Z, if it is one.
[[nodiscard]] std::optional<waybill::wall_time> time_in(std::string_view text);

/// A checksum of an event's bytes, for the comparison with the input at the end.
[[nodiscard]] std::int64_t checksum(std::string_view bytes) noexcept;

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_EVENT_HPP
