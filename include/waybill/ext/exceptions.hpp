// SPDX-License-Identifier: MIT
//
// ext/exceptions: turns exceptions of handlers, store calls and send functions into return values.
//
//     auto r = waybill::process_batch(store, mine, events, waybill::catching(handle), now);
//     auto s = waybill::send_all(inbox, size, sender, waybill::catching(transmit), env);
//     auto own = waybill::catching(handle, [](const std::exception& e) {
//         return dynamic_cast<const sql_error*>(&e) ? waybill::fault_kind::infrastructure
//                                                   : waybill::fault_kind::permanent;
//     });
//
// If a handler (returning `fault`, `call_answer`, `event_outcome` or void) throws, the result is a
// fault. Its kind is the result of `classify`, its text is what(). If a store call (returning
// `result<T>`) throws, that fault is its error. If a send function throws, the result is
// `outcome_unknown`, or the send_outcome from `classify`. By default std::bad_alloc and
// std::system_error are `infrastructure`, all other exceptions are `permanent`.
//
// Guarantees
//   1. No exception leaves the wrapped function, not even one of `classify`.
//   2. The fault of an exception is never a success: `none` from `classify` becomes `permanent`.
//   3. The text has at most 1024 bytes and is cut between characters.

#ifndef WAYBILL_EXT_EXCEPTIONS_HPP
#define WAYBILL_EXT_EXCEPTIONS_HPP

#include <utility>

#include <waybill/batch/send_all.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/ext/detail/exceptions_catcher.hpp>
#include <waybill/ext/exceptions_by_default.hpp>

namespace waybill::inline v0_2 {

/// Wraps a handler, a store call or a send function so that its exceptions become return values.
/// `handler` is copied or moved into the result; pass std::ref(handler) to refer to it instead.
/// A `classify` for a send function must return a send_outcome, for all others a fault_kind. An
/// exception that is not a std::exception is `permanent`, or `outcome_unknown` in a send function.
template <class F, detail::exception_classifier C = by_default>
[[nodiscard]] constexpr detail::catcher<F, C> catching(F handler, C classify = {})
{
    return {std::move(handler), std::move(classify)};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_EXCEPTIONS_HPP
