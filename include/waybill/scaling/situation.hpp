// SPDX-License-Identifier: MIT
//
// situation: the input of a condition: metrics, the number of instances and the time.

#ifndef WAYBILL_SCALING_SITUATION_HPP
#define WAYBILL_SCALING_SITUATION_HPP

#include <cstdint>
#include <span>

#include <waybill/core/time.hpp>
#include <waybill/scaling/reading.hpp>

namespace waybill::inline v0_2::scaling {

/// The input of a condition.
struct situation {
    std::span<const reading> metrics{};
    std::uint64_t instances = 0;
    wall_time now{};
    /// The minimum number of points; a comparison may specify its own.
    std::uint64_t min_points = 1;
    /// The maximum age of the last sample; a comparison may specify its own.
    duration max_age = duration::highest();
    /// The factor for metrics that are `averaged`: current capacity divided by projected capacity.
    double load = 1;
};

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_SITUATION_HPP
