// SPDX-License-Identifier: MIT
//
// cloudwatch: size of a log event as Amazon CloudWatch Logs counts it, and PutLogEvents as a
// framing.
//
//     namespace cloudwatch = waybill::wire::cloudwatch;
//     cloudwatch::size({.message = line, .timestamp = ms});
//     cloudwatch::put_log_events framing;      // with limits.bytes = 1'048'576, items = 10'000
//
// The size of an event is its message in UTF-8 plus 26 bytes. The events of one call must be
// ordered by time and at most 24 hours apart. With the framing, an event that breaks one of these
// two rules begins the next batch.
//
// Documented, not tested: only the service can confirm the numbers. Newer pages require the order
// but name no time span, so `span` can be changed.
//
// Source: PutLogEvents,
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html.

#ifndef WAYBILL_WIRE_CLOUDWATCH_HPP
#define WAYBILL_WIRE_CLOUDWATCH_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire::cloudwatch {

/// A log event.
struct event {
    std::string_view message{};  ///< UTF-8.
    std::int64_t timestamp = 0;  ///< Milliseconds.
};

/// Bytes that the service counts for the event. Constant time. Documented.
[[nodiscard]] constexpr std::uint64_t size(const event& e) noexcept
{
    constexpr std::uint64_t overhead = 26;  // for each event
    return waybill::detail::saturating_add(e.message.size(), overhead);
}

/// PutLogEvents as a framing. An event that the batch must not contain adds 2^64 - 1 bytes.
struct put_log_events {
    /// Maximum time from the first event to the last, in milliseconds. 24 hours by default.
    std::uint64_t span = 86'400'000;

    /// Times of the batch built so far.
    struct state {
        bool any = false;
        std::int64_t first = 0;
        std::int64_t last = 0;

        friend bool operator==(const state&, const state&) = default;
    };

    /// 0: the request itself is not counted.
    [[nodiscard]] constexpr std::uint64_t envelope(const event&) const noexcept { return 0; }

    /// Bytes that `e` adds as the next event. The result is 2^64 - 1 if `e` is earlier than the
    /// last event or more than `span` after the first. Constant time.
    [[nodiscard]] constexpr std::uint64_t delta(const state& s, const event& e) const noexcept
    {
        if (s.any) {
            const std::uint64_t elapsed =
                static_cast<std::uint64_t>(e.timestamp) - static_cast<std::uint64_t>(s.first);
            if (e.timestamp < s.last || elapsed > span) return waybill::detail::highest_size;
        }
        return cloudwatch::size(e);
    }

    /// Adds `e` to the batch. Constant time.
    constexpr void push(state& s, const event& e) const noexcept
    {
        if (!s.any) s.first = e.timestamp;
        s.last = e.timestamp;
        s.any = true;
    }
};

}  // namespace waybill::inline v0_2::wire::cloudwatch

#endif  // WAYBILL_WIRE_CLOUDWATCH_HPP
