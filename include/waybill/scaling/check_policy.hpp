// SPDX-License-Identifier: MIT
//
// check_policy: validates a policy before its use.
//
//     if (auto bad = waybill::scaling::validate(p)) die(waybill::scaling::describe(*bad));
//     // /down/all/0/below: expected a threshold below the 100 from where on "orders" asks for
//     // more, with 1 instance, found 120
//
// Paths are those of the policy's JSON (ext/json_scaling.hpp).

#ifndef WAYBILL_SCALING_CHECK_POLICY_HPP
#define WAYBILL_SCALING_CHECK_POLICY_HPP

#include <concepts>
#include <optional>
#include <string>

#include <waybill/core/time.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/detail/policy_checker.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/policy_error.hpp>

namespace waybill::inline v0_2::scaling {

/// The first error in a policy; empty if it is valid. Custom conditions are not checked.
template <condition Up, condition Down>
[[nodiscard]] std::optional<policy_error> validate(const basic_policy<Up, Down>& p)
{
    detail::policy_checker c;
    if (!is_set(p.up) && p.bands.up.empty() && p.targets.empty() && !p.activation) {
        c.fail("/up", "a rule or a target, or nothing is ever started", "none");
    }
    c.fewest = detail::greater(capacity_at(p.ladder, p.instances.lowest), 1);
    if constexpr (std::same_as<Up, rule>) {
        if (!p.up.empty()) c.check_rule("/up", p.up);
    }
    if constexpr (std::same_as<Down, rule>) {
        if (!p.down.empty()) c.check_rule("/down", p.down);
    }
    if (!is_set(p.down) && !p.bands.down.empty()) {
        c.fail("/down", "a rule, as the bands down count only where it holds", "none");
    }
    detail::check_targets(c, p.targets);
    c.not_negative("/max_age", p.max_age);
    c.not_negative("/cooldown/up", p.cooldown.up);
    c.not_negative("/cooldown/down", p.cooldown.down);
    if (p.if_unknown && *p.if_unknown > p.instances.highest) {
        c.fail("/if_unknown", "at most the highest, " + std::to_string(p.instances.highest),
               std::to_string(*p.if_unknown));
    }
    detail::check_bands(c, "/bands/up", p.bands.up);
    detail::check_bands(c, "/bands/down", p.bands.down);
    c.fewest = p.instances.lowest;
    if (p.activation && p.activation->empty()) c.fail("/activation", "a rule", "none");
    if (p.activation && !p.activation->empty()) c.check_rule("/activation", *p.activation);
    detail::check_bounds(c, p.instances, p.ladder, p.activation.has_value());
    c.check_change("/step/up", p.step.up);
    c.check_change("/step/down", p.step.down);
    c.not_negative("/stabilise/up", p.stabilise.up);
    c.not_negative("/stabilise/down", p.stabilise.down);
    detail::check_rates(c, "/rate/up", p.rate.up);
    detail::check_rates(c, "/rate/down", p.rate.down);
    c.not_negative("/warm_up", p.warm_up);
    c.not_negative("/zero_after", p.zero_after);
    if (p.patience <= duration{}) {
        c.fail("/patience", "a time that a command may take",
               std::to_string(p.patience.count()) + " ns");
    }
    c.not_negative("/after_failure", p.after_failure);
    if constexpr (std::same_as<Up, rule> && std::same_as<Down, rule>) {
        if (!c.error) detail::check_flapping(c, p.up, p.bands.up, p.down, p.instances, p.ladder);
    }
    return c.error;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_CHECK_POLICY_HPP
