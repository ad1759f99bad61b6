// SPDX-License-Identifier: MIT
//
// known_metrics: which metrics a policy asks for, and whether there are such.
//
//     for (std::string_view m : scaling::metrics_of(policy)) watch(m);
//     if (auto bad = scaling::unknown_metric(policy, names)) die(scaling::text(*bad));
//     // /up/any/0/mean: expected a metric that there is (mails, orders), found "order"
//
// A metric that is spelt wrong is one that nobody ever tells anything of: all that depends on it is
// unknown for ever, and quietly so. Where the names are known beforehand, it is found beforehand.

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

/// The same for a whole policy, but for conditions of one's own.
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

/// All metrics that the rules and targets of a policy name, each once, in the order of decide's
/// rows. They view the policy. Conditions of your own are not looked into.
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

template <condition Up, condition Down>
void metrics_of(const basic_policy<Up, Down>&&) = delete;

/// The first metric of a policy that is not among these names, which are strings of any kind.
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
