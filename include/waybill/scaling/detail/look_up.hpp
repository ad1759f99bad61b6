// SPDX-License-Identifier: MIT
//
// look_up: finds a statistic of a metric for one comparison.

#ifndef WAYBILL_SCALING_DETAIL_LOOK_UP_HPP
#define WAYBILL_SCALING_DETAIL_LOOK_UP_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/time.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/situation.hpp>
#include <waybill/scaling/tribool.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// A row with the value of a statistic, or with the reason why it cannot be used. Linear in the
/// number of metrics.
[[nodiscard]] inline evidence look_up(const situation& s, std::string_view metric, statistic what,
                                      bool averaged, std::uint64_t min_points, duration max_age)
{
    evidence e{.metric = metric, .what = what};
    const reading* found = nullptr;
    for (const reading& r : s.metrics) {
        if (r.metric == metric) found = &r;
    }
    if (found == nullptr) {
        e.missing = missing_part::metric;
        return e;
    }
    e.points = found->points;
    e.value = found->value(what);
    if (e.value && averaged) *e.value *= s.load;
    if (e.value && !is_finite(*e.value)) e.value.reset();
    e.timed = found->timed;
    e.first = found->first;
    e.last = found->last;
    e.cut = !found->complete;
    e.sampled = found->sampled;
    const bool stale =
        max_age != duration::highest() && (!e.timed || s.now - found->last > max_age);
    if (e.points < min_points) e.missing = missing_part::points;
    else if (stale) e.missing = missing_part::fresh_points;
    else if (!e.value) e.missing = missing_part::value;
    return e;
}

/// True if the result could differ with the samples that were pushed out of the window. The true
/// highest may be higher than that of the remaining samples, and the true lowest may be lower.
[[nodiscard]] inline bool could_differ(const evidence& e)
{
    if (!e.cut || e.holds == tribool::unknown) return false;
    const bool above = e.how == relation::above || e.how == relation::at_least;
    if (e.what == statistic::highest) return (e.holds == tribool::yes) != above;
    return e.what == statistic::lowest && (e.holds == tribool::yes) == above;
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_LOOK_UP_HPP
