// SPDX-License-Identifier: MIT
//
// ext/json_scaling: policies and state of scaling, read and written; decisions, written only.
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
//     if (auto bad = waybill::scaling::unknown_metric(*p, names)) die(describe(*bad));
//
//     nlohmann::json row = state;
//     auto again = waybill::parse_json<waybill::scaling::state>(row.dump());
//     log(nlohmann::json(decision).dump());
//
// A field that is left out has its default. Reading a policy includes `validate`. Writing a policy
// may fail: `write_policy` is not a conversion. The guide lists targets, bands and rate limits.

#ifndef WAYBILL_EXT_JSON_SCALING_HPP
#define WAYBILL_EXT_JSON_SCALING_HPP

#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <waybill/core/result.hpp>
#include <waybill/ext/json_decision.hpp>
#include <waybill/ext/json_parse.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_rule.hpp>
#include <waybill/ext/json_scaling_policy.hpp>
#include <waybill/ext/json_scaling_state.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/policy.hpp>

namespace waybill::inline v0_2::scaling {

/// Reads a policy from `value` and checks it.
[[nodiscard]] inline result<policy, json_error> read_policy(const nlohmann::json& value)
{
    policy read;
    std::optional<json_error> error;
    read_value(json_place{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    if (std::optional<policy_error> bad = validate(read)) {
        return unexpected(json_error{json_error::code::wrong,
                                     waybill::detail::shortened_path(std::move(bad->path)),
                                     std::move(bad->expected), std::move(bad->found)});
    }
    return read;
}

/// Parses `text` (within the default json_limits), reads a policy and checks it.
[[nodiscard]] inline result<policy, json_error> parse_policy(std::string_view text)
{
    result<nlohmann::json, json_error> parsed = parse_json_text(text);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_policy(*parsed);
}

/// Writes a policy as JSON from which an equal policy can be read. The error is the first part that
/// cannot be written, such as a threshold that is a function.
[[nodiscard]] inline result<nlohmann::json, json_error> write_policy(const policy& p)
{
    detail::policy_writer writer;
    nlohmann::json j = writer.written_policy(p);
    if (writer.error) return unexpected(std::move(*writer.error));
    return result<nlohmann::json, json_error>(std::move(j));
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_EXT_JSON_SCALING_HPP
