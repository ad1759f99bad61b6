// SPDX-License-Identifier: MIT
//
// ext/fmt/retry: retries, retry budgets, circuit breakers and deliveries as lines.

#ifndef WAYBILL_EXT_FMT_RETRY_HPP
#define WAYBILL_EXT_FMT_RETRY_HPP

#include <string>

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<circuit_breaker_types::circuit_state> : enumerator_line {};
template <>
struct line_of<delivery_lifetime::delivery_limit> : enumerator_line {};
template <>
struct line_of<backoff::jitter> : enumerator_line {};
template <>
struct line_of<retry_loop::retry_outcome> : enumerator_line {};

template <>
struct line_of<backoff> {
    template <class T>
    [[nodiscard]] static std::string text(const T& b)
    {
        std::string result = fmt::format("pauses {} to {}", line(b.base), line(b.cap));
        result += fmt::format(", factor {}", b.factor);
        if (b.step != duration{}) result += ", step " + line(b.step);
        result += fmt::format(", jitter {}", name(b.spread));
        if (b.highest_hint != duration{}) result += ", hints up to " + line(b.highest_hint);
        return result;
    }
};

template <>
struct line_of<retry_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        return fmt::format("{}, {} at once, {}", counted(p.max_attempts, "try", "tries"),
                           p.immediate, line(p.pauses));
    }
};

template <>
struct line_of<call_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        if (p.time_limit == duration::highest()) return line(p.retry);
        return fmt::format("{}, within {}", line(p.retry), line(p.time_limit));
    }
};

template <>
struct line_of<retry_levels> {
    template <class T>
    [[nodiscard]] static std::string text(const T& l)
    {
        const std::string deliveries =
            l.delayed == retry_levels::unlimited
                ? "unlimited deliveries"
                : counted(detail::saturating_add(l.delayed, 1), "delivery", "deliveries");
        return fmt::format("{} of {} each, {}", deliveries,
                           counted(detail::saturating_add(l.immediate, 1), "try", "tries"),
                           line(l.pauses));
    }
};

template <>
struct line_of<call_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        if (r.waiting) {
            return fmt::format("{} after {}, waiting until {}", line(r.reason),
                               counted(r.tries, "try", "tries"), line(*r.waiting));
        }
        const std::string took =
            fmt::format("{} in {}", counted(r.tries, "try", "tries"), line(r.elapsed));
        if (r.ok()) return "ok after " + took;
        return fmt::format("given up after {} ({}): {}", took, name(r.outcome), line(r.reason));
    }
};

template <>
struct line_of<retry_budget> {
    template <class T>
    [[nodiscard]] static std::string text(const T& b)
    {
        if (b.tokens == retry_budget::uncounted) return "retries not counted";
        std::string result =
            fmt::format("{}, one more for each {}", counted(b.tokens, "retry", "retries"),
                        counted(b.successes, "success", "successes"));
        if (b.refill != duration::highest()) result += " and every " + line(b.refill);
        return result;
    }
};

template <>
struct line_of<circuit_breaker_types::config> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        std::string result = "shuts at ";
        if (o.minimum_throughput != circuit_breaker_types::config::never) {
            result += fmt::format("{} of {} failed in {}", o.failure_ratio,
                                  counted(o.minimum_throughput, "call", "calls"),
                                  line(o.sampling_duration));
            if (o.consecutive_failures != circuit_breaker_types::config::never) result += " or ";
        }
        if (o.consecutive_failures != circuit_breaker_types::config::never)
            result += fmt::format("{} in a row", o.consecutive_failures);
        if (o.transient_counts) result += ", transient ones too";
        return result + fmt::format("; calls of at most {}, {} to open, {}", line(o.timeout),
                                    counted(o.half_open_steps, "step", "steps"),
                                    line(o.break_duration));
    }
};

template <>
struct line_of<delivery_terms> {
    template <class T>
    [[nodiscard]] static std::string text(const T& t)
    {
        std::string result = t.max_deliveries == unlimited
                                 ? "unlimited deliveries"
                                 : counted(t.max_deliveries, "delivery", "deliveries");
        result += fmt::format(", lock {} of at most {}", line(t.lock), line(t.highest_lock));
        if (t.time_to_live != duration::highest())
            result += ", time to live " + line(t.time_to_live);
        return result;
    }
};

template <>
struct line_of<delivery_lifetime> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        return fmt::format("lasts {}, ended by {}", line(p.lasts), name(p.limited_by));
    }
};

template <>
struct line_of<retry_loop::call> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "go";
    }
};

template <>
struct line_of<retry_loop::done> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "done";
    }
};

template <>
struct line_of<retry_now> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "retry now";
    }
};

template <>
struct line_of<give_up> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        if (a.reason == fault_kind::none) return "give up";
        return "give up: " + line(a.reason);
    }
};

template <>
struct line_of<retry_action> : action_line {};
template <>
struct line_of<retry_loop::action> : action_line {};

}  // namespace waybill::inline v0_2::detail::words

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::retry_action>
    : waybill::detail::line_formatter<waybill::retry_action> {};
template <>
struct fmt::formatter<waybill::retry_loop::action>
    : waybill::detail::line_formatter<waybill::retry_loop::action> {};

#endif  // WAYBILL_EXT_FMT_RETRY_HPP
