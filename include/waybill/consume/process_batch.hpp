// SPDX-License-Identifier: MIT
//
// process_batch: each event of a batch takes effect once.
//
//     auto loaded = store.load(key);                       // absent, a value, or an error
//     if (!loaded) return pause_and_come_back(loaded.error());
//     waybill::assignment mine{key, waybill::position_of(*loaded), epoch, incarnation};
//     auto r = waybill::process_batch(store, mine, events, handle, now);  // handle(tx&, event)
//
// If `r.outcome` is `committed`, continue after `r.reached`, even if the batch was shortened.
//
// Guarantees
//   1. Effects that the handler writes through its transaction, dead letters and the checkpoint are
//      committed together or not at all. Other effects of the handler are repeated with the batch.
//   2. An exception of the handler passes through and rolls back. With crash records, the event
//      becomes a dead letter after at most 2 * `policy.deaths` + log2(n) - 1 exceptions in a
//      batch of n events.
//   3. Without crash records, it becomes one after `policy.deaths` consecutive exceptions, if the
//      caller keeps one assignment, which has the count.
//   4. If events failed and none took effect, they become dead letters, unless `ask` refuses that.
//
// The guide describes exceptions, crash records and `ask`.

#ifndef WAYBILL_CONSUME_PROCESS_BATCH_HPP
#define WAYBILL_CONSUME_PROCESS_BATCH_HPP

#include <iterator>
#include <type_traits>
#include <utility>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/detail/batch_order.hpp>
#include <waybill/consume/detail/batch_run.hpp>
#include <waybill/consume/detail/checked_stores.hpp>
#include <waybill/consume/detail/until_stop.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// Applies `events` in order, and moves the checkpoint of `mine` to the last of them. Events up to
/// `mine.from` took effect earlier and are not handled. Sequence numbers must ascend; otherwise the
/// report has `invalid`, and nothing is touched. `now` is the time in dead letters.
///
/// If no event took effect and n events failed, `ask(n)` decides between dead letters (`go_on`) and
/// a later delivery (`redeliver`). It is called if n is at least `p.decide_all_failed_from`.
///
/// The handler is called once per event, and once more for each retry after a transient fault.
/// Without savepoints it is called again from the first event after each failure, and the range is
/// read again as often.
template <class Store, std::forward_iterator I, std::sentinel_for<I> S, class Handler,
          class Ask = detail::no_outage_check>
[[nodiscard]] batch_report process_batch(Store& store, const assignment& mine, I first, S last,
                                         Handler&& handler, wall_time now,
                                         const batch_policy& p = {}, Ask&& ask = {})
{
    using event = std::iter_value_t<I>;
    static_assert(detail::checked_batch_store<Store>::ok);
    static_assert(sequenced<event>,
                  "process_batch: an event must have a `sequence` that is an integer");
    static_assert(detail::event_handler<Handler, typename Store::transaction, event>,
                  "process_batch: the handler must accept (transaction&, const event&) and return "
                  "a fault or an event_outcome");
    static_assert(
        detail::asked_if_all_failed<std::remove_cvref_t<Ask>>,
        "process_batch: `ask` must accept a number and return batch_policy::if_all_failed");
    batch_report r;  // the only variable that is returned, so it is not moved
    auto b = detail::ordered_after(mine.from, first, last, r.reason);
    r.repeated = b.repeated;
    if (!r.reason.ok() || b.events == 0) {
        detail::report_no_delivery(r, mine.from);
        return r;
    }
    detail::batch_run<Store, I, std::remove_reference_t<Handler>, std::remove_reference_t<Ask>>
        delivery(store, mine, b, handler, now, p, ask, r);
    delivery.run();
    return r;
}

/// The same for a container.
template <class Store, class Events, class Handler, class Ask = detail::no_outage_check>
    requires requires(const Events& e) { std::begin(e); }
[[nodiscard]] batch_report process_batch(Store& store, const assignment& mine, const Events& events,
                                         Handler&& handler, wall_time now,
                                         const batch_policy& p = {}, Ask&& ask = {})
{
    return process_batch(store, mine, std::begin(events), std::end(events),
                         std::forward<Handler>(handler), now, p, std::forward<Ask>(ask));
}

/// The same with an environment instead of a time. After a stop request the handler is not called
/// again: the batch is rolled back, and the report has `cancelled`.
template <class Store, std::forward_iterator I, std::sentinel_for<I> S, class Handler,
          class Environment, class Ask = detail::no_outage_check>
    requires environment<std::remove_reference_t<Environment>>
[[nodiscard]] batch_report process_batch(Store& store, const assignment& mine, I first, S last,
                                         Handler&& handler, Environment&& env,
                                         const batch_policy& p = {}, Ask&& ask = {})
{
    detail::until_stop<std::remove_reference_t<Environment>, std::remove_reference_t<Handler>>
        handle{env, handler};
    return process_batch(store, mine, std::move(first), std::move(last), handle,
                         wall_time(env.wall_now()), p, std::forward<Ask>(ask));
}

/// The same for a container.
template <class Store, class Events, class Handler, class Environment,
          class Ask = detail::no_outage_check>
    requires requires(const Events& e) { std::begin(e); } &&
             environment<std::remove_reference_t<Environment>>
[[nodiscard]] batch_report process_batch(Store& store, const assignment& mine, const Events& events,
                                         Handler&& handler, Environment&& env,
                                         const batch_policy& p = {}, Ask&& ask = {})
{
    return process_batch(store, mine, std::begin(events), std::end(events),
                         std::forward<Handler>(handler), env, p, std::forward<Ask>(ask));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_PROCESS_BATCH_HPP
