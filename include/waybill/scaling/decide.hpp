// SPDX-License-Identifier: MIT
//
// decide: computes the wanted number of instances, and the reasons.
//
//     const scaling::reading known[]{scaling::read("orders", orders.query(now)),
//                                    scaling::read("age", age.query(now))};
//     scaling::decision d = scaling::decide(policy, known, state, instances, now);
//     // d.verdict, d.from, d.to, d.why, d.until, d.reasons
//     state.on(d);
//
// A pure function: a dry run discards the decision. Steps 3 to 8 can only make a change smaller.
// The module's guide has the details of each step.
//   1. Rules and targets request a number. Unknown values never remove instances.
//   2. Bounds: if the current number is outside, it is corrected at once, without steps 4 to 8.
//   3. No change while a command is pending, and for `after_failure` after a failed one.
//   4. No change in a direction that `allow` excludes; no removal during warm-up.
//   5. Stabilisation: only the part of a change that was wanted for the whole period is made.
//   6. Flapping: only as many instances are removed as would not be added again at once.
//   7. Rate limits, and 8. cooldowns; both count applied changes.
//   If `activation` holds, the first instance skips warm-up and steps 5 to 8. If it was false for
//   `zero_after`, all instances are removed without steps 5 to 7, as in KEDA. Exception: a target
//   or `down` with a metric that `activation` does not compare needs one.

#ifndef WAYBILL_SCALING_DECIDE_HPP
#define WAYBILL_SCALING_DECIDE_HPP

#include <cstdint>
#include <span>

#include <waybill/core/time.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/detail/decision_builder.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/state.hpp>

namespace waybill::inline v0_2::scaling {

/// Decides about `instances`, the current number (with a ladder: the current tier). If it equals
/// the target of the pending command, that command counts as applied now. Every policy gets a
/// decision, also one that `validate` refuses. Linear in the comparisons times the metrics, times
/// the logarithm of the number of instances to remove. Allocates only for the rows.
template <condition Up, condition Down>
[[nodiscard]] decision decide(const basic_policy<Up, Down>& p, std::span<const reading> metrics,
                              const state& s, std::uint64_t instances, wall_time now)
{
    const bool arrived = s.pending && s.pending->issued.to == instances;
    if (!arrived && !s.has_future_times(now)) {
        return detail::decision_builder<Up, Down>(p, metrics, s, instances, now).build();
    }
    // Stored times far in the future come from a wrong clock and are corrected. A command whose
    // target is reached counts as applied.
    state updated = s;
    updated.correct_future_times(now);
    if (arrived) updated.on(applied{s.pending->issued.id}, now);
    decision d = detail::decision_builder<Up, Down>(p, metrics, updated, instances, now).build();
    d.arrived = arrived;
    return d;
}

/// Deleted: the rows of a decision refer to the policy, so a temporary is not accepted.
template <condition Up, condition Down>
void decide(const basic_policy<Up, Down>&& p, std::span<const reading> metrics, const state& s,
            std::uint64_t instances, wall_time now) = delete;

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_DECIDE_HPP
