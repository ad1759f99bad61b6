// SPDX-License-Identifier: MIT
//
// describe: policies, decisions and commands of autoscaling as text.

#ifndef WAYBILL_SCALING_DESCRIBE_HPP
#define WAYBILL_SCALING_DESCRIBE_HPP

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/decimal.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/clash.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/messages.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/state.hpp>
#include <waybill/scaling/threshold.hpp>
#include <waybill/scaling/tribool.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<scaling::command> {
    static std::string text(const auto& c)
    {
        return concat("command ", c.id, ": ", c.from, " -> ", c.to);
    }
};

/// "12:40" or "12:40:05" if `t` is on the UTC day of `decided`, the time of the decision; else the
/// full time.
template <std::same_as<wall_time> Time>
std::string clock(Time t, Time decided)
{
    constexpr std::size_t date_size = std::string_view("2024-02-29").size();
    constexpr std::size_t minutes_size = std::string_view("12:40").size();
    constexpr std::size_t seconds_size = std::string_view("12:40:05").size();
    std::string result = written(t);
    if (result.compare(0, date_size, written(decided), 0, date_size) != 0) return result;
    result.pop_back();  // the Z
    result.erase(0, date_size + 1);
    if (result.size() == seconds_size && result.ends_with(":00")) result.resize(minutes_size);
    return result;
}

/// "12:31-12:40", or one time if both are equal.
template <std::same_as<wall_time> Time>
std::string span(Time first, Time last, Time decided)
{
    std::string from = clock(first, decided);
    if (first == last) return from;
    const std::string to = clock(last, decided);
    const bool dated = from.ends_with('Z') || to.ends_with('Z');
    return from + (dated ? " to " : "-") + to;
}

template <std::same_as<wall_time> Time>
std::string until(const std::optional<Time>& t, Time decided)
{
    return t ? " until " + clock(*t, decided) : std::string();
}

/// False for the evidence of a target: it computes a number of instances and compares nothing.
template <class Evidence>
bool is_compared(const Evidence& e)
{
    return e.part != scaling::role::target && !e.wants;
}

/// The value of a row or its limit, rounded unless both would then look equal.
template <class Evidence>
std::string evidence_number(const Evidence& e, const std::optional<double>& n)
{
    if (!n) return "? ";
    const bool alike =
        e.value && e.limit && *e.value != *e.limit && rounded(*e.value) == rounded(*e.limit);
    return (alike ? decimal(*n) : rounded(*n)) + ' ';
}

/// "mean(orders) 412.5 > 200 yes [10 points 12:31-12:40]".
template <class Evidence>
std::string evidence_text(const Evidence& e, wall_time decided)
{
    std::string result = concat(name(e.what), "(", one_line(e.metric), ") ");
    result += evidence_number(e, e.value);
    if (e.value && is_only_a_bound(e)) {
        result += e.what == scaling::statistic::highest ? "or more " : "or less ";
    }
    result += concat(is_compared(e) ? name(e.how) : "of", " ");
    result += evidence_number(e, e.limit);
    if (e.wants) result += concat("wants ", *e.wants);
    else result += name(e.holds);
    if (e.missing != scaling::missing_part::nothing) {
        const bool stale = e.missing == scaling::missing_part::fresh_points;
        result += concat(" for lack of ", stale ? "fresh points" : name(e.missing));
    }
    if (e.points != 0) {
        result += " [" + counted(e.points, "point", "points");
        if (e.timed) result += ' ' + span(e.first, e.last, decided);
        result += ']';
    }
    if (!e.note.empty()) result += concat(" (", one_line(e.note), ")");
    return result;
}

template <>
struct line_of<scaling::evidence> {
    static std::string text(const auto& e)
    {
        const wall_time no_decision = wall_time::lowest();  // so times have their date
        return concat(name(e.part), ": ", evidence_text(e, no_decision));
    }
};

/// "up 2 -> 4 (wanted 7, held by rate until 12:41)".
template <class Decision>
std::string outcome(const Decision& d)
{
    using scaling::verdict;
    const bool moves = d.verdict == verdict::up || d.verdict == verdict::down;
    std::string result(name(d.verdict));
    if (moves) result += concat(" ", d.from, " -> ", d.to);
    else result += concat(" at ", d.from);
    const bool differs = d.desired != d.to;
    const bool reason = d.why != scaling::reason::nothing;
    if (!differs && !reason) return result;
    result += " (";
    if (differs) result += concat("wanted ", d.desired);
    if (differs && reason) result += ", ";
    if (reason) {
        const bool falls_short = d.from < d.to ? d.to < d.desired : d.desired < d.to;
        if (moves && falls_short) result += "held by ";
        const bool pending = d.why == scaling::reason::pending;
        result += concat(pending ? "waits for a result" : name(d.why), until(d.until, d.now));
    }
    return result + ')';
}

/// The name of a part of the policy. For `up`, `down` and `activation` also its result: "up yes".
template <class Decision>
std::string result_of_part(const Decision& d, scaling::role part)
{
    switch (part) {
        case scaling::role::up: return concat("up ", name(d.up));
        case scaling::role::down: return concat("down ", name(d.down));
        case scaling::role::activation: return concat("activation ", name(d.activation));
        case scaling::role::target:
        case scaling::role::projected: break;
    }
    return std::string(name(part));
}

template <>
struct line_of<scaling::decision> {
    static std::string text(const auto& d)
    {
        std::string result = concat(written(d.now), " ", outcome(d));
        const scaling::evidence* previous = nullptr;
        for (const scaling::evidence& e : d.reasons) {
            if (previous && previous->part == e.part) result += ", ";
            else result += concat(previous ? ";" : ":", " ", result_of_part(d, e.part), ": ");
            result += evidence_text(e, d.now);
            previous = &e;
        }
        return result;
    }
};

template <>
struct line_of<scaling::threshold> {
    static std::string text(const auto& t)
    {
        switch (t.what()) {
            case scaling::threshold::kind::constant: return concat(t.value());
            case scaling::threshold::kind::per_instance: return concat(t.value(), " per instance");
            case scaling::threshold::kind::function: return "a function of the instances";
            case scaling::threshold::kind::table: break;
        }
        std::string result;
        for (const scaling::threshold_step& s : t.table()) {
            result += concat(result.empty() ? "" : ", ", s.value, " from ", s.instances, " on");
        }
        return "(" + result + ")";
    }
};

template <>
struct line_of<scaling::comparison> {
    static std::string text(const auto& c)
    {
        std::string result =
            concat(name(c.what), "(", one_line(c.metric), ") ", name(c.how), " ", line(c.limit));
        if (c.averaged) result += ", averaged";
        if (c.min_points) result += ", at least " + counted(*c.min_points, "point", "points");
        if (c.max_age) result += concat(", not older than ", line(*c.max_age));
        if (c.missing != scaling::when_missing::unknown) {
            result += concat(", if missing ", name(c.missing));
        }
        return result;
    }
};

/// "any of (mean(orders) > 100 per instance; highest(age) > 300)".
template <>
struct line_of<scaling::rule> {
    static std::string text(const auto& r)
    {
        using kind = scaling::rule::kind;
        if (r.what() == kind::compare) return line(r.compared());
        std::string parts;
        for (const scaling::rule& part : r.parts()) {
            parts += concat(parts.empty() ? "" : "; ", line(part));
        }
        switch (r.what()) {
            case kind::compare: break;
            case kind::all: return concat("all of (", parts, ")");
            case kind::any: return concat("any of (", parts, ")");
            case kind::at_least: return concat("at least ", r.wanted(), " of (", parts, ")");
            case kind::opposite: return concat("not (", parts, ")");
        }
        return parts;
    }
};

/// "2", "10 %", "2 or 10 %".
template <class Change>
std::string change_text(const Change& c)
{
    const std::string percent = concat(c.percent, " %");
    if (c.count == 0) return c.percent == 0 ? "0" : percent;
    return c.percent == 0 ? number(c.count) : concat(c.count, " or ", percent);
}

template <>
struct line_of<scaling::change> {
    static std::string text(const auto& a) { return change_text(a); }
};

template <>
struct line_of<scaling::rate_limit> {
    static std::string text(const auto& a) { return concat(a.max_change, " in ", a.per); }
};

template <>
struct line_of<scaling::clash> {
    static std::string text(const auto& a)
    {
        return concat("up if ", a.up, " and down if ", a.down, " both hold at ",
                      counted(a.instances, "instance", "instances"));
    }
};

template <>
struct line_of<scaling::applied> {
    static std::string text(const auto& a) { return concat("applied: command ", a.id); }
};

template <>
struct line_of<scaling::failed> {
    static std::string text(const auto& a) { return concat("failed: command ", a.id); }
};

template <>
struct line_of<scaling::measured> {
    static std::string text(const auto& a)
    {
        return concat(a.averaged ? "averaged " : "", a.what, "(", one_line(a.metric), ")");
    }
};

template <>
struct line_of<scaling::target> {
    static std::string text(const auto& a)
    {
        return concat(a.of, " of ", a.each, " an instance, tolerance ", a.tolerance.up, " up and ",
                      a.tolerance.down, " down");
    }
};

template <>
struct line_of<scaling::band> {
    static std::string text(const auto& a) { return concat(a.by, " if ", a.when); }
};

template <>
struct line_of<scaling::bounds> {
    static std::string text(const auto& a)
    {
        return concat(a.lowest, " to ",
                      a.highest == unlimited ? std::string("any number of") : number(a.highest),
                      " instances");
    }
};

template <>
struct line_of<scaling::cooldowns> {
    static std::string text(const auto& a)
    {
        return concat(a.up, " before up, ", a.down, " before down", a.shared ? ", shared" : "");
    }
};

template <>
struct line_of<scaling::capacity_tier> {
    static std::string text(const auto& a)
    {
        return concat("tier ", one_line(a.name), " of capacity ", a.capacity);
    }
};

template <>
struct line_of<scaling::reading> {
    static std::string text(const auto& a)
    {
        return concat("metric ", one_line(a.metric), ": ", counted(a.points, "point", "points"),
                      a.complete ? "" : ", not complete", a.sampled ? ", sampled" : "");
    }
};

template <>
struct line_of<scaling::recommendation> {
    static std::string text(const auto& a)
    {
        return concat(counted(a.instances, "instance", "instances"), " at ", a.at);
    }
};

template <>
struct line_of<scaling::applied_change> {
    static std::string text(const auto& a) { return concat(a.from, " -> ", a.to, " at ", a.at); }
};

template <>
struct line_of<scaling::pending_command> {
    static std::string text(const auto& a)
    {
        return concat(a.issued, " at ", a.at, ", warm-up ", a.warm_up);
    }
};

template <>
struct line_of<scaling::state> {
    static std::string text(const auto& a)
    {
        return fields(concat("last command ", a.last_id), "pending:", a.pending, "last up",
                      a.last_up, "last down", a.last_down, "last failure", a.last_failure,
                      "inactive since", a.inactive_since);
    }
};

template <>
struct line_of<scaling::threshold_step> {
    static std::string text(const auto& a) { return concat(a.value, " from ", a.instances, " on"); }
};

template <class T>
struct line_of<scaling::per_direction<T>> {
    static std::string text(const scaling::per_direction<T>& d)
    {
        return concat(d.up, " up, ", d.down, " down");
    }
};

/// The rules, the targets, the bounds and what differs from a value-initialised policy.
template <class Up, class Down>
struct line_of<scaling::basic_policy<Up, Down>> {
    static std::string text(const scaling::basic_policy<Up, Down>& p)
    {
        const scaling::basic_policy<Up, Down> plain{};
        std::string result = line(p.instances);
        add_rule(result, "up", p.up);
        add_rule(result, "down", p.down);
        for (const scaling::target& t : p.targets) result += concat("; target ", t);
        for (const scaling::band& b : p.bands.up) result += concat("; up by ", b);
        for (const scaling::band& b : p.bands.down) result += concat("; down by ", b);
        if (p.activation) add_rule(result, "active", *p.activation);
        result += concat("; at least ", counted(p.min_points, "point", "points"));
        if (p.max_age != plain.max_age) result += concat(", not older than ", p.max_age);
        result += concat("; step ", p.step, "; cooldown ", p.cooldown);
        if (p.stabilise != plain.stabilise) result += concat("; stabilise ", p.stabilise);
        for (const scaling::rate_limit& r : p.rate.up) result += concat("; up at most ", r);
        for (const scaling::rate_limit& r : p.rate.down) result += concat("; down at most ", r);
        if (p.warm_up != plain.warm_up) result += concat("; warm-up ", p.warm_up);
        if (!p.ladder.empty()) result += concat("; ", p.ladder.size(), " tiers");
        if (!p.allow.up) result += "; up disabled";
        if (!p.allow.down) result += "; down disabled";
        if (p.if_unknown) result += concat("; if unknown ", *p.if_unknown);
        return result;
    }

private:
    template <class Rule>
    static void add_rule(std::string& to, std::string_view verb, const Rule& rule)
    {
        if (!is_set(rule)) return;
        to += concat("; ", verb, " if ");
        if constexpr (has_line<Rule>) to += line(rule);
        else to += "a condition of the caller holds";
    }
};

template <>
struct line_of<scaling::metric_message> {
    static std::string text(const auto& m)
    {
        return concat(one_line(m.resource), ": ", one_line(m.metric), " = ", m.value, " at ", m.at);
    }
};

template <>
struct line_of<scaling::command_message> {
    static std::string text(const auto& m) { return concat(one_line(m.resource), ": ", m.command); }
};

template <>
struct line_of<scaling::result_message> {
    static std::string text(const auto& m)
    {
        std::string result =
            concat(one_line(m.resource), ": command ", m.id, m.applied ? " applied" : " failed");
        if (!m.text.empty()) result += ": " + one_line(m.text);
        return result;
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_SCALING_DESCRIBE_HPP
