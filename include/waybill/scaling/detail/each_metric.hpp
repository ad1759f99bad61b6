// SPDX-License-Identifier: MIT
//
// each_metric: visits the metrics of a policy with their paths.

#ifndef WAYBILL_SCALING_DETAIL_EACH_METRIC_HPP
#define WAYBILL_SCALING_DETAIL_EACH_METRIC_HPP

#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/policy_path.hpp>
#include <waybill/scaling/policy.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// Calls f(path, statistic, metric) for each comparison of a rule.
template <class F>
void each_metric(const rule& r, const std::string& path, F& f)
{
    if (r.what() == rule::kind::compare) return f(path, r.compared().what, r.compared().metric);
    const std::string parts_path = inside(path, word_of(r.what()));
    for (std::size_t n = 0; n != r.parts().size(); ++n) {
        const bool single = r.what() == rule::kind::opposite;
        each_metric(r.parts()[n], single ? parts_path : numbered(parts_path, n), f);
    }
}

/// Calls f(path, statistic, metric) for each comparison of the bands.
template <class F>
void each_metric(const std::vector<band>& bands, const std::string& path, F& f)
{
    for (std::size_t n = 0; n != bands.size(); ++n) {
        each_metric(bands[n].when, numbered(path, n) + "/when", f);
    }
}

/// Calls f(path, statistic, metric) for each comparison and target of a policy. Skips custom
/// conditions.
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
        f(numbered("/targets", n), m.what, m.metric);
    }
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_EACH_METRIC_HPP
