// SPDX-License-Identifier: MIT
//
// check_policy: what is wrong with a policy, before it scales anything.
//
//     if (auto bad = waybill::scaling::check(p)) die(waybill::scaling::text(*bad));
//     // /down/all/0: expected a threshold below the 100 from where on "orders" asks for more, with
//     // 1 instances, found 120
//
// Places are named as in the policy's JSON.

#ifndef WAYBILL_SCALING_CHECK_POLICY_HPP
#define WAYBILL_SCALING_CHECK_POLICY_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/flapping.hpp>
#include <waybill/scaling/policy.hpp>

namespace waybill::inline v0_1::scaling {

/// The first thing that is wrong.
struct policy_error {
    std::string path{};      ///< As in "/up/any/0/metric".
    std::string expected{};  ///< What should stand there.
    std::string found{};     ///< What does.

    friend bool operator==(const policy_error&, const policy_error&) = default;
};

/// One line: where, what should be there, what is.
[[nodiscard]] inline std::string text(const policy_error& e)
{
    return (e.path.empty() ? "the policy" : e.path) + ": expected " + e.expected + ", found " +
           e.found;
}

namespace detail {

/// A number as short as it can be told: "100", "0.5".
[[nodiscard]] inline std::string short_number(double x)
{
    if (!is_finite(x)) return "no number";
    std::string s = std::to_string(x);
    while (s.back() == '0') s.pop_back();
    if (s.back() == '.') s.pop_back();
    return s;
}

[[nodiscard]] inline std::string quoted(std::string_view s)
{
    return '"' + std::string(s) + '"';
}

/// Looks at the parts of a policy one after the other, and keeps the first thing that is wrong.
class policy_checker {
public:
    void fail(std::string path, std::string expected, std::string found)
    {
        if (!error) error = policy_error{std::move(path), std::move(expected), std::move(found)};
    }

    void threshold_is_there(const std::string& path, const threshold& t)
    {
        if (!is_finite(t.value())) fail(path, "a finite threshold", short_number(t.value()));
        std::uint64_t last = 0;
        for (const threshold_step& s : t.table()) {
            if (!is_finite(s.value)) fail(path, "a finite threshold", short_number(s.value));
            if (&s != t.table().data() && s.instances <= last) {
                fail(path, "steps by rising numbers of instances",
                     std::to_string(s.instances) + " behind " + std::to_string(last));
            }
            last = s.instances;
        }
        if (t.what() == threshold::kind::table && t.table().empty()) {
            fail(path, "a table with a step", "none");
        }
    }

    void metric(const std::string& path, std::string_view m)
    {
        if (m.empty()) fail(path + "/metric", "the name of a metric", "\"\"");
    }

    void check_rule(const std::string& path, const rule& r)
    {
        const std::size_t n = r.parts().size();
        std::string_view name;
        switch (r.what()) {
            case rule::kind::compare:
                metric(path, r.compared().metric);
                threshold_is_there(path, r.compared().limit);
                if (r.compared().max_age) not_negative(path + "/max_age", *r.compared().max_age);
                return;
            case rule::kind::all: name = "/all"; break;
            case rule::kind::any: name = "/any"; break;
            case rule::kind::at_least: name = "/of"; break;
            case rule::kind::opposite: name = "/not"; break;
        }
        const std::string place = path + std::string(name);
        if (n == 0) fail(place, "a rule", "none");
        if (r.what() == rule::kind::at_least && (r.wanted() == 0 || r.wanted() > n)) {
            fail(path + "/at_least", "a number of 1 to " + std::to_string(n),
                 std::to_string(r.wanted()));
        }
        if (r.what() == rule::kind::opposite) return check_rule(place, r.parts()[0]);
        for (std::size_t i = 0; i != n; ++i) check_rule(numbered(place, i), r.parts()[i]);
    }

    void not_negative(const std::string& path, duration d)
    {
        if (d < duration{}) {
            fail(path, "a duration that is not negative", std::to_string(d.count()) + " ns");
        }
    }

    void check_change(const std::string& path, const change& c)
    {
        if (!is_finite(c.percent) || c.percent < 0) {
            fail(path + "/percent", "a share that is not negative", short_number(c.percent));
        }
    }

    [[nodiscard]] static std::string numbered(std::string_view path, std::size_t n)
    {
        return std::string(path) + '/' + std::to_string(n);
    }

    std::optional<policy_error> error;
};

inline void check_bands(policy_checker& c, const std::string& path, const std::vector<band>& bands)
{
    for (std::size_t n = 0; n != bands.size(); ++n) {
        const std::string at = policy_checker::numbered(path, n);
        if (bands[n].when.empty()) c.fail(at + "/when", "a rule", "none");
        else c.check_rule(at + "/when", bands[n].when);
        c.check_change(at + "/by", bands[n].by);
    }
}

inline void check_rates(policy_checker& c, const std::string& path,
                        const std::vector<rate_limit>& rates)
{
    for (std::size_t n = 0; n != rates.size(); ++n) {
        const std::string at = policy_checker::numbered(path, n);
        c.check_change(at + "/most", rates[n].most);
        if (rates[n].per <= duration{}) {
            c.fail(at + "/per", "a period", std::to_string(rates[n].per.count()) + " ns");
        }
    }
}

inline void check_targets(policy_checker& c, const std::vector<target>& targets)
{
    for (std::size_t n = 0; n != targets.size(); ++n) {
        const target& t = targets[n];
        const std::string at = policy_checker::numbered("/targets", n);
        c.metric(at, t.of.metric);
        if (!is_finite(t.each) || t.each <= 0) {
            c.fail(at + "/each", "a number above 0", short_number(t.each));
        }
        const auto tolerates = [&](std::string_view direction, double most) {
            if (!is_finite(most) || most < 0 || most >= 1) {
                c.fail(at + "/tolerance" + std::string(direction), "a share of 0 to below 1",
                       short_number(most));
            }
        };
        tolerates("/up", t.tolerance.up);
        tolerates("/down", t.tolerance.down);
    }
}

inline void check_bounds(policy_checker& c, const bounds& b, const std::vector<rung>& ladder,
                         bool wakes)
{
    if (b.highest == 0) c.fail("/instances/highest", "1 at least", "0");
    if (b.lowest > b.highest) {
        c.fail("/instances/lowest", "at most the highest, " + std::to_string(b.highest),
               std::to_string(b.lowest));
    }
    if (ladder.empty()) {
        if (b.lowest == 0 && !wakes) {
            c.fail("/wake", "a rule that starts the first instance, as there may be none", "none");
        }
        return;
    }
    if (b.highest >= ladder.size()) {
        c.fail("/instances/highest", "a rung of the ladder, 0 to " +
               std::to_string(ladder.size() - 1), std::to_string(b.highest));
    }
    for (std::size_t n = 0; n != ladder.size(); ++n) {
        const std::string at = policy_checker::numbered("/ladder", n);
        if (ladder[n].name.empty()) c.fail(at + "/name", "a name", "\"\"");
        if (rung_called(ladder, ladder[n].name) != n) {
            c.fail(at + "/name", "a name of its own", quoted(ladder[n].name));
        }
        const std::uint64_t least = n == 0 ? 1 : saturating_add(ladder[n - 1].capacity, 1);
        if (ladder[n].capacity < least) {
            c.fail(at + "/capacity", "at least " + std::to_string(least),
                   std::to_string(ladder[n].capacity));
        }
    }
}

/// Where in its JSON a comparison of a rule stands.
[[nodiscard]] inline std::string path_to(const rule& r, const comparison& c, std::string path)
{
    if (r.what() == rule::kind::compare) return r.compared() == c ? path : std::string();
    const std::string_view name = r.what() == rule::kind::all        ? "/all"
                                  : r.what() == rule::kind::any      ? "/any"
                                  : r.what() == rule::kind::opposite ? "/not"
                                                                     : "/of";
    path += name;
    for (std::size_t n = 0; n != r.parts().size(); ++n) {
        const bool single = r.what() == rule::kind::opposite;
        std::string at = path_to(r.parts()[n], c,
                                 single ? path : policy_checker::numbered(path, n));
        if (!at.empty()) return at;
    }
    return {};
}

inline void check_flapping(policy_checker& c, const rule& up, const std::vector<band>& bands,
                           const rule& down, const bounds& b, const std::vector<rung>& ladder)
{
    std::vector<rule> ups;
    if (!up.empty()) ups.push_back(up);
    for (const band& more : bands) ups.push_back(more.when);
    const std::optional<clash> found =
        flapping(rule(rule::kind::any, std::move(ups)), down, b, ladder);
    if (!found) return;
    const double u = found->up.limit.at(found->instances).value_or(0);
    const double d = found->down.limit.at(found->instances).value_or(0);
    const bool above = found->up.how == relation::above || found->up.how == relation::at_least;
    c.fail(path_to(down, found->down, "/down"),
           std::string("a threshold ") + (above ? "below the " : "above the ") + short_number(u) +
               " from where on " + quoted(found->up.metric) + " asks for more, with " +
               std::to_string(found->instances) + " instances",
           short_number(d));
}

}  // namespace detail

/// The first thing in a policy that cannot work. Rules of your own kind are not looked into.
template <condition Up, condition Down>
[[nodiscard]] std::optional<policy_error> check(const basic_policy<Up, Down>& p)
{
    detail::policy_checker c;
    if (!is_set(p.up) && p.bands.up.empty() && p.targets.empty() && !p.wake) {
        c.fail("/up", "a rule or a target, or nothing is ever started", "none");
    }
    if constexpr (std::same_as<Up, rule>) {
        if (!p.up.empty()) c.check_rule("/up", p.up);
    }
    if constexpr (std::same_as<Down, rule>) {
        if (!p.down.empty()) c.check_rule("/down", p.down);
    }
    if (!is_set(p.down) && !p.bands.down.empty()) {
        c.fail("/down", "a rule, as the bands down count only where it holds", "none");
    }
    detail::check_targets(c, p.targets);
    c.not_negative("/max_age", p.max_age);
    c.not_negative("/cooldown/up", p.cooldown.up);
    c.not_negative("/cooldown/down", p.cooldown.down);
    if (p.wake && p.wake->empty()) c.fail("/wake", "a rule", "none");
    if (p.wake && !p.wake->empty()) c.check_rule("/wake", *p.wake);
    detail::check_bounds(c, p.instances, p.ladder, p.wake.has_value());
    c.check_change("/step/up", p.step.up);
    c.check_change("/step/down", p.step.down);
    detail::check_bands(c, "/bands/up", p.bands.up);
    detail::check_bands(c, "/bands/down", p.bands.down);
    c.not_negative("/stabilise/up", p.stabilise.up);
    c.not_negative("/stabilise/down", p.stabilise.down);
    detail::check_rates(c, "/rate/up", p.rate.up);
    detail::check_rates(c, "/rate/down", p.rate.down);
    c.not_negative("/warm_up", p.warm_up);
    c.not_negative("/zero_after", p.zero_after);
    c.not_negative("/patience", p.patience);
    c.not_negative("/after_failure", p.after_failure);
    if constexpr (std::same_as<Up, rule> && std::same_as<Down, rule>) {
        if (!c.error) detail::check_flapping(c, p.up, p.bands.up, p.down, p.instances, p.ladder);
    }
    return c.error;
}

}  // namespace waybill::inline v0_1::scaling

#endif  // WAYBILL_SCALING_CHECK_POLICY_HPP
