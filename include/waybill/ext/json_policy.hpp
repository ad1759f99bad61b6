// SPDX-License-Identifier: MIT
//
// ext/json_policy: limits and policies, read and written. Fields have the names of the struct
// members; a field that is left out has its default.

#ifndef WAYBILL_EXT_JSON_POLICY_HPP
#define WAYBILL_EXT_JSON_POLICY_HPP

#include <cstdint>

#include <nlohmann/json.hpp>

#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/open_limits.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/json_enum.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2 {

namespace detail {

[[nodiscard]] inline nlohmann::json size_or_unlimited(std::uint64_t n)
{
    if (n == unlimited) return "unlimited";
    return n;
}

}  // namespace detail

inline void to_json(nlohmann::json& j, const duration& d)
{
    j = to_text(d);
}
inline void to_json(nlohmann::json& j, const wall_time& t)
{
    j = to_text(t);
}

inline void to_json(nlohmann::json& j, const batch_limits& l)
{
    j = {{"bytes", detail::size_or_unlimited(l.bytes)},
         {"items", detail::size_or_unlimited(l.items)},
         {"single", detail::size_or_unlimited(l.single)},
         {"envelope", detail::size_or_unlimited(l.envelope)}};
}

inline void read_value(const json_place& at, batch_limits& into)
{
    json_fields(at)
        .may_size("bytes", into.bytes)
        .may_size("items", into.items)
        .may_size("single", into.single)
        .may_size("envelope", into.envelope)
        .done();
}

inline void to_json(nlohmann::json& j, const open_limits& l)
{
    j = {{"open", detail::size_or_unlimited(l.open)},
         {"linger", l.linger},
         {"items", detail::size_or_unlimited(l.items)}};
}

inline void read_value(const json_place& at, open_limits& into)
{
    json_fields(at)
        .may_size("open", into.open)
        .may("linger", into.linger)
        .may_size("items", into.items)
        .done();
}

inline void to_json(nlohmann::json& j, const backoff& b)
{
    j = {{"base", b.base},
         {"cap", b.cap},
         {"factor", b.factor},
         {"spread", b.spread},
         {"step", b.step},
         {"highest_hint", b.highest_hint}};
}

inline void read_value(const json_place& at, backoff& into)
{
    json_fields(at)
        .may("base", into.base)
        .may("cap", into.cap)
        .may("factor", into.factor)
        .may("spread", into.spread)
        .may("step", into.step)
        .may("highest_hint", into.highest_hint)
        .done();
}

inline void to_json(nlohmann::json& j, const retry_policy& p)
{
    j = {{"most", p.max_attempts}, {"immediate", p.immediate}, {"pauses", p.pauses}};
}

inline void read_value(const json_place& at, retry_policy& into)
{
    json_fields(at)
        .may("most", into.max_attempts)
        .may("immediate", into.immediate)
        .may("pauses", into.pauses)
        .done();
}

inline void to_json(nlohmann::json& j, const call_policy& p)
{
    j = {{"retry", p.retry}, {"time_limit", p.time_limit}};
}

inline void read_value(const json_place& at, call_policy& into)
{
    json_fields(at).may("retry", into.retry).may("time_limit", into.time_limit).done();
}

inline void to_json(nlohmann::json& j, const retry_levels& l)
{
    j = {{"immediate", l.immediate}, {"delayed", l.delayed}, {"pauses", l.pauses}};
}

inline void read_value(const json_place& at, retry_levels& into)
{
    json_fields(at)
        .may("immediate", into.immediate)
        .may("delayed", into.delayed)
        .may("pauses", into.pauses)
        .done();
}

/// If tokens are not counted, "tokens" is "unlimited".
inline void to_json(nlohmann::json& j, const retry_budget& b)
{
    const bool counted = b.tokens != retry_budget::uncounted;
    j = {{"tokens", detail::size_or_unlimited(counted ? b.tokens : unlimited)},
         {"successes", b.successes},
         {"refill", b.refill}};
}

inline void read_value(const json_place& at, retry_budget& into)
{
    std::uint64_t tokens = into.tokens == retry_budget::uncounted ? unlimited : into.tokens;
    json_fields(at)
        .may_size("tokens", tokens)
        .may("successes", into.successes)
        .may("refill", into.refill)
        .done();
    if (tokens != unlimited && tokens >= retry_budget::uncounted) {
        at.fail("\"tokens\" of at most 32 bits, or \"unlimited\"");
    }
    into.tokens = static_cast<std::uint32_t>(detail::lesser(tokens, retry_budget::uncounted));
}

inline void to_json(nlohmann::json& j, const send_policy& p)
{
    j = {{"limit", p.limit},
         {"header", detail::size_or_unlimited(p.header)},
         {"exact_sizes", p.exact_sizes},
         {"in_flight", p.in_flight},
         {"ordered", p.ordered},
         {"one_key", p.one_key},
         {"on_too_large", p.on_too_large},
         {"linger", p.linger},
         {"on_unknown", p.on_unknown},
         {"retry", p.retry},
         {"budget", p.budget}};
}

inline void read_value(const json_place& at, send_policy& into)
{
    json_fields(at)
        .may("limit", into.limit)
        .may_size("header", into.header)
        .may("exact_sizes", into.exact_sizes)
        .may("in_flight", into.in_flight)
        .may("ordered", into.ordered)
        .may("one_key", into.one_key)
        .may("on_too_large", into.on_too_large)
        .may("linger", into.linger)
        .may("on_unknown", into.on_unknown)
        .may("retry", into.retry)
        .may("budget", into.budget)
        .done();
}

inline void to_json(nlohmann::json& j, const batch_policy& p)
{
    j = {{"tries", p.tries},
         {"on_exhausted", p.on_exhausted},
         {"savepoints", p.savepoints},
         {"reason_bytes", detail::size_or_unlimited(p.dead_letters.reason_bytes)},
         {"keeps", p.dead_letters.keeps},
         {"body_bytes", detail::size_or_unlimited(p.dead_letters.body_bytes)},
         {"summary_bytes", detail::size_or_unlimited(p.dead_letters.summary_bytes)},
         {"ask_from", detail::size_or_unlimited(p.ask_from)},
         {"read_back", p.check_commit},
         {"attempts", p.attempts},
         {"deaths", p.deaths}};
}

inline void read_value(const json_place& at, batch_policy& into)
{
    std::uint64_t reason_bytes = into.dead_letters.reason_bytes;
    json_fields(at)
        .may("tries", into.tries)
        .may("on_exhausted", into.on_exhausted)
        .may("savepoints", into.savepoints)
        .may_size("reason_bytes", reason_bytes)
        .may("keeps", into.dead_letters.keeps)
        .may_size("body_bytes", into.dead_letters.body_bytes)
        .may_size("summary_bytes", into.dead_letters.summary_bytes)
        .may_size("ask_from", into.ask_from)
        .may("read_back", into.check_commit)
        .may("attempts", into.attempts)
        .may("deaths", into.deaths)
        .done();
    into.dead_letters.reason_bytes = reason_bytes;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_POLICY_HPP
