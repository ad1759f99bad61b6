// SPDX-License-Identifier: MIT
//
// ext/fmt/scaling: scaling decisions with their evidence, commands, rules and thresholds as lines.
//
//     2024-02-29T12:40:00Z up 2 -> 4 (wanted 7, held by rate until 12:41): up yes: mean(orders)
//     412.5 > 200 yes [10 points 12:31-12:40], highest(age) 12 > 300 no [10 points 12:31-12:40]
//
// This is one line, broken here. A time on the UTC day of the decision is shown without its date,
// and without seconds if they are zero. Numbers are exact.

#ifndef WAYBILL_EXT_FMT_SCALING_HPP
#define WAYBILL_EXT_FMT_SCALING_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/threshold.hpp>
#include <waybill/scaling/tribool.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<scaling::admission> : enumerator_line {};
template <>
struct line_of<scaling::command_result> : enumerator_line {};
template <>
struct line_of<scaling::missing_part> : enumerator_line {};
template <>
struct line_of<scaling::reason> : enumerator_line {};
template <>
struct line_of<scaling::relation> : enumerator_line {};
template <>
struct line_of<scaling::role> : enumerator_line {};
template <>
struct line_of<scaling::statistic> : enumerator_line {};
template <>
struct line_of<scaling::tribool> : enumerator_line {};
template <>
struct line_of<scaling::verdict> : enumerator_line {};
template <>
struct line_of<scaling::when_missing> : enumerator_line {};

template <>
struct line_of<scaling::policy_error> {
    template <class T>
    [[nodiscard]] static std::string text(const T& e)
    {
        return one_line(describe(e));
    }
};

template <>
struct line_of<scaling::command> {
    template <class T>
    [[nodiscard]] static std::string text(const T& c)
    {
        return fmt::format("command {}: {} -> {}", c.id, c.from, c.to);
    }
};

/// "12:40" or "12:40:05" if `t` is on the UTC day of `decided`, the time of the decision; else the
/// full time.
[[nodiscard]] inline std::string clock(wall_time t, wall_time decided)
{
    constexpr std::size_t date_size = std::string_view("2024-02-29").size();
    constexpr std::size_t minutes_size = std::string_view("12:40").size();
    constexpr std::size_t seconds_size = std::string_view("12:40:05").size();
    std::string result = to_text(t);
    if (result.compare(0, date_size, to_text(decided), 0, date_size) != 0) return result;
    result.pop_back();  // the Z
    result.erase(0, date_size + 1);
    if (result.size() == seconds_size && result.ends_with(":00")) result.resize(minutes_size);
    return result;
}

/// "12:31-12:40", or one time if both are equal.
[[nodiscard]] inline std::string span(wall_time first, wall_time last, wall_time decided)
{
    const std::string from = clock(first, decided);
    if (first == last) return from;
    const std::string to = clock(last, decided);
    const bool dated = from.ends_with('Z') || to.ends_with('Z');
    return from + (dated ? " to " : "-") + to;
}

[[nodiscard]] inline std::string until(const std::optional<wall_time>& t, wall_time decided)
{
    return t ? " until " + clock(*t, decided) : std::string();
}

/// False for the evidence of a target: it computes a number of instances and compares nothing.
[[nodiscard]] inline bool is_compared(const scaling::evidence& e)
{
    return e.part != scaling::role::target && !e.wants;
}

/// "mean(orders) 412.5 > 200 yes [10 points 12:31-12:40]".
template <class Evidence>
[[nodiscard]] std::string evidence_text(const Evidence& e, wall_time decided)
{
    std::string result = fmt::format("{}({}) ", name(e.what), one_line(e.metric));
    result += e.value ? fmt::format("{} ", *e.value) : "? ";
    if (e.value && is_only_a_bound(e)) {
        result += e.what == scaling::statistic::highest ? "or more " : "or less ";
    }
    result += fmt::format("{} ", is_compared(e) ? name(e.how) : "of");
    if (e.limit)
        result += fmt::format("{} ", *e.limit);
    else
        result += "? ";
    if (e.wants)
        result += fmt::format("wants {}", *e.wants);
    else
        result += name(e.holds);
    if (e.missing != scaling::missing_part::nothing) {
        const bool stale = e.missing == scaling::missing_part::fresh_points;
        result += fmt::format(" for lack of {}", stale ? "fresh points" : name(e.missing));
    }
    if (e.points != 0) {
        result += " [" + counted(e.points, "point", "points");
        if (e.timed) result += ' ' + span(e.first, e.last, decided);
        result += ']';
    }
    if (!e.note.empty()) result += fmt::format(" ({})", one_line(e.note));
    return result;
}

template <>
struct line_of<scaling::evidence> {
    template <class T>
    [[nodiscard]] static std::string text(const T& e)
    {
        const wall_time no_decision = wall_time::lowest();  // so times have their date
        return fmt::format("{}: {}", name(e.part), evidence_text(e, no_decision));
    }
};

/// "up 2 -> 4 (wanted 7, held by rate until 12:41)".
template <class Decision>
[[nodiscard]] std::string outcome(const Decision& d)
{
    using scaling::verdict;
    const bool moves = d.verdict == verdict::up || d.verdict == verdict::down;
    std::string result(name(d.verdict));
    if (moves)
        result += fmt::format(" {} -> {}", d.from, d.to);
    else
        result += fmt::format(" at {}", d.from);
    const bool differs = d.desired != d.to;
    const bool reason = d.why != scaling::reason::nothing;
    if (!differs && !reason) return result;
    result += " (";
    if (differs) result += fmt::format("wanted {}", d.desired);
    if (differs && reason) result += ", ";
    if (reason) {
        const bool falls_short = d.from < d.to ? d.to < d.desired : d.desired < d.to;
        if (moves && falls_short) result += "held by ";
        result += fmt::format("{}{}", name(d.why), until(d.until, d.now));
    }
    return result + ')';
}

/// The name of a part of the policy. For `up`, `down` and `activation` also its result: "up yes".
template <class Decision>
[[nodiscard]] std::string result_of_part(const Decision& d, scaling::role part)
{
    switch (part) {
        case scaling::role::up: return fmt::format("up {}", name(d.up));
        case scaling::role::down: return fmt::format("down {}", name(d.down));
        case scaling::role::activation: return fmt::format("activation {}", name(d.activation));
        case scaling::role::target:
        case scaling::role::projected: break;
    }
    return std::string(name(part));
}

template <>
struct line_of<scaling::decision> {
    template <class T>
    [[nodiscard]] static std::string text(const T& d)
    {
        std::string result = fmt::format("{} {}", to_text(d.now), outcome(d));
        const scaling::evidence* previous = nullptr;
        for (const scaling::evidence& e : d.reasons) {
            if (previous && previous->part == e.part)
                result += ", ";
            else
                result += fmt::format("{} {}: ", previous ? ";" : ":", result_of_part(d, e.part));
            result += evidence_text(e, d.now);
            previous = &e;
        }
        return result;
    }
};

template <>
struct line_of<scaling::threshold> {
    template <class T>
    [[nodiscard]] static std::string text(const T& t)
    {
        switch (t.what()) {
            case scaling::threshold::kind::constant: return fmt::format("{}", t.value());
            case scaling::threshold::kind::per_instance:
                return fmt::format("{} per instance", t.value());
            case scaling::threshold::kind::function: return "a function of the instances";
            case scaling::threshold::kind::table: break;
        }
        std::string result;
        for (const scaling::threshold_step& s : t.table()) {
            result +=
                fmt::format("{}{} from {} on", result.empty() ? "" : ", ", s.value, s.instances);
        }
        return "(" + result + ")";
    }
};

template <>
struct line_of<scaling::comparison> {
    template <class T>
    [[nodiscard]] static std::string text(const T& c)
    {
        std::string result = fmt::format("{}({}) {} {}", name(c.what), one_line(c.metric),
                                         name(c.how), line(c.limit));
        if (c.averaged) result += ", averaged";
        if (c.min_points) result += ", at least " + counted(*c.min_points, "point", "points");
        if (c.max_age) result += fmt::format(", not older than {}", line(*c.max_age));
        if (c.missing != scaling::when_missing::unknown) {
            result += fmt::format(", if missing {}", name(c.missing));
        }
        return result;
    }
};

/// "any of (mean(orders) > 100 per instance; highest(age) > 300)".
template <>
struct line_of<scaling::rule> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        using kind = scaling::rule::kind;
        if (r.what() == kind::compare) return line(r.compared());
        std::string parts;
        for (const scaling::rule& part : r.parts()) {
            parts += fmt::format("{}{}", parts.empty() ? "" : "; ", line(part));
        }
        switch (r.what()) {
            case kind::compare: break;
            case kind::all: return fmt::format("all of ({})", parts);
            case kind::any: return fmt::format("any of ({})", parts);
            case kind::at_least: return fmt::format("at least {} of ({})", r.wanted(), parts);
            case kind::opposite: return fmt::format("not ({})", parts);
        }
        return parts;
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_SCALING_HPP
