// SPDX-License-Identifier: MIT
//
// describe: retries, retry budgets, circuit breakers and deliveries as text.

#ifndef WAYBILL_RETRY_DESCRIBE_HPP
#define WAYBILL_RETRY_DESCRIBE_HPP

#include <string>

#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>
#include <waybill/retry/describe_policies.hpp>
#include <waybill/retry/levels.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<call_policy> {
    static std::string text(const auto& p)
    {
        if (p.time_limit == duration::highest()) return line(p.retry);
        return concat(line(p.retry), ", within ", line(p.time_limit));
    }
};

template <>
struct line_of<delivery_terms> {
    static std::string text(const auto& t)
    {
        std::string result = t.max_deliveries == unlimited
                                 ? "unlimited deliveries"
                                 : counted(t.max_deliveries, "delivery", "deliveries");
        result += concat(", lock ", line(t.lock), " of at most ", line(t.highest_lock));
        if (t.time_to_live != duration::highest())
            result += ", time to live " + line(t.time_to_live);
        return result;
    }
};

template <>
struct line_of<delivery_terms::lifetime> {
    static std::string text(const auto& p)
    {
        return concat("lasts ", line(p.lasts), ", ended by ", name(p.limited_by));
    }
};

template <>
struct line_of<retry_loop::call> {
    static std::string text(const auto&) { return "call"; }
};

template <>
struct line_of<retry_loop::done> {
    static std::string text(const auto&) { return "done"; }
};

template <>
struct line_of<retry_now> {
    static std::string text(const auto&) { return "retry now"; }
};

template <>
struct line_of<give_up> {
    static std::string text(const auto& a)
    {
        if (a.reason == fault_kind::none) return "give up";
        return "give up: " + line(a.reason);
    }
};

template <>
struct line_of<circuit_breaker_types::permit> {
    static std::string text(const auto& a)
    {
        return concat("permit ", a.number, " of generation ", a.generation, " until ", a.deadline);
    }
};

template <>
struct line_of<retry_loop_types::attempted> {
    static std::string text(const auto& a)
    {
        return fields("attempted", "fault", a.kind, "retry after", a.retry_after);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_RETRY_DESCRIBE_HPP
