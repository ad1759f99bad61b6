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
    send_report r{.sends = 4, .refusals = 1, .maybe_twice = 2, .unaccepted_bytes = 100};
    r.add({{0, 5}, item_outcome::accepted});
    r.add({{5, 1}, item_outcome::failed, fault_kind::permanent});
    r.add({{6, 2}, item_outcome::in_doubt});
    r.add({{8, 1}, item_outcome::too_large});
    r.add({{9, 1}, item_outcome::unsent});
    r.add({{10, 1}, item_outcome::blocked_by_key});
    const collected c = counters(r);
    CHECK(c["messaging.client.sent.messages"] == 8);
    CHECK(c["waybill.sender.accepted_messages"] == 5);
    CHECK(c["waybill.sender.not_accepted_messages"] == 6);
    CHECK(c["waybill.sender.maybe_duplicate_messages"] == 2);
    CHECK(c["waybill.sender.requests"] == 4);
    CHECK(c["waybill.sender.refused_requests"] == 1);
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
    CHECK(counters(at_least_once_report{.handled = 4, .not_committed = 3})
              ["waybill.consumer.not_committed_messages"] == 3);
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
    const lease_manager m({.source = "s", .group = "g", .partitions = {"0", "1"}, .self = {"a", 1}});
    CHECK(counters(m)["waybill.leases.partitions"] == 2);
    CHECK(counters(m)["waybill.leases.held_partitions"] == 0);
    const processor p({.group = {.partitions = {"0"}, .self = {"a", 1}}});
    CHECK(counters(p)["waybill.leases.partitions"] == 1);
    const collected c = counters(pipeline());
    CHECK(c["waybill.pipeline.steps_done"] == 0);
    CHECK(c["waybill.pipeline.messages_in_hand"] == 0);
}

}  // namespace
}  // namespace ext_counters_test
