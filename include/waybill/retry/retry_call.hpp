// SPDX-License-Identifier: MIT
//
// retry_call: a call made until it works, or is given up.
//
//     auto r = waybill::retry_call({.retry = {.most = 4}, .time_limit = 1min},
//                                  [&] { return sdk.send(mail); },           // answers a fault
//                                  clock, sleep_until, dice);
//     if (!r.ok()) park(mail, r.why.text, name(r.end));
//
// It drives `attempts` and never sleeps itself: `sleep_until(steady_time)` is the caller's. Who
// must not block keeps the machine, and comes back:
//
//     waybill::attempts tries(policy, clock());
//     auto r = waybill::retry_call(tries, call, clock, dice);
//     if (r.waiting) timer.expires_at(*r.waiting);              // and then the same again
//
// `call()` answers a fault, a fault_class, a result<void>, or a call_answer where the server says
// when to come back. What it throws passes through, and that try is not counted; catching() of
// ext/exceptions.hpp makes a fault of it. `clock` is a function that answers the steady time, or
// that time itself; `draw` is a function that answers a number in [0, 1). A sleep that ends after
// the time limit is followed by no call.

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
#include <waybill/retry/attempts.hpp>

namespace waybill::inline v0_2 {

/// How a call went, and when to come back, if the server said so.
struct call_answer {
    fault why{};
    duration retry_after{};

    friend bool operator==(const call_answer&, const call_answer&) = default;
};

/// How a call ended, and what it took.
struct call_report {
    fault why{};  ///< Of the last try, empty where it worked; in words if it was made just now.
    attempts_end end = attempts_end::open;    ///< Why there was no other try.
    std::uint32_t tries = 0;                  ///< All of them, the first one counted.
    duration elapsed{};                       ///< Since the time limit began to count.
    std::optional<steady_time> waiting{};     ///< The next try is not before; call again then.

    [[nodiscard]] bool ok() const noexcept { return end == attempts_end::succeeded; }
    friend bool operator==(const call_report&, const call_report&) = default;
};

/// What retry_call can make of an answer.
template <class R>
concept answer_of_a_call = std::same_as<R, call_answer> || std::same_as<R, fault_class> ||
                           std::same_as<R, result<void>> || std::convertible_to<R, fault>;

/// A function without arguments that says how it went.
template <class F>
concept retriable_call =
    std::invocable<F&> && answer_of_a_call<std::remove_cvref_t<std::invoke_result_t<F&>>>;

/// Answers a number in [0, 1).
template <class F>
concept draw_source = requires(F& f) {
    { f() } -> std::convertible_to<double>;
};

/// Waits until a point in time. One that answers false has been woken to stop.
template <class F>
concept sleeper = std::invocable<F&, steady_time>;

namespace detail {

template <class R>
[[nodiscard]] call_answer as_answer(R&& r)
{
    using answer = std::remove_cvref_t<R>;
    if constexpr (std::same_as<answer, call_answer>) return std::forward<R>(r);
    else if constexpr (std::same_as<answer, fault_class>) return {{r, {}}, {}};
    else if constexpr (std::same_as<answer, result<void>>) return {r ? fault{} : r.error(), {}};
    else return {fault(std::forward<R>(r)), {}};
}

/// False where it was woken to stop.
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

/// Who has slept until a time is believed that it has come, whatever the clock says: a clock that
/// stands still, or a sleep that ends early, makes no loop without an end.
template <class Call, class Clock, class Sleep, class Draw>
[[nodiscard]] call_report call_until(attempts& tries, Call& call, Clock& clock, Sleep& pause_until,
                                     Draw& draw)
{
    call_report report;
    report.why.how = tries.how();
    steady_time woken = steady_time::lowest();
    const auto the_time = [&] { return later(waybill::time_of(clock), woken); };
    bool going = true;
    while (going) {
        const steady_time now = the_time();
        report.end = tries.end(now);
        match(
            tries.next(now),
            [&](act::go) {
                const double drawn = draw();  // first: what was called is told, whatever throws
                call_answer a = as_answer(call());
                tries.on(attempted{a.why.how, drawn, a.retry_after}, the_time());
                report.why = std::move(a.why);
            },
            [&](act::wait w) {
                going = slept(pause_until, w.until);
                if (going) woken = w.until;
                else report.waiting = w.until;
            },
            [&](act::done) { going = false; },
            [&](act::give_up g) {
                report.why.how = g.why;
                going = false;
            });
    }
    report.tries = tries.tries();
    report.elapsed = tries.elapsed(the_time());
    return report;
}

}  // namespace detail

/// Calls until it works or is given up, sleeping in between through the caller's `pause_until`.
/// Where that answers false, `waiting` is set and the call is left as it is.
template <retriable_call Call, time_source Clock, sleeper Sleep, draw_source Draw>
[[nodiscard]] call_report retry_call(const call_policy& p, Call&& call, Clock clock,
                                     Sleep&& pause_until, Draw&& draw, shared_budget budget = {})
{
    attempts tries(p, time_of(clock), budget);
    return detail::call_until(tries, call, clock, pause_until, draw);
}

/// Goes on with `tries` and returns instead of sleeping: `waiting` says when to call again. After
/// it is over it calls nothing, and says how it ended.
template <retriable_call Call, time_source Clock, draw_source Draw>
[[nodiscard]] call_report retry_call(attempts& tries, Call&& call, Clock clock, Draw&& draw)
{
    detail::no_sleep never;
    return detail::call_until(tries, call, clock, never, draw);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_RETRY_CALL_HPP
