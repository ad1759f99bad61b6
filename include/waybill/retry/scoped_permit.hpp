// SPDX-License-Identifier: MIT
//
// scoped_permit: a valve's permit that is reported whatever happens to the call.
//
//     if (auto pass = waybill::scoped_permit(valve, clock)) pass.report(handle(message).how);
//     else pause_until(valve.next_change(clock()));
//
// A permit that goes out of scope without a report counts as an `infrastructure` failure at once: an
// exception, an early return, a callback that was dropped. Without this a lost probe keeps the valve
// probing until its timeout.
//
// Movable, not copyable, so that a callback can own it. The valve must outlive it. Like the valve
// it is used by one thread at a time, its destructor included. `clock` must not throw.

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
    /// Takes a permit, if a call may be made now.
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

    /// The call may be made. False, too, once it is reported.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return permit_.has_value(); }

    /// Reports how the call ended; `draw` as in `valve::report`. `late` if there is no permit any
    /// more.
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
