// SPDX-License-Identifier: MIT
//
// guarded_call: makes one call through a circuit breaker, and waits while no call may pass.

#ifndef WAYBILL_RETRY_DETAIL_GUARDED_CALL_HPP
#define WAYBILL_RETRY_DETAIL_GUARDED_CALL_HPP

#include <concepts>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/scoped_permit.hpp>

namespace waybill::inline v0_2::detail {

/// The kind of the fault in the result of a call; `none` after a success.
template <class R>
[[nodiscard]] constexpr fault_kind kind_of_result(const R& r)
{
    if constexpr (std::same_as<R, fault_kind>) return r;
    else if constexpr (requires { r.reason.kind; }) return r.reason.kind;
    else if constexpr (requires { r.error().kind; })
        return r.has_value() ? fault_kind::none : r.error().kind;
    else return r.kind;
}

/// A result of a circuit breaker's call: a fault, a fault_kind, a result<T>, or a struct with a
/// fault `reason`, such as call_answer.
template <class R>
concept guarded_result =
    std::same_as<R, fault> || std::same_as<R, fault_kind> || requires(const R& r) {
        { r.reason } -> std::convertible_to<fault>;
    } || requires(const R& r) {
        { r.error() } -> std::convertible_to<fault>;
        R(unexpected(fault{}));
    };

template <class R>
[[nodiscard]] R result_of_fault(fault f)
{
    if constexpr (std::same_as<R, fault>) return f;
    else if constexpr (std::same_as<R, fault_kind>) return f.kind;
    else if constexpr (requires(R r) { r.reason; }) {
        R r{};
        r.reason = std::move(f);
        return r;
    } else return R(unexpected(std::move(f)));
}

/// The loop ends: each sleep ends at a later time than the previous sleep.
template <class R, class Breaker, class Clock, class F>
[[nodiscard]] R guarded_call(Breaker& breaker, Clock& clock, F& f)
{
    while (!clock.stop_requested()) {
        // Before the permit: if random() throws, no call was made, and none has failed.
        const double random = clock.random();
        // Without a report, as after an exception, the permit reports a failure.
        if (auto permit = scoped_permit(
                breaker, [&]() noexcept(noexcept(clock.now())) { return clock.now(); })) {
            R r = f();
            permit.record(kind_of_result(r), random);
            return r;
        }
        const steady_time now = clock.now();
        const steady_time next = breaker.next_change(now);
        if (!(now < next) || !clock.sleep_until(next)) break;
    }
    return result_of_fault<R>(cancelled("stopped before the circuit breaker let a call pass"));
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_RETRY_DETAIL_GUARDED_CALL_HPP
