// SPDX-License-Identifier: MIT
//
// policy: when to have more instances, when fewer, by how many, and how often.
//
//     namespace sc = waybill::scaling;
//     const sc::policy p{.up = sc::any_of(sc::mean("orders") > sc::per_instance(100),
//                                         sc::highest("age") > 300),
//                        .down = sc::all_of(sc::highest("orders") < 10, sc::highest("mails") < 10),
//                        .min_points = 5,
//                        .cooldown = {.up = 1min, .down = 10min},
//                        .instances = {1, 20}};
//
// A policy is a value: it is compared, stored (ext/json_scaling.hpp) and checked before it is used
// (check_policy.hpp). Only `up` and `down` may be conditions of your own; `policy_of(up, down)`
// makes such a one.

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

/// Instances for the load: as many as there would be with `each` on one of them.
struct target {
    measured of{};    ///< All that there is to do; or where it is `averaged`, what an instance has.
    double each = 0;  ///< What one instance should have of it.
    both_ways<double> tolerance{0.1, 0.1};  ///< As much too much or too little does not matter.

    friend bool operator==(const target&, const target&) = default;
};

/// A change of its own where more holds than `up` or `down` alone say. Of several that hold, the
/// greatest change counts.
struct band {
    rule when{};
    change by{};

    friend bool operator==(const band&, const band&) = default;
};

/// How many instances there may be, both included. Of a ladder, which rungs.
struct bounds {
    std::uint64_t lowest = 1;
    std::uint64_t highest = 1;

    friend bool operator==(const bounds&, const bounds&) = default;
};

/// How long to wait behind a change that was applied. A change up waits for the last one up; a
/// change down for the last one of either kind.
struct cooldowns {
    duration up{};
    duration down{};
    bool shared = false;  ///< A change up waits for one down, too.

    friend bool operator==(const cooldowns&, const cooldowns&) = default;
};

/// A size that has a name, as of a database, and how many instances it is worth.
struct rung {
    std::string name{};
    std::uint64_t capacity = 0;

    friend bool operator==(const rung&, const rung&) = default;
};

/// A plain value; `check` finds what cannot work. Defaults: one instance up or down at a time, no
/// waiting.
template <condition Up = rule, condition Down = rule>
struct basic_policy {
    Up up{};      ///< More, where it holds.
    Down down{};  ///< Fewer, where it holds and nothing asks for more.
    std::vector<target> targets{};  ///< So many; the greatest counts, and all that is known of it.
    std::uint64_t min_points = 1;   ///< A metric with fewer is unknown.
    duration max_age = duration::highest();  ///< And one whose last sample is older.
    cooldowns cooldown{};
    bounds instances{};
    both_ways<change> step{};              ///< What `up` and `down` change.
    both_ways<std::vector<band>> bands{};  ///< One up counts alone; one down where `down` holds.
    both_ways<duration> stabilise{};  ///< A change has to be asked for all of this time.
    both_ways<std::vector<rate_limit>> rate{};  ///< All of them hold.
    duration warm_up{};  ///< How long new instances need before they can do their part.
    std::optional<rule> activation{};  ///< Where there may be none: when the first one is needed.
    /// How long `activation` must have been false before all instances go, from any number to zero.
    /// It then replaces `stabilise.down` and `rate.down`, as KEDA's cooldownPeriod does. Cooldown
    /// and warm-up still apply.
    duration zero_after{};
    std::vector<rung> ladder{};  ///< Sizes with names in the place of numbers of instances.
    both_ways<bool> allow{true, true};            ///< A direction that is never gone is false.
    std::optional<std::uint64_t> if_unknown{};    ///< At least so many where nobody knows.
    duration patience = duration::seconds(300);   ///< How long a command may take.
    duration after_failure{};                     ///< How long to wait behind one that failed.

    friend bool operator==(const basic_policy&, const basic_policy&) = default;
};

using policy = basic_policy<>;

/// A policy over conditions of any kind. The rest has its defaults.
template <condition Up, condition Down>
[[nodiscard]] basic_policy<Up, Down> policy_of(Up up, Down down)
{
    return {.up = std::move(up), .down = std::move(down)};
}

/// How many instances a rung is worth; without a ladder, as many as there are.
[[nodiscard]] inline std::uint64_t capacity_at(const std::vector<rung>& ladder, std::uint64_t at)
{
    if (ladder.empty()) return at;
    return at < ladder.size() ? ladder[at].capacity : ladder.back().capacity;
}

/// The lowest rung that is worth so many, or the highest. Linear.
[[nodiscard]] inline std::uint64_t rung_for(const std::vector<rung>& ladder, std::uint64_t capacity)
{
    if (ladder.empty()) return capacity;
    std::size_t n = 0;
    while (n + 1 < ladder.size() && ladder[n].capacity < capacity) ++n;
    return n;
}

/// Which rung has this name.
[[nodiscard]] inline std::optional<std::uint64_t> rung_called(const std::vector<rung>& ladder,
                                                             std::string_view name)
{
    for (std::size_t n = 0; n != ladder.size(); ++n) {
        if (ladder[n].name == name) return n;
    }
    return {};
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_POLICY_HPP
