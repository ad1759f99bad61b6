// SPDX-License-Identifier: MIT
//
// until_stop: a handler of events that is not called after a stop request.

#ifndef WAYBILL_CONSUME_DETAIL_UNTIL_STOP_HPP
#define WAYBILL_CONSUME_DETAIL_UNTIL_STOP_HPP

#include <concepts>
#include <utility>

#include <waybill/consume/event.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2::detail {

/// Calls `handle`. After a stop request it returns the fault `cancelled` instead, so that the batch
/// ends.
template <class Environment, class Handler>
struct until_stop {
    Environment& env;
    Handler& handle;

    template <class... Arguments>
        requires requires(Handler& h, Arguments&&... a) {
            { h(std::forward<Arguments>(a)...) } -> std::convertible_to<event_outcome>;
        }
    event_outcome operator()(Arguments&&... a)
    {
        if (is_stop_requested(env)) return fault{fault_kind::cancelled, "a stop was requested"};
        return handle(std::forward<Arguments>(a)...);
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_UNTIL_STOP_HPP
