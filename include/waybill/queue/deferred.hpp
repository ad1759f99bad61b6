// SPDX-License-Identifier: MIT
//
// deferred: the entry of a deferred message, and the options of deferred_messages.
//
// Part of deferred_messages.hpp, which has an example and the guarantees.

#ifndef WAYBILL_QUEUE_DEFERRED_HPP
#define WAYBILL_QUEUE_DEFERRED_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// A deferred message that waits at the broker.
struct deferred {
    std::uint64_t sequence = 0;  ///< The broker's sequence number, needed to fetch the message.
    wall_time due{};             ///< When the message is to be fetched.
    std::uint32_t attempts = 0;  ///< Failed attempts; counted by the caller.
    std::string session{};       ///< Empty if the message has no session.
    std::string id{};            ///< The caller's own identifier; may be empty.
    wall_time since{};           ///< When it was first deferred; set by the caller if needed.

    friend bool operator==(const deferred&, const deferred&) = default;
};

struct deferral_options {
    /// The order of the entries that `take` returns. It does not change which entries those are. A
    /// broker may refuse to return messages of several partitions in one request;
    /// `group_by_partition` puts the entries of one partition next to each other.
    enum class hand_out_order : std::uint8_t {
        by_due,  ///< By due time, then by sequence number.
        /// Grouped; the partition of the earliest due entry comes first.
        group_by_partition,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(hand_out_order) noexcept
    {
        return "by_due, group_by_partition";
    }

    std::uint64_t max_messages = detail::highest_size;  ///< Maximum number of entries, at least 1.
    duration hold = duration::seconds(60);              ///< Maximum time in hand without a report.
    /// If true, at most one entry of a session is in hand, and `take` returns only the lowest
    /// number of a session. Higher numbers wait for it, even if they are due earlier.
    bool session_order = true;

    friend bool operator==(const deferral_options&, const deferral_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const deferral_options& o) noexcept
{
    if (o.max_messages == 0) return config_error{"deferral.max_messages", 0, "must be at least", 1};
    if (o.hold <= duration{}) {
        return config_error{"deferral.hold", detail::magnitude(o.hold),
                            "nanoseconds must be more than", 0, o.hold < duration{}};
    }
    return {};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_DEFERRED_HPP
