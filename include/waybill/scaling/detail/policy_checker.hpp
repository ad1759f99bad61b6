// SPDX-License-Identifier: MIT
//
// policy_checker: checks the parts of a policy and keeps the first error. Part of `validate`.

#ifndef WAYBILL_SCALING_DETAIL_POLICY_CHECKER_HPP
#define WAYBILL_SCALING_DETAIL_POLICY_CHECKER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/detail/policy_path.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/flapping.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/policy_error.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/threshold.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// Checks the parts of a policy and keeps the first error.
class policy_checker {
public:
    void fail(std::string path, std::string expected, std::string found)
    {
        if (!error) error = policy_error{std::move(path), std::move(expected), std::move(found)};
    }

    void check_threshold(const std::string& path, const threshold& t)
    {
        const bool each = t.what() == threshold::kind::per_instance;
        const std::string value_path = each ? inside(path, "per_instance") : path;
        if (!is_finite(t.value())) fail(value_path, "a finite threshold", short_number(t.value()));
        if (each && min_capacity == 0) {
            fail(value_path, "a threshold that is defined for 0 instances", "one per instance");
        }
        const std::string table_path = inside(path, "by_instances");
        std::uint64_t last = 0;
        for (std::size_t n = 0; n != t.table().size(); ++n) {
            const threshold_step& s = t.table()[n];
            const std::string step_path = numbered(table_path, n);
            if (!is_finite(s.value)) fail(step_path, "a finite threshold", short_number(s.value));
            if (n != 0 && s.instances <= last) {
                fail(step_path, "steps in ascending order of instances",
                     std::to_string(s.instances) + " after " + std::to_string(last));
            }
            last = s.instances;
        }
        if (t.what() != threshold::kind::table) return;
        if (t.table().empty()) return fail(table_path, "at least one step", "none");
        if (t.table()[0].instances > min_capacity) {
            fail(numbered(table_path, 0),
                 "a first step for at most " + std::to_string(min_capacity),
                 std::to_string(t.table()[0].instances));
        }
    }

    void check_metric(const std::string& path, statistic what, std::string_view m)
    {
        if (m.empty()) fail(inside(path, name(what)), "the name of a metric", "\"\"");
    }

    void check_averaged(const std::string& path, statistic what)
    {
        const bool grows_with_load = what == statistic::mean || what == statistic::highest ||
                                     what == statistic::lowest || what == statistic::sum ||
                                     what == statistic::first || what == statistic::last ||
                                     what == statistic::rate;
        if (!grows_with_load) {
            fail(path, "false (this statistic does not grow with the load)",
                 std::string(name(what)));
        }
    }

    void check_rule(const std::string& path, const rule& r)
    {
        if (r.what() == rule::kind::compare) {
            const comparison& c = r.compared();
            check_metric(path, c.what, c.metric);
            check_threshold(inside(path, word_of(c.how)), c.limit);
            if (c.averaged) check_averaged(path + "/averaged", c.what);
            if (c.max_age) check_not_negative(path + "/max_age", *c.max_age);
            return;
        }
        const std::size_t n = r.parts().size();
        const std::string parts_path = inside(path, word_of(r.what()));
        if (n == 0) return fail(parts_path, "a rule", "none");
        if (r.what() == rule::kind::at_least && (r.wanted() == 0 || r.wanted() > n)) {
            fail(path + "/at_least", "a number from 1 to " + std::to_string(n),
                 std::to_string(r.wanted()));
        }
        if (r.what() == rule::kind::opposite) {
            if (n != 1) return fail(parts_path, "one rule", std::to_string(n));
            return check_rule(parts_path, r.parts()[0]);
        }
        for (std::size_t i = 0; i != n; ++i) check_rule(numbered(parts_path, i), r.parts()[i]);
    }

    void check_not_negative(const std::string& path, duration d)
    {
        if (d < duration{}) {
            fail(path, "a duration of at least 0", std::to_string(d.count()) + " ns");
        }
    }

    void check_change(const std::string& path, const change& c)
    {
        if (!is_finite(c.percent) || c.percent < 0) {
            fail(path + "/percent", "a percentage of at least 0", short_number(c.percent));
        }
    }

    std::optional<policy_error> error;
    /// The lowest capacity for which the rules to check next are evaluated.
    std::uint64_t min_capacity = waybill::detail::highest_size;
};

inline void check_bands(policy_checker& c, const std::string& path, const std::vector<band>& bands)
{
    for (std::size_t n = 0; n != bands.size(); ++n) {
        const std::string at = numbered(path, n);
        if (bands[n].when.empty()) c.fail(at + "/when", "a rule", "none");
        else c.check_rule(at + "/when", bands[n].when);
        c.check_change(at + "/by", bands[n].by);
    }
}

inline void check_rates(policy_checker& c, const std::string& path,
                        const std::vector<rate_limit>& rates)
{
    for (std::size_t n = 0; n != rates.size(); ++n) {
        const std::string at = numbered(path, n);
        c.check_change(at + "/most", rates[n].max_change);
        if (rates[n].per <= duration{}) {
            c.fail(at + "/per", "a duration above 0", std::to_string(rates[n].per.count()) + " ns");
        }
    }
}

inline void check_targets(policy_checker& c, const std::vector<target>& targets)
{
    for (std::size_t n = 0; n != targets.size(); ++n) {
        const target& t = targets[n];
        const std::string at = numbered("/targets", n);
        c.check_metric(at, t.of.what, t.of.metric);
        if (t.of.averaged) c.check_averaged(at + "/averaged", t.of.what);
        if (!is_finite(t.each) || t.each <= 0) {
            c.fail(at + "/each", "a number above 0", short_number(t.each));
        }
        const auto check_tolerance = [&](std::string_view direction, double tolerance) {
            if (!is_finite(tolerance) || tolerance < 0 || tolerance >= 1) {
                c.fail(at + "/tolerance" + std::string(direction), "a share in [0, 1)",
                       short_number(tolerance));
            }
        };
        check_tolerance("/up", t.tolerance.up);
        check_tolerance("/down", t.tolerance.down);
    }
}

inline void check_bounds(policy_checker& c, const bounds& b,
                         const std::vector<capacity_tier>& ladder, bool has_activation)
{
    if (b.highest == 0) c.fail("/instances/highest", "at least 1: it must be set", "0");
    if (b.lowest > b.highest) {
        c.fail("/instances/lowest", "at most the highest, " + std::to_string(b.highest),
               std::to_string(b.lowest));
    }
    if (ladder.empty()) {
        if (b.lowest == 0 && !has_activation) {
            c.fail("/activation", "a rule that starts the first instance (the lowest number is 0)",
                   "none");
        }
        return;
    }
    if (has_activation) {
        c.fail("/activation", "none (the lowest tier of a ladder always runs)", "a rule");
    }
    if (b.highest >= ladder.size()) {
        c.fail("/instances/highest",
               "a tier of the ladder, 0 to " + std::to_string(ladder.size() - 1),
               std::to_string(b.highest));
    }
    for (std::size_t n = 0; n != ladder.size(); ++n) {
        const std::string at = numbered("/ladder", n);
        if (ladder[n].name.empty()) c.fail(at + "/name", "a name", "\"\"");
        if (tier_named(ladder, ladder[n].name) != n) {
            c.fail(at + "/name", "a name that no other tier has", in_quotes(ladder[n].name));
        }
        const std::uint64_t previous = n == 0 ? 0 : ladder[n - 1].capacity;
        if (ladder[n].capacity <= previous) {
            c.fail(at + "/capacity", "more than " + std::to_string(previous),
                   std::to_string(ladder[n].capacity));
        }
    }
}

/// Checks the rules, the targets and the ages, cooldowns and fallback that apply to them.
template <condition Up, condition Down>
void check_requests(policy_checker& c, const basic_policy<Up, Down>& p)
{
    if (!is_set(p.up) && p.bands.up.empty() && p.targets.empty() && !p.activation) {
        c.fail("/up", "a rule or a target (nothing starts an instance)", "none");
    }
    c.min_capacity = greater(capacity_at(p.ladder, p.instances.lowest), 1);
    if constexpr (std::same_as<Up, rule>) {
        if (!p.up.empty()) c.check_rule("/up", p.up);
    }
    if constexpr (std::same_as<Down, rule>) {
        if (!p.down.empty()) c.check_rule("/down", p.down);
    }
    if (!is_set(p.down) && !p.bands.down.empty()) {
        c.fail("/down", "a rule (the bands down apply only if it holds)", "none");
    }
    check_targets(c, p.targets);
    c.check_not_negative("/max_age", p.max_age);
    c.check_not_negative("/cooldown/up", p.cooldown.up);
    c.check_not_negative("/cooldown/down", p.cooldown.down);
    if (p.if_unknown && *p.if_unknown > p.instances.highest) {
        c.fail("/if_unknown", "at most the highest, " + std::to_string(p.instances.highest),
               std::to_string(*p.if_unknown));
    }
    if (p.if_unknown && *p.if_unknown < p.instances.lowest) {
        c.fail("/if_unknown", "at least the lowest, " + std::to_string(p.instances.lowest),
               std::to_string(*p.if_unknown));
    }
    check_bands(c, "/bands/up", p.bands.up);
    check_bands(c, "/bands/down", p.bands.down);
    c.min_capacity = p.instances.lowest;
    if (p.activation && p.activation->empty()) c.fail("/activation", "a rule", "none");
    if (p.activation && !p.activation->empty()) c.check_rule("/activation", *p.activation);
}

/// Checks the interval and the window of `autoscale`.
inline void check_interval(policy_checker& c, duration every, duration window)
{
    constexpr std::int64_t max_samples = 1'000;  // of one metric: they are stored in one row
    const std::string found = std::to_string(window.count()) + " ns";
    if (every <= duration{}) {
        return c.fail("/every", "a duration above 0", std::to_string(every.count()) + " ns");
    }
    if (window < every) {
        c.fail("/window", "at least \"every\", " + std::to_string(every.count()) + " ns", found);
    }
    if (window.count() / every.count() > max_samples) {
        c.fail("/window", "at most " + std::to_string(max_samples) + " times \"every\"", found);
    }
}

/// Checks the fields that limit or delay changes.
template <condition Up, condition Down>
void check_pace(policy_checker& c, const basic_policy<Up, Down>& p)
{
    c.check_change("/step/up", p.step.up);
    c.check_change("/step/down", p.step.down);
    c.check_not_negative("/stabilise/up", p.stabilise.up);
    c.check_not_negative("/stabilise/down", p.stabilise.down);
    check_rates(c, "/rate/up", p.rate.up);
    check_rates(c, "/rate/down", p.rate.down);
    c.check_not_negative("/warm_up", p.warm_up);
    c.check_not_negative("/zero_after", p.zero_after);
    if (p.patience <= duration{}) {
        c.fail("/patience", "a duration above 0", std::to_string(p.patience.count()) + " ns");
    }
    c.check_not_negative("/after_failure", p.after_failure);
    if (p.cooldown.shared && p.cooldown.up == duration{}) {
        c.fail("/cooldown/shared", "false (without \"up\" there is no cooldown to share)", "true");
    }
    check_interval(c, p.every, p.window);
}

/// The JSON path of the threshold of comparison c within rule r; empty if r does not contain c. If
/// `above` is true, r holds above that threshold, else below it: r may contain c several times,
/// also within `not`.
[[nodiscard]] inline std::string path_to(const rule& r, const comparison& c, bool above,
                                         std::string path)
{
    if (r.what() == rule::kind::compare) {
        const bool holds_above = c.how == relation::above || c.how == relation::at_least;
        const bool found = r.compared() == c && holds_above == above;
        return found ? inside(path, word_of(c.how)) : std::string();
    }
    path = inside(path, word_of(r.what()));
    if (r.what() == rule::kind::opposite) {
        return r.parts().empty() ? std::string() : path_to(r.parts()[0], c, !above, path);
    }
    for (std::size_t n = 0; n != r.parts().size(); ++n) {
        std::string at = path_to(r.parts()[n], c, above, numbered(path, n));
        if (!at.empty()) return at;
    }
    return {};
}

/// Fails if the rules up and down flap by construction. The path is that of the threshold down.
inline void check_flapping(policy_checker& c, const rule& up, const std::vector<band>& bands,
                           const rule& down, const bounds& b,
                           const std::vector<capacity_tier>& ladder)
{
    std::vector<rule> ups;
    if (!up.empty()) ups.push_back(up);
    for (const band& more : bands) ups.push_back(more.when);
    const std::optional<clash> found =
        flapping(rule(rule::kind::any, std::move(ups)), down, b, ladder);
    if (!found) return;
    const double up_limit = found->up.limit.at(found->instances).value_or(0);
    const double down_limit = found->down.limit.at(found->instances).value_or(0);
    c.fail(path_to(down, found->down, !found->up_above, "/down"),
           std::string("a threshold ") + (found->up_above ? "below " : "above ") +
               short_number(up_limit) + " (at which " + in_quotes(found->up.metric) +
               " scales up, with " + std::to_string(found->instances) +
               (found->instances == 1 ? " instance)" : " instances)"),
           short_number(down_limit));
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_POLICY_CHECKER_HPP
