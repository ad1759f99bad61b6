// SPDX-License-Identifier: MIT
//
// describe: samples, summaries, options and losses of windows as text.

#ifndef WAYBILL_WINDOW_DESCRIBE_HPP
#define WAYBILL_WINDOW_DESCRIBE_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/decimal.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/window/bins.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/slotted_window.hpp>
#include <waybill/window/snapshot_error.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_set.hpp>
#include <waybill/window/window_summary.hpp>

namespace waybill::inline v0_2::detail::words {

/// "none lost", or the counts above 0: "3 lost: too old 2, future 1".
template <class... Counts>
std::string lost(const Counts&... names_and_counts)
{
    std::string each;
    std::uint64_t all = 0;
    const auto add = [&](const auto& self, std::string_view what, std::uint64_t n,
                         const auto&... more) -> void {
        all += n;
        if (n != 0) each += concat(each.empty() ? ": " : ", ", what, " ", n);
        if constexpr (sizeof...(more) != 0) self(self, more...);
    };
    add(add, names_and_counts...);
    return all == 0 ? "none lost" : concat(counted(all, "sample", "samples"), " lost", each);
}

template <>
struct line_of<bin_losses> {
    static std::string text(const auto& a)
    {
        return lost("no room", a.no_room, "not finite", a.not_finite, "no weight", a.no_weight);
    }
};

template <>
struct line_of<slot_options> {
    static std::string text(const auto& a)
    {
        return concat("the last ", a.span, " in slots of ", a.width);
    }
};

template <>
struct line_of<snapshot_error> : described_line {};

template <>
struct line_of<window_options> {
    static std::string text(const auto& a)
    {
        return concat("the last ", a.span, ", ",
                      a.max_points == unlimited ? std::string("any number of")
                                                : "at most " + number(a.max_points),
                      " points, up to ", a.ahead, " ahead, equal times: ", a.on_equal_time);
    }
};

template <>
struct line_of<window_losses> {
    static std::string text(const auto& a)
    {
        return lost("too old", a.too_old, "future", a.future, "not finite", a.not_finite,
                    "no weight", a.no_weight, "pushed out", a.pushed_out);
    }
};

template <>
struct line_of<window_set_options> {
    static std::string text(const auto& a)
    {
        return concat(a.window, "; at most ", counted(a.max_keys, "key", "keys"), ", idle for ",
                      a.idle);
    }
};

template <class V, class Time>
struct line_of<sample<V, Time>> {
    static std::string text(const sample<V, Time>& s) { return concat(s.value, " at ", s.at); }
};

template <class V, class Time>
struct line_of<weighted_sample<V, Time>> {
    static std::string text(const weighted_sample<V, Time>& s)
    {
        return concat(s.value, " at ", s.at, ", weight ", s.weight);
    }
};

/// "12 points, mean 2.5, 1 to 9": those of the parts that the measures have.
template <class V, template <class> class... Parts>
struct line_of<measures<V, Parts...>> {
    static std::string text(const measures<V, Parts...>& m)
    {
        std::string result = counted(m.points, "point", "points");
        if constexpr (requires { m.mean(); }) add_field(result, "mean", m.mean());
        if constexpr (requires { m.lowest(); }) {
            if (m.lowest()) result += concat(", ", *m.lowest(), " to ", *m.highest());
        }
        return result;
    }
};

/// Measures other than `measures<...>` only have the times.
template <class Measure, class Time>
struct line_of<window_summary<Measure, Time>> {
    static std::string text(const window_summary<Measure, Time>& s)
    {
        std::string result;
        if constexpr (has_line<Measure>) result = line(static_cast<const Measure&>(s)) + ", ";
        result += concat("the last ", s.span, " before ", s.now);
        return s.cut ? result + ", the oldest cut" : result;
    }
};

template <class Time>
struct line_of<bin_options<Time>> {
    static std::string text(const bin_options<Time>& o)
    {
        return concat("bins of ", o.width, " from ", o.origin, " on, at most ", o.max_bins);
    }
};

template <class Measure, class Time>
struct line_of<bin<Measure, Time>> {
    static std::string text(const bin<Measure, Time>& b)
    {
        std::string result = concat(b.from, " to ", b.until);
        if constexpr (has_line<Measure>) result += concat(": ", b.measure);
        return result;
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_WINDOW_DESCRIBE_HPP
