// SPDX-License-Identifier: MIT
//
// known_metrics: the metrics that a policy uses, and a check that they exist.
//
//     for (std::string_view m : scaling::metrics_of(policy)) watch(m);
//     if (auto bad = scaling::unknown_metric(policy, names)) die(scaling::describe(*bad));
//     // /up/any/0/mean: expected an existing metric (mails, orders), found "order"
//
// A misspelt metric never has a reading, so all rules that use it remain unknown without an error.
// If the names of all metrics are known beforehand, `unknown_metric` finds it.

#ifndef WAYBILL_SCALING_KNOWN_METRICS_HPP
#define WAYBILL_SCALING_KNOWN_METRICS_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/each_metric.hpp>
#include <waybill/scaling/detail/policy_path.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/policy_error.hpp>

namespace waybill::inline v0_2::scaling {

/// The metrics of a policy's rules and targets, without duplicates, in the order of the rows of
/// `decide`. The result views the policy. Custom conditions are skipped.
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

/// An error for the first metric of a policy that is not in `names`; empty if there is none.
/// `names` is a range of strings of any type.
template <condition Up, condition Down, class Names>
[[nodiscard]] std::optional<policy_error> unknown_metric(const basic_policy<Up, Down>& p,
                                                         const Names& names)
{
    std::optional<policy_error> error;
    detail::each_metric(p, [&](const std::string& path, statistic what, const std::string& metric) {
        if (error) return;
        std::string known;
        for (const auto& n : names) {
            const std::string_view existing = n;
            if (existing == metric) return;
            known += (known.empty() ? "" : ", ") + std::string(existing);
        }
        error = policy_error{.path = detail::inside(path, name(what)),
                             .expected = known.empty() ? "no metric (none exists)"
                                                       : "an existing metric (" + known + ')',
                             .found = detail::in_quotes(metric)};
    });
    return error;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_KNOWN_METRICS_HPP
