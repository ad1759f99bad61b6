// SPDX-License-Identifier: MIT
//
// ext/json: writes reports and decisions as JSON, and reads and writes policies and stored state.
//
//     nlohmann::json j = report;           // a report, a decision, a policy, a checkpoint
//
//     auto policy = waybill::parse_json<waybill::send_policy>(file_text);
//     if (!policy) die(waybill::describe(policy.error()));
//     // "/retry/pauses/base: expected a duration such as "1.5s", found 100"
//     if (auto bad = waybill::validate(*policy)) die(waybill::describe(*bad));
//
// Guarantees
//   1. Reading does not throw. The result is the value that was written, or an error with its path,
//      the expected and the found value. `j.get<T>()` does not compile.
//   2. Policies: every field may be left out and then has its default. An unknown field is an
//      error. Reading checks types, `validate` values. Scaling policies: see json_scaling.hpp.
//   3. Stored state: has a "version". A missing field is an error, a later version is `newer`.
//   4. Numbers, durations ("1.5s", "forever") and times (ISO 8601, UTC) are exact. Text that is not
//      UTF-8 is written as base64.
//
// The guide of this module has the conventions and the formats of stored JSON.

#ifndef WAYBILL_EXT_JSON_HPP
#define WAYBILL_EXT_JSON_HPP

#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <waybill/core/result.hpp>
#include <waybill/ext/detail/json_member.hpp>
#include <waybill/ext/detail/json_progress.hpp>
#include <waybill/ext/json_act.hpp>
#include <waybill/ext/json_act_consume.hpp>
#include <waybill/ext/json_act_session.hpp>
#include <waybill/ext/json_batch.hpp>
#include <waybill/ext/json_consume.hpp>
#include <waybill/ext/json_decoded.hpp>
#include <waybill/ext/json_deferral.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_lease.hpp>
#include <waybill/ext/json_parse.hpp>
#include <waybill/ext/json_parts.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_prune.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_report.hpp>
#include <waybill/ext/json_retry.hpp>
#include <waybill/ext/json_scaling.hpp>
#include <waybill/ext/json_session.hpp>
#include <waybill/ext/json_session_values.hpp>
#include <waybill/ext/json_settle.hpp>
#include <waybill/ext/json_state.hpp>
#include <waybill/ext/json_text.hpp>
#include <waybill/ext/json_tree.hpp>
#include <waybill/ext/json_unknown.hpp>
#include <waybill/ext/json_window.hpp>
#include <waybill/ext/json_wire.hpp>

namespace waybill::inline v0_2 {

/// Reads a T (a policy or a state) from `value`.
template <detail::json_readable T>
[[nodiscard]] result<T, json_error> read_json(const nlohmann::json& value)
{
    T read{};
    std::optional<json_error> error;
    read_value(json_place{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    return read;
}

/// Parses `text` within `allowed` and reads a T. An object with a duplicate name is an error.
template <detail::json_readable T>
[[nodiscard]] result<T, json_error> parse_json(std::string_view text,
                                               const json_limits& allowed = {})
{
    result<nlohmann::json, json_error> parsed = parse_json_text(text, allowed);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_json<T>(*parsed);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_HPP
