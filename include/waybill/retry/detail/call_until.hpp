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

/// A function that returns a random number in [0, 1).
template <class F>
concept random_source = requires(F& f) {
    { f() } -> std::convertible_to<double>;
};

/// A function that waits until a point in time. If it returns false, it has stopped early.
template <class F>
concept sleeper = std::invocable<F&, steady_time>;

/// Refuses callables of a wrong type.
template <class Call, class Sleep, class Random>
struct checked_call {
    static constexpr bool no_arguments = std::invocable<Call&>;
    static constexpr bool returns_fault = !no_arguments || retriable_call<Call>;
    static constexpr bool sleeps = sleeper<Sleep>;
    static constexpr bool returns_random = random_source<Random>;

    static_assert(no_arguments, "retry_call: the call must accept no arguments");
    static_assert(returns_fault, "retry_call: the call must return a fault, a fault_kind, a "
                                 "result<void> or a call_answer, and not bool or void");
    static_assert(sleeps, "retry_call: the function that sleeps must accept a steady_time");
    static_assert(returns_random,
                  "retry_call: the function `random` must accept no arguments and return a "
                  "number in [0, 1)");
    static constexpr bool ok = no_arguments && returns_fault && sleeps && returns_random;
};

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

/// Sleeps until the time `until`. Returns false if the sleep has stopped early.
template <class Sleep>
[[nodiscard]] bool wait_for(Sleep& pause_until, steady_time until)
{
    if constexpr (std::same_as<std::invoke_result_t<Sleep&, steady_time>, bool>) {
        return pause_until(until);
    } else {
        pause_until(until);
        return true;
    }
}

struct no_sleep {
    [[nodiscard]] bool operator()(steady_time) const noexcept { return false; }
};

/// After a sleep until a time, `now` is at least that time, even if the clock reads less. So a
/// clock that stands still, or a sleep that ends early, cannot cause an endless loop.
template <class Call, class Clock, class Sleep, class Random>
[[nodiscard]] call_report call_until(retry_loop& tries, Call& call, Clock& clock,
                                     Sleep& pause_until, Random& random)
{
    static_assert(checked_call<Call, Sleep, Random>::ok);
    call_report report;
    report.reason.kind = tries.kind();
    steady_time earliest_now = steady_time::lowest();
    const auto current_time = [&] { return later(waybill::detail::time_of(clock), earliest_now); };
    bool running = true;
    while (running) {
        const steady_time now = current_time();
        report.outcome = tries.outcome(now);
        match(
            tries.next(now),
            [&](retry_loop::call) {
                // Before the call: if random() throws, no result of a call is lost.
                const double jitter = random();
                call_answer answer = as_answer(call());
                tries.on(retry_loop::attempted{answer.reason.kind, jitter, answer.retry_after},
                         current_time());
                report.reason = std::move(answer.reason);
            },
            [&](wait_until w) {
                running = wait_for(pause_until, w.time);
                if (running)
                    earliest_now = w.time;
                else
                    report.waiting = w.time;
            },
            [&](retry_loop::done) { running = false; },
            [&](give_up g) {
                report.reason.kind = g.reason;
                running = false;
            });
    }
    report.tries = tries.attempts();
    report.elapsed = tries.elapsed(current_time());
    return report;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_RETRY_DETAIL_CALL_UNTIL_HPP
