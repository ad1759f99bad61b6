// SPDX-License-Identifier: MIT
//
// ext/json_scaling: scaling as JSON: policies and the state both ways, decisions one way.
//
//     {"up": {"any": [{"mean": "orders", "above": {"per_instance": 100}},
//                     {"highest": "age", "above": 300}]},
//      "down": {"all": [{"highest": "orders", "below": 10}, {"highest": "mails", "below": 10}]},
//      "min_points": 5, "cooldown": {"up": "1min", "down": "10min"},
//      "instances": {"lowest": 1, "highest": 20}}
//
//     auto p = waybill::scaling::parse_policy(file_text);
//     if (!p) die(waybill::text(p.error()));
//     // /down/all/0/below: expected a number, {"per_instance": 100} or ..., found "10"
//     if (auto bad = waybill::scaling::unknown_metric(*p, names)) die(text(*bad));
//
//     nlohmann::json row = state;
//     auto again = waybill::parse_json<waybill::scaling::state>(row.dump());
//     log(nlohmann::json(decision).dump());
//
// A policy's fields are called as in the struct, and whatever is left out has its default. Targets
// are {"last": "backlog", "each": 100}; bands {"when": a rule, "by": {"count": 5}}; limits of the
// rate {"most": {"percent": 100}, "per": "1min"}; for rules see ext/json_rule.hpp.
//
// `parse_policy` and `read_policy` also `check`, so that what they give can work. Writing a policy
// may fail (a function cannot be stored), so it is `write_policy`, and not a conversion.

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

/// The policy that `value` says, if it can work.
[[nodiscard]] inline result<policy, json_error> read_policy(const nlohmann::json& value)
{
    policy read;
    std::optional<json_error> error;
    read_value(json_place{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    if (std::optional<policy_error> bad = check(read)) {
        return unexpected(json_error{json_problem::wrong,
                                     waybill::detail::shortened_path(std::move(bad->path)),
                                     std::move(bad->expected), std::move(bad->found)});
    }
    return read;
}

/// The same from text.
[[nodiscard]] inline result<policy, json_error> parse_policy(std::string_view text)
{
    result<nlohmann::json, json_error> parsed = parse_json_text(text);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_policy(*parsed);
}

/// A policy as JSON, from which the same one is read; or the first thing in it that cannot be
/// written, such as a threshold that is a function.
[[nodiscard]] inline result<nlohmann::json, json_error> write_policy(const policy& p)
{
    detail::policy_writer writer;
    nlohmann::json j = writer.written_policy(p);
    if (writer.error) return unexpected(std::move(*writer.error));
    return result<nlohmann::json, json_error>(std::move(j));
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_EXT_JSON_SCALING_HPP
