// SPDX-License-Identifier: MIT
//
// ext/json/detail/scaling_policy: lists of a scaling policy, and the writer of a policy.

#ifndef WAYBILL_EXT_JSON_DETAIL_SCALING_POLICY_HPP
#define WAYBILL_EXT_JSON_DETAIL_SCALING_POLICY_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/detail/scaling_rule.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/policy.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// A target of `read_value` for the lists "up" and "down"; `one(place, element)` reads an element.
template <json_value Json, class T, class F>
[[nodiscard]] auto lists_into(per_direction<std::vector<T>>& into, F one)
{
    return field_reader{[&into, one](const json_place<Json>& at) {
        field_reader up{[&](const json_place<Json>& list) { read_list(list, into.up, one); }};
        field_reader down{[&](const json_place<Json>& list) { read_list(list, into.down, one); }};
        json_fields(at).optional("up", up).optional("down", down).done();
    }};
}

template <json_value Json, class T>
[[nodiscard]] auto list_into(std::vector<T>& into)
{
    return field_reader{[&into](const json_place<Json>& list) {
        read_list(list, into, [](const json_place<Json>& one, T& t) { read_value(one, t); });
    }};
}

template <json_value Json, class T>
[[nodiscard]] auto lists_into(per_direction<std::vector<T>>& into)
{
    return lists_into<Json>(into, [](const json_place<Json>& one, T& t) { read_value(one, t); });
}

/// A target of `read_value` for a rule.
template <json_value Json>
[[nodiscard]] auto rule_into(rule_reader<Json>& reader, rule& into)
{
    return field_reader{[&](const json_place<Json>& at) { reader.read(at, into); }};
}

/// Writes a policy as JSON. Settings for both directions are {"up": ..., "down": ...}.
template <json_value Json>
class policy_writer : public rule_writer<Json> {
public:
    using json = Json;
    using rule_writer<Json>::error;
    using rule_writer<Json>::number;
    using rule_writer<Json>::check_list_size;
    using rule_writer<Json>::text;
    using rule_writer<Json>::write;

    [[nodiscard]] json write_policy_json(const policy& p)
    {
        json j = {
            {"min_points", p.min_points},
            {"max_age", p.max_age},
            {"cooldown",
             {{"up", p.cooldown.up}, {"down", p.cooldown.down}, {"shared", p.cooldown.shared}}},
            {"instances",
             {{"lowest", p.instances.lowest},
              {"highest", waybill::detail::size_or_unlimited(p.instances.highest)}}},
            {"step",
             {{"up", write_change("/step/up", p.step.up)},
              {"down", write_change("/step/down", p.step.down)}}},
            {"stabilise", {{"up", p.stabilise.up}, {"down", p.stabilise.down}}},
            {"warm_up", p.warm_up},
            {"zero_after", p.zero_after},
            {"allow", {{"up", p.allow.up}, {"down", p.allow.down}}},
            {"patience", p.patience},
            {"after_failure", p.after_failure}};
        if (p.every != policy().every) j["every"] = p.every;
        if (p.window != policy().window) j["window"] = p.window;
        if (!p.up.empty()) j["up"] = write("/up", p.up);
        if (!p.down.empty()) j["down"] = write("/down", p.down);
        if (p.activation) j["activation"] = write("/activation", *p.activation);
        if (p.if_unknown) j["if_unknown"] = *p.if_unknown;
        put_list(j, "/targets", p.targets);
        put_list(j, "/ladder", p.ladder);
        json bands = json::object();
        json rate = json::object();
        put_list(bands, "/bands/up", p.bands.up);
        put_list(bands, "/bands/down", p.bands.down);
        put_list(rate, "/rate/up", p.rate.up);
        put_list(rate, "/rate/down", p.rate.down);
        if (!bands.empty()) j["bands"] = std::move(bands);
        if (!rate.empty()) j["rate"] = std::move(rate);
        return j;
    }

private:
    /// Writes a list into the field that `path` ends with, unless the list is empty.
    template <class T>
    void put_list(json& j, const std::string& path, const std::vector<T>& list)
    {
        if (list.empty()) return;
        check_list_size(path, list.size());
        json entries = json::array();
        for (std::size_t n = 0; n != list.size() && !error; ++n) {
            entries.push_back(write_entry(numbered(path, n), list[n]));
        }
        j[path.substr(path.rfind('/') + 1)] = std::move(entries);
    }

    [[nodiscard]] json write_change(const std::string& path, const change& c)
    {
        return {{"count", c.count}, {"percent", number(path + "/percent", c.percent)}};
    }
    [[nodiscard]] json write_entry(const std::string& path, const band& b)
    {
        return {{"when", write(path + "/when", b.when)}, {"by", write_change(path + "/by", b.by)}};
    }
    [[nodiscard]] json write_entry(const std::string& path, const rate_limit& r)
    {
        return {{"max_change", write_change(path + "/max_change", r.max_change)}, {"per", r.per}};
    }
    [[nodiscard]] json write_entry(const std::string& path, const capacity_tier& c)
    {
        return {{"name", text(path + "/name", c.name)}, {"capacity", c.capacity}};
    }
    [[nodiscard]] json write_entry(const std::string& path, const target& t)
    {
        const std::string statistic_name(name(t.of.what));
        const std::string tolerance = path + "/tolerance";
        json j = {{statistic_name, text(inside(path, statistic_name), t.of.metric)},
                  {"each", number(path + "/each", t.each)},
                  {"tolerance",
                   {{"up", number(tolerance + "/up", t.tolerance.up)},
                    {"down", number(tolerance + "/down", t.tolerance.down)}}}};
        if (t.of.averaged) j["averaged"] = true;
        return j;
    }
};

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_SCALING_POLICY_HPP
