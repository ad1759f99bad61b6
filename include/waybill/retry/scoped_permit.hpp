// SPDX-License-Identifier: MIT
//
// scoped_permit: a permit of a circuit breaker that is always reported, even if the call throws.
//
//     if (auto p = waybill::scoped_permit(breaker, clock)) p.record(handle(message).kind);
//     else sleep_until(breaker.next_change(clock()));
//
// A permit that goes out of scope without a report counts as an `infrastructure` failure at once.
// Causes are an exception, an early return, or a dropped callback. Without this, a lost probe would
// keep the circuit breaker in the state `half_open` until the timeout of the permit.
//
// Movable and not copyable, so that a callback can own it. The circuit breaker must outlive it.
// Only one thread at a time may use both, and the destructor is such a use. It calls `clock` only if
// that is noexcept. Otherwise the failure has the time at which the permit was acquired.

#ifndef WAYBILL_RETRY_SCOPED_PERMIT_HPP
#define WAYBILL_RETRY_SCOPED_PERMIT_HPP

#include <optional>
#include <utility>

#include <waybill/core/act.hpp>
#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/detail/permits.hpp>

namespace waybill::inline v0_2 {

template <class Breaker, class Clock>
class [[nodiscard]] scoped_permit {
public:
    /// Acquires a permit if the circuit breaker allows a call now.
    constexpr scoped_permit(Breaker& v, Clock clock)
        : breaker_(&v),
          clock_(std::move(clock)),
          acquired_(detail::time_of(clock_)),
          permit_(v.try_acquire(acquired_))
    {
    }
    constexpr scoped_permit(scoped_permit&& other) noexcept(
        std::is_nothrow_move_constructible_v<Clock>)
        : breaker_(other.breaker_),
          clock_(std::move(other.clock_)),
          acquired_(other.acquired_),
          permit_(std::exchange(other.permit_, std::nullopt))
    {
    }
    scoped_permit& operator=(scoped_permit&&) = delete;
    constexpr ~scoped_permit()
    {
        if (!permit_) return;
        steady_time now = acquired_;
        if constexpr (detail::nothrow_time_source<Clock>) now = detail::time_of(clock_);
        constexpr double random = 1.0;
        (void)breaker_->record(*permit_, fault_kind::infrastructure, now, random);
    }

    /// True if the call may be made. False after its report, and after a move.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return permit_.has_value(); }

    /// Reports the result of the call. `random` as in `circuit_breaker::record`. Returns `stale` if
    /// there is no permit (any more). If `clock` throws, the permit is kept.
    constexpr event_result record(fault_kind kind, double random = 1.0)
    {
        if (!permit_) return event_result::stale;
        const steady_time now = detail::time_of(clock_);
        return breaker_->record(*std::exchange(permit_, std::nullopt), kind, now, random);
    }

private:
    Breaker* breaker_;
    Clock clock_;
    steady_time acquired_;
    std::optional<circuit_breaker_types::permit> permit_;
};

template <class Breaker, class Clock>
scoped_permit(Breaker&, Clock) -> scoped_permit<Breaker, Clock>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_SCOPED_PERMIT_HPP
