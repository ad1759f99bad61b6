// SPDX-License-Identifier: MIT
//
// reprocess_all: handles the events of all dead letters of a store again.
//
//     const auto handle = [&](auto& tx, const auto& e) { return book(tx, e.body); };
//     waybill::process_batch(store, mine, events, handle, now);
//     waybill::reprocess_all(store, handle, env);      // its dead letters, after the fix
//
// It calls `reprocess` for each dead letter, with its guarantees. The effects of an event and the
// removal of its dead letter are one transaction. After a crash at any point a further call
// continues. An event that fails again stays, with its new reason, and the next one is handled.
//
// The oldest dead letter of a key comes first. At most `page` dead letters are in memory.

#ifndef WAYBILL_CONSUME_REPROCESS_ALL_HPP
#define WAYBILL_CONSUME_REPROCESS_ALL_HPP

#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/consume/detail/dead_letter_loop.hpp>
#include <waybill/consume/detail/reprocess_run.hpp>
#include <waybill/consume/detail/reprocess_steps.hpp>
#include <waybill/core/detail/driver_clock.hpp>

namespace waybill::inline v0_2 {

/// Handles the events that the policy selects again. `store` is a `dead_letter_queue`.
/// `fetch(letter)` returns result<std::optional<E>>, as for `reprocess`. `handler(tx, event)`
/// returns a fault, an event_outcome or nothing (success).
///
/// `infrastructure` faults of the store or of the handler are retried by `policy.retry`, and then
/// end the call as `stopped`. After a stop request, or if the handler returns `cancelled`, the
/// outcome is `running`. An exception passes through and rolls back its transaction; a further call
/// continues.
///
/// Adds to `report` during the call, so that it is complete after an exception.
template <class Store, detail::fetches_event Fetch, class Handler, class Environment>
void reprocess_all(Store& store, Fetch&& fetch, Handler&& handler,
                   const dead_letter::run_policy& policy, Environment&& env,
                   dead_letter::run_report& report)
{
    detail::driver_clock clock(env);
    detail::reprocess_run each(store, fetch, handler, clock, policy, report);
    detail::dead_letter_loop(store, clock, policy, report, each).run();
}

/// The same with a new report.
template <class Store, detail::fetches_event Fetch, class Handler, class Environment>
dead_letter::run_report reprocess_all(Store& store, Fetch&& fetch, Handler&& handler,
                                      const dead_letter::run_policy& policy, Environment&& env)
{
    dead_letter::run_report report;
    waybill::reprocess_all(store, fetch, handler, policy, env, report);
    return report;
}

/// The same without `fetch`: the handler is called as `handler(tx, letter)`. Dead letters without
/// their whole body stay.
template <class Store, class Handler, class Environment>
void reprocess_all(Store& store, Handler&& handler, const dead_letter::run_policy& policy,
                   Environment&& env, dead_letter::run_report& report)
{
    waybill::reprocess_all(store, detail::letter_as_event{}, handler, policy, env, report);
}

/// The same with a new report.
template <class Store, class Handler, class Environment>
dead_letter::run_report reprocess_all(Store& store, Handler&& handler,
                                      const dead_letter::run_policy& policy, Environment&& env)
{
    dead_letter::run_report report;
    waybill::reprocess_all(store, handler, policy, env, report);
    return report;
}

/// The same for all dead letters of a store that has dead_letter_keys().
template <class Store, class Handler, class Environment>
dead_letter::run_report reprocess_all(Store& store, Handler&& handler, Environment&& env)
{
    detail::check_lists_keys<Store>();
    return waybill::reprocess_all(store, handler, dead_letter::run_policy{}, env);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_REPROCESS_ALL_HPP
