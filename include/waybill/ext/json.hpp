// SPDX-License-Identifier: MIT
//
// ext/json: reports and decisions as JSON, and policies and stored state both ways.
//
// Writing is what nlohmann's library does by itself; `name(e)` stands for an enum:
//
//     nlohmann::json j = report;           // a report, a decision, a policy, a checkpoint
//
// Reading never throws and is never silent. What it reads is exactly what was written, or an error
// that says where, what stands there, and what should:
//
//     auto policy = waybill::parse_json<waybill::send_policy>(file_text);
//     if (!policy) die(waybill::text(policy.error()));
//     // "/retry/pauses/base: expected a duration such as "1.5s", found 100"
//     if (auto bad = waybill::check(*policy)) die(waybill::text(*bad));
//
// There is deliberately no from_json: `j.get<T>()` would throw, or read a number that is not there.
//
//   - Policies, options, limits and terms, as of batches, calls, leases, valves, locks and queues:
//     every field may be left out and then has its default; a field that is not known is refused by
//     its name, so a slip of the pen is not a default. Whether the values make sense is for `check`
//     to say. Policies of scaling are checked as they are read, see json_scaling.hpp.
//   - State (calibration, checkpoint, dead_letter, the rows of attempts, leases and owners, the
//     samples of a window, what scaling remembers): has a "version", all fields are there, and one
//     that a later version has written is refused as `newer`.
//   - The state of a session, in a type of the user's own, is read and written by json_session.hpp.
//   - Durations are strings, "100ms", "1.5s", "10min", "forever" (core/time_text.hpp); times are
//     ISO 8601 in UTC; both are exact. Only points on a steady clock, which mean nothing to anybody
//     else, are plain nanoseconds, and are only written.
//   - Text is limited by `json_limits`: levels, members and bytes (json_parse.hpp).
//   - "unlimited" stands for no limit. Sizes and counts are whole JSON numbers up to 64 bits.
//   - Text that is not UTF-8, such as a dead letter's body, is written as base64 under its name
//     with "_base64" behind it, so that dump() does not throw.
//   - Batches are their numbers: what the caller's items are in JSON is his to say.

#ifndef WAYBILL_EXT_JSON_HPP
#define WAYBILL_EXT_JSON_HPP

#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <waybill/core/result.hpp>
#include <waybill/ext/json_act.hpp>
#include <waybill/ext/json_act_consume.hpp>
#include <waybill/ext/json_act_session.hpp>
#include <waybill/ext/json_batch.hpp>
#include <waybill/ext/json_consume.hpp>
#include <waybill/ext/json_decoded.hpp>
#include <waybill/ext/json_deferral.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_lease.hpp>
#include <waybill/ext/json_member.hpp>
#include <waybill/ext/json_parse.hpp>
#include <waybill/ext/json_parts.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_progress.hpp>
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

/// What `value` says as a T: a policy or a state, see above.
template <json_readable T>
[[nodiscard]] result<T, json_error> read_json(const nlohmann::json& value)
{
    T read{};
    std::optional<json_error> error;
    read_value(json_place{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    return read;
}

/// The same from text. A name that an object has twice is refused: one of the two would be lost.
template <json_readable T>
[[nodiscard]] result<T, json_error> parse_json(std::string_view text,
                                               const json_limits& allowed = {})
{
    result<nlohmann::json, json_error> parsed = parse_json_text(text, allowed);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_json<T>(*parsed);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_HPP
