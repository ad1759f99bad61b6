// SPDX-License-Identifier: MIT
//
// settle_levels: checks the levels of a `settle_policy` against its limit of deliveries.

#ifndef WAYBILL_QUEUE_DETAIL_SETTLE_LEVELS_HPP
#define WAYBILL_QUEUE_DETAIL_SETTLE_LEVELS_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/retry/levels.hpp>

namespace waybill::inline v0_2::detail {

/// Returns the first error. Tries or deliveries must have a limit. If a deferral resets the count
/// of deliveries (`renews`), the tries must have one. Limited tries must be at most
/// `max_deliveries`: those of one round if `renews` is true, otherwise those of all rounds.
[[nodiscard]] constexpr std::optional<config_error> check_levels(const retry_levels& levels,
                                                                 std::uint64_t max_deliveries,
                                                                 bool renews) noexcept
{
    const std::uint64_t tries = levels.max_attempts();
    if (tries == highest_size && (renews || max_deliveries == highest_size)) {
        return config_error{"levels.delayed", levels.delayed,
                            "must be less than unlimited, because deliveries have no limit",
                            retry_levels::unlimited};
    }
    if (renews && levels.immediate >= max_deliveries) {
        return config_error{"levels.immediate", levels.immediate,
                            "must be less than max_deliveries", max_deliveries};
    }
    if (!renews && tries != highest_size && tries > max_deliveries) {
        return config_error{"levels", tries,
                            "tries in total must be at most max_deliveries, or levels.delayed "
                            "unlimited",
                            max_deliveries};
    }
    return validate(levels);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_SETTLE_LEVELS_HPP
