// SPDX-License-Identifier: MIT
//
// known_metrics: the metrics that a policy uses, and a check that they exist.
//
//     for (std::string_view m : scaling::metrics_of(policy)) watch(m);
//     if (auto bad = scaling::unknown_metric(policy, names)) die(scaling::describe(*bad));
//     // /up/any/0/mean: expected a metric that there is (mails, orders), found "order"
//
// A misspelt metric never has a reading, so all rules that use it remain unknown without an error.
// If the names of all metrics are known beforehand, `unknown_metric` finds it.

#ifndef WAYBILL_SCALING_KNOWN_METRICS_HPP
#define WAYBILL_SCALING_KNOWN_METRICS_HPP

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/policy.hpp>

namespace waybill::inline v0_2::scaling {

namespace detail {

/// Calls f(path, statistic, metric) for each comparison of a rule.
template <class F>
void each_metric(const rule& r, const std::string& path, F& f)
{
    if (r.what() == rule::kind::compare) return f(path, r.compared().what, r.compared().metric);
    const std::string place = inside(path, word_of(r.what()));
    for (std::size_t n = 0; n != r.parts().size(); ++n) {
        const bool single = r.what() == rule::kind::opposite;
        each_metric(r.parts()[n], single ? place : policy_checker::numbered(place, n), f);
    }
}

template <class F>
void each_metric(const std::vector<band>& bands, const std::string& path, F& f)
{
    for (std::size_t n = 0; n != bands.size(); ++n) {
        each_metric(bands[n].when, policy_checker::numbered(path, n) + "/when", f);
    }
}

/// Calls f for each comparison and target of a policy. Custom conditions are skipped.
template <condition Up, condition Down, class F>
void each_metric(const basic_policy<Up, Down>& p, F f)
{
    if constexpr (std::same_as<Up, rule>) each_metric(p.up, "/up", f);
    each_metric(p.bands.up, "/bands/up", f);
    if constexpr (std::same_as<Down, rule>) each_metric(p.down, "/down", f);
    each_metric(p.bands.down, "/bands/down", f);
    if (p.activation) each_metric(*p.activation, "/activation", f);
    for (std::size_t n = 0; n != p.targets.size(); ++n) {
        const measured& m = p.targets[n].of;
        f(policy_checker::numbered("/targets", n), m.what, m.metric);
    }
}

}  // namespace detail

/// The metrics of a policy's rules and targets, without duplicates, in the order of decide's rows.
/// The result views the policy. Custom conditions are skipped.
template <condition Up, condition Down>
[[nodiscard]] std::vector<std::string_view> metrics_of(const basic_policy<Up, Down>& p)
{
    std::vector<std::string_view> metrics;
    detail::each_metric(p, [&](const std::string&, statistic, const std::string& metric) {
        for (const std::string_view m : metrics) {
            if (m == metric) return;
        }
        metrics.push_back(metric);
    });
    return metrics;
}

/// Deleted: the result views the policy, so a temporary is not accepted.
template <condition Up, condition Down>
void metrics_of(const basic_policy<Up, Down>&&) = delete;

/// The first metric of a policy that is not in `names`, a range of strings of any type.
template <condition Up, condition Down, class Names>
[[nodiscard]] std::optional<policy_error> unknown_metric(const basic_policy<Up, Down>& p,
                                                         const Names& names)
{
    std::optional<policy_error> error;
    detail::each_metric(p, [&](const std::string& path, statistic what, const std::string& metric) {
        if (error) return;
        std::string known;
        for (const auto& n : names) {
            const std::string_view name_of_one = n;
            if (name_of_one == metric) return;
            known += (known.empty() ? "" : ", ") + std::string(name_of_one);
        }
        error = policy_error{detail::inside(path, name(what)),
                             known.empty() ? "no metric, as there is none"
                                           : "a metric that there is (" + known + ')',
                             detail::in_quotes(metric)};
    });
    return error;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_KNOWN_METRICS_HPP
