// SPDX-License-Identifier: MIT
//
// ext/counters: the counters of senders, circuit breakers, trackers, leases, pipelines and of the
// reports of all drivers, for a monitoring system.
//
//     const auto set = [&](std::string_view name, std::string_view kind, std::uint64_t value) {
//         exporter.set(name, kind, value);    // "messaging.client.sent.messages", "counter", 1001
//     };
//     for_each_counter(report, set);
//
// The kind is an instrument of OpenTelemetry. A "counter" only grows. An "updowncounter" is a
// number of things, which can be added over several objects. A "gauge" cannot be added.
//
// Guarantees
//   1. A name is that of OpenTelemetry's semantic conventions for messaging metrics (status:
//      development, November 2026) if the counter means the same; others begin with "waybill.".
//   2. The names of one object differ, and are the same in each call.
//   3. A counter of a report counts for that report: add the values of several reports.
//
// Cost: no allocation; one query of a member for each counter.

#ifndef WAYBILL_EXT_COUNTERS_HPP
#define WAYBILL_EXT_COUNTERS_HPP

#include <concepts>
#include <cstdint>
#include <string_view>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/partitions_report.hpp>
#include <waybill/lease/processor.hpp>
#include <waybill/queue/queue_report.hpp>
#include <waybill/queue/relay_report.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/scaling/autoscale_report.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/redrive_report.hpp>
#include <waybill/session/session_report.hpp>
#include <waybill/tracking/completion_tracker.hpp>

namespace waybill::inline v0_2 {

namespace detail {

inline constexpr std::string_view counter = "counter";
inline constexpr std::string_view updowncounter = "updowncounter";
inline constexpr std::string_view gauge = "gauge";
inline constexpr std::string_view sent_messages = "messaging.client.sent.messages";
inline constexpr std::string_view consumed_messages = "messaging.client.consumed.messages";

template <class F>
concept counter_sink = std::invocable<F&, std::string_view, std::string_view, std::uint64_t>;

/// The counters that the reports of all consumers of a log have.
template <class Report, counter_sink F>
void count_consumed(const Report& r, F& f)
{
    f(consumed_messages, counter, r.handled + r.dead_lettered + r.dropped + r.skipped);
    f("waybill.consumer.handled_messages", counter, r.handled);
    f("waybill.consumer.dead_lettered_messages", counter, r.dead_lettered);
    f("waybill.consumer.dropped_messages", counter, r.dropped);
    f("waybill.consumer.skipped_messages", counter, r.skipped);
}

}  // namespace detail

/// Sent messages were in a request: they are accepted, failed or in doubt. Retries of a message do
/// not count. O(outcomes).
template <detail::counter_sink F>
void for_each_counter(const send_report& r, F&& f)
{
    std::uint64_t sent = 0;
    for (const item_report& o : r.outcomes) {
        const bool was_sent = o.outcome == item_outcome::accepted ||
                              o.outcome == item_outcome::failed ||
                              o.outcome == item_outcome::in_doubt;
        if (was_sent) sent += o.items.count;
    }
    f(detail::sent_messages, detail::counter, sent);
    f("waybill.sender.accepted_messages", detail::counter, r.accepted);
    f("waybill.sender.not_accepted_messages", detail::counter, r.not_accepted);
    f("waybill.sender.maybe_duplicate_messages", detail::counter, r.maybe_twice);
    f("waybill.sender.overtaking_messages", detail::counter, r.overtook);
    f("waybill.sender.requests", detail::counter, r.sends);
    f("waybill.sender.refused_requests", detail::counter, r.refusals);
    f("waybill.sender.throttled_requests", detail::counter, r.throttled);
    f("waybill.sender.unaccepted_bytes", detail::counter, r.unaccepted_bytes);
}

template <detail::counter_sink F>
void for_each_counter(const batch_sender& s, F&& f)
{
    f("waybill.sender.queued_messages", detail::counter, s.end());
    f("waybill.sender.open_messages", detail::updowncounter, s.end() - s.first_open());
    f("waybill.sender.requests_in_flight", detail::updowncounter, std::uint64_t{s.in_flight()});
    f("waybill.sender.limit_bytes", detail::gauge, s.learnt().limit);
}

template <detail::counter_sink F>
void for_each_counter(const batch_report& r, F&& f)
{
    detail::count_consumed(r, f);
    f("waybill.consumer.repeated_messages", detail::counter, r.repeated);
}
template <detail::counter_sink F>
void for_each_counter(const at_least_once_report& r, F&& f)
{
    detail::count_consumed(r, f);
    f("waybill.consumer.repeated_messages", detail::counter, r.repeated);
    f("waybill.consumer.not_committed_messages", detail::counter, r.not_committed);
}

/// `state` is 0 for closed, 1 open, 2 half open, 3 forced closed, 4 forced open.
template <std::size_t MaxPermits, detail::counter_sink F>
void for_each_counter(const circuit_breaker_of<MaxPermits>& b, steady_time now, F&& f)
{
    f("waybill.circuit_breaker.state", detail::gauge, static_cast<std::uint64_t>(b.state(now)));
    f("waybill.circuit_breaker.state_changes", detail::counter, b.generation(now) - 1);
    f("waybill.circuit_breaker.suspects_outage", detail::gauge,
      static_cast<std::uint64_t>(b.suspects_outage(now)));
}

/// Without a partition assigned, all are 0.
template <detail::counter_sink F>
void for_each_counter(const completion_tracker& t, F&& f)
{
    const auto blocked = t.blocked_by();
    f("waybill.completion_tracker.in_flight_messages", detail::updowncounter, t.in_flight());
    f("waybill.completion_tracker.pending_messages", detail::updowncounter, t.pending());
    f("waybill.completion_tracker.blocked_messages", detail::updowncounter,
      blocked ? blocked->waiting : 0);
    f("waybill.completion_tracker.memory_bytes", detail::updowncounter, t.bytes());
}

template <detail::counter_sink F>
void for_each_counter(const lease_manager& m, F&& f)
{
    f("waybill.leases.held_partitions", detail::updowncounter, std::uint64_t{m.held()});
    f("waybill.leases.partitions", detail::gauge, std::uint64_t{m.partitions()});
    f("waybill.leases.changes", detail::counter, m.changes());
    f("waybill.leases.balanced", detail::gauge, static_cast<std::uint64_t>(m.balanced()));
}
template <detail::counter_sink F>
void for_each_counter(const processor& p, F&& f)
{
    for_each_counter(p.leases(), f);
}

/// The progress of the session whose state was loaded last.
template <detail::counter_sink F>
void for_each_counter(const pipeline& p, F&& f)
{
    f("waybill.pipeline.steps_done", detail::gauge, p.progress().done);
    f("waybill.pipeline.steps_dead_lettered", detail::gauge, p.progress().dead_lettered);
    f("waybill.pipeline.tries_of_step", detail::gauge, p.progress().tries);
    f("waybill.pipeline.messages_in_hand", detail::updowncounter,
      static_cast<std::uint64_t>(p.in_hand()));
}

/// Messages of batches that were not committed do not count as consumed.
template <detail::counter_sink F>
void for_each_counter(const partitions_report& r, F&& f)
{
    detail::count_consumed(r, f);
    f("waybill.partitions.repeated_calls", detail::counter, r.repeated_calls);
    f("waybill.partitions.committed_batches", detail::counter, r.batches);
    f("waybill.partitions.failed_batches", detail::counter, r.failed_batches);
    f("waybill.partitions.lost_batches", detail::counter, r.lost_batches);
    f("waybill.partitions.unknown_commits", detail::counter, r.unknown_commits);
    f("waybill.partitions.opened_partitions", detail::counter, r.opened);
    f("waybill.partitions.failed_opens", detail::counter, r.failed_opens);
    f("waybill.partitions.failed_reads", detail::counter, r.failed_reads);
    f("waybill.partitions.failed_lease_calls", detail::counter, r.failed_lease_calls);
}

/// Each delivery counts as consumed, and in one of the seven next counters.
template <detail::counter_sink F>
void for_each_counter(const queue_report& r, F&& f)
{
    f(detail::consumed_messages, detail::counter, r.received);
    f("waybill.queue.completed_messages", detail::counter, r.completed);
    f("waybill.queue.given_back_messages", detail::counter, r.given_back);
    f("waybill.queue.deferred_messages", detail::counter, r.deferred);
    f("waybill.queue.dead_lettered_messages", detail::counter, r.dead_lettered);
    f("waybill.queue.left_to_lock_messages", detail::counter, r.left_to_lock);
    f("waybill.queue.unconfirmed_messages", detail::counter, r.unconfirmed);
    f("waybill.queue.stuck_messages", detail::counter, r.stuck);
    f("waybill.queue.early_messages", detail::counter, r.early);
    f("waybill.queue.outages", detail::counter, r.outages);
    f("waybill.queue.circuit_breaker_waits", detail::counter, r.breaker_waits);
    f("waybill.queue.lock_renewals", detail::counter, r.renewals);
    f("waybill.queue.failed_receives", detail::counter, r.failed_receives);
    f("waybill.queue.failed_settlements", detail::counter, r.failed_settlements);
}

/// A row that is sent again counts again. Rows that the broker refused are not in `sent_rows`.
template <detail::counter_sink F>
void for_each_counter(const relay_report& r, F&& f)
{
    f("waybill.relay.sent_rows", detail::counter, r.sent);
    f("waybill.relay.dead_rows", detail::counter, r.dead);
    f("waybill.relay.returned_rows", detail::counter, r.returned);
    f("waybill.relay.maybe_duplicate_rows", detail::counter, r.maybe_twice);
    f("waybill.relay.overtaking_rows", detail::counter, r.overtook);
    f("waybill.relay.requests", detail::counter, r.sends);
    f("waybill.relay.claims", detail::counter, r.claims);
    f("waybill.relay.lost_claims", detail::counter, r.lost_claims);
    f("waybill.relay.store_errors", detail::counter, r.store_errors);
    f("waybill.relay.unwritten_rows", detail::counter, r.unwritten);
}

/// The report of `resubmit` and `reprocess_all`.
template <detail::counter_sink F>
void for_each_counter(const dead_letter::run_report& r, F&& f)
{
    f("waybill.dead_letters.done", detail::counter, r.done);
    f("waybill.dead_letters.skipped", detail::counter, r.skipped);
    f("waybill.dead_letters.failed", detail::counter, std::uint64_t{r.failed.size()});
    f("waybill.dead_letters.without_body", detail::counter, r.gone);
    f("waybill.dead_letters.maybe_duplicate_messages", detail::counter, r.in_doubt);
}

/// Each delivery counts as consumed, and in one of the six next counters.
template <detail::counter_sink F>
void for_each_counter(const session_report& r, F&& f)
{
    f(detail::consumed_messages, detail::counter, r.received);
    f("waybill.session.done_messages", detail::counter, r.done);
    f("waybill.session.repeated_messages", detail::counter, r.repeated);
    f("waybill.session.dead_lettered_messages", detail::counter, r.dead_lettered);
    f("waybill.session.given_back_messages", detail::counter, r.given_back);
    f("waybill.session.state_unreadable_messages", detail::counter, r.state_unreadable);
    f("waybill.session.lost_messages", detail::counter, r.lost);
    f("waybill.session.without_origin_messages", detail::counter, r.without_origin);
    f("waybill.session.accepted_sessions", detail::counter, r.sessions);
    f("waybill.session.waiting_sessions", detail::updowncounter, r.sessions_waiting);
    f("waybill.session.states_left", detail::counter, r.states_left);
    f("waybill.session.failed_calls", detail::counter, r.faults);
}

/// `held_back_dead_letters` is the number of the last plan.
template <detail::counter_sink F>
void for_each_counter(const redrive::redrive_report& r, F&& f)
{
    f("waybill.redrive.sent_messages", detail::counter, r.sent);
    f("waybill.redrive.maybe_duplicate_messages", detail::counter, r.in_doubt);
    f("waybill.redrive.removed_dead_letters", detail::counter, r.removed);
    f("waybill.redrive.refused_dead_letters", detail::counter, std::uint64_t{r.refused.size()});
    f("waybill.redrive.held_back_dead_letters", detail::updowncounter, r.held_back);
}

namespace scaling {

/// Each round with a decision is in one of the four counters of decisions.
template <waybill::detail::counter_sink F>
void for_each_counter(const autoscale_report& r, F&& f)
{
    namespace d = waybill::detail;
    f("waybill.autoscale.rounds", d::counter, r.rounds);
    f("waybill.autoscale.steady_decisions", d::counter, r.steady);
    f("waybill.autoscale.up_decisions", d::counter, r.up);
    f("waybill.autoscale.down_decisions", d::counter, r.down);
    f("waybill.autoscale.held_decisions", d::counter, r.held);
    f("waybill.autoscale.applied_commands", d::counter, r.applied);
    f("waybill.autoscale.failed_commands", d::counter, r.failed);
    f("waybill.autoscale.unconfirmed_commands", d::updowncounter, r.unconfirmed);
    f("waybill.autoscale.overdue_commands", d::counter, r.overdue);
    f("waybill.autoscale.source_failures", d::counter, r.source_failures);
    f("waybill.autoscale.missing_values", d::counter, r.no_values);
    f("waybill.autoscale.count_failures", d::counter, r.count_failures);
    f("waybill.autoscale.load_failures", d::counter, r.load_failures);
    f("waybill.autoscale.save_failures", d::counter, r.save_failures);
}

}  // namespace scaling

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_COUNTERS_HPP
