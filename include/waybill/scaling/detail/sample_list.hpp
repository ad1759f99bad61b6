// SPDX-License-Identifier: MIT
//
// sample_list: the stored samples of an autoscaler, and their statistics.

#ifndef WAYBILL_SCALING_DETAIL_SAMPLE_LIST_HPP
#define WAYBILL_SCALING_DETAIL_SAMPLE_LIST_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/scaling/autoscale_state.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/detail/policy_path.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/policy_error.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_summary.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// The number of samples of one metric that are in the window at the same time.
template <class Policy>
[[nodiscard]] std::uint64_t max_samples(const Policy& p)
{
    return static_cast<std::uint64_t>((p.window.count() - 1) / p.every.count()) + 1;
}

/// The comparison of a rule with more required points than `most`; null if there is none.
template <class Rule>
[[nodiscard]] const comparison* needs_more_points(const Rule& r, std::uint64_t most)
{
    if (r.what() == Rule::kind::compare) {
        return r.compared().min_points.value_or(0) > most ? &r.compared() : nullptr;
    }
    for (const auto& part : r.parts()) {
        if (const comparison* c = needs_more_points(part, most)) return c;
    }
    return nullptr;
}

/// An error if a comparison requires more points than the window can have: it would be unknown for
/// ever.
template <class Policy>
[[nodiscard]] std::optional<policy_error> too_many_points(const Policy& p)
{
    const std::uint64_t most = max_samples(p);
    const std::string expected =
        "at most " + std::to_string(most) + ", the samples of the window at this interval";
    if (p.min_points > most) {
        return policy_error{"/min_points", expected, std::to_string(p.min_points)};
    }
    std::optional<policy_error> error;
    const auto look_up = [&](const std::string& path, const auto& condition) {
        if constexpr (requires { condition.parts(); }) {
            const comparison* c = needs_more_points(condition, most);
            if (c == nullptr || error) return;
            error = policy_error{path, "\"min_points\" of " + expected,
                                 std::to_string(*c->min_points) + " for " + in_quotes(c->metric)};
        }
    };
    look_up("/up", p.up);
    look_up("/down", p.down);
    if (p.activation) look_up("/activation", *p.activation);
    for (const band& b : p.bands.up) look_up("/bands/up", b.when);
    for (const band& b : p.bands.down) look_up("/bands/down", b.when);
    return error;
}

// The lists are template parameters, so that including this header instantiates nothing.

/// Appends a sample.
template <class List>
void add_sample(List& metrics, std::string_view metric, const sample<double>& s)
{
    for (auto& m : metrics) {
        if (m.metric == metric) return m.samples.push_back(s);
    }
    metrics.emplace_back();
    metrics.back().metric = metric;
    metrics.back().samples.push_back(s);
}

/// Keeps the samples in (now - window, now], at most the `most` newest of each metric, and only
/// those metrics that have a source. Samples from the future come from a clock that was wrong: they
/// count as measured now.
template <class List, class Names>
void keep_recent(List& metrics, const Names& names, wall_time now, duration window,
                 std::uint64_t most)
{
    std::erase_if(metrics, [&](const auto& m) {
        for (const auto& n : names) {
            if (n == m.metric) return false;
        }
        return true;
    });
    for (auto& m : metrics) {
        for (auto& s : m.samples) s.at = waybill::detail::earlier(s.at, now);
        std::erase_if(m.samples, [&](const auto& s) { return now - s.at >= window; });
        if (m.samples.size() <= most) continue;
        const auto surplus = static_cast<std::ptrdiff_t>(m.samples.size() - most);
        m.samples.erase(m.samples.begin(), m.samples.begin() + surplus);
    }
}

/// True if a new window would have all samples, in this order, after their insertion.
template <class Samples>
[[nodiscard]] bool are_one_window(const Samples& samples, const window_options& o, wall_time now)
{
    if (samples.size() > o.max_points) return false;
    wall_time previous = wall_time::lowest();
    for (const auto& s : samples) {
        if (s.at < previous || s.at > now || now - s.at >= o.span) return false;
        if (!waybill::detail::is_finite(s.value)) return false;
        previous = s.at;
    }
    return true;
}

/// The statistics of all metrics at `now`. They view the names in `metrics`. A window is needed only
/// for samples that are not in the order of their times.
template <class List, class Reading = reading>
[[nodiscard]] std::vector<Reading> readings_of(const List& metrics, duration window, wall_time now)
{
    std::vector<Reading> readings;
    readings.reserve(metrics.size());
    const window_options o{.span = window};
    for (const auto& m : metrics) {
        using measured = stats<decltype(m.samples.front().value)>;
        if (are_one_window(m.samples, o, now)) {
            measured all = measured::identity();
            for (const auto& s : m.samples) all = measured::combine(all, measured::of(s));
            readings.push_back(
                read(m.metric, window_summary<measured, wall_time>{all, now, window, false}));
            continue;
        }
        sliding_window<measured> w{o};
        for (const auto& s : m.samples) w.insert(s);
        readings.push_back(read(m.metric, w.query(now)));
    }
    return readings;
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_SAMPLE_LIST_HPP
