// SPDX-License-Identifier: MIT
//
// session_handler: the forms of a handler of run_session, and their results.

#ifndef WAYBILL_SESSION_DETAIL_SESSION_HANDLER_HPP
#define WAYBILL_SESSION_DETAIL_SESSION_HANDLER_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/session/detail/call_results.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/session_queue.hpp>

namespace waybill::inline v0_2::detail {

/// Stands for the transaction of a queue without transactions.
struct no_queue_transaction {};

template <class Queue>
struct transaction_of {
    using type = no_queue_transaction;
};
template <saves_in_transactions Queue>
struct transaction_of<Queue> {
    using type = typename Queue::transaction;
};

/// The arguments of a handler: (value, step), (value, step, message), and the same after a
/// transaction.
enum class handler_form : std::uint8_t { none, simple, with_message, tx_simple, tx_with_message };

/// A form is tried only if no earlier one fits: the body of a generic handler must not be compiled
/// with wrong types.
template <class Handler, class Tx, class Value, class Message>
[[nodiscard]] constexpr handler_form form_of_handler() noexcept
{
    using step = pipeline_types::step;
    constexpr bool has_tx = !std::same_as<Tx, no_queue_transaction>;
    if constexpr (std::invocable<Handler&, Value&, const step&>) return handler_form::simple;
    else if constexpr (std::invocable<Handler&, Tx&, Value&, const step&, const Message&>)
        return handler_form::tx_with_message;
    else if constexpr (has_tx && std::invocable<Handler&, Tx&, Value&, const step&>)
        return handler_form::tx_simple;
    else if constexpr (std::invocable<Handler&, Value&, const step&, const Message&>)
        return handler_form::with_message;
    else return handler_form::none;
}

/// True for an `event_outcome`, whose header is not needed here.
template <class R>
inline constexpr bool is_event_outcome = requires {
    { std::declval<R&>().reason } -> std::same_as<fault&>;
    { std::declval<R&>().skipped } -> std::same_as<bool&>;
};

/// Calls a handler in the form that it has.
template <class Handler, class Queue, class Value>
struct session_handler {
    using tx = typename transaction_of<Queue>::type;
    using step = pipeline_types::step;
    using message = typename Queue::message;
    static constexpr bool has_tx = !std::same_as<tx, no_queue_transaction>;
    static constexpr handler_form form = form_of_handler<Handler, tx, Value, message>();
    static constexpr bool in_transaction =
        form == handler_form::tx_simple || form == handler_form::tx_with_message;
    static constexpr bool accepts = form != handler_form::none;

    static_assert(accepts,
                  "run_session: the handler must accept the value of the codec by "
                  "reference, and a pipeline::step; before them a transaction if the "
                  "queue has save(tx, lock, bytes), and after them a message of the queue "
                  "(if it does, its body does not compile: see the errors above)");
    static_assert(!in_transaction || has_tx,
                  "run_session: the handler accepts a transaction, but the queue has no "
                  "begin() and save(tx, lock, bytes)");

    static decltype(auto) call(Handler& handle, tx* open, Value& value, const step& s,
                               const message& m)
    {
        if constexpr (form == handler_form::simple) return handle(value, s);
        else if constexpr (form == handler_form::tx_simple) return handle(*open, value, s);
        else if constexpr (form == handler_form::tx_with_message) return handle(*open, value, s, m);
        else if constexpr (form == handler_form::with_message) return handle(value, s, m);
    }

    using result_type = std::remove_cvref_t<decltype(call(
        std::declval<Handler&>(), static_cast<tx*>(nullptr), std::declval<Value&>(),
        std::declval<const step&>(), std::declval<const message&>()))>;
    static constexpr bool may_skip = is_event_outcome<result_type>;
    static constexpr bool is_executed = std::same_as<result_type, pipeline_types::executed>;
    static_assert(!accepts || std::is_void_v<result_type> || is_fault_result<result_type> ||
                      is_executed || may_skip,
                  "run_session: the handler must return void, a fault, a result<void>, an "
                  "event_outcome or executed");
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_SESSION_HANDLER_HPP
