// SPDX-License-Identifier: MIT

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/ext/counters.hpp>

namespace ext_counters_test {
namespace {

using namespace waybill;

/// Values by name. Fails if a name occurs twice, or if name or kind is not of the described form.
struct collected {
    std::map<std::string, std::uint64_t> values;

    void operator()(std::string_view name, std::string_view kind, std::uint64_t value)
    {
        const std::set<std::string_view> kinds{"counter", "updowncounter", "gauge"};
        CHECK(kinds.contains(kind));
        CHECK((name.starts_with("waybill.") || name.starts_with("messaging.client.")));
        CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.") == name.npos);
        CHECK(values.emplace(name, value).second);
    }
    std::uint64_t operator[](const std::string& name) const { return values.at(name); }
};

template <class... T>
collected counters(const T&... x)
{
    collected all;
    for_each_counter(x..., all);
    return all;
}

TEST_CASE("a sender's report: sent messages were in a request")
{
    send_report r{
        .sends = 4, .refusals = 1, .throttled = 3, .maybe_twice = 2, .unaccepted_bytes = 100};
    r.add({{0, 5}, item_outcome::accepted});
    r.add({{5, 1}, item_outcome::failed, fault_kind::permanent});
    r.add({{6, 2}, item_outcome::in_doubt});
    r.add({{8, 1}, item_outcome::too_large});
    r.add({{9, 1}, item_outcome::unsent});
    r.add({{10, 1}, item_outcome::blocked_by_key});
    r.overtook = 3;
    const collected c = counters(r);
    CHECK(c["messaging.client.sent.messages"] == 8);
    CHECK(c["waybill.sender.accepted_messages"] == 5);
    CHECK(c["waybill.sender.not_accepted_messages"] == 6);
    CHECK(c["waybill.sender.maybe_duplicate_messages"] == 2);
    CHECK(c["waybill.sender.overtaking_messages"] == 3);
    CHECK(c["waybill.sender.requests"] == 4);
    CHECK(c["waybill.sender.refused_requests"] == 1);
    CHECK(c["waybill.sender.throttled_requests"] == 3);
    CHECK(c["waybill.sender.unaccepted_bytes"] == 100);
}

TEST_CASE("a sender")
{
    batch_sender s{{.limit = {.bytes = 100}, .item_overhead = 2}};
    s.on(batch_sender::queued{30}, {});
    s.on(batch_sender::queued{40}, {});
    CHECK(counters(s)["waybill.sender.open_messages"] == 2);
    CHECK(counters(s)["waybill.sender.requests_in_flight"] == 0);
    s.on(batch_sender::flushed{}, {});
    s.on(batch_sender::started{0}, {});
    CHECK(counters(s)["waybill.sender.requests_in_flight"] == 1);
    CHECK(counters(s)["waybill.sender.queued_messages"] == 2);
    CHECK(counters(s)["waybill.sender.limit_bytes"] == 100);
}

TEST_CASE("consumers: each event that reached the handler")
{
    const batch_report r{
        .handled = 4, .dead_lettered = 3, .dropped = 2, .skipped = 1, .repeated = 9};
    CHECK(counters(r)["messaging.client.consumed.messages"] == 10);
    CHECK(counters(r)["waybill.consumer.repeated_messages"] == 9);
    CHECK(counters(at_least_once_report{
              .handled = 4, .not_committed = 3})["waybill.consumer.not_committed_messages"] == 3);
}

TEST_CASE("a circuit breaker, at a time")
{
    circuit_breaker b({.consecutive_failures = 1});
    const steady_time now{};
    CHECK(counters(b, now)["waybill.circuit_breaker.state"] == 0);
    CHECK(counters(b, now)["waybill.circuit_breaker.state_changes"] == 0);
    const auto permit = b.try_acquire(now);
    REQUIRE(permit);
    b.record(*permit, fault_kind::infrastructure, now);
    CHECK(counters(b, now)["waybill.circuit_breaker.state"] == 1);
    CHECK(counters(b, now)["waybill.circuit_breaker.state_changes"] == 1);
    CHECK(counters(b, now)["waybill.circuit_breaker.suspects_outage"] == 1);
}

TEST_CASE("a tracker: in flight, pending and blocked")
{
    completion_tracker t;
    t.assign(std::nullopt);
    const auto first = t.begin(std::uint64_t{0});
    const auto second = t.begin(std::uint64_t{1});
    REQUIRE(first);
    REQUIRE(second);
    t.complete(*second);
    const collected c = counters(t);
    CHECK(c["waybill.completion_tracker.in_flight_messages"] == 1);
    CHECK(c["waybill.completion_tracker.pending_messages"] == 2);
    CHECK(c["waybill.completion_tracker.blocked_messages"] == 1);
    CHECK(c["waybill.completion_tracker.memory_bytes"] == t.bytes());
}

TEST_CASE("leases and the pipeline")
{
    const lease_manager m(
        {.source = "s", .group = "g", .partitions = {"0", "1"}, .self = {"a", 1}});
    CHECK(counters(m)["waybill.leases.partitions"] == 2);
    CHECK(counters(m)["waybill.leases.held_partitions"] == 0);
    const processor p({.group = {.partitions = {"0"}, .self = {"a", 1}}});
    CHECK(counters(p)["waybill.leases.partitions"] == 1);
    const collected c = counters(pipeline());
    CHECK(c["waybill.pipeline.steps_done"] == 0);
    CHECK(c["waybill.pipeline.messages_in_hand"] == 0);
}

TEST_CASE("partitions: the events of committed batches are consumed")
{
    const collected c = counters(partitions_report{.opened = 9,
                                                   .batches = 8,
                                                   .handled = 4,
                                                   .dead_lettered = 3,
                                                   .dropped = 2,
                                                   .skipped = 1,
                                                   .repeated_calls = 14,
                                                   .failed_batches = 7,
                                                   .lost_batches = 6,
                                                   .unknown_commits = 5,
                                                   .failed_reads = 11,
                                                   .failed_opens = 12,
                                                   .failed_lease_calls = 13});
    CHECK(c["messaging.client.consumed.messages"] == 10);
    CHECK(c["waybill.consumer.handled_messages"] == 4);
    CHECK(c["waybill.partitions.repeated_calls"] == 14);
    CHECK(c["waybill.partitions.opened_partitions"] == 9);
    CHECK(c["waybill.partitions.committed_batches"] == 8);
    CHECK(c["waybill.partitions.failed_batches"] == 7);
    CHECK(c["waybill.partitions.lost_batches"] == 6);
    CHECK(c["waybill.partitions.unknown_commits"] == 5);
    CHECK(c["waybill.partitions.failed_reads"] == 11);
    CHECK(c["waybill.partitions.failed_opens"] == 12);
    CHECK(c["waybill.partitions.failed_lease_calls"] == 13);
}

TEST_CASE("a queue: each delivery is consumed and has one outcome")
{
    queue_report r;
    std::uint64_t n = 0;
    for (std::uint64_t* const outcome : {&r.completed, &r.given_back, &r.deferred, &r.dead_lettered,
                                         &r.left_to_lock, &r.unconfirmed, &r.stuck}) {
        *outcome = ++n;
        r.received += n;
    }
    r.outages = 8;
    r.breaker_waits = 9;
    r.renewals = 10;
    r.failed_receives = 11;
    r.failed_settlements = 12;
    r.early = 13;
    const collected c = counters(r);
    CHECK(c["messaging.client.consumed.messages"] == 28);
    CHECK(c["waybill.queue.completed_messages"] == 1);
    CHECK(c["waybill.queue.given_back_messages"] == 2);
    CHECK(c["waybill.queue.deferred_messages"] == 3);
    CHECK(c["waybill.queue.dead_lettered_messages"] == 4);
    CHECK(c["waybill.queue.left_to_lock_messages"] == 5);
    CHECK(c["waybill.queue.unconfirmed_messages"] == 6);
    CHECK(c["waybill.queue.stuck_messages"] == 7);
    CHECK(c["waybill.queue.outages"] == 8);
    CHECK(c["waybill.queue.circuit_breaker_waits"] == 9);
    CHECK(c["waybill.queue.lock_renewals"] == 10);
    CHECK(c["waybill.queue.failed_receives"] == 11);
    CHECK(c["waybill.queue.failed_settlements"] == 12);
    CHECK(c["waybill.queue.early_messages"] == 13);
}

TEST_CASE("a relay")
{
    const collected c = counters(relay_report{.sent = 1,
                                              .dead = 2,
                                              .returned = 3,
                                              .maybe_twice = 4,
                                              .overtook = 9,
                                              .sends = 5,
                                              .claims = 6,
                                              .lost_claims = 7,
                                              .store_errors = 8,
                                              .unwritten = 10});
    CHECK(c["waybill.relay.sent_rows"] == 1);
    CHECK(c["waybill.relay.dead_rows"] == 2);
    CHECK(c["waybill.relay.returned_rows"] == 3);
    CHECK(c["waybill.relay.maybe_duplicate_rows"] == 4);
    CHECK(c["waybill.relay.overtaking_rows"] == 9);
    CHECK(c["waybill.relay.requests"] == 5);
    CHECK(c["waybill.relay.claims"] == 6);
    CHECK(c["waybill.relay.lost_claims"] == 7);
    CHECK(c["waybill.relay.store_errors"] == 8);
    CHECK(c["waybill.relay.unwritten_rows"] == 10);
}

TEST_CASE("sessions: each delivery is consumed and has one outcome")
{
    const collected c = counters(session_report{.sessions = 7,
                                                .received = 21,
                                                .done = 1,
                                                .repeated = 2,
                                                .dead_lettered = 3,
                                                .given_back = 4,
                                                .state_unreadable = 5,
                                                .lost = 6,
                                                .without_origin = 10,
                                                .sessions_waiting = 11,
                                                .states_left = 8,
                                                .faults = 9});
    CHECK(c["messaging.client.consumed.messages"] == 21);
    CHECK(c["waybill.session.done_messages"] == 1);
    CHECK(c["waybill.session.repeated_messages"] == 2);
    CHECK(c["waybill.session.dead_lettered_messages"] == 3);
    CHECK(c["waybill.session.given_back_messages"] == 4);
    CHECK(c["waybill.session.state_unreadable_messages"] == 5);
    CHECK(c["waybill.session.lost_messages"] == 6);
    CHECK(c["waybill.session.without_origin_messages"] == 10);
    CHECK(c["waybill.session.accepted_sessions"] == 7);
    CHECK(c["waybill.session.waiting_sessions"] == 11);
    CHECK(c["waybill.session.states_left"] == 8);
    CHECK(c["waybill.session.failed_calls"] == 9);
}

TEST_CASE("dead letters: redriven, resubmitted or reprocessed")
{
    redrive::redrive_report back;
    back.sent = 1;
    back.in_doubt = 2;
    back.removed = 3;
    back.held_back = 4;
    back.refused.resize(5);
    const collected r = counters(back);
    CHECK(r["waybill.redrive.sent_messages"] == 1);
    CHECK(r["waybill.redrive.maybe_duplicate_messages"] == 2);
    CHECK(r["waybill.redrive.removed_dead_letters"] == 3);
    CHECK(r["waybill.redrive.held_back_dead_letters"] == 4);
    CHECK(r["waybill.redrive.refused_dead_letters"] == 5);

    dead_letter::run_report run;
    run.done = 1;
    run.skipped = 2;
    run.gone = 3;
    run.in_doubt = 4;
    run.failed.resize(5);
    const collected c = counters(run);
    CHECK(c["waybill.dead_letters.done"] == 1);
    CHECK(c["waybill.dead_letters.skipped"] == 2);
    CHECK(c["waybill.dead_letters.without_body"] == 3);
    CHECK(c["waybill.dead_letters.maybe_duplicate_messages"] == 4);
    CHECK(c["waybill.dead_letters.failed"] == 5);
}

TEST_CASE("an autoscaler")
{
    scaling::autoscale_report r;
    std::uint64_t n = 0;
    for (std::uint64_t* const field :
         {&r.rounds, &r.steady, &r.up, &r.down, &r.held, &r.applied, &r.failed, &r.unconfirmed,
          &r.overdue, &r.source_failures, &r.no_values, &r.count_failures, &r.load_failures,
          &r.save_failures})
        *field = ++n;
    const collected c = counters(r);
    n = 0;
    for (const char* const name :
         {"rounds", "steady_decisions", "up_decisions", "down_decisions", "held_decisions",
          "applied_commands", "failed_commands", "unconfirmed_commands", "overdue_commands",
          "source_failures", "missing_values", "count_failures", "load_failures", "save_failures"})
        CHECK(c["waybill.autoscale." + std::string(name)] == ++n);
}

}  // namespace
}  // namespace ext_counters_test
