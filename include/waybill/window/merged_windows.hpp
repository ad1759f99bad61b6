// SPDX-License-Identifier: MIT
//
// merged_windows: windows of several partitions as one.
//
//     auto both = waybill::merged(left, right);                         // all samples: O(n + m)
//     if (auto s = waybill::merged(left.query(now), right.query(now)))  // answers only: O(1)
//         scale(*s);
//
// The first is the window that would have been, had the samples that both still keep come into one:
//   1. its options are those of the first, and its clock is the later of both. What has left a
//      window of that span by that time does not come back, and more than `max_points` are the
//      newest ones;
//   2. of several samples of one time those of the first count as the older ones. If such ones are
//      to be replaced, one is left, and that is the last of the second if it has any;
//   3. its losses are those of the merge: `pushed_out`, and `future` where the second allowed more
//      than the first. What each of the two had not taken is still counted there. But what either
//      has pushed out is missing here, too, and answers that reach back so far are not complete.
//
// Where only an answer is wanted, nothing need be copied. The measure of both is the two combined,
// whatever was sampled between which, since combining such measures does not ask for an order:
// first and last are told by their times, and where both parts have the same time, the first of it
// belongs to the first part and the last to the second. Only floating sums may round differently. A
// measure for which order does matter has no such shortcut. And answers of different times or spans
// do not come to the answer of anything: one of the windows was told a later time, or is kept in
// another way.

#ifndef WAYBILL_WINDOW_MERGED_WINDOWS_HPP
#define WAYBILL_WINDOW_MERGED_WINDOWS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_summary.hpp>

namespace waybill::inline v0_2 {

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
    if (a.missing()) both.missed(*a.missing());
    if (b.missing()) both.missed(*b.missing());
    return both;
}

/// Why two answers are not merged.
enum class unlike_answers : std::uint8_t {
    time,  ///< They are of different times.
    span,  ///< They are of the same time and of different spans.
};

[[nodiscard]] constexpr std::string_view name(unlike_answers u) noexcept
{
    switch (u) {
        case unlike_answers::time: return "time";
        case unlike_answers::span: return "span";
    }
    return "?";
}

/// The answer for both, if they are of one time and span.
template <measure M, class Time>
    requires(M::commutative)
[[nodiscard]] constexpr result<window_summary<M, Time>, unlike_answers>
merged(const window_summary<M, Time>& a, const window_summary<M, Time>& b)
{
    if (a.now != b.now) return unexpected(unlike_answers::time);
    if (a.span != b.span) return unexpected(unlike_answers::span);
    return window_summary<M, Time>{M::combine(a, b), a.now, a.span, a.cut || b.cut};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_MERGED_WINDOWS_HPP
