// SPDX-License-Identifier: MIT
//
// process_at_least_once: handles each event of a batch at least once, in order.
//
//     auto loaded = offsets.load(key);                         // absent, a value, or an error
//     if (!loaded) return pause_and_come_back(loaded.error());
//     waybill::assignment mine{key, waybill::position_of(*loaded), epoch};
//     auto r = waybill::process_at_least_once(offsets, letter_topic, mine, events, handle, now);
//     mine.from = r.reached;                              // for each outcome: done up to here
//
// For effects that share no transaction with the checkpoint: a mail, a call, another database.
//
// Guarantees
//   1. The dead letter of a failed event is acknowledged before the checkpoint passes that event.
//   2. The handler receives the same key for each repetition of an event. If the effects are
//      identified by their keys, nothing takes effect twice. at_least_once.hpp lists repetitions.
//   3. Exceptions of the handler, the stores or `ask` pass through. Nothing more is committed, and
//      all events after the last commit are delivered again.
//   4. After `tries` consecutive deliveries with an exception of the handler, the event whose
//      handler threw last becomes a dead letter. The caller must keep one assignment, which has the
//      count.

#ifndef WAYBILL_CONSUME_PROCESS_AT_LEAST_ONCE_HPP
#define WAYBILL_CONSUME_PROCESS_AT_LEAST_ONCE_HPP

#include <concepts>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/detail/at_least_once_run.hpp>
#include <waybill/consume/detail/batch_order.hpp>
#include <waybill/consume/detail/batch_run.hpp>
#include <waybill/consume/detail/checked_stores.hpp>
#include <waybill/consume/detail/until_stop.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/separate_stores.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Handles one event. `key` is the same whenever the event is repeated.
template <class H, class E>
concept repeatable_handler = requires(H& handle, const E& e, std::string_view key) {
    { handle(e, key) } -> std::convertible_to<event_outcome>;
};

}  // namespace detail

/// Handles `events` in order, each at least once, and moves the checkpoint of `mine` past them.
/// Events up to `mine.from` were done earlier and are not handled. Sequence numbers must ascend;
/// otherwise the report has `invalid`, and nothing is touched. `now` is the time in dead letters.
/// The handler is called once per event, and once more for each retry after a transient fault.
/// `ask` is the same as that of process_batch: it decides if events failed and none took effect.
template <class Checkpoints, class Letters, std::forward_iterator I, std::sentinel_for<I> S,
          class Handler, class Ask = detail::no_outage_check>
[[nodiscard]] at_least_once_report process_at_least_once(Checkpoints& checkpoints, Letters& letters,
                                                         const assignment& mine, I first, S last,
                                                         Handler&& handler, wall_time now,
                                                         const at_least_once_policy& p = {},
                                                         Ask&& ask = {})
{
    using event = std::iter_value_t<I>;
    static_assert(detail::checked_checkpoint_writer<Checkpoints>::ok);
    static_assert(detail::checked_dead_letter_sink<Letters>::ok);
    static_assert(sequenced<event>,
                  "process_at_least_once: an event must have a `sequence` that is an integer");
    static_assert(detail::repeatable_handler<Handler, event>,
                  "process_at_least_once: the handler must accept (const event&, std::string_view "
                  "key) and return a fault or an event_outcome");
    static_assert(
        detail::asked_if_all_failed<std::remove_cvref_t<Ask>>,
        "process_at_least_once: `ask` must accept a number and return batch_policy::if_all_failed");
    at_least_once_report r;
    const auto b = detail::ordered_after(mine.from, first, last, r.reason);
    if (!r.reason.ok() || b.events == 0) {
        detail::report_no_delivery(r, mine.from);
        r.repeated = b.repeated;
        return r;
    }
    detail::at_least_once_run<Checkpoints, Letters, I, std::remove_reference_t<Handler>,
                              std::remove_reference_t<Ask>>
        delivery(checkpoints, letters, mine, b, handler, now, p, ask);
    r = delivery.run();
    r.repeated = b.repeated;
    return r;
}

/// The same for a container.
template <class Checkpoints, class Letters, class Events, class Handler,
          class Ask = detail::no_outage_check>
    requires requires(const Events& e) { std::begin(e); }
[[nodiscard]] at_least_once_report process_at_least_once(
    Checkpoints& checkpoints, Letters& letters, const assignment& mine, const Events& events,
    Handler&& handler, wall_time now, const at_least_once_policy& p = {}, Ask&& ask = {})
{
    return process_at_least_once(checkpoints, letters, mine, std::begin(events), std::end(events),
                                 std::forward<Handler>(handler), now, p, std::forward<Ask>(ask));
}

/// The same with an environment instead of a time. After a stop request the handler is not called
/// again: the checkpoint moves past the events before, and the report has `cancelled`.
template <class Checkpoints, class Letters, std::forward_iterator I, std::sentinel_for<I> S,
          class Handler, class Environment, class Ask = detail::no_outage_check>
    requires environment<std::remove_reference_t<Environment>>
[[nodiscard]] at_least_once_report process_at_least_once(Checkpoints& checkpoints, Letters& letters,
                                                         const assignment& mine, I first, S last,
                                                         Handler&& handler, Environment&& env,
                                                         const at_least_once_policy& p = {},
                                                         Ask&& ask = {})
{
    detail::until_stop<std::remove_reference_t<Environment>, std::remove_reference_t<Handler>>
        handle{env, handler};
    return process_at_least_once(checkpoints, letters, mine, std::move(first), std::move(last),
                                 handle, wall_time(env.wall_now()), p, std::forward<Ask>(ask));
}

/// The same for a container.
template <class Checkpoints, class Letters, class Events, class Handler, class Environment,
          class Ask = detail::no_outage_check>
    requires requires(const Events& e) { std::begin(e); } &&
             environment<std::remove_reference_t<Environment>>
[[nodiscard]] at_least_once_report process_at_least_once(
    Checkpoints& checkpoints, Letters& letters, const assignment& mine, const Events& events,
    Handler&& handler, Environment&& env, const at_least_once_policy& p = {}, Ask&& ask = {})
{
    return process_at_least_once(checkpoints, letters, mine, std::begin(events), std::end(events),
                                 std::forward<Handler>(handler), env, p, std::forward<Ask>(ask));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_PROCESS_AT_LEAST_ONCE_HPP
