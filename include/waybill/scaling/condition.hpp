// SPDX-License-Identifier: MIT
//
// condition: conditions of scaling policies, and the rows with the numbers of each comparison.
//
//     namespace sc = waybill::scaling;
//     sc::rule busy = sc::any_of(sc::mean("orders") > sc::per_instance(100),
//                                sc::highest("age") > 300);
//     sc::rule idle = sc::all_of(sc::highest("orders") < 10, sc::highest("mails") < 10);
//     std::vector<sc::evidence> because;
//     const sc::tribool t = busy({.metrics = readings, .instances = 4, .now = now}, because);
//
// A rule is a value: one comparison, or a combination of rules. Each comparison is evaluated, even
// if the others already decide, and adds a row with its numbers to the evidence. If a metric is
// missing, has too few points or is stale, the comparison is unknown (see tribool.hpp), unless
// `when_missing` specifies a result.
//
// Any callable that takes a situation and a list of rows is a condition, too. `any_of` and `all_of`
// accept it.

#ifndef WAYBILL_SCALING_CONDITION_HPP
#define WAYBILL_SCALING_CONDITION_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/detail/look_up.hpp>
#include <waybill/scaling/detail/numbers.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/situation.hpp>
#include <waybill/scaling/threshold.hpp>
#include <waybill/scaling/tribool.hpp>

namespace waybill::inline v0_2::scaling {

using v0_2::name;

/// A copyable callable that evaluates a situation and adds rows with its numbers.
template <class C>
concept condition = std::copy_constructible<C> &&
                    requires(const C& c, const situation& s, std::vector<evidence>& because) {
                        { c(s, because) } -> std::same_as<tribool>;
                    };

/// The result of a comparison that cannot be made.
enum class when_missing : std::uint8_t {
    unknown,  ///< Unknown.
    holds,    ///< True.
    fails,    ///< False.
};

[[nodiscard]] constexpr std::string_view texts_of(when_missing) noexcept
{
    return "unknown, holds, fails";
}

/// A statistic of a metric, compared with a threshold.
struct comparison {
    std::string metric{};
    statistic what = statistic::mean;
    relation how = relation::above;
    threshold limit{};
    std::optional<std::uint64_t> min_points{};
    std::optional<duration> max_age{};
    when_missing missing = when_missing::unknown;
    bool averaged = false;  ///< The metric is an average over the instances, such as the CPU load.

    friend bool operator==(const comparison&, const comparison&) = default;
};

/// A comparison, or a combination of rules.
class rule {
public:
    enum class kind : std::uint8_t {
        compare,   ///< One comparison.
        all,       ///< All parts hold; true without parts.
        any,       ///< Any part holds; false without parts.
        at_least,  ///< At least `wanted()` parts hold.
        opposite,  ///< The single part does not hold.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(kind) noexcept
    {
        return "compare, all, any, at_least, opposite";
    }

    /// An empty rule: it never holds and adds no rows.
    rule() : kind_(kind::any) {}
    rule(comparison c) : comparison_(std::move(c)) {}
    rule(kind k, std::vector<rule> parts, std::uint64_t wanted = 0)
        : kind_(k), wanted_(wanted), parts_(std::move(parts))
    {
    }

    [[nodiscard]] kind what() const noexcept { return kind_; }
    [[nodiscard]] const comparison& compared() const noexcept { return comparison_; }
    [[nodiscard]] const std::vector<rule>& parts() const noexcept { return parts_; }
    [[nodiscard]] std::uint64_t wanted() const noexcept { return wanted_; }
    [[nodiscard]] bool empty() const noexcept { return kind_ == kind::any && parts_.empty(); }

    /// Evaluates the rule and adds a row per comparison, in their order. Linear in the number of
    /// comparisons times the number of metrics.
    [[nodiscard]] tribool operator()(const situation& s, std::vector<evidence>& because) const
    {
        if (kind_ == kind::compare) return compare(s, because);
        tribool all = tribool::yes;
        tribool any = tribool::no;
        std::uint64_t yes = 0;
        std::uint64_t unknown = 0;
        for (const rule& r : parts_) {
            const tribool t = r(s, because);
            all = both(all, t);
            any = either(any, t);
            yes += t == tribool::yes ? 1U : 0U;
            unknown += t == tribool::unknown ? 1U : 0U;
        }
        switch (kind_) {
            case kind::all: return all;
            case kind::any: return any;
            case kind::at_least: return scaling::at_least(wanted_, yes, unknown);
            case kind::opposite:
            case kind::compare: break;
        }
        return opposite(all);
    }

    /// A copy in which each comparison requires at least n points.
    [[nodiscard]] rule with_points(std::uint64_t n) const
    {
        return with_each_comparison([n](comparison& c) { c.min_points = n; });
    }
    /// A copy in which each comparison requires a sample of at most age d.
    [[nodiscard]] rule not_older_than(duration d) const
    {
        return with_each_comparison([d](comparison& c) { c.max_age = d; });
    }
    /// A copy in which each comparison has the result m if it cannot be made.
    [[nodiscard]] rule if_missing(when_missing m) const
    {
        return with_each_comparison([m](comparison& c) { c.missing = m; });
    }

    friend bool operator==(const rule&, const rule&) = default;

private:
    /// A copy with `set` applied to each comparison.
    template <class F>
    [[nodiscard]] rule with_each_comparison(F set) const
    {
        rule r = *this;
        if (kind_ == kind::compare) set(r.comparison_);
        for (rule& part : r.parts_) part = part.with_each_comparison(set);
        return r;
    }

    [[nodiscard]] tribool compare(const situation& s, std::vector<evidence>& because) const
    {
        const comparison& c = comparison_;
        const std::uint64_t points = c.min_points.value_or(s.min_points);
        const duration age = c.max_age.value_or(s.max_age);
        evidence e = detail::look_up(s, c.metric, c.what, c.averaged, points, age);
        e.how = c.how;
        e.limit = c.limit.at(s.instances);
        if (e.missing == missing_part::nothing && !e.limit) e.missing = missing_part::limit;
        if (e.missing == missing_part::nothing)
            e.holds = truth_of(holds(*e.value, e.how, *e.limit));
        if (detail::could_differ(e)) {
            e.holds = tribool::unknown;
            e.missing = missing_part::samples;
        }
        if (e.missing != missing_part::nothing && c.missing != when_missing::unknown) {
            e.holds = truth_of(c.missing == when_missing::holds);
        }
        because.push_back(e);
        return e.holds;
    }

    kind kind_ = kind::compare;
    std::uint64_t wanted_ = 0;
    comparison comparison_{};
    std::vector<rule> parts_;
};

/// False for an empty rule. Other conditions are always set.
template <condition C>
[[nodiscard]] bool is_set(const C& c)
{
    if constexpr (std::same_as<C, rule>) return !c.empty();
    else return true;
}

/// A statistic of a metric. A comparison operator makes a rule of it.
struct measured {
    std::string metric{};
    statistic what = statistic::mean;
    bool averaged = false;

    [[nodiscard]] rule against(relation how, threshold t) const
    {
        comparison c{.metric = metric, .what = what, .how = how, .limit = std::move(t)};
        c.averaged = averaged;
        return rule(std::move(c));
    }
    [[nodiscard]] friend rule operator>(const measured& m, threshold t)
    {
        return m.against(relation::above, std::move(t));
    }
    [[nodiscard]] friend rule operator>=(const measured& m, threshold t)
    {
        return m.against(relation::at_least, std::move(t));
    }
    [[nodiscard]] friend rule operator<(const measured& m, threshold t)
    {
        return m.against(relation::below, std::move(t));
    }
    [[nodiscard]] friend rule operator<=(const measured& m, threshold t)
    {
        return m.against(relation::at_most, std::move(t));
    }

    friend bool operator==(const measured&, const measured&) = default;
};

[[nodiscard]] inline measured of(statistic s, std::string metric)
{
    return {.metric = std::move(metric), .what = s};
}
[[nodiscard]] inline measured mean(std::string m)
{
    return of(statistic::mean, std::move(m));
}
[[nodiscard]] inline measured highest(std::string m)
{
    return of(statistic::highest, std::move(m));
}
[[nodiscard]] inline measured lowest(std::string m)
{
    return of(statistic::lowest, std::move(m));
}
[[nodiscard]] inline measured sum(std::string m)
{
    return of(statistic::sum, std::move(m));
}
[[nodiscard]] inline measured last(std::string m)
{
    return of(statistic::last, std::move(m));
}
[[nodiscard]] inline measured rate(std::string m)
{
    return of(statistic::rate, std::move(m));
}

/// Marks a metric as an average over the instances: half the instances would double it.
[[nodiscard]] inline measured averaged(measured m)
{
    m.averaged = true;
    return m;
}

/// Holds if at least one of two conditions of any type holds.
template <condition A, condition B>
struct one_of_both {
    A a;
    B b;
    [[nodiscard]] tribool operator()(const situation& s, std::vector<evidence>& because) const
    {
        const tribool first = a(s, because);
        return either(first, b(s, because));
    }
};

/// Holds if both of two conditions of any type hold.
template <condition A, condition B>
struct all_of_both {
    A a;
    B b;
    [[nodiscard]] tribool operator()(const situation& s, std::vector<evidence>& because) const
    {
        const tribool first = a(s, because);
        return both(first, b(s, because));
    }
};

/// Holds if any of the conditions holds. If all are rules, the result is a rule, which can be
/// stored and printed.
template <condition C, condition... More>
[[nodiscard]] auto any_of(C c, More... more)
{
    if constexpr (std::same_as<C, rule> && (std::same_as<More, rule> && ...)) {
        return rule(rule::kind::any, {std::move(c), std::move(more)...});
    } else if constexpr (sizeof...(More) == 0) {
        return c;
    } else {
        auto rest = scaling::any_of(std::move(more)...);
        return one_of_both<C, decltype(rest)>{std::move(c), std::move(rest)};
    }
}

/// Holds if all conditions hold. If all are rules, the result is a rule.
template <condition C, condition... More>
[[nodiscard]] auto all_of(C c, More... more)
{
    if constexpr (std::same_as<C, rule> && (std::same_as<More, rule> && ...)) {
        return rule(rule::kind::all, {std::move(c), std::move(more)...});
    } else if constexpr (sizeof...(More) == 0) {
        return c;
    } else {
        auto rest = scaling::all_of(std::move(more)...);
        return all_of_both<C, decltype(rest)>{std::move(c), std::move(rest)};
    }
}

/// Holds if at least `wanted` of the rules hold.
template <std::same_as<rule>... Rules>
[[nodiscard]] rule at_least_of(std::uint64_t wanted, Rules... rules)
{
    return rule(rule::kind::at_least, {std::move(rules)...}, wanted);
}

/// Holds if r does not hold; unknown if r is unknown.
[[nodiscard]] inline rule operator!(rule r)
{
    return rule(rule::kind::opposite, {std::move(r)});
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_SCALING_CONDITION_HPP
