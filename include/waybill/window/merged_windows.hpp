// SPDX-License-Identifier: MIT
//
// merged_windows: windows of several partitions as one.
//
//     auto both = waybill::merged(left, right);                         // all samples: O(n + m)
//     auto answer = waybill::merged(left.query(now), right.query(now)); // answers only: O(1)
//
// The first is the window that would have been, had the samples that both still keep come into one:
//   1. its options are those of the first, and its clock is the later of both. What has left a
//      window of that span by that time does not come back, and more than `max_points` are the
//      newest ones;
//   2. of several samples of one time those of the first count as the older ones. If such ones are
//      to be replaced, one is left, and that is the last of the second if it has any;
//   3. its losses are those of the merge: `pushed_out`, and `future` where the second allowed more
//      than the first. What each of the two had not taken is still counted there.
//
// Where only an answer is wanted, nothing need be copied. The measure of both is the two combined,
// whatever was sampled between which, since combining such measures does not ask for an order:
// first and last are told by their times, and where both parts have the same time, the first of it
// belongs to the first part and the last to the second. Only floating sums may round differently. A
// measure for which order does matter has no such shortcut.

#ifndef WAYBILL_WINDOW_MERGED_WINDOWS_HPP
#define WAYBILL_WINDOW_MERGED_WINDOWS_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/time.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>

namespace waybill::inline v0_1 {

/// The samples of both in one window. They may be kept in different ways; the result is kept as
/// `a`.
template <measure M, class Time, template <class> class How, template <class> class Other>
[[nodiscard]] sliding_window<M, Time, How> merged(const sliding_window<M, Time, How>& a,
                                                  const sliding_window<M, Time, Other>& b)
{
    const window_options& o = a.options();
    std::optional<Time> clock = a.clock();
    if (!clock || (b.clock() && *clock < *b.clock())) clock = b.clock();

    // In order of time, each sample is the newest so far, which costs the least.
    sliding_window<M, Time, How> both(o);
    if (clock) both.advance(*clock);
    std::uint64_t i = 0;
    std::uint64_t j = 0;
    while (i != a.size() || j != b.size()) {
        const bool second = i == a.size() || (j != b.size() && b[j].at < a[i].at);
        const auto& s = second ? b[j++] : a[i++];
        if (clock && o.span != duration::highest() && *clock - s.at >= o.span) continue;
        const bool twin = (i != a.size() && a[i].at == s.at) || (j != b.size() && b[j].at == s.at);
        if (twin && o.twins == same_time::replace) continue;
        both.insert(s);
    }
    return both;
}

/// The answer for both. Requires: they were asked for the same time and span; if not, the later
/// time and the longer span are told.
template <measure M, class Time>
    requires(M::commutative)
[[nodiscard]] constexpr window_summary<M, Time> merged(const window_summary<M, Time>& a,
                                                       const window_summary<M, Time>& b)
{
    return {M::combine(a, b), later(a.now, b.now), greater(a.span, b.span)};
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_WINDOW_MERGED_WINDOWS_HPP
