// SPDX-License-Identifier: MIT
//
// clash: two comparisons of a policy that request more and fewer instances at the same time.

#ifndef WAYBILL_SCALING_CLASH_HPP
#define WAYBILL_SCALING_CLASH_HPP

#include <cstdint>

#include <waybill/scaling/condition.hpp>

namespace waybill::inline v0_2::scaling {

/// Two comparisons that can hold at the same time, with this number of instances.
struct clash {
    comparison up{};
    comparison down{};
    std::uint64_t instances = 0;
    /// True if more instances are requested above the threshold of `up`, and fewer below that of
    /// `down`. False in the opposite case. A comparison within `not` has the opposite direction.
    bool up_above = true;

    friend bool operator==(const clash&, const clash&) = default;
};

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_CLASH_HPP
