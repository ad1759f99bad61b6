// SPDX-License-Identifier: MIT
//
// scoped_permit: a permit of a circuit breaker that is always reported, even if the call throws.
//
//     if (auto pass = waybill::scoped_permit(valve, clock)) pass.report(handle(message).how);
//     else pause_until(valve.next_change(clock()));
//
// A permit that goes out of scope without a report counts as an `infrastructure` failure at once,
// for example after an exception, an early return, or a dropped callback. Without this, a lost
// probe would keep the circuit breaker in the state `probing` until the timeout of the permit.
//
// Movable and not copyable, so that a callback can own it. The circuit breaker must outlive it.
// Only one thread at a time may use both, and the destructor is such a use. `clock` must not throw.

#ifndef WAYBILL_RETRY_SCOPED_PERMIT_HPP
#define WAYBILL_RETRY_SCOPED_PERMIT_HPP

#include <optional>
#include <utility>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time_source.hpp>
#include <waybill/retry/permits.hpp>

namespace waybill::inline v0_2 {

template <class Valve, time_source Clock>
class [[nodiscard]] scoped_permit {
public:
    /// Acquires a permit if the circuit breaker allows a call now.
    constexpr scoped_permit(Valve& v, Clock clock)
        : valve_(&v), clock_(std::move(clock)), permit_(v.try_pass(time_of(clock_)))
    {
    }
    constexpr scoped_permit(scoped_permit&& other)
        : valve_(other.valve_), clock_(std::move(other.clock_)),
          permit_(std::exchange(other.permit_, std::nullopt))
    {
    }
    scoped_permit& operator=(scoped_permit&&) = delete;
    constexpr ~scoped_permit()
    {
        if (permit_) (void)report(fault_class::infrastructure);
    }

    /// True if the call may be made. False after its report, and after a move.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return permit_.has_value(); }

    /// Reports the result of the call. `draw` as in `valve::report`. Returns `late` if there is no
    /// permit (any more).
    constexpr heard report(fault_class how, double draw = 1.0)
    {
        if (!permit_) return heard::late;
        return valve_->report(*std::exchange(permit_, std::nullopt), how, time_of(clock_), draw);
    }

private:
    Valve* valve_;
    Clock clock_;
    std::optional<permit> permit_;
};

template <class Valve, class Clock>
scoped_permit(Valve&, Clock) -> scoped_permit<Valve, Clock>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_SCOPED_PERMIT_HPP
