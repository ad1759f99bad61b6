// SPDX-License-Identifier: MIT
//
// ext/json/scaling: policies, states, commands and messages of scaling, read and written;
// decisions, written only.
//
//     {"up": {"any": [{"mean": "orders", "above": {"per_instance": 100}},
//                     {"highest": "age", "above": 300}]},
//      "down": {"all": [{"highest": "orders", "below": 10}, {"highest": "mails", "below": 10}]},
//      "min_points": 5, "cooldown": {"up": "1min", "down": "10min"},
//      "instances": {"lowest": 1, "highest": 20}}
//
//     auto p = waybill::scaling::parse_policy(file_text);
//     if (!p) die(waybill::describe(p.error()));
//     // /down/all/0/below: expected a number, {"per_instance": 100} or ..., found "10"
//     nlohmann::json row = state;
//     auto again = waybill::parse_json<waybill::scaling::state>(row.dump());
//
// A field that is left out has its default. `read_policy` and `parse_policy` also call `validate`.
// Writing a policy may fail: `write_policy` returns a result, and there is no `to_json`. The guide
// of ext describes the formats of policy and state.

#ifndef WAYBILL_EXT_JSON_SCALING_HPP
#define WAYBILL_EXT_JSON_SCALING_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/result.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/detail/base36.hpp>
#include <waybill/ext/json/detail/scaling_policy.hpp>
#include <waybill/ext/json/detail/scaling_rule.hpp>
#include <waybill/ext/json/scaling_messages.hpp>
#include <waybill/scaling/autoscale_state.hpp>
#include <waybill/scaling/change.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/decision.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/state.hpp>
#include <waybill/scaling/threshold.hpp>
#include <waybill/scaling/tribool.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::scaling {

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, threshold_step& into)
{
    if (!at.value.is_array() || at.value.size() != 2) return at.fail("[instances, threshold]");
    read_value(detail::place_of(at, 0), into.instances);
    read_value(detail::place_of(at, 1), into.value);
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, threshold& into)
{
    if (at.value.is_number()) {
        double value = 0;
        read_value(at, value);
        into = value;
        return;
    }
    constexpr auto expected =
        "a number, {\"per_instance\": 100} or "
        "{\"by_instances\": [[1, 100], [4, 350]]}";
    if (!at.value.is_object()) return at.fail(expected);
    constexpr std::string_view field_names[]{"per_instance", "by_instances"};
    const auto kind_index = detail::only_field(at, field_names, "one kind of threshold");
    double each = 0;
    std::vector<threshold_step> steps;
    detail::field_reader read_steps{[&](const json_place<Json>& place) {
        detail::read_list(place, steps, [](const json_place<Json>& one, threshold_step& s) {
            read_value(one, s);
        });
    }};
    json_fields(at).optional("per_instance", each).optional("by_instances", read_steps).done();
    if (!kind_index) at.fail(expected);
    else if (*kind_index == 0) into = threshold::each(each);
    else into = threshold::steps(std::move(steps));
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, change& into)
{
    json_fields(at).optional("count", into.count).optional("percent", into.percent).done();
}

template <waybill::detail::json_value Json, class T>
    requires waybill::detail::json_readable<T, Json>
void read_value(const json_place<Json>& at, per_direction<T>& into)
{
    json_fields(at).optional("up", into.up).optional("down", into.down).done();
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, rate_limit& into)
{
    json_fields(at).required("max_change", into.max_change).required("per", into.per).done();
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, cooldowns& into)
{
    json_fields(at)
        .optional("up", into.up)
        .optional("down", into.down)
        .optional("shared", into.shared)
        .done();
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, bounds& into)
{
    json_fields(at).optional("lowest", into.lowest).optional_size("highest", into.highest).done();
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, capacity_tier& into)
{
    json_fields(at).required("name", into.name).required("capacity", into.capacity).done();
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, target& into)
{
    const std::optional<statistic> measured = detail::statistic_in(at);
    if (!measured) return;
    into.of.what = *measured;
    json_fields(at)
        .required(name(*measured), into.of.metric)
        .required("each", into.each)
        .optional("averaged", into.of.averaged)
        .optional("tolerance", into.tolerance)
        .done();
}

/// Checks types and names of fields only: `validate` checks the values.
template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, policy& into)
{
    detail::rule_reader<Json> rules;
    policy p = into;
    rule activation;
    auto up = detail::rule_into(rules, p.up);
    auto down = detail::rule_into(rules, p.down);
    auto read_activation = detail::rule_into(rules, activation);
    auto targets = detail::list_into<Json>(p.targets);
    auto ladder = detail::list_into<Json>(p.ladder);
    auto bands = detail::lists_into<Json>(p.bands, [&](const json_place<Json>& one, band& b) {
        auto read_when = detail::rule_into(rules, b.when);
        json_fields(one).required("when", read_when).required("by", b.by).done();
    });
    auto rate = detail::lists_into<Json>(p.rate);
    json_fields(at)
        .optional("up", up)
        .optional("down", down)
        .optional("targets", targets)
        .optional("min_points", p.min_points)
        .optional("max_age", p.max_age)
        .optional("cooldown", p.cooldown)
        .optional("instances", p.instances)
        .optional("step", p.step)
        .optional("bands", bands)
        .optional("stabilise", p.stabilise)
        .optional("rate", rate)
        .optional("warm_up", p.warm_up)
        .optional("activation", read_activation)
        .optional("zero_after", p.zero_after)
        .optional("ladder", ladder)
        .optional("allow", p.allow)
        .optional("if_unknown", p.if_unknown)
        .optional("patience", p.patience)
        .optional("after_failure", p.after_failure)
        .optional("every", p.every)
        .optional("window", p.window)
        .done();
    if (at.error) return;
    if (at.value.contains("activation")) p.activation = std::move(activation);
    into = std::move(p);
}

/// Reads a policy from `value` and checks it.
template <waybill::detail::json_value Json = nlohmann::json>
[[nodiscard]] result<policy, json_error> read_policy(const Json& value)
{
    policy read;
    std::optional<json_error> error;
    read_value(json_place<Json>{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    if (std::optional<policy_error> bad = validate(read)) {
        return unexpected(json_error{json_error::code::wrong,
                                     waybill::detail::shortened_path(std::move(bad->path)),
                                     std::move(bad->expected), std::move(bad->found)});
    }
    return read;
}

/// Parses `text` (within the default json_limits), reads a policy and checks it.
template <waybill::detail::json_value Json = nlohmann::json>
[[nodiscard]] result<policy, json_error> parse_policy(std::string_view text)
{
    result<Json, json_error> parsed = parse_json_text<Json>(text);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_policy(*parsed);
}

/// Writes a policy as JSON from which an equal policy can be read. The error is the first part that
/// cannot be written, such as a threshold that is a function.
template <waybill::detail::json_value Json = nlohmann::json>
[[nodiscard]] result<Json, json_error> write_policy(const policy& p)
{
    detail::policy_writer<Json> writer;
    Json j = writer.write_policy_json(p);
    if (writer.error) return unexpected(std::move(*writer.error));
    return result<Json, json_error>(std::move(j));
}

namespace detail {

/// Format version of the written state.
inline constexpr std::uint64_t state_version = 1;

}  // namespace detail

template <waybill::detail::json_value Json>
void to_json(Json& j, const pending_command& p)
{
    j = {{"id", p.issued.id},
         {"from", p.issued.from},
         {"to", p.issued.to},
         {"at", p.at},
         {"warm_up", p.warm_up}};
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, pending_command& into)
{
    json_fields(at)
        .required("id", into.issued.id)
        .required("from", into.issued.from)
        .required("to", into.issued.to)
        .required("at", into.at)
        .required("warm_up", into.warm_up)
        .done();
    if (into.issued.from == into.issued.to) at.fail("\"to\" other than \"from\"");
}

/// Leaves out times that are not set.
template <waybill::detail::json_value Json>
void to_json(Json& j, const state& s)
{
    j = {{"version", detail::state_version},
         {"last_id", s.last_id},
         {"warm_instances", s.warm_instances},
         {"highest", detail::in_base36(s.highest)},
         {"lowest", detail::in_base36(s.lowest)},
         {"applied_changes", detail::in_base36(s.applied_changes)}};
    if (s.pending) j["pending"] = *s.pending;
    if (s.last_up) j["last_up"] = *s.last_up;
    if (s.last_down) j["last_down"] = *s.last_down;
    if (s.last_failure) j["last_failure"] = *s.last_failure;
    if (s.warm_at) j["warm_at"] = *s.warm_at;
    if (s.inactive_since) j["inactive_since"] = *s.inactive_since;
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, state& into)
{
    state s;
    detail::list_in_base36<recommendation, state::recommendations> highest{s.highest};
    detail::list_in_base36<recommendation, state::recommendations> lowest{s.lowest};
    detail::list_in_base36<applied_change, state::changes> made{s.applied_changes};
    json_fields(at)
        .version(detail::state_version)
        .required("last_id", s.last_id)
        .required("warm_instances", s.warm_instances)
        .required("highest", highest)
        .required("lowest", lowest)
        .required("applied_changes", made)
        .optional("pending", s.pending)
        .optional("last_up", s.last_up)
        .optional("last_down", s.last_down)
        .optional("last_failure", s.last_failure)
        .optional("warm_at", s.warm_at)
        .optional("inactive_since", s.inactive_since)
        .done();
    detail::check_order(at, "highest", s.highest, detail::instance_order::falling);
    detail::check_order(at, "lowest", s.lowest, detail::instance_order::rising);
    if (s.warm_at && !s.last_up && !at.error) {
        json_place{at.value["warm_at"], waybill::detail::path_to(at.path, "warm_at"), at.error}
            .fail("no value, because \"last_up\" is missing");
    }
    if (s.pending && (s.pending->issued.id == 0 || s.pending->issued.id > s.last_id)) {
        json_place{at.value["pending"], waybill::detail::path_to(at.path, "pending"), at.error}
            .fail("an \"id\" of 1 to \"last_id\"");
    }
    if (!at.error) into = s;
}

namespace detail {

/// Format version of the written state of an autoscaler.
inline constexpr std::uint64_t autoscale_version = 1;

}  // namespace detail

/// Samples are [time, value].
template <waybill::detail::json_value Json>
void to_json(Json& j, const metric_samples& m)
{
    Json samples = Json::array();
    for (const auto& s : m.samples) {
        if (waybill::detail::is_finite(s.value)) samples.push_back(Json::array({s.at, s.value}));
    }
    j = {{"samples", std::move(samples)}};
    waybill::detail::put_text(j, "metric", m.metric);
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, metric_samples& into)
{
    detail::field_reader samples{[&](const json_place<Json>& list) {
        detail::read_list(list, into.samples, [](const json_place<Json>& one, sample<double>& s) {
            if (!one.value.is_array() || one.value.size() != 2) return one.fail("[time, value]");
            read_value(detail::place_of(one, 0), s.at);
            read_value(detail::place_of(one, 1), s.value);
        });
    }};
    json_fields(at).required_text("metric", into.metric).required("samples", samples).done();
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const autoscale_state& s)
{
    j = {{"version", detail::autoscale_version}, {"state", s.state}, {"metrics", s.metrics}};
}

template <waybill::detail::json_value Json>
void read_value(const json_place<Json>& at, autoscale_state& into)
{
    autoscale_state read;
    auto metrics = detail::list_into<Json>(read.metrics);
    json_fields(at)
        .version(detail::autoscale_version)
        .required("state", read.state)
        .required("metrics", metrics)
        .done();
    if (!at.error) into = std::move(read);
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const policy_error& e)
{
    j = Json::object();
    waybill::detail::put_text(j, "path", e.path);
    waybill::detail::put_text(j, "expected", e.expected);
    waybill::detail::put_text(j, "found", e.found);
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const evidence& e)
{
    j = {{"part", e.part}, {"what", e.what}, {"points", e.points}, {"holds", e.holds}};
    waybill::detail::put_text(j, "metric", std::string(e.metric));
    if (e.part != role::target && !e.wants) j["how"] = e.how;
    if (e.cut) j["cut"] = true;
    if (e.sampled) j["sampled"] = true;
    detail::put_number(j, "value", e.value);
    detail::put_number(j, "limit", e.limit);
    if (e.timed) {
        j["first"] = e.first;
        j["last"] = e.last;
    }
    if (e.missing != missing_part::nothing) j["missing"] = e.missing;
    if (e.wants) j["wants"] = *e.wants;
    if (!e.note.empty()) waybill::detail::put_text(j, "note", std::string(e.note));
}

template <waybill::detail::json_value Json>
void to_json(Json& j, const decision& d)
{
    j = {{"verdict", d.verdict}, {"from", d.from},
         {"desired", d.desired}, {"to", d.to},
         {"now", d.now},         {"up", d.up},
         {"down", d.down},       {"activation", d.activation},
         {"reasons", d.reasons}};
    if (d.why != reason::nothing) j["why"] = d.why;
    if (d.until) j["until"] = *d.until;
    if (d.command) j["command"] = *d.command;
    if (d.arrived) j["arrived"] = true;
    if (d.needed) j["needed"] = true;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_EXT_JSON_SCALING_HPP
