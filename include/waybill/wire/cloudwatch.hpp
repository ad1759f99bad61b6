// SPDX-License-Identifier: MIT
//
// cloudwatch: bytes of a log event as Amazon CloudWatch Logs accounts for it, and what one
// PutLogEvents may hold together.
//
// Each event counts with its message in UTF-8 and 26 bytes. The bytes are not all, though: events
// of one call have to be in the order of their times, and not more than 24 hours apart. As a
// framing both close a batch, since what may not come next into this one fits into the next:
//
//     namespace cloudwatch = waybill::wire::cloudwatch;
//     cloudwatch::size({.message = line, .timestamp = ms});
//     cloudwatch::put_log_events framing;      // with limits.bytes = 1'048'576, items = 10'000
//
// Documented, not proved: only the service itself could show it. Newer texts name the order and no
// span any more, so the span can be set to what holds.
//
// Source: PutLogEvents,
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html.

#ifndef WAYBILL_WIRE_CLOUDWATCH_HPP
#define WAYBILL_WIRE_CLOUDWATCH_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::wire::cloudwatch {

/// A log event.
struct event {
    std::string_view message{};    ///< UTF-8.
    std::int64_t timestamp = 0;  ///< Milliseconds.
};

/// Bytes that the event is counted with. Constant time. Documented.
[[nodiscard]] constexpr std::uint64_t size(const event& e) noexcept
{
    return saturating_add(e.message.size(), 26);
}

/// PutLogEvents as a framing. An event that may not come next adds the highest size.
struct put_log_events {
    std::uint64_t span = 86'400'000;  ///< Most milliseconds from the first event to the last.

    /// Times of a batch so far.
    struct state {
        bool any = false;
        std::int64_t first = 0;
        std::int64_t last = 0;

        friend bool operator==(const state&, const state&) = default;
    };

    /// Nothing.
    [[nodiscard]] constexpr std::uint64_t envelope(const event&) const noexcept { return 0; }

    /// Bytes that `e` adds, or the highest size where it is earlier than the last one or more than
    /// the span after the first. Constant time.
    [[nodiscard]] constexpr std::uint64_t delta(const state& s, const event& e) const noexcept
    {
        if (s.any) {
            const std::uint64_t since = static_cast<std::uint64_t>(e.timestamp) -
                                        static_cast<std::uint64_t>(s.first);
            if (e.timestamp < s.last || since > span) return highest_size;
        }
        return cloudwatch::size(e);
    }

    /// Counts `e` in.
    constexpr void push(state& s, const event& e) const noexcept
    {
        if (!s.any) s.first = e.timestamp;
        s.last = e.timestamp;
        s.any = true;
    }
};

}  // namespace waybill::inline v0_2::wire::cloudwatch

#endif  // WAYBILL_WIRE_CLOUDWATCH_HPP
