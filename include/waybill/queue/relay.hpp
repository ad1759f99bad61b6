// SPDX-License-Identifier: MIT
//
// relay: sends the rows of an outbox, and marks those that the broker has accepted.
//
//     waybill::batch_sender sender{{.limit = wire::service_bus_standard(), .ordered = true}};
//     waybill::relay(outbox, sender, [&](auto batch) { return broker.publish(batch); }, env);
//
// Guarantees, also if the process is killed at any point and if several relays run at a time:
//   1. Each row is sent at least once or marked as dead. No row is marked as sent before the broker
//      has accepted it.
//   2. The id of a message is the same in each attempt, so a broker or reader can drop duplicates.
//   3. The first arrivals of the messages of one key are in the order of the rows. With
//      `may_overtake`, or if the broker answers for entries although the sender's policy says that
//      it does not, a row can arrive before an earlier one of its key: `overtook` counts them.
//   4. A row that is too large or refused permanently is marked as dead, with the reason. Other
//      keys go on. If a batch of several rows is refused, they are sent again in smaller batches.
//   5. Transient failures and throttling never end a row; it waits while other keys go on. So does
//      a row that the store cannot mark: `unwritten` counts.
// Not guaranteed: exactly one arrival. `maybe_twice` of the report counts possible duplicates.
//
// The relay renews its claim while it sends: see `lease`. The rows of a relay that was killed are
// sent when the lease has ended. Clocks of hosts must differ by less than half of the lease.

#ifndef WAYBILL_QUEUE_RELAY_HPP
#define WAYBILL_QUEUE_RELAY_HPP

#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/queue/detail/relay_loop.hpp>
#include <waybill/queue/outbox_store.hpp>
#include <waybill/queue/relay_report.hpp>

namespace waybill::inline v0_2 {

/// Sends rows until a stop is requested, or with `p.drain` until none is left. Between claims
/// without rows it sleeps for `p.poll_interval`. O(p.max_rows) memory.
///
/// `sender` is a `batch_sender` whose policy sets `ordered`; with another policy the relay sends
/// nothing and reports `unordered_sender`. Its limits, retries and pauses apply, and it keeps its
/// calibration for the next call. It must have no open items, except those of an earlier relay that
/// ended with an exception; otherwise the relay reports `other_input`. `transmit(batch)` gets a
/// range of messages and returns a `send_outcome`, as for `send_all`. At a stop request, rows that
/// are not sent are returned to the store at once.
///
/// After a batch has failed as often as the retries allow, the relay claims at most half as many
/// rows as that batch had. After its rows can be claimed again, the relay doubles this number with
/// each claim that was sent whole, up to `p.max_rows`.
///
/// The report counts from its values before the call. Exceptions of the store and of `transmit`
/// pass through; the report is complete up to the call that threw. The next call continues; the
/// rows of the interrupted claim follow when its lease has ended.
template <class Store, class Sender, class Transmit, class Environment>
void relay(Store& outbox, Sender& sender, Transmit&& transmit, Environment&& env,
           const relay_report::policy& p, relay_report& report)
{
    using checked = detail::checked_relay<Store, Sender, Transmit, Environment>;
    if constexpr (checked::ok) {
        detail::driver_clock clock(env);
        report.outcome = relay_report::ending::running;
        detail::relay_loop(outbox, sender, transmit, clock, p, report).run();
    }
}

/// The same with a new report.
template <class Store, class Sender, class Transmit, class Environment>
relay_report relay(Store& outbox, Sender& sender, Transmit&& transmit, Environment&& env,
                   const relay_report::policy& p = {})
{
    relay_report report;
    relay(outbox, sender, transmit, env, p, report);
    return report;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_RELAY_HPP
