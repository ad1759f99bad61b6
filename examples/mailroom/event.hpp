// SPDX-License-Identifier: MIT
//
// event: a line on its way into the queue, and what comes out of the queue at the other end.
//
// What cannot travel as it is, because it is not JSON or because it is too large, is replaced by a
// marker: a small message that says what stood there, with reason, position and time. It goes the
// same way in the same order, and the consumer makes a dead letter of it.

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

/// A marker takes less than this of the queue's limit, whatever it stands for.
inline constexpr std::uint64_t smallest_limit = 1'024;

/// Lines up to this many bytes are parsed even where the queue does not take so much: the time of
/// an event belongs into its dead letter.
inline constexpr std::size_t longest_line = 1'048'576;

struct event {
    std::uint64_t line = 0;
    std::uint64_t begin = 0;
    place next{};           ///< Where reading goes on once this is in the queue.
    std::string time{};     ///< In the event's own words; empty where it has none.
    std::string subject{};  ///< What happened to what, for the header.
    std::string body{};     ///< The line, or the marker in its place.
    bool marker = false;
};

/// Of any line an event or a marker.
[[nodiscard]] event parse(line&& l);

/// What travels in place of `e`.
[[nodiscard]] event marker_of(const event& e, std::string_view reason);

/// With the header that is added on the way into the queue.
[[nodiscard]] engines::message to_message(const event& e);

/// What the consumer is given. Its names are those that process_batch looks for.
struct delivery {
    std::uint64_t sequence = 0;  ///< Its number in the queue.
    std::string offset{};        ///< Its position in the input, in words.
    std::uint64_t line = 0;
    std::uint64_t begin = 0;
    waybill::wall_time time{};  ///< The event's own; 1970 where it has none.
    std::string when{};         ///< The same, in its own words.
    std::string body{};         ///< The event, or the beginning of what stood there.
    std::string reason{};       ///< Of a marker: why there is no event.
    bool marker = false;
};

[[nodiscard]] delivery to_delivery(std::uint64_t number, std::string_view header,
                                   std::string_view body);

/// The time in a text such as 2026-11-20T18:29:22.092607Z, if it is one.
[[nodiscard]] std::optional<waybill::wall_time> time_in(std::string_view text);

/// A checksum of an event's bytes, to find out at the end whether they are those of the input.
[[nodiscard]] std::int64_t checksum(std::string_view bytes) noexcept;

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_EVENT_HPP
