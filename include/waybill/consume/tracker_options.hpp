// SPDX-License-Identifier: MIT
//
// tracker_options: how much a completion tracker lets be under way, and what it says about events.
//
// Part of the completion tracker.

#ifndef WAYBILL_CONSUME_TRACKER_OPTIONS_HPP
#define WAYBILL_CONSUME_TRACKER_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/consume/done_runs.hpp>
#include <waybill/consume/sequence_number.hpp>
#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

/// Which position is the one to commit.
enum class commit_mark : std::uint8_t {
    low_water,   ///< Everything up to it is done. What was done behind it may be done again.
    high_water,  ///< The last one that is done. What is in flight in front of it may be lost.
};

/// How much may be under way. A plain value; `check` finds what cannot work.
struct tracker_options {
    std::uint64_t most = 65'536;     ///< Events in flight at once.
    std::uint64_t span = 1'048'576;  ///< Events from the oldest in flight on, in flight or done.
    commit_mark mark = commit_mark::low_water;
    /// Of the first assignment. A tracker that takes the place of another begins behind its
    /// generation(), or tickets of that one count here, too. No policy, and not written as one.
    std::uint32_t first_generation = 0;

    friend bool operator==(const tracker_options&, const tracker_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const tracker_options& o) noexcept
{
    constexpr std::uint64_t most = std::uint64_t{1} << 31U;
    if (o.most == 0) return config_error{"most", 0, "must be at least", 1};
    if (o.span == 0) return config_error{"span", 0, "must be at least", 1};
    if (o.span > most) return config_error{"span", o.span, "must be at most", most};
    if (o.most > o.span) return config_error{"most", o.most, "must be at most span", o.span};
    return std::nullopt;
}

/// An event in flight. Keep it with the event. `number` only makes it quick to find: a ticket made
/// of a sequence number and the tracker's generation() is as good.
struct ticket {
    std::uint64_t sequence = 0;
    std::uint32_t generation = 0;
    std::uint32_t number = 0;

    friend bool operator==(const ticket&, const ticket&) = default;
};

/// The last event that is done, if there is one, as an integer of any kind. A negative one is none:
/// the log is then read from its beginning, which loses nothing.
class done_position {
public:
    constexpr done_position() noexcept = default;
    constexpr done_position(std::nullopt_t) noexcept {}
    template <detail::sequence_like N>
    constexpr done_position(N n) noexcept : at_(detail::as_sequence(n))
    {
    }
    template <detail::sequence_like N>
    constexpr done_position(const std::optional<N>& n) noexcept
    {
        if (n) at_ = detail::as_sequence(*n);
    }

    [[nodiscard]] constexpr const std::optional<std::uint64_t>& at() const noexcept { return at_; }

private:
    std::optional<std::uint64_t> at_;
};

/// Why an event was not begun.
enum class begin_refusal : std::uint8_t {
    full,           ///< As much is under way as may be. Begin it when something is done.
    behind,         ///< The watermark has passed it: it is done, or was not wanted.
    duplicate,      ///< It is in flight.
    done_before,    ///< It is done, and the watermark is not there yet. There is nothing to do.
    not_ascending,  ///< It was never begun, and one behind it was. It is not waited for.
    not_assigned,   ///< The partition was revoked.
    invalid,        ///< It is negative, or needs more than 64 bits.
};

[[nodiscard]] constexpr std::string_view name(commit_mark m) noexcept
{
    switch (m) {
        case commit_mark::low_water: return "low_water";
        case commit_mark::high_water: return "high_water";
    }
    return "?";
}

[[nodiscard]] constexpr std::string_view name(begin_refusal r) noexcept
{
    switch (r) {
        case begin_refusal::full: return "full";
        case begin_refusal::behind: return "behind";
        case begin_refusal::duplicate: return "duplicate";
        case begin_refusal::done_before: return "done_before";
        case begin_refusal::not_ascending: return "not_ascending";
        case begin_refusal::not_assigned: return "not_assigned";
        case begin_refusal::invalid: return "invalid";
    }
    return "?";
}

/// The oldest event in flight, and how many done ones the watermark could pass but for it.
struct blocked {
    std::uint64_t sequence = 0;
    std::uint64_t waiting = 0;

    friend bool operator==(const blocked&, const blocked&) = default;
};

/// Where an assignment begins: behind `from`, the last event done, with `done` behind that already.
/// Where nothing was done yet, `next` is the position of the first event, if that is known.
struct tracker_start {
    std::optional<std::uint64_t> from{};
    std::optional<std::uint64_t> next{};
    done_runs done{};

    friend bool operator==(const tracker_start&, const tracker_start&) = default;
};

/// Positions from one to another, both counted: all done, or none. Gaps go with what is done.
struct tracked_stretch {
    position_run at{};
    bool done = false;
    std::uint64_t events = 0;  ///< Those done in it that are known to be events; 0 if none is done.

    friend bool operator==(const tracked_stretch&, const tracked_stretch&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_TRACKER_OPTIONS_HPP
