// SPDX-License-Identifier: MIT
//
// prune_policy: how many dead letters are kept, and for how long.
//
// Part of prune.hpp, where it is told how it is used.

#ifndef WAYBILL_RETRY_PRUNE_POLICY_HPP
#define WAYBILL_RETRY_PRUNE_POLICY_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

/// What to do where the store is full and a spike keeps all that could go.
enum class when_full : std::uint8_t {
    refuse_new,   ///< Keep it. New dead letters have to stay where they are: shut the valve.
    drop_oldest,  ///< The oldest go after all, as few as make room for one.
};

[[nodiscard]] constexpr std::string_view name(when_full w) noexcept
{
    switch (w) {
        case when_full::refuse_new: return "refuse_new";
        case when_full::drop_oldest: return "drop_oldest";
    }
    return "?";
}

/// So many dead letters in so short a time are no single messages that are wrong.
struct prune_spike {
    std::uint64_t count = highest_size;  ///< At least so many,
    duration within = duration::seconds(600);  ///< not longer ago than this.

    friend bool operator==(const prune_spike&, const prune_spike&) = default;
};

/// How dead letters are kept. A plain value; `check` finds what cannot work. Nothing is limited by
/// default. Times are durations, so hours are not taken for days.
struct prune_policy {
    duration age = duration::highest();  ///< Those that are older go.
    std::uint64_t count = highest_size;  ///< When there are so many, the oldest go,
    std::uint64_t bytes = highest_size;  ///< and when there are so many bytes,
    double low_water = 0.9;              ///< until there is no more than this share of either.
    prune_spike spike{};
    when_full full = when_full::refuse_new;

    friend bool operator==(const prune_policy&, const prune_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const prune_policy& p) noexcept
{
    if (p.age <= duration{}) {
        return config_error{"prune.age", detail::magnitude(p.age), "nanoseconds must be more than",
                            0, p.age < duration{}};
    }
    if (p.count == 0) return config_error{"prune.count", 0, "must be at least", 1};
    if (p.bytes == 0) return config_error{"prune.bytes", 0, "must be at least", 1};
    if (!(p.low_water >= 0 && p.low_water <= 1)) {
        return detail::wrong_share("prune.low_water", p.low_water,
                                   "must be a number of thousandths from 0 to", 1'000);
    }
    if (p.spike.count == 0) return config_error{"prune.spike.count", 0, "must be at least", 1};
    if (p.spike.within <= duration{}) {
        return config_error{"prune.spike.within", detail::magnitude(p.spike.within),
                            "nanoseconds must be more than", 0, p.spike.within < duration{}};
    }
    if (p.spike.count != highest_size && p.age <= p.spike.within) {
        return config_error{"prune.age", detail::magnitude(p.age),
                            "nanoseconds must be more than those of a spike",
                            detail::magnitude(p.spike.within)};
    }
    return {};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_PRUNE_POLICY_HPP
