// SPDX-License-Identifier: MIT
//
// send_policy: how a sender is to send.

#ifndef WAYBILL_BATCH_SEND_POLICY_HPP
#define WAYBILL_BATCH_SEND_POLICY_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/time.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

/// What to do with a batch of which nobody knows whether it arrived.
enum class when_unknown : std::uint8_t {
    repeat,     ///< The identical batch again: for brokers that drop duplicates, or readers that do.
    hand_back,  ///< Its items end as `undecided`.
};

[[nodiscard]] constexpr std::string_view name(when_unknown w) noexcept
{
    switch (w) {
        case when_unknown::repeat: return "repeat";
        case when_unknown::hand_back: return "hand_back";
    }
    return "?";
}

/// The treatment of an item that exceeds a limit. If only a reported number makes it too large, the
/// item is sent alone. After an item that is no larger was refused alone, only some are sent, in
/// case the limit was raised (send_trials.hpp).
enum class when_too_large : std::uint8_t {
    report,      ///< It ends as `too_large`, without being sent.
    send_alone,  ///< It is sent as a batch of one: the broker knows better.
    replace,     ///< The caller is asked for a smaller one in its place (claim check).
};

[[nodiscard]] constexpr std::string_view name(when_too_large w) noexcept
{
    switch (w) {
        case when_too_large::report: return "report";
        case when_too_large::send_alone: return "send_alone";
        case when_too_large::replace: return "replace";
    }
    return "?";
}

/// How to send. A plain value; `check` finds what cannot work.
struct send_policy {
    limits limit{};
    std::uint64_t header = 0;               ///< First guess of an item's bytes beyond its body.
    /// Sizes are those that the broker counts: nothing is estimated, and `header` is ignored.
    bool exact_sizes = false;
    std::uint32_t in_flight = 1;            ///< Most attempts on their way at a time; 0 reads as 1.
    /// One attempt in flight a key, and a key stops at its first item that does not arrive.
    bool ordered = false;
    bool one_key = false;                   ///< All items of a batch have the same key.
    when_too_large on_too_large = when_too_large::report;
    /// How long a batch may wait to fill. It counts from when the batch begins: with its first item,
    /// or when the batch before it has gone.
    duration linger = duration::highest();
    when_unknown on_unknown = when_unknown::repeat;
    retry_policy retry{};                   ///< `most` over 255 reads as 255.
    retry_budget budget{};

    friend bool operator==(const send_policy&, const send_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const send_policy& p) noexcept
{
    if (p.in_flight == 0) return config_error{"in_flight", 0, "must be at least", 1};
    if (p.linger < duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(p.linger.count());
        return config_error{"linger", ns, "nanoseconds must be at least", 0, true};
    }
    if (const auto bad = check(p.limit)) return bad;
    if (const auto bad = check(p.retry)) return bad;
    return check(p.budget);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_POLICY_HPP
