// SPDX-License-Identifier: MIT
//
// ways: the sets of comparisons that make a rule hold, and the clashes of two such sets.
//
// Part of `flapping`. The ways of a rule are the terms of its disjunctive normal form.

#ifndef WAYBILL_SCALING_DETAIL_WAYS_HPP
#define WAYBILL_SCALING_DETAIL_WAYS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/scaling/clash.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/threshold.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// The maximum number of steps to find ways, and of pairs of comparisons to test. It bounds the
/// time: the number of ways may be exponential in the size of a rule.
inline constexpr std::size_t max_steps = 10'000;

/// A comparison, or its opposite.
struct part_of_way {
    const comparison* compared = nullptr;
    bool opposite = false;

    [[nodiscard]] bool is_above() const
    {
        const relation r = compared->how;
        return (r == relation::above || r == relation::at_least) != opposite;
    }
};
using way = std::vector<part_of_way>;  // comparisons that must all hold

/// Finds the sets of comparisons that make a rule hold. Gives up after `max_steps` steps.
class way_finder {
public:
    [[nodiscard]] std::vector<way> ways(const rule& r)
    {
        const bool fails = false;
        return ways(r, fails);
    }
    [[nodiscard]] bool gave_up() const { return steps_left_ == 0; }

private:
    /// The ways to make a rule hold or, if `fails` is true, fail.
    [[nodiscard]] std::vector<way> ways(const rule& r, bool fails)
    {
        std::vector<way> found;
        const std::uint64_t n = r.parts().size();
        std::uint64_t wanted = 1;
        switch (r.what()) {
            case rule::kind::compare: found.push_back({{&r.compared(), fails}}); return found;
            case rule::kind::opposite:
                if (n == 1) found = ways(r.parts()[0], !fails);
                return found;
            case rule::kind::all: wanted = n; break;
            case rule::kind::any: break;
            case rule::kind::at_least: wanted = r.wanted(); break;
        }
        // Fewer than k of n parts hold if n - k + 1 parts fail.
        if (fails) wanted = wanted > n ? 0 : n - wanted + 1;
        const std::size_t first_part = 0;
        choose(r.parts(), first_part, wanted, fails, {}, found);
        return found;
    }

    /// Finds each set in which `wanted` of the parts from the n-th on hold or, if `fails` is true,
    /// fail. Adds it to `found`, together with `before`.
    void choose(const std::vector<rule>& parts, std::size_t n, std::uint64_t wanted, bool fails,
                const way& before, std::vector<way>& found)
    {
        if (steps_left_ != 0) --steps_left_;
        if (steps_left_ == 0) return;
        if (wanted == 0) return found.push_back(before);
        if (parts.size() - n < wanted) return;
        choose(parts, n + 1, wanted, fails, before, found);
        for (const way& w : ways(parts[n], fails)) {
            way longer = before;
            for (const part_of_way& part : w) longer.push_back(part);
            choose(parts, n + 1, wanted - 1, fails, longer, found);
        }
    }

    std::size_t steps_left_ = max_steps;
};

/// True if both comparisons are about the same metric and statistic. All statistics of location
/// count as the same.
[[nodiscard]] inline bool are_related(const comparison& a, const comparison& b)
{
    const auto is_location = [](statistic s) {
        return s == statistic::mean || s == statistic::highest || s == statistic::lowest ||
               s == statistic::first || s == statistic::last;
    };
    if (a.metric != b.metric) return false;
    return a.what == b.what || (is_location(a.what) && is_location(b.what));
}

/// The numbers of instances at which two thresholds are compared: 65 over the bounds, and the
/// numbers at and before each table step.
[[nodiscard]] inline std::vector<std::uint64_t> tested_instances(
    const bounds& b, const std::vector<capacity_tier>& ladder, const threshold& first,
    const threshold& second)
{
    constexpr std::uint64_t intervals = 64;
    std::vector<std::uint64_t> tested;
    const std::uint64_t range = waybill::detail::saturating_sub(b.highest, b.lowest);
    for (std::uint64_t i = 0; i <= intervals; ++i) {
        // range * i / intervals, without overflow
        const std::uint64_t offset = range / intervals * i + range % intervals * i / intervals;
        tested.push_back(capacity_at(ladder, b.lowest + offset));
    }
    const std::uint64_t lowest = tested.front();
    const std::uint64_t highest = tested.back();
    for (const threshold* t : {&first, &second}) {
        if (!ladder.empty()) break;  // no capacity lies between tiers
        for (const threshold_step& s : t->table()) {
            if (s.instances > lowest && s.instances <= highest) {
                tested.push_back(s.instances - 1);
                tested.push_back(s.instances);
            }
        }
    }
    return tested;
}

/// The first tested number of instances for which both comparisons can hold. Empty if both have the
/// same direction.
[[nodiscard]] inline std::optional<std::uint64_t> both_hold(
    const part_of_way& up, const part_of_way& down, const bounds& b,
    const std::vector<capacity_tier>& ladder)
{
    if (up.is_above() == down.is_above()) return {};
    const threshold& up_limit = up.compared->limit;
    const threshold& down_limit = down.compared->limit;
    for (const std::uint64_t n : tested_instances(b, ladder, up_limit, down_limit)) {
        const std::optional<double> u = up_limit.at(n);
        const std::optional<double> d = down_limit.at(n);
        if (u && d && (up.is_above() ? *u <= *d : *d <= *u)) return n;
    }
    return {};
}

/// True if two comparisons of w exclude each other.
[[nodiscard]] inline bool contradicts_itself(const way& w, const bounds& b,
                                             const std::vector<capacity_tier>& ladder)
{
    for (std::size_t n = 0; n != w.size(); ++n) {
        for (std::size_t m = 0; m != n; ++m) {
            const comparison& x = *w[n].compared;
            const comparison& y = *w[m].compared;
            const bool same = x.metric == y.metric && x.what == y.what;
            if (!same || w[n].is_above() == w[m].is_above()) continue;
            if (!both_hold(w[n], w[m], b, ladder)) return true;
        }
    }
    return false;
}

/// The first clash of a way up with a way down. Empty if they cannot hold at the same time.
[[nodiscard]] inline std::optional<clash> clash_of(const way& up, const way& down, const bounds& b,
                                                   const std::vector<capacity_tier>& ladder)
{
    std::optional<clash> found;
    for (const part_of_way& u : up) {
        for (const part_of_way& d : down) {
            if (!are_related(*u.compared, *d.compared)) continue;
            if (u.is_above() == d.is_above()) continue;
            const std::optional<std::uint64_t> n = both_hold(u, d, b, ladder);
            if (!n) return {};  // these two exclude each other
            if (!found) found = clash{*u.compared, *d.compared, *n, u.is_above()};
        }
    }
    if (found && contradicts_itself(up, b, ladder)) return {};
    if (found && contradicts_itself(down, b, ladder)) return {};
    return found;
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_WAYS_HPP
