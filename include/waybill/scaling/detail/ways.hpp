// SPDX-License-Identifier: MIT
//
// ways: the sets of comparisons that make a rule hold, and the clashes of two such sets.
//
// Part of `flapping`.

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

/// Finds the sets of comparisons that make a rule hold or fail. Gives up after 10,000 steps.
class way_finder {
public:
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
        choose(r.parts(), 0, wanted, fails, {}, found);
        return found;
    }
    [[nodiscard]] bool gave_up() const { return steps_ == 0; }

private:
    /// Finds each set in which `wanted` of the parts from the n-th on hold (or fail, if `fail`).
    /// Adds it to `found`, together with `before`.
    void choose(const std::vector<rule>& parts, std::size_t n, std::uint64_t wanted, bool fail,
                const way& before, std::vector<way>& found)
    {
        if (steps_ == 0 || --steps_ == 0) return;
        if (wanted == 0) return found.push_back(before);
        if (parts.size() - n < wanted) return;
        choose(parts, n + 1, wanted, fail, before, found);
        for (const way& w : ways(parts[n], fail)) {
            way longer = before;
            longer.insert(longer.end(), w.begin(), w.end());
            choose(parts, n + 1, wanted - 1, fail, longer, found);
        }
    }

    std::size_t steps_ = 10'000;
};

/// True if both comparisons are about the same metric and statistic, or equivalent statistics.
[[nodiscard]] inline bool are_related(const comparison& a, const comparison& b)
{
    const auto is_place = [](statistic s) {
        return s == statistic::mean || s == statistic::highest || s == statistic::lowest ||
               s == statistic::first || s == statistic::last;
    };
    return a.metric == b.metric && (a.what == b.what || (is_place(a.what) && is_place(b.what)));
}

/// The numbers of instances at which two thresholds are compared: 65 over the bounds, and the
/// numbers at and before each table step.
[[nodiscard]] inline std::vector<std::uint64_t> samples(const bounds& b,
                                                        const std::vector<capacity_tier>& ladder,
                                                        const threshold& a, const threshold& c)
{
    std::vector<std::uint64_t> n;
    const std::uint64_t apart = waybill::detail::saturating_sub(b.highest, b.lowest);
    for (std::uint64_t i = 0; i <= 64; ++i) {
        n.push_back(capacity_at(ladder, b.lowest + apart / 64 * i + apart % 64 * i / 64));
    }
    for (const threshold* t : {&a, &c}) {
        if (!ladder.empty()) break;  // no capacity lies between tiers
        for (const threshold_step& s : t->table()) {
            if (s.instances > n.front() && s.instances <= n[64]) {
                n.push_back(s.instances - 1);
                n.push_back(s.instances);
            }
        }
    }
    return n;
}

/// The first sampled number of instances for which both comparisons can hold.
[[nodiscard]] inline std::optional<std::uint64_t> both_hold(
    const part_of_way& up, const part_of_way& down, const bounds& b,
    const std::vector<capacity_tier>& ladder)
{
    if (up.is_above() == down.is_above()) return {};
    for (const std::uint64_t n : samples(b, ladder, up.compared->limit, down.compared->limit)) {
        const std::optional<double> u = up.compared->limit.at(n);
        const std::optional<double> d = down.compared->limit.at(n);
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
            if (!found) found = clash{*u.compared, *d.compared, *n};
        }
    }
    if (found && contradicts_itself(up, b, ladder)) return {};
    if (found && contradicts_itself(down, b, ladder)) return {};
    return found;
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_WAYS_HPP
