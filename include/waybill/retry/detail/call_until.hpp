// SPDX-License-Identifier: MIT
//
// call_until: the loop of retry_call, and the requirements of its callables.

#ifndef WAYBILL_RETRY_DETAIL_CALL_UNTIL_HPP
#define WAYBILL_RETRY_DETAIL_CALL_UNTIL_HPP

#include <concepts>
#include <type_traits>
#include <utility>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2::detail {

/// A return type of a call that retry_call accepts.
template <class R>
concept call_result = std::same_as<R, call_answer> || std::same_as<R, fault_kind> ||
                      std::same_as<R, result<void>> || std::convertible_to<R, fault>;

/// A function without arguments that returns the result of a call.
template <class F>
concept retriable_call =
    std::invocable<F&> && call_result<std::remove_cvref_t<std::invoke_result_t<F&>>>;

/// Refuses a call of a wrong type.
template <class Call>
constexpr void check_call() noexcept
{
    constexpr bool no_arguments = std::invocable<Call&>;
    static_assert(no_arguments, "retry_call: the call must accept no arguments");
    static_assert(!no_arguments || retriable_call<Call>,
                  "retry_call: the call must return a fault, a fault_kind, a result<void> or a "
                  "call_answer, and not bool or void");
}

template <class R>
[[nodiscard]] call_answer as_answer(R&& r)
{
    using answer = std::remove_cvref_t<R>;
    if constexpr (std::same_as<answer, call_answer>) return std::forward<R>(r);
    else if constexpr (std::same_as<answer, fault_kind>) return {.reason = {.kind = r}};
    else if constexpr (std::same_as<answer, result<void>>)
        return {.reason = r ? fault{} : r.error()};
    else return {.reason = fault(std::forward<R>(r))};
}

/// The behaviour of a driver at a wait: it sleeps, or returns the time.
enum class on_wait : bool { sleep, return_time };

/// Drives `tries` to its end, to a stop request, or to the first wait if `w` is `return_time`.
template <class Call, class Clock>
[[nodiscard]] call_report call_until(retry_loop& tries, Call& call, Clock& clock, on_wait w)
{
    call_report report;
    report.reason.kind = tries.kind();
    bool running = true;
    while (running) {
        const steady_time now = clock.now();
        report.outcome = tries.outcome(now);
        match(
            tries.next(now),
            [&](retry_loop::call) {
                if (clock.stop_requested()) {
                    report.waiting = now;
                    running = false;
                    return;
                }
                // Before the call: if random() throws, no result of a call is lost.
                const double jitter = clock.random();
                call_answer answer = as_answer(call());
                tries.on(retry_loop::attempted{answer.reason.kind, jitter, answer.retry_after},
                         clock.now());
                report.reason = std::move(answer.reason);
            },
            [&](wait_until until) {
                running = w == on_wait::sleep && clock.sleep_until(until.time);
                if (!running) report.waiting = until.time;
            },
            [&](retry_loop::done) { running = false; },
            [&](give_up g) {
                report.reason.kind = g.reason;
                running = false;
            });
    }
    report.tries = tries.attempts();
    report.elapsed = tries.elapsed(clock.now());
    return report;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_RETRY_DETAIL_CALL_UNTIL_HPP
