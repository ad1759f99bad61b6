// SPDX-License-Identifier: MIT
//
// retry_call: makes a call until it succeeds or the policy gives up.
//
//     auto r = waybill::retry_call({.retry = {.max_attempts = 4}, .time_limit = 1min},
//                                  [&] { return sdk.send(mail); },           // returns a fault
//                                  clock, sleep_until, dice);
//     if (!r.ok()) write_dead_letter(mail, r.reason.text, name(r.outcome));
//
// It drives `retry_loop`. `sleep_until(steady_time)` is the caller's function. A caller that must
// not block keeps the state machine, and calls retry_call again at the time `waiting`:
//
//     waybill::retry_loop tries(policy, clock());
//     auto r = waybill::retry_call(tries, call, clock, dice);
//     if (r.waiting) timer.expires_at(*r.waiting);              // then call retry_call again
//
// `call()` returns a fault, a fault_kind, a result<void>, or a call_answer with the server's
// delay. An exception of the call passes through, and that attempt is not counted. catching() of
// ext/exceptions.hpp converts an exception into a fault. After the time limit no call is made.

#ifndef WAYBILL_RETRY_RETRY_CALL_HPP
#define WAYBILL_RETRY_RETRY_CALL_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_source.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2 {

/// The result of one call.
struct call_answer {
    fault reason{};          ///< `none` if the call succeeded.
    duration retry_after{};  ///< The server's "retry after". Zero if it sent no such value.

    friend bool operator==(const call_answer&, const call_answer&) = default;
};

/// The outcome of all attempts.
struct call_report {
    /// The fault of the last attempt. `text` is set only if this retry_call made that attempt. If
    /// the time limit allowed no attempt at all, it is `cancelled`.
    fault reason{};
    retry_outcome outcome = retry_outcome::open;  ///< The reason for no further attempt.
    std::uint32_t tries = 0;                  ///< Number of attempts, the first one included.
    duration elapsed{};                       ///< Time since the start of the time limit.
    std::optional<steady_time> waiting{};     ///< Time of the next attempt: call again then.

    [[nodiscard]] bool ok() const noexcept { return outcome == retry_outcome::succeeded; }
    friend bool operator==(const call_report&, const call_report&) = default;
};

namespace detail {

/// A return type of a call that retry_call accepts.
template <class R>
concept answer_of_a_call = std::same_as<R, call_answer> || std::same_as<R, fault_kind> ||
    std::same_as<R, result<void>> || std::convertible_to<R, fault>;

/// A function without arguments that returns the result of a call.
template <class F>
concept retriable_call =
    std::invocable<F&> && answer_of_a_call<std::remove_cvref_t<std::invoke_result_t<F&>>>;

/// A function that returns a random number in [0, 1).
template <class F>
concept draw_source = requires(F& f) {
    { f() } -> std::convertible_to<double>;
};

/// A function that waits until a point in time. If it returns false, it was woken early to stop.
template <class F>
concept sleeper = std::invocable<F&, steady_time>;

template <class R>
[[nodiscard]] call_answer as_answer(R&& r)
{
    using answer = std::remove_cvref_t<R>;
    if constexpr (std::same_as<answer, call_answer>) return std::forward<R>(r);
    else if constexpr (std::same_as<answer, fault_kind>)
        return {{r, {}}, {}};
    else if constexpr (std::same_as<answer, result<void>>) return {r ? fault{} : r.error(), {}};
    else return {fault(std::forward<R>(r)), {}};
}

/// False if the sleep was woken early to stop.
template <class Sleep>
[[nodiscard]] bool slept(Sleep& pause_until, steady_time until)
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
template <class Call, class Clock, class Sleep, class Draw>
[[nodiscard]] call_report call_until(retry_loop& tries, Call& call, Clock& clock,
                                     Sleep& pause_until, Draw& random)
{
    call_report report;
    report.reason.kind = tries.kind();
    steady_time woken = steady_time::lowest();
    const auto the_time = [&] { return later(waybill::time_of(clock), woken); };
    bool going = true;
    while (going) {
        const steady_time now = the_time();
        report.outcome = tries.outcome(now);
        match(
            tries.next(now),
            [&](retry_loop::call) {
                const double drawn = random();  // first: if it throws, no call result is lost
                call_answer a = as_answer(call());
                tries.on(retry_loop::attempted{a.reason.kind, drawn, a.retry_after}, the_time());
                report.reason = std::move(a.reason);
            },
            [&](wait_until w) {
                going = slept(pause_until, w.time);
                if (going)
                    woken = w.time;
                else
                    report.waiting = w.time;
            },
            [&](retry_loop::done) { going = false; },
            [&](give_up g) {
                report.reason.kind = g.reason;
                going = false;
            });
    }
    report.tries = tries.attempts();
    report.elapsed = tries.elapsed(the_time());
    return report;
}

}  // namespace detail

/// Makes calls until one succeeds or the policy gives up. Sleeps between them by `pause_until`. If
/// `pause_until` returns false, retry_call returns with `waiting` set. `clock` is a function that
/// returns the steady time, or a constant time. `random` returns a random number in [0, 1).
template <detail::retriable_call Call, time_source Clock, detail::sleeper Sleep,
          detail::draw_source Draw>
[[nodiscard]] call_report retry_call(const call_policy& p, Call&& call, Clock clock,
                                     Sleep&& pause_until, Draw&& random, shared_budget budget = {})
{
    retry_loop tries(p, time_of(clock), budget);
    return detail::call_until(tries, call, clock, pause_until, random);
}

/// Continues with `tries`. Instead of sleeping it returns, and `waiting` contains the time of the
/// next attempt. After the end it makes no call and returns the same outcome.
template <detail::retriable_call Call, time_source Clock, detail::draw_source Draw>
[[nodiscard]] call_report retry_call(retry_loop& tries, Call&& call, Clock clock, Draw&& random)
{
    detail::no_sleep never;
    return detail::call_until(tries, call, clock, never, random);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_RETRY_CALL_HPP
