// SPDX-License-Identifier: MIT
//
// ext/json_scaling_policy: scaling policies, read and written. Fields have the names of the struct
// members; a field that is left out has its default. See ext/json_scaling.hpp.

#ifndef WAYBILL_EXT_JSON_SCALING_POLICY_HPP
#define WAYBILL_EXT_JSON_SCALING_POLICY_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_rule.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/policy.hpp>

namespace waybill::inline v0_2::scaling {

inline void read_value(const json_place& at, change& into)
{
    json_fields(at).may("count", into.count).may("percent", into.percent).done();
}

template <class T>
    requires waybill::detail::json_readable<T>
void read_value(const json_place& at, both_ways<T>& into)
{
    json_fields(at).may("up", into.up).may("down", into.down).done();
}

inline void read_value(const json_place& at, rate_limit& into)
{
    json_fields(at).must("most", into.max_change).must("per", into.per).done();
}

inline void read_value(const json_place& at, cooldowns& into)
{
    json_fields(at)
        .may("up", into.up)
        .may("down", into.down)
        .may("shared", into.shared)
        .done();
}

inline void read_value(const json_place& at, bounds& into)
{
    json_fields(at).may("lowest", into.lowest).may_size("highest", into.highest).done();
}

inline void read_value(const json_place& at, capacity_tier& into)
{
    json_fields(at).must("name", into.name).must("capacity", into.capacity).done();
}

inline void read_value(const json_place& at, target& into)
{
    const std::optional<statistic> what = detail::statistic_in(at);
    if (!what) return;
    into.of.what = *what;
    json_fields(at)
        .must(name(*what), into.of.metric)
        .must("each", into.each)
        .may("averaged", into.of.averaged)
        .may("tolerance", into.tolerance)
        .done();
}

namespace detail {

/// A target of `read_value` for the lists "up" and "down"; `one` reads each element.
template <class T, class F>
[[nodiscard]] auto lists_into(both_ways<std::vector<T>>& into, F one)
{
    return reads{[&into, one](const json_place& at) {
        reads up{[&](const json_place& list) { read_list(list, into.up, one); }};
        reads down{[&](const json_place& list) { read_list(list, into.down, one); }};
        json_fields(at).may("up", up).may("down", down).done();
    }};
}

template <class T>
[[nodiscard]] auto list_into(std::vector<T>& into)
{
    return reads{[&into](const json_place& list) {
        read_list(list, into, [](const json_place& one, T& t) { read_value(one, t); });
    }};
}

}  // namespace detail

/// Reads types and fields only: `validate` checks the values.
inline void read_value(const json_place& at, policy& into)
{
    detail::rule_reader rules;
    policy p = into;
    const auto rule_into = [&rules](rule& r) {
        return detail::reads{[&rules, &r](const json_place& place) { rules.read(place, r); }};
    };
    rule activation;
    auto up = rule_into(p.up);
    auto down = rule_into(p.down);
    auto first = rule_into(activation);
    auto targets = detail::list_into(p.targets);
    auto ladder = detail::list_into(p.ladder);
    auto bands = detail::lists_into(p.bands, [&](const json_place& one, band& b) {
        auto when = rule_into(b.when);
        json_fields(one).must("when", when).must("by", b.by).done();
    });
    auto rate = detail::lists_into(p.rate, [](const json_place& one, rate_limit& r) {
        read_value(one, r);
    });
    json_fields(at)
        .may("up", up)
        .may("down", down)
        .may("targets", targets)
        .may("min_points", p.min_points)
        .may("max_age", p.max_age)
        .may("cooldown", p.cooldown)
        .may("instances", p.instances)
        .may("step", p.step)
        .may("bands", bands)
        .may("stabilise", p.stabilise)
        .may("rate", rate)
        .may("warm_up", p.warm_up)
        .may("activation", first)
        .may("zero_after", p.zero_after)
        .may("ladder", ladder)
        .may("allow", p.allow)
        .may("if_unknown", p.if_unknown)
        .may("patience", p.patience)
        .may("after_failure", p.after_failure)
        .done();
    if (at.error) return;
    if (at.value.contains("activation")) p.activation = std::move(activation);
    into = std::move(p);
}

namespace detail {

/// Writes a policy as JSON. Settings for both directions are {"up": ..., "down": ...}.
class policy_writer : public rule_writer {
public:
    [[nodiscard]] json written_policy(const policy& p)
    {
        json j = {{"min_points", p.min_points},
                  {"max_age", p.max_age},
                  {"cooldown",
                   {{"up", p.cooldown.up},
                    {"down", p.cooldown.down},
                    {"shared", p.cooldown.shared}}},
                  {"instances",
                   {{"lowest", p.instances.lowest},
                    {"highest", waybill::detail::size_or_unlimited(p.instances.highest)}}},
                  {"step",
                   {{"up", by("/step/up", p.step.up)}, {"down", by("/step/down", p.step.down)}}},
                  {"stabilise", {{"up", p.stabilise.up}, {"down", p.stabilise.down}}},
                  {"warm_up", p.warm_up},
                  {"zero_after", p.zero_after},
                  {"allow", {{"up", p.allow.up}, {"down", p.allow.down}}},
                  {"patience", p.patience},
                  {"after_failure", p.after_failure}};
        if (!p.up.empty()) j["up"] = written("/up", p.up);
        if (!p.down.empty()) j["down"] = written("/down", p.down);
        if (p.activation) j["activation"] = written("/activation", *p.activation);
        if (p.if_unknown) j["if_unknown"] = *p.if_unknown;
        put(j, "/targets", p.targets);
        put(j, "/ladder", p.ladder);
        json bands = json::object();
        json rate = json::object();
        put(bands, "/bands/up", p.bands.up);
        put(bands, "/bands/down", p.bands.down);
        put(rate, "/rate/up", p.rate.up);
        put(rate, "/rate/down", p.rate.down);
        if (!bands.empty()) j["bands"] = std::move(bands);
        if (!rate.empty()) j["rate"] = std::move(rate);
        return j;
    }

private:
    /// Writes a list under the last word of `path`, unless the list is empty.
    template <class T>
    void put(json& j, const std::string& path, const std::vector<T>& list)
    {
        if (list.empty()) return;
        too_many(path, list.size());
        json all = json::array();
        for (std::size_t n = 0; n != list.size() && !error; ++n) {
            all.push_back(one(numbered(path, n), list[n]));
        }
        j[path.substr(path.rfind('/') + 1)] = std::move(all);
    }

    [[nodiscard]] json by(const std::string& path, const change& c)
    {
        return {{"count", c.count}, {"percent", number(path + "/percent", c.percent)}};
    }
    [[nodiscard]] json one(const std::string& path, const band& b)
    {
        return {{"when", written(path + "/when", b.when)}, {"by", by(path + "/by", b.by)}};
    }
    [[nodiscard]] json one(const std::string& path, const rate_limit& r)
    {
        return {{"most", by(path + "/most", r.max_change)}, {"per", r.per}};
    }
    [[nodiscard]] json one(const std::string& path, const capacity_tier& r)
    {
        return {{"name", words(path + "/name", r.name)}, {"capacity", r.capacity}};
    }
    [[nodiscard]] json one(const std::string& path, const target& t)
    {
        const std::string what(name(t.of.what));
        const std::string tolerance = path + "/tolerance";
        json j = {{what, words(inside(path, what), t.of.metric)},
                  {"each", number(path + "/each", t.each)},
                  {"tolerance",
                   {{"up", number(tolerance + "/up", t.tolerance.up)},
                    {"down", number(tolerance + "/down", t.tolerance.down)}}}};
        if (t.of.averaged) j["averaged"] = true;
        return j;
    }
};

}  // namespace detail

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_EXT_JSON_SCALING_POLICY_HPP
