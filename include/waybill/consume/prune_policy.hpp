// SPDX-License-Identifier: MIT
//
// prune_policy: how many dead letters are kept, and for how long. Used by plan_prune in prune.hpp.

#ifndef WAYBILL_CONSUME_PRUNE_POLICY_HPP
#define WAYBILL_CONSUME_PRUNE_POLICY_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The limits for stored dead letters. `validate` rejects invalid values. By default nothing is
/// limited. Times have the type duration, so that hours and days cannot be confused.
struct prune_policy {
    /// The number of recent dead letters that indicates an outage instead of single invalid
    /// messages.
    struct spike_limit {
        std::uint64_t count = detail::highest_size;  ///< Recent rows that make a spike. At least 1.
        duration within = duration::seconds(600);    ///< Highest age of a row that counts. Above 0.

        friend bool operator==(const spike_limit&, const spike_limit&) = default;
    };

    /// The action if the store reaches a limit during a spike.
    enum class when_full : std::uint8_t {
        /// `count` and `bytes` remove no row. The caller must accept no new dead letters, for
        /// example by `force_open` of the circuit breaker: new failures stay in their queue.
        refuse_new,
        drop_oldest,  ///< Remove the oldest rows, as few as make space for another one.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(when_full) noexcept
    {
        return "refuse_new, drop_oldest";
    }

    duration age = duration::highest();  ///< Older rows are removed. Above 0.
    /// Number of rows that starts a removal. At least 1.
    std::uint64_t count = detail::highest_size;
    /// Number of bytes that starts a removal. At least 1.
    std::uint64_t bytes = detail::highest_size;
    /// A removal for `count` or `bytes` leaves at most this share of that limit. In [0, 1]. Not
    /// used in a spike.
    double low_water = 0.9;
    spike_limit spike{};  ///< If it has a count, `within` must be less than `age`.
    when_full full = when_full::refuse_new;  ///< The action if a limit is reached during a spike.

    friend bool operator==(const prune_policy&, const prune_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const prune_policy& p) noexcept
{
    if (p.age <= duration{}) {
        return config_error{"prune.age", detail::magnitude(p.age), "nanoseconds must be more than",
                            0, p.age < duration{}};
    }
    if (p.count == 0) return config_error{"prune.count", 0, "must be at least", 1};
    if (p.bytes == 0) return config_error{"prune.bytes", 0, "must be at least", 1};
    if (!(p.low_water >= 0 && p.low_water <= 1)) {
        return detail::ratio_error("prune.low_water", p.low_water,
                                   "must be a number of thousandths from 0 to", 1'000);
    }
    if (p.spike.count == 0) return config_error{"prune.spike.count", 0, "must be at least", 1};
    if (p.spike.within <= duration{}) {
        return config_error{"prune.spike.within", detail::magnitude(p.spike.within),
                            "nanoseconds must be more than", 0, p.spike.within < duration{}};
    }
    if (p.spike.count != detail::highest_size && p.age <= p.spike.within) {
        return config_error{"prune.age", detail::magnitude(p.age),
                            "nanoseconds must be more than prune.spike.within",
                            detail::magnitude(p.spike.within)};
    }
    return {};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_PRUNE_POLICY_HPP
