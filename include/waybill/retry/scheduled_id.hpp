// SPDX-License-Identifier: MIT
//
// scheduled_id: message ids for clones that are sent for later, where the broker drops duplicates.
//
// To try a message again later one sends a copy of it that is scheduled, and completes the
// original. Under the same id a broker that detects duplicates drops the copy, and the message is
// lost; under a random one a crash between the two leaves two copies. So the id of the copy follows
// from that of the original and the number of the attempt:
//
//     auto id = waybill::scheduled_id("order-7", 3);        // "order-7:3"
//     if (!id) park(message, waybill::text(id.error()));    // too long: never cut
//     send({.id = *id, .properties = {{"attempt", "3"}}, .at = later});
//     complete(message);
//
// After a crash between the two the original comes again, with the same attempt: the same id is
// sent once more, and the broker drops it. And the next attempt does not pile up:
//
//     original_of("order-7:3", 3)                            // "order-7": it says 3, and is 3
//     scheduled_id(*original_of("order-7:3", 3), 4)          // "order-7:4"
//
// What holds:
//   1. two pairs of id and attempt never make one text: what stands behind the last mark is the
//      attempt, without zeros in front. So "a:7" scheduled for the 3rd time is "a:7:3";
//   2. what has been scheduled is told by the attempt that travels with the message, in its
//      properties, and not by the look of its id: "a:7" may be the 7th of "a", or somebody's own
//      id. original_id(id) alone reads it as the former, and is for ids that never end so;
//   3. one clash is left, and it is in the ids themselves: where "a" and "a:7" are both ids of
//      senders, the 7th of "a" is dropped for the latter. Ids that are all of one shape, such as
//      partition:offset, do not clash, as a clone has one part more. Else take another `mark`, one
//      that is never followed by digits alone at the end of an id.

#ifndef WAYBILL_RETRY_SCHEDULED_ID_HPP
#define WAYBILL_RETRY_SCHEDULED_ID_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

/// The longest id of Service Bus has 128 characters; bytes are no fewer than these.
inline constexpr std::uint64_t most_id_bytes = 128;

enum class id_problem : std::uint8_t {
    too_large,  ///< It has more bytes than the broker takes. Cut, it could be that of another one.
    no_id,      ///< There is no original id: all clones of such messages would be one.
    bad_mark,   ///< A digit cannot part an id from a number.
};

[[nodiscard]] constexpr std::string_view name(id_problem p) noexcept
{
    switch (p) {
        case id_problem::too_large: return "too_large";
        case id_problem::no_id: return "no_id";
        case id_problem::bad_mark: return "bad_mark";
    }
    return "?";
}

struct id_error {
    id_problem problem = id_problem::too_large;
    std::uint64_t bytes = 0;  ///< What the id would have,
    std::uint64_t most = 0;   ///< and what it may.

    friend bool operator==(const id_error&, const id_error&) = default;
};

/// One line for a log.
[[nodiscard]] inline std::string text(const id_error& e)
{
    std::string line = "scheduled id: ";
    line += name(e.problem);
    if (e.problem != id_problem::too_large) return line;
    return line + ": " + std::to_string(e.bytes) + " bytes, at most " + std::to_string(e.most);
}

/// An id and which copy of its message this is; 0 is the message itself.
struct id_parts {
    std::string_view original{};
    std::uint32_t attempt = 0;

    friend bool operator==(const id_parts&, const id_parts&) = default;
};

/// The id of the copy for this attempt; that of the original for attempt 0. A pure function: asked
/// again after a crash, it says the same.
[[nodiscard]] inline result<std::string, id_error> scheduled_id(std::string_view original,
                                                                std::uint32_t attempt,
                                                                std::uint64_t most = most_id_bytes,
                                                                char mark = ':')
{
    if (original.empty()) return unexpected(id_error{id_problem::no_id, 0, most});
    if (mark >= '0' && mark <= '9') return unexpected(id_error{id_problem::bad_mark, 0, most});
    const std::string number = attempt == 0 ? std::string() : mark + std::to_string(attempt);
    const std::uint64_t bytes = original.size() + number.size();
    if (bytes > most) return unexpected(id_error{id_problem::too_large, bytes, most});
    return std::string(original) + number;
}

/// What an id looks like: "order-7:3" like the 3rd of "order-7", "order-7" and "a:07" like
/// originals. Says nothing of what it is, see 2. above.
[[nodiscard]] constexpr id_parts original_id(std::string_view id, char mark = ':') noexcept
{
    std::uint64_t attempt = 0;
    std::uint64_t one = 1;
    std::size_t at = id.size();
    for (; at != 0 && id[at - 1] >= '0' && id[at - 1] <= '9'; --at, one *= 10) {
        if (id.size() - at == 10) return {id, 0};  // more digits than an attempt can have
        attempt += static_cast<std::uint64_t>(id[at - 1] - '0') * one;
    }
    const bool digits = at != id.size() && id[at] != '0';
    if (!digits || attempt > UINT32_MAX || at < 2 || id[at - 1] != mark) return {id, 0};
    return {id.substr(0, at - 1), static_cast<std::uint32_t>(attempt)};
}

/// The original id of a message that is known to be this copy; empty where that cannot be, since
/// the id says otherwise.
[[nodiscard]] constexpr std::optional<std::string_view> original_of(std::string_view id,
                                                                    std::uint32_t attempt,
                                                                    char mark = ':') noexcept
{
    if (attempt == 0) return id;
    const id_parts parts = original_id(id, mark);
    if (parts.attempt != attempt) return {};
    return parts.original;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_SCHEDULED_ID_HPP
