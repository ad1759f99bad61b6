// SPDX-License-Identifier: MIT
//
// run_queue: receives the messages of a queue, handles them, and settles each of them.
//
//     waybill::circuit_breaker breaker;
//     const auto report = waybill::run_queue(
//         queue, [&](const message& m) { return smtp.deliver(m); },           // returns a fault
//         {.lock = 90s, .retry_for = 24h, .breaker = &breaker}, env);
//     log(waybill::describe(report));
//
// A handler with steps keeps its lock between them:
//
//     [&](const message& m, waybill::queue_policy::message_lock& lock) {
//         for (const part& p : m.parts)
//             if (lock.keep()) upload(p); else return waybill::ownership_lost("the lock is lost");
//         return waybill::fault{};
//     }
//
// It returns after a stop request, at the end of `time_limited(env, 10min)`, or with
// `stop_when_empty`. The guide has the guarantees and what they need from the queue.

#ifndef WAYBILL_QUEUE_RUN_QUEUE_HPP
#define WAYBILL_QUEUE_RUN_QUEUE_HPP

#include <optional>
#include <type_traits>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/queue/detail/queue_abilities.hpp>
#include <waybill/queue/detail/queue_loop.hpp>
#include <waybill/queue/message_queue.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>

namespace waybill::inline v0_2 {

/// The first invalid field of a policy for the queue Q. If each failed try of a message counts as a
/// delivery there, `max_deliveries` must be at least the number of tries in `retry_for`. If Q lacks a
/// call of a message_queue, the error of the compiler names it.
template <class Q>
[[nodiscard]] constexpr std::optional<config_error> validate(const queue_policy& p) noexcept
{
    if constexpr (detail::checked_queue<Q>::ok) return detail::check_for_queue<Q>(p);
    else return {};
}

/// Handles messages one after the other until a stop. Adds to `report` during the call, also if a
/// callable throws. The exception then passes through, and the message in hand is left to its lock.
/// A further call continues. An exception of the handler is a failure for the circuit breaker.
///
/// The handler accepts a `const Q::message&` and optionally a `queue_policy::message_lock&`. It
/// returns a fault, a fault_kind, a result, a call_answer (with the server's delay) or nothing.
template <class Q, class Handler, class Environment>
void run_queue(Q& queue, Handler&& handler, const queue_policy& policy, Environment&& env,
               queue_report& report)
{
    static_assert(!detail::time_source<std::remove_cvref_t<Environment>>,
                  "run_queue: it sleeps, so it needs an environment and not a clock");
    detail::driver_clock clock(env);
    if constexpr (detail::checked_queue<Q>::ok && environment<std::remove_cvref_t<Environment>>) {
        using handler_type = std::remove_reference_t<Handler>;
        detail::queue_loop<Q, handler_type, decltype(clock)>(queue, handler, policy, clock, report)
            .run();
    }
}

/// The same with a new report.
template <class Q, class Handler, class Environment>
[[nodiscard]] queue_report run_queue(Q& queue, Handler&& handler, const queue_policy& policy,
                                     Environment&& env)
{
    queue_report report;
    run_queue(queue, handler, policy, env, report);
    return report;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_RUN_QUEUE_HPP
