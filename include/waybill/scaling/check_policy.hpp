// SPDX-License-Identifier: MIT
//
// check_policy: validates a policy before its use.
//
//     if (auto bad = waybill::scaling::validate(p)) die(waybill::scaling::describe(*bad));
//     // /down/all/0/below: expected a threshold below 100 (at which "orders" scales up, with
//     // 1 instance), found 120
//
// Paths are those of the policy's JSON (ext/json/scaling.hpp).

#ifndef WAYBILL_SCALING_CHECK_POLICY_HPP
#define WAYBILL_SCALING_CHECK_POLICY_HPP

#include <concepts>
#include <optional>

#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/policy_checker.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/policy_error.hpp>

namespace waybill::inline v0_2::scaling {

/// The first error in a policy; empty if it is valid. Custom conditions are not checked.
template <condition Up, condition Down>
[[nodiscard]] std::optional<policy_error> validate(const basic_policy<Up, Down>& p)
{
    detail::policy_checker c;
    detail::check_requests(c, p);
    detail::check_bounds(c, p.instances, p.ladder, p.activation.has_value());
    detail::check_pace(c, p);
    if constexpr (std::same_as<Up, rule> && std::same_as<Down, rule>) {
        if (!c.error) detail::check_flapping(c, p.up, p.bands.up, p.down, p.instances, p.ladder);
    }
    return c.error;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_CHECK_POLICY_HPP
