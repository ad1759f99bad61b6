// SPDX-License-Identifier: MIT
//
// describe_policies: policies of retries and circuit breakers as text.

#ifndef WAYBILL_RETRY_DESCRIBE_POLICIES_HPP
#define WAYBILL_RETRY_DESCRIBE_POLICIES_HPP

#include <string>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/decimal.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/levels.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<backoff> {
    static std::string text(const auto& b)
    {
        std::string result = concat("pauses ", line(b.base), " to ", line(b.cap));
        result += concat(", factor ", b.factor);
        if (b.step != duration{}) result += ", step " + line(b.step);
        result += concat(", jitter ", name(b.spread));
        if (b.highest_hint != backoff{}.highest_hint)
            result += ", hints up to " + line(b.highest_hint);
        return result;
    }
};

template <>
struct line_of<retry_policy> {
    static std::string text(const auto& p)
    {
        return concat(tries(p.max_attempts), ", ", p.immediate, " at once, ", line(p.pauses));
    }
};

template <>
struct line_of<retry_levels> {
    static std::string text(const auto& l)
    {
        const std::string deliveries =
            l.delayed == retry_levels::unlimited
                ? "unlimited deliveries"
                : counted(detail::saturating_add(l.delayed, 1), "delivery", "deliveries");
        return concat(deliveries, " of ",
                      counted(detail::saturating_add(l.immediate, 1), "try", "tries"), " each, ",
                      line(l.pauses));
    }
};

template <>
struct line_of<retry_budget> {
    static std::string text(const auto& b)
    {
        if (b.tokens == retry_budget::uncounted) return "retries not counted";
        std::string result = concat(counted(b.tokens, "retry", "retries"), ", one more for each ",
                                    counted(b.successes, "success", "successes"));
        if (b.refill != duration::highest()) result += " and every " + line(b.refill);
        return result;
    }
};

template <>
struct line_of<circuit_breaker_types::config> {
    static std::string text(const auto& o)
    {
        std::string result = "opens at ";
        if (o.minimum_throughput != circuit_breaker_types::config::never) {
            result +=
                concat(o.failure_ratio, " of ", counted(o.minimum_throughput, "call", "calls"),
                       " failed in ", line(o.sampling_duration));
            if (o.consecutive_failures != circuit_breaker_types::config::never) result += " or ";
        }
        if (o.consecutive_failures != circuit_breaker_types::config::never)
            result += concat(o.consecutive_failures, " in a row");
        if (o.transient_counts) result += ", transient ones too";
        return result + concat("; calls of at most ", line(o.timeout), ", ",
                               counted(o.half_open_steps, "step", "steps"), " to close, ",
                               line(o.break_duration));
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_RETRY_DESCRIBE_POLICIES_HPP
