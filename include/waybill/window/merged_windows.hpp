// SPDX-License-Identifier: MIT
//
// merged_windows: merges the windows of several partitions, or only their summaries.
//
//     auto both = waybill::merged(left, right);                         // all samples: O(n + m)
//     if (auto s = waybill::merged(left.query(now), right.query(now)))  // summaries: O(1)
//         scale(*s);
//
// Guarantees for merged windows (as if one window had received the samples that both contain)
//   1. It has the options of the first window and the later of both clocks. Samples that have left
//      a window of that span are not included. If there are more than `max_points`, the newest are
//      kept.
//   2. Of samples with equal times, those of the first window count as older. With
//      `equal_time::replace` one remains: the last of the second window, or else of the first.
//   3. Its losses are those of the merge: `pushed_out`, and `future` if the second window has a
//      larger `ahead`. Losses of the two windows stay counted there. Samples that either has
//      pushed out are missing here, too; a summary that includes their time is not complete.
//
// Merged summaries need a commutative measure, and equal times and spans. Only floating-point sums
// may differ in rounding from the summary of a merged window.

#ifndef WAYBILL_WINDOW_MERGED_WINDOWS_HPP
#define WAYBILL_WINDOW_MERGED_WINDOWS_HPP

#include <optional>

#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_summary.hpp>

namespace waybill::inline v0_2 {

/// Merges the samples of both windows. The windows may have different policies; the result has that
/// of `a`. O(n + m).
template <measure M, class Time, template <class> class How, template <class> class Other>
[[nodiscard]] sliding_window<M, Time, How> merged(const sliding_window<M, Time, How>& a,
                                                  const sliding_window<M, Time, Other>& b)
{
    const window_options& o = a.options();
    std::optional<Time> clock = a.clock();
    if (!clock || (b.clock() && *clock < *b.clock())) clock = b.clock();

    // Inserted in order of time, each sample is the newest, which is the cheapest case.
    sliding_window<M, Time, How> both(o);
    if (clock) both.advance(*clock);
    auto i = a.begin();
    auto j = b.begin();
    const auto i_end = a.end();
    const auto j_end = b.end();
    while (i != i_end || j != j_end) {
        const bool from_b = i == i_end || (j != j_end && j->at < i->at);
        const auto& s = from_b ? *j++ : *i++;
        if (clock && o.span != duration::highest() && *clock - s.at >= o.span) continue;
        const bool equal_time_follows =
            (i != i_end && i->at == s.at) || (j != j_end && j->at == s.at);
        if (equal_time_follows && o.on_equal_time == window_options::equal_time::replace) continue;
        both.insert(s);
    }
    if (a.missing()) both.missed(*a.missing());
    if (b.missing()) both.missed(*b.missing());
    return both;
}

/// Merges two summaries of the same time and span. O(1). Its `first` and `last` are found by time;
/// for equal times, `first` comes from `a` and `last` from `b`. The result is complete only if both
/// summaries are.
template <measure M, class Time>
    requires(M::commutative)
[[nodiscard]] constexpr result<window_summary<M, Time>,
                               typename window_summary<M, Time>::merge_mismatch>
merged(const window_summary<M, Time>& a, const window_summary<M, Time>& b)
{
    using summary = window_summary<M, Time>;
    if (a.now != b.now) return unexpected(summary::merge_mismatch::time);
    if (a.span != b.span) return unexpected(summary::merge_mismatch::span);
    return summary{M::combine(a, b), a.now, a.span, a.cut || b.cut};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_MERGED_WINDOWS_HPP
