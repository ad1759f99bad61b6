// SPDX-License-Identifier: MIT
//
// ext/counters: the counters of senders, circuit breakers, trackers, leases, pipelines and reports,
// for a monitoring system.
//
//     const auto set = [&](std::string_view name, std::string_view kind, std::uint64_t value) {
//         exporter.set(name, kind, value);    // "messaging.client.sent.messages", "counter", 1001
//     };
//     for_each_counter(report, set);
//
// The kind is an instrument of OpenTelemetry: "counter" (only grows), "updowncounter" (a number of
// things, which can be added over several objects) or "gauge" (a value that cannot be added).
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
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/processor.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/session/pipeline.hpp>
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

/// The counters that the reports of both consumers have.
template <class Report, counter_sink F>
void count_consumed(const Report& r, F& f)
{
    f(consumed_messages, counter, r.handled + r.dead_lettered + r.dropped + r.skipped);
    f("waybill.consumer.handled_messages", counter, r.handled);
    f("waybill.consumer.dead_lettered_messages", counter, r.dead_lettered);
    f("waybill.consumer.dropped_messages", counter, r.dropped);
    f("waybill.consumer.skipped_messages", counter, r.skipped);
    f("waybill.consumer.repeated_messages", counter, r.repeated);
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
    f("waybill.sender.requests", detail::counter, r.sends);
    f("waybill.sender.refused_requests", detail::counter, r.refusals);
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
}
template <detail::counter_sink F>
void for_each_counter(const at_least_once_report& r, F&& f)
{
    detail::count_consumed(r, f);
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
    f("waybill.leases.held_partitions", detail::updowncounter,
      std::uint64_t{m.held()});
    f("waybill.leases.partitions", detail::gauge,
      std::uint64_t{m.partitions()});
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

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_COUNTERS_HPP
