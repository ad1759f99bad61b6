// SPDX-License-Identifier: MIT
//
// flapping: detects rules that request more and fewer instances at the same time.
//
// Example: more instances above 100 and fewer below 200 would alternate forever at 150. A check
// before the policy is used finds such rules.
//
// Each set of comparisons that makes the rule up hold is paired with each set for the rule down. A
// pair clashes if it contains opposite comparisons (above and below) of the same metric, and all
// such comparisons can hold at the same time.
//
// mean, highest, lowest, first and last of a metric are treated as equal. If the mean is above 100
// and the highest below 200, both rules may hold.

#ifndef WAYBILL_SCALING_FLAPPING_HPP
#define WAYBILL_SCALING_FLAPPING_HPP

#include <cstddef>
#include <optional>
#include <vector>

#include <waybill/scaling/clash.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/ways.hpp>
#include <waybill/scaling/policy.hpp>

namespace waybill::inline v0_2::scaling {

/// Finds rules that flap by construction; empty if there is no clash. Function thresholds, and
/// ladders of more than 65 tiers, are tested at 65 numbers of instances only. Rules that need more
/// than 10,000 steps are not tested.
[[nodiscard]] inline std::optional<clash> flapping(const rule& up, const rule& down,
                                                   const bounds& instances,
                                                   const std::vector<capacity_tier>& ladder = {})
{
    detail::way_finder find;
    const std::vector<detail::way> ups = find.ways(up);
    const std::vector<detail::way> downs = find.ways(down);
    if (find.gave_up()) return {};
    std::size_t steps = 0;
    for (const detail::way& u : ups) {
        for (const detail::way& d : downs) {
            steps += u.size() * d.size();
            if (steps > detail::max_steps) return {};
            std::optional<clash> found = detail::clash_of(u, d, instances, ladder);
            if (found) return found;
        }
    }
    return {};
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_FLAPPING_HPP
