// SPDX-License-Identifier: MIT
//
// desired: the number of instances that rules and targets request, before any limit applies.

#ifndef WAYBILL_SCALING_DESIRED_HPP
#define WAYBILL_SCALING_DESIRED_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/tribool.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// Evaluates a condition and sets the role of its rows.
template <condition C>
[[nodiscard]] tribool evaluate(const C& c, const situation& s, role part,
                               std::vector<evidence>& because)
{
    std::size_t n = because.size();
    const tribool t = c(s, because);
    for (; n < because.size(); ++n) because[n].part = part;
    return t;
}

/// The capacity that a target needs; empty if unknown.
[[nodiscard]] inline std::optional<std::uint64_t> evaluate(const target& t, const situation& s,
                                                           std::vector<evidence>& because)
{
    evidence& e = because.emplace_back(
        look_up(s, t.of.metric, t.of.what, t.of.averaged, s.min_points, s.max_age));
    e.part = role::target;
    const auto n = static_cast<double>(s.instances);
    e.limit = t.of.averaged ? t.each : t.each * n;
    if (!is_finite(*e.limit)) e.limit.reset();
    if (e.missing == missing_part::nothing && !(t.each > 0 && is_finite(t.each)))
        e.missing = missing_part::limit;
    if (e.missing != missing_part::nothing) return {};
    const double wanted = t.of.averaged ? *e.value / t.each * n : *e.value / t.each;
    // The tolerance includes its ends, also with rounding errors.
    const bool within = s.instances != 0 &&
                        wanted <= n * (1 + t.tolerance.up) * (1 + rounding_tolerance) &&
                        wanted >= n * (1 - t.tolerance.down) * (1 - rounding_tolerance);
    e.wants = within ? s.instances : enough_instances(wanted);
    e.holds = truth_of(*e.wants > s.instances);
    return e.wants;
}

/// The number of instances (with a ladder: the tier) after a change c up from `at`. With a ladder,
/// `count` is in tiers and `percent` in capacity.
[[nodiscard]] inline std::uint64_t above(const std::vector<capacity_tier>& ladder, std::uint64_t at,
                                         const change& c)
{
    if (ladder.empty()) return waybill::detail::saturating_add(at, step_of(c, at));
    const std::uint64_t capacity = capacity_at(ladder, at);
    const std::uint64_t next = waybill::detail::saturating_add(at, greater(c.count, 1));
    const std::uint64_t part = enough_instances(share(c, capacity));
    return greater(next, tier_for(ladder, waybill::detail::saturating_add(capacity, part)));
}

/// The number of instances (with a ladder: the tier) after a change c down from `at`. See `above`.
[[nodiscard]] inline std::uint64_t below(const std::vector<capacity_tier>& ladder, std::uint64_t at,
                                         const change& c)
{
    if (ladder.empty()) return waybill::detail::saturating_sub(at, step_of(c, at));
    const std::uint64_t capacity = capacity_at(ladder, at);
    const std::uint64_t next = waybill::detail::saturating_sub(at, greater(c.count, 1));
    const std::uint64_t part = whole_instances(share(c, capacity));
    return lesser(next, tier_for(ladder, waybill::detail::saturating_sub(capacity, part)));
}

/// The highest number of instances or tier that a limit c allows from `at`. With a ladder, `count`
/// is in tiers, `percent` in capacity, and one tier is always allowed.
[[nodiscard]] inline std::uint64_t highest_allowed(const std::vector<capacity_tier>& ladder,
                                                   std::uint64_t at, const change& c)
{
    if (ladder.empty()) return waybill::detail::saturating_add(at, limit_of(c, at));
    const std::uint64_t capacity = capacity_at(ladder, at);
    const std::uint64_t max_capacity =
        waybill::detail::saturating_add(capacity, enough_instances(share(c, capacity)));
    std::uint64_t to = waybill::detail::saturating_add(at, greater(c.count, 1));
    while (to + 1 < ladder.size() && ladder[to + 1].capacity <= max_capacity) ++to;
    return to;
}

/// The lowest number of instances or tier that a limit c allows from `at`: see `highest_allowed`.
[[nodiscard]] inline std::uint64_t lowest_allowed(const std::vector<capacity_tier>& ladder,
                                                  std::uint64_t at, const change& c)
{
    if (ladder.empty()) return waybill::detail::saturating_sub(at, limit_of(c, at));
    const std::uint64_t capacity = capacity_at(ladder, at);
    const std::uint64_t part = enough_instances(share(c, capacity));
    return lesser(waybill::detail::saturating_sub(at, greater(c.count, 1)),
                  tier_for(ladder, waybill::detail::saturating_sub(capacity, part)));
}

/// The results of all rules and targets of a policy.
struct rule_results {
    tribool up = tribool::no;
    tribool down = tribool::no;
    tribool activation = tribool::yes;
    /// The number of instances or tier after the largest change up whose rule holds.
    std::uint64_t above = 0;
    /// The number of instances or tier after the largest change down; valid if `down` holds.
    std::uint64_t below = 0;
    /// The largest number of instances or tier that a known target needs.
    std::optional<std::uint64_t> target{};
    bool all_targets_known = true;
    /// See `decision::needed`.
    bool needed = false;
};

/// True if `r` compares this metric.
[[nodiscard]] inline bool compares(const rule& r, std::string_view metric)
{
    if (r.what() == rule::kind::compare) return r.compared().metric == metric;
    for (const rule& part : r.parts()) {
        if (compares(part, metric)) return true;
    }
    return false;
}

/// True if `r` compares each metric of `other`.
[[nodiscard]] inline bool compares_all(const rule& r, const rule& other)
{
    if (other.what() == rule::kind::compare) return compares(r, other.compared().metric);
    for (const rule& part : other.parts()) {
        if (!compares_all(r, part)) return false;
    }
    return true;
}

/// Evaluates a policy. `from` is the current number of instances or tier, from which changes down
/// start. Changes up start at `ready`, the number without instances that are warming up.
template <condition Up, condition Down>
[[nodiscard]] rule_results evaluate(const basic_policy<Up, Down>& p, const situation& s,
                                    std::uint64_t ready, std::uint64_t from,
                                    std::vector<evidence>& because)
{
    rule_results results{.above = from, .below = from};
    results.up = evaluate(p.up, s, role::up, because);
    if (results.up == tribool::yes) {
        results.above = greater(from, above(p.ladder, ready, p.step.up));
    }
    for (const band& b : p.bands.up) {
        const tribool t = evaluate(b.when, s, role::up, because);
        if (t == tribool::yes) results.above = greater(results.above, above(p.ladder, ready, b.by));
        results.up = either(results.up, t);
    }
    results.down = evaluate(p.down, s, role::down, because);
    results.below = below(p.ladder, from, p.step.down);
    for (const band& b : p.bands.down) {
        const tribool t = evaluate(b.when, s, role::down, because);
        if (t == tribool::yes) results.below = lesser(results.below, below(p.ladder, from, b.by));
    }
    const rule* const active = p.activation && s.instances != 0 ? &*p.activation : nullptr;
    if (p.activation) results.activation = evaluate(*p.activation, s, role::activation, because);
    if constexpr (std::same_as<Down, rule>) {
        if (active && results.down != tribool::yes) results.needed = !compares_all(*active, p.down);
    }
    for (const target& t : p.targets) {
        const std::optional<std::uint64_t> n = evaluate(t, s, because);
        results.all_targets_known = results.all_targets_known && n.has_value();
        if (active && n != 0U && !compares(*active, t.of.metric)) results.needed = true;
        if (n) results.target = greater(tier_for(p.ladder, *n), results.target.value_or(0));
    }
    return results;
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DESIRED_HPP
