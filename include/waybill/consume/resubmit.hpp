// SPDX-License-Identifier: MIT
//
// resubmit: sends dead letters without a session back to their queue or log, and removes them.
//
//     // The price service is up again: what failed today comes back, at most 20 per second.
//     auto r = waybill::resubmit(letters, [&](const auto& l) { return queue.send(l); },
//                                {.dead_lettered_from = today, .max_per_second = 20}, env);
//     log(waybill::describe(r));                       // finished: 12 done, 0 failed
//
// Guarantees
//   1. A dead letter is removed after the broker has accepted its message. None is lost.
//   2. Each dead letter is removed before the next one is sent. After a crash at any point a
//      further call continues; it repeats at most one message.
//   3. A message that is repeated has the same message id, `idempotency_key(key, sequence)`, if
//      `send` uses it. A broker with duplicate detection drops it.
//   4. The oldest dead letter of a key comes first. A refused one stays, and the next one is sent.
// For dead letters of sessions: redrive_all. To handle an event without its queue: reprocess_all.
//
// Cost: five calls to the store for each message. At most `page` dead letters are in memory.

#ifndef WAYBILL_CONSUME_RESUBMIT_HPP
#define WAYBILL_CONSUME_RESUBMIT_HPP

#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/consume/detail/dead_letter_loop.hpp>
#include <waybill/consume/detail/resubmit_run.hpp>
#include <waybill/core/detail/driver_clock.hpp>

namespace waybill::inline v0_2 {

/// Resubmits the dead letters that the policy selects. `store` is a `dead_letter_queue`.
///
/// `send(letter)` or `send(letter, message_id)` sends one message. It returns a fault, a
/// fault_kind, a result<void>, a call_answer or nothing (success). `permanent`: the broker never
/// accepts the message; its dead letter stays. `transient`: not accepted now. `infrastructure`: the
/// outcome is unknown. Both are retried by `policy.retry`. Then the call ends as `stopped`; after a
/// transient fault only if the next dead letter fails as well.
///
/// After a stop request, or if `send` returns `cancelled`, it sends nothing more, and returns with
/// the outcome `running`. An exception of a callable passes through; a further call continues. Two
/// calls at the same time lose nothing, and can send a message twice, with equal ids.
///
/// Adds to `report` during the call, so that it is complete after an exception.
template <class Store, class Send, class Environment>
void resubmit(Store& store, Send&& send, const dead_letter::run_policy& policy, Environment&& env,
              dead_letter::run_report& report)
{
    detail::driver_clock clock(env);
    detail::resubmit_run each(store, send, clock, policy, report);
    detail::dead_letter_loop(store, clock, policy, report, each).run();
}

/// The same with a new report.
template <class Store, class Send, class Environment>
dead_letter::run_report resubmit(Store& store, Send&& send, const dead_letter::run_policy& policy,
                                 Environment&& env)
{
    dead_letter::run_report report;
    waybill::resubmit(store, send, policy, env, report);
    return report;
}

/// The same for all dead letters of a store that has dead_letter_keys().
template <class Store, class Send, class Environment>
dead_letter::run_report resubmit(Store& store, Send&& send, Environment&& env)
{
    detail::check_lists_keys<Store>();
    return waybill::resubmit(store, send, dead_letter::run_policy{}, env);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_RESUBMIT_HPP
