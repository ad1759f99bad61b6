// SPDX-License-Identifier: MIT
//
// ext/json/retry: policies and options of retries, read and written; reports and actions, written
// only.
//
//     {"failure_ratio": 0.3, "minimum_throughput": 20, "timeout": "5min"}
//
// A field that is left out has its default.

#ifndef WAYBILL_EXT_JSON_RETRY_HPP
#define WAYBILL_EXT_JSON_RETRY_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstdint>

#include <waybill/core/match.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2 {

template <detail::json_value Json>
void to_json(Json& j, const backoff& b)
{
    j = {{"base", b.base},     {"cap", b.cap},   {"factor", b.factor},
         {"spread", b.spread}, {"step", b.step}, {"highest_hint", b.highest_hint}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, backoff& into)
{
    json_fields(at)
        .optional("base", into.base)
        .optional("cap", into.cap)
        .optional("factor", into.factor)
        .optional("spread", into.spread)
        .optional("step", into.step)
        .optional("highest_hint", into.highest_hint)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const retry_policy& p)
{
    j = {{"max_attempts", p.max_attempts}, {"immediate", p.immediate}, {"pauses", p.pauses}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, retry_policy& into)
{
    json_fields(at)
        .optional("max_attempts", into.max_attempts)
        .optional("immediate", into.immediate)
        .optional("pauses", into.pauses)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const call_policy& p)
{
    j = {{"retry", p.retry}, {"time_limit", p.time_limit}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, call_policy& into)
{
    json_fields(at).optional("retry", into.retry).optional("time_limit", into.time_limit).done();
}

template <detail::json_value Json>
void to_json(Json& j, const retry_levels& l)
{
    j = {{"immediate", l.immediate}, {"delayed", l.delayed}, {"pauses", l.pauses}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, retry_levels& into)
{
    json_fields(at)
        .optional("immediate", into.immediate)
        .optional("delayed", into.delayed)
        .optional("pauses", into.pauses)
        .done();
}

/// If tokens are not counted, "tokens" is "unlimited".
template <detail::json_value Json>
void to_json(Json& j, const retry_budget& b)
{
    const bool counted = b.tokens != retry_budget::uncounted;
    j = {{"tokens", detail::size_or_unlimited(counted ? b.tokens : unlimited)},
         {"successes", b.successes},
         {"refill", b.refill}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, retry_budget& into)
{
    std::uint64_t tokens = into.tokens == retry_budget::uncounted ? unlimited : into.tokens;
    json_fields(at)
        .optional_size("tokens", tokens)
        .optional("successes", into.successes)
        .optional("refill", into.refill)
        .done();
    if (tokens != unlimited && tokens >= retry_budget::uncounted) {
        at.fail("\"tokens\" of at most 32 bits, or \"unlimited\"");
    }
    into.tokens = static_cast<std::uint32_t>(detail::lesser(tokens, retry_budget::uncounted));
}

/// The value `never` is written as "unlimited".
template <detail::json_value Json>
void to_json(Json& j, const circuit_breaker_types::config& o)
{
    j = {{"failure_ratio", o.failure_ratio},
         {"minimum_throughput", detail::size_or_unlimited(o.minimum_throughput)},
         {"sampling_duration", o.sampling_duration},
         {"consecutive_failures", detail::size_or_unlimited(o.consecutive_failures)},
         {"timeout", o.timeout},
         {"break_duration", o.break_duration},
         {"half_open_steps", o.half_open_steps},
         {"transient_counts", o.transient_counts}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, circuit_breaker_types::config& into)
{
    json_fields(at)
        .optional("failure_ratio", into.failure_ratio)
        .optional_size("minimum_throughput", into.minimum_throughput)
        .optional("sampling_duration", into.sampling_duration)
        .optional_size("consecutive_failures", into.consecutive_failures)
        .optional("timeout", into.timeout)
        .optional("break_duration", into.break_duration)
        .optional("half_open_steps", into.half_open_steps)
        .optional("transient_counts", into.transient_counts)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const delivery_terms& t)
{
    j = {{"lock", t.lock},
         {"max_deliveries", detail::size_or_unlimited(t.max_deliveries)},
         {"time_to_live", t.time_to_live},
         {"highest_lock", t.highest_lock}};
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, delivery_terms& into)
{
    json_fields(at)
        .optional("lock", into.lock)
        .optional_size("max_deliveries", into.max_deliveries)
        .optional("time_to_live", into.time_to_live)
        .optional("highest_lock", into.highest_lock)
        .done();
}

template <detail::json_value Json>
void to_json(Json& j, const delivery_terms::lifetime& p)
{
    j = {{"lasts", p.lasts}, {"limited_by", p.limited_by}};
}

template <detail::json_value Json>
void to_json(Json& j, const call_report& r)
{
    j = {{"outcome", r.outcome}, {"tries", r.tries}, {"elapsed", r.elapsed}};
    if (!r.reason.ok()) j["reason"] = r.reason;
    if (r.waiting) j["waiting_until_steady_ns"] = r.waiting->since_epoch().count();
}

template <detail::json_value Json>
void to_json(Json& j, const retry_now&)
{
    j = {{"act", "retry_now"}};
}

template <detail::json_value Json>
void to_json(Json& j, const give_up& a)
{
    j = {{"act", "give_up"}, {"reason", a.reason}};
}

template <detail::json_value Json>
void to_json(Json& j, const retry_loop::call&)
{
    j = {{"act", "call"}};
}

template <detail::json_value Json>
void to_json(Json& j, const retry_loop::done&)
{
    j = {{"act", "done"}};
}

/// Only these variants match, not types convertible to them.
template <detail::json_value Json, class Action>
    requires std::same_as<Action, retry_action> || std::same_as<Action, retry_loop::action>
void to_json(Json& j, const Action& action)
{
    match(action, [&](const auto& a) { j = a; });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_RETRY_HPP
