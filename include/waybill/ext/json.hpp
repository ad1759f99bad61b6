// SPDX-License-Identifier: MIT
//
// ext/json: writes reports and decisions as JSON, and reads and writes policies and stored state.
// It includes the JSON of all modules; ext/json/<module>.hpp is the JSON of one module.
//
//     nlohmann::json j = report;           // a report, a decision, a policy, a checkpoint
//
//     auto policy = waybill::parse_json<waybill::send_policy>(file_text);
//     if (!policy) die(waybill::describe(policy.error()));
//     // "/retry/pauses/base: expected a duration such as "1.5s", found 100"
//
//   1. Reading does not throw. The result is the value that was written, or an error with its path,
//      the expected and the found value. `j.get<T>()` does not compile.
//   2. Policies: every field may be left out and then has its default. An unknown field is an
//      error. Reading checks types, `validate` values; `scaling::read_policy` calls `validate`.
//   3. Stored state: has a "version". A missing field is an error, a later version is `newer`.
//   4. Numbers, durations ("1.5s", "forever") and times (ISO 8601, UTC) are exact. Text that is not
//      UTF-8 is written as base64.
//   5. All functions accept each JSON type of nlohmann's library whose texts are std::string, such
//      as `nlohmann::ordered_json`. They are templates: only called functions are compiled.

#ifndef WAYBILL_EXT_JSON_HPP
#define WAYBILL_EXT_JSON_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <waybill/ext/json/batch.hpp>
#include <waybill/ext/json/consume.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/decoded_state.hpp>
#include <waybill/ext/json/lease.hpp>
#include <waybill/ext/json/limits.hpp>
#include <waybill/ext/json/parse.hpp>
#include <waybill/ext/json/position.hpp>
#include <waybill/ext/json/queue.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/ext/json/retry.hpp>
#include <waybill/ext/json/scaling.hpp>
#include <waybill/ext/json/scaling_messages.hpp>
#include <waybill/ext/json/session.hpp>
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/ext/json/tracking.hpp>
#include <waybill/ext/json/window.hpp>
#include <waybill/ext/json/wire.hpp>

#endif  // WAYBILL_EXT_JSON_HPP
