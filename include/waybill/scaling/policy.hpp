// SPDX-License-Identifier: MIT
//
// policy: when to add and remove instances, how many, and how often.
//
//     namespace sc = waybill::scaling;
//     const sc::policy p{.up = sc::any_of(sc::mean("orders") > sc::per_instance(100),
//                                         sc::highest("age") > 300),
//                        .down = sc::all_of(sc::highest("orders") < 10, sc::highest("mails") < 10),
//                        .min_points = 5,
//                        .cooldown = {.up = 1min, .down = 10min},
//                        .instances = {1, 20}};
//
// A policy is a value. It can be compared, stored (ext/json/scaling.hpp) and checked before use
// (check_policy.hpp). Only `up` and `down` may be custom conditions: `policy_of(up, down)`.

#ifndef WAYBILL_SCALING_POLICY_HPP
#define WAYBILL_SCALING_POLICY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/condition.hpp>

namespace waybill::inline v0_2::scaling {

/// A target load per instance. It requests the number of instances at which each has the load
/// `each`.
struct target {
    measured of{};    ///< The total load; if `averaged`, the average load of an instance.
    double each = 0;  ///< The wanted load of one instance. Above 0.
    /// Relative deviations up to this cause no change. In [0, 1).
    per_direction<double> tolerance{0.1, 0.1};

    friend bool operator==(const target&, const target&) = default;
};

/// An additional rule with its own step. If several bands hold, the largest change counts.
struct band {
    rule when{};
    change by{};

    friend bool operator==(const band&, const band&) = default;
};

/// The lowest and highest number of instances, both included. With a ladder: tier indices.
/// `highest` has no default that scales: `validate` refuses 0.
struct bounds {
    std::uint64_t lowest = 1;
    std::uint64_t highest = 0;

    friend bool operator==(const bounds&, const bounds&) = default;
};

/// Waiting times after applied changes.
struct cooldowns {
    /// After a change up, the minimum time until the next change up.
    duration up{};
    /// After a change in either direction, the minimum time until a change down.
    duration down{};
    bool shared = false;  ///< If true, a change up also waits `up` after a change down.

    friend bool operator==(const cooldowns&, const cooldowns&) = default;
};

/// A named capacity tier, such as a database size, and its capacity in the unit of the thresholds.
struct capacity_tier {
    std::string name{};
    std::uint64_t capacity = 0;

    friend bool operator==(const capacity_tier&, const capacity_tier&) = default;
};

/// A plain value; `validate` finds invalid fields. The guide has a table of the defaults. Instances
/// are added at once and one at a time, and removed if that was wanted for 5 minutes.
template <condition Up = rule, condition Down = rule>
struct basic_policy {
    Up up{};      ///< More instances if it holds.
    Down down{};  ///< Fewer instances if it holds and nothing requests more.
    /// The largest known target counts. If a target is unknown, no instance is removed.
    std::vector<target> targets{};
    /// A metric with fewer points is unknown.
    std::uint64_t min_points = 1;
    /// A metric with an older last sample is unknown.
    duration max_age = duration::highest();
    /// The waiting times after changes.
    cooldowns cooldown{};
    /// The lowest and highest number of instances. Must be set.
    bounds instances{};
    /// The step of `up` and `down`.
    per_direction<change> step{};
    /// Bands up count independently of `up`. Bands down count only if `down` holds.
    per_direction<std::vector<band>> bands{};
    /// A change must be wanted for this whole period. Down: the default of Kubernetes.
    per_direction<duration> stabilise{{}, duration::seconds(300)};
    /// Limits on the changes within a period. All of them apply.
    per_direction<std::vector<rate_limit>> rate{};
    /// The time until new instances work at full capacity.
    duration warm_up{};
    /// Holds if at least one instance is needed. Required if `instances.lowest` is 0, but not
    /// allowed with a ladder.
    std::optional<rule> activation{};
    /// The time for which `activation` must have been false before all instances are removed, from
    /// any number to zero. This replaces `stabilise.down` and `rate.down`, as KEDA's cooldownPeriod
    /// does, which has the same default. Cooldown and warm-up still apply. A target or `down` with
    /// a metric that `activation` does not compare must also need no instance for that time.
    duration zero_after = duration::seconds(300);
    /// Named tiers in ascending order of capacity. Numbers of instances are then tier indices.
    std::vector<capacity_tier> ladder{};
    /// False forbids changes in this direction.
    per_direction<bool> allow{true, true};
    /// The minimum number of instances while the need is unknown.
    std::optional<std::uint64_t> if_unknown{};
    /// The maximum time for a command. After that, it is no longer pending.
    duration patience = duration::seconds(300);
    /// The waiting time after a failed command. With 0, each decision repeats it.
    duration after_failure = duration::seconds(30);
    /// Used by `autoscale` only: the interval of decisions.
    duration every = duration::seconds(15);
    /// Used by `autoscale` only: the samples of this period count. At least `every`.
    duration window = duration::seconds(300);

    friend bool operator==(const basic_policy&, const basic_policy&) = default;
};

using policy = basic_policy<>;

/// A policy with conditions of any type. All other fields have their defaults.
template <condition Up, condition Down>
[[nodiscard]] basic_policy<Up, Down> policy_of(Up up, Down down)
{
    return {.up = std::move(up), .down = std::move(down)};
}

/// The capacity of tier `at`, or of the highest tier if `at` is beyond it. Without a ladder: `at`,
/// the number of instances.
[[nodiscard]] inline std::uint64_t capacity_at(const std::vector<capacity_tier>& ladder,
                                               std::uint64_t at)
{
    if (ladder.empty()) return at;
    return at < ladder.size() ? ladder[at].capacity : ladder.back().capacity;
}

/// The lowest tier with at least this capacity, or the highest tier. Without a ladder: `capacity`.
/// Linear.
[[nodiscard]] inline std::uint64_t tier_for(const std::vector<capacity_tier>& ladder,
                                            std::uint64_t capacity)
{
    if (ladder.empty()) return capacity;
    std::size_t n = 0;
    while (n + 1 < ladder.size() && ladder[n].capacity < capacity) ++n;
    return n;
}

/// The index of the tier with this name; empty if there is none. Linear.
[[nodiscard]] inline std::optional<std::uint64_t> tier_named(
    const std::vector<capacity_tier>& ladder, std::string_view name)
{
    for (std::size_t n = 0; n != ladder.size(); ++n) {
        if (ladder[n].name == name) return n;
    }
    return {};
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_POLICY_HPP
