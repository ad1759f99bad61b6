// SPDX-License-Identifier: MIT
//
// tracker_options: the limits of a completion tracker, and the types of its results.
//
// Part of the completion tracker.

#ifndef WAYBILL_TRACKING_TRACKER_OPTIONS_HPP
#define WAYBILL_TRACKING_TRACKER_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/detail/sequence_number.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/tracking/detail/done_runs.hpp>

namespace waybill::inline v0_2 {

namespace detail {

inline constexpr std::uint64_t max_tracker_span = std::uint64_t{1} << 31U;

}  // namespace detail

/// The limits of a completion tracker.
struct tracker_options {
    /// The kind of position that is committed.
    enum class commit_mark : std::uint8_t {
        low_water,   ///< All events up to it are done. Events done after it may be repeated.
        high_water,  ///< The last event that is done. Events in flight before it may be lost.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(commit_mark) noexcept
    {
        return "low_water, high_water";
    }

    std::uint64_t max_in_flight = 65'536;  ///< Maximum events in flight, in [1, span].
    std::uint64_t span = 1'048'576;  ///< Maximum events from the oldest in flight on; at most 2^31.
    commit_mark mark = commit_mark::low_water;  ///< The position that is committed.
    /// Generation of the first assignment. If this tracker replaces another one, set it to more
    /// than the other's generation(). Otherwise tickets of the other tracker are accepted here. It
    /// is not a policy, and stored options do not contain it.
    std::uint32_t first_generation = 0;

    friend bool operator==(const tracker_options&, const tracker_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const tracker_options& o) noexcept
{
    constexpr std::uint64_t max_span = detail::max_tracker_span;
    if (o.max_in_flight == 0) return config_error{"max_in_flight", 0, "must be at least", 1};
    if (o.span == 0) return config_error{"span", 0, "must be at least", 1};
    if (o.span > max_span) return config_error{"span", o.span, "must be at most", max_span};
    if (o.max_in_flight > o.span)
        return config_error{"max_in_flight", o.max_in_flight, "must be at most span", o.span};
    return std::nullopt;
}

/// The ticket of an event in flight. Keep it with the event. `number` only makes the search for the
/// event faster: a ticket with only the sequence number and the tracker's generation() also works.
struct tracked_event {
    std::uint64_t sequence = 0;
    std::uint32_t generation = 0;
    std::uint32_t number = 0;

    friend bool operator==(const tracked_event&, const tracked_event&) = default;
};

namespace detail {

/// The last event that is done, if any, from an integer of any type. A negative number means no
/// event: the log is then read from its beginning, which loses nothing.
class done_position {
public:
    constexpr done_position() noexcept = default;
    constexpr done_position(std::nullopt_t) noexcept {}
    template <sequence_like N>
    constexpr done_position(N n) noexcept : at_(as_sequence(n))
    {
    }
    template <sequence_like N>
    constexpr done_position(const std::optional<N>& n) noexcept
    {
        if (n) at_ = as_sequence(*n);
    }

    [[nodiscard]] constexpr const std::optional<std::uint64_t>& at() const noexcept { return at_; }

private:
    std::optional<std::uint64_t> at_;
};

}  // namespace detail

/// The start of an assignment.
struct tracker_start {
    /// The reason why bytes cannot be decoded.
    enum class decode_error : std::uint8_t {
        not_text,    ///< The text is not base64 as encode_text() writes it.
        corrupt,     ///< The bytes were changed, or were encoded with another `salt`.
        newer,       ///< The bytes were encoded by a later version of waybill.
        other_base,  ///< The bytes belong to another position than the committed one.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(decode_error) noexcept
    {
        return "not_text, corrupt, newer, other_base";
    }

    std::optional<std::uint64_t> from{};  ///< The last event done; the assignment begins after it.
    /// If `from` is empty: the position of the first event, if known.
    std::optional<std::uint64_t> next{};
    detail::done_runs done{};  ///< Positions after `from` that are already done.

    friend bool operator==(const tracker_start&, const tracker_start&) = default;
};

namespace detail {

/// A range of positions that are all done or all not done. Gaps belong to done ranges.
struct tracked_range {
    detail::position_run at{};  ///< First and last position, both included.
    bool done = false;
    /// If done: the number of events in it. Gaps do not count, except in ranges that an earlier
    /// owner had done.
    std::uint64_t events = 0;

    friend bool operator==(const tracked_range&, const tracked_range&) = default;
};

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_TRACKING_TRACKER_OPTIONS_HPP
