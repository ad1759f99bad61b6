// SPDX-License-Identifier: MIT
//
// Options of consumers, leases, queues, circuit breakers and locks, as stored in files.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/ext/json/consume.hpp>
#include <waybill/ext/json/lease.hpp>
#include <waybill/ext/json/queue.hpp>
#include <waybill/ext/json/retry.hpp>
#include <waybill/ext/json/tracking.hpp>

namespace json_options_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;
using nlohmann::json;

/// The value is written in this form and read back. An empty object is the default.
template <class T>
void comes_back(const T& value, std::string_view written)
{
    CHECK(json(value).dump() == written);
    const auto read = parse_json<T>(json(value).dump());
    REQUIRE_MESSAGE(read.has_value(), describe(read.error()));
    CHECK(*read == value);
    CHECK(*read_json<T>(json(T{})) == T{});
    CHECK(*read_json<T>(json::object()) == T{});
}

template <class T>
std::string wrong(const json& document)
{
    const auto read = read_json<T>(document);
    return read ? "nothing" : describe(read.error());
}

constexpr std::string_view no_duration =
    R"( expected a duration such as "1.5s" (ns, us, ms, s, min, h, or "forever"), found )";

std::string not_a_duration(std::string_view path, std::string_view found)
{
    return std::string(path) + ":" + std::string(no_duration) + std::string(found);
}

TEST_CASE("call policies")
{
    comes_back(call_policy{.retry = {.max_attempts = 4, .pauses = {.cap = 5s}}, .time_limit = 90s},
               R"({"retry":{"immediate":0,"max_attempts":4,"pauses":{"base":"100ms","cap":"5s",)"
               R"("factor":2.0,"highest_hint":"1h","spread":"full","step":"0s"}},)"
               R"("time_limit":"90s"})");
    CHECK(wrong<call_policy>({{"time_limit", 90}}) == not_a_duration("/time_limit", "90"));
    CHECK(wrong<call_policy>({{"timeout", "90s"}}) ==
          "/timeout: expected one of the fields retry, time_limit, found \"90s\"");
}

TEST_CASE("circuit breakers")
{
    comes_back(
        circuit_breaker::config{.failure_ratio = 0.25,
                                .minimum_throughput = 20,
                                .sampling_duration = 10s,
                                .consecutive_failures = 5,
                                .timeout = 2min,
                                .break_duration = {.base = 1s, .spread = backoff::jitter::equal},
                                .half_open_steps = 3,
                                .transient_counts = true},
        R"({"break_duration":{"base":"1s","cap":"30s","factor":2.0,"highest_hint":"1h",)"
        R"("spread":"equal","step":"0s"},"consecutive_failures":5,"failure_ratio":0.25,)"
        R"("half_open_steps":3,"minimum_throughput":20,"sampling_duration":"10s",)"
        R"("timeout":"2min","transient_counts":true})");
    CHECK(json(circuit_breaker::config{
              .consecutive_failures = circuit_breaker::config::never})["consecutive_failures"] ==
          "unlimited");
    const auto never = read_json<circuit_breaker::config>({{"minimum_throughput", "unlimited"}});
    CHECK(never->minimum_throughput == circuit_breaker::config::never);
    // A partial document leaves the other fields of a circuit breaker at their defaults.
    const auto read = read_json<circuit_breaker::config>({{"break_duration", {{"base", "1s"}}}});
    REQUIRE(read.has_value());
    CHECK(read->break_duration ==
          backoff{.base = 1s, .cap = 300s, .spread = backoff::jitter::none});
    CHECK(wrong<circuit_breaker::config>({{"failure_ratio", "50%"}}) ==
          "/failure_ratio: expected a number, found \"50%\"");
    CHECK(wrong<circuit_breaker::config>({{"half_open_steps", -1}}) ==
          "/half_open_steps: expected a whole number of at most 32 bits, found -1");
    CHECK(wrong<circuit_breaker::config>({{"transient_counts", 1}}) ==
          "/transient_counts: expected true or false, found 1");
    CHECK(wrong<circuit_breaker::config>({{"break_duration", {{"top", "1s"}}}}) ==
          "/break_duration/top: expected one of the fields base, cap, factor, spread, step, "
          "highest_hint, found \"1s\"");
}

TEST_CASE("options of lock_renewal, receive_planner and delivery_terms")
{
    comes_back(lock_renewal::config{.lock = 30s,
                                    .renew_left = 0.25,
                                    .margin = 5s,
                                    .answer_timeout = 2s,
                                    .max_duration = 10min,
                                    .pauses = {.base = 1s}},
               R"({"answer_timeout":"2s","lock":"30s","margin":"5s","max_duration":"10min",)"
               R"("pauses":{"base":"1s","cap":"30s","factor":2.0,"highest_hint":"1h",)"
               R"("spread":"full","step":"0s"},"renew_left":0.25})");
    CHECK(wrong<lock_renewal::config>({{"lock", 30}}) == not_a_duration("/lock", "30"));
    CHECK(wrong<lock_renewal::config>({{"locks", "30s"}}) ==
          "/locks: expected one of the fields lock, renew_left, margin, answer_timeout, "
          "max_duration, pauses, "
          "found \"30s\"");

    const receive_planner::config in{
        .max_in_flight = 32, .pause = 2s, .poll_interval = 1min, .breaker = {.half_open_steps = 2}};
    comes_back(in, R"({"breaker":)" + json(in.breaker).dump() +
                       R"(,"max_in_flight":32,"pause":"2s","poll_interval":"1min"})");
    CHECK(wrong<receive_planner::config>({{"breaker", {{"sampling_duration", 30}}}}) ==
          not_a_duration("/breaker/sampling_duration", "30"));
    CHECK(wrong<receive_planner::config>({{"max_in_flight", "many"}}) ==
          "/max_in_flight: expected a whole number of at most 64 bits, or \"unlimited\", "
          "found \"many\"");
    CHECK(
        wrong<receive_planner::config>({{"probe", json::object()}}) ==
        "/probe: expected one of the fields max_in_flight, pause, poll_interval, breaker, found an "
        "object");

    comes_back(delivery_terms{.lock = 30s, .max_deliveries = 5, .time_to_live = 336h},
               R"({"highest_lock":"5min","lock":"30s","max_deliveries":5,"time_to_live":"336h"})");
    CHECK(wrong<delivery_terms>({{"ttl", "1h"}}) ==
          "/ttl: expected one of the fields lock, max_deliveries, time_to_live, highest_lock, "
          "found \"1h\"");
}

TEST_CASE("settle policies")
{
    const settle_policy p{.levels = {.immediate = 0, .delayed = 2},
                          .max_deliveries = unlimited,
                          .to_settle = 2s,
                          .on_outage = settle_policy::when_down::defer,
                          .can_defer = true,
                          .longest_defer = 12h,
                          .defer_renews = true,
                          .release_counts = false};
    comes_back(p, R"({"can_defer":true,"defer_renews":true,"levels":)" + json(p.levels).dump() +
                      R"(,"longest_defer":"12h","max_deliveries":"unlimited",)"
                      R"("on_outage":"defer","release_counts":false,"to_settle":"2s"})");
    CHECK(wrong<settle_policy>({{"on_outage", "park"}}) ==
          "/on_outage: expected let_lock_expire, defer or abandon, found \"park\"");
    CHECK(wrong<settle_policy>({{"longest_defer", 43'200}}) ==
          not_a_duration("/longest_defer", "43200"));
    CHECK(wrong<settle_policy>({{"deliveries", 3}}) ==
          "/deliveries: expected one of the fields levels, max_deliveries, to_settle, on_outage, "
          "can_defer, longest_defer, defer_renews, release_counts, found 3");

    CHECK(read_json<settle_policy>({{"levels", {{"delayed", 9}}}})->levels ==
          retry_levels{.delayed = 9});

    const settle_batches::config b{.items = 100, .linger = 50ms, .to_settle = 2s, .tries = 5};
    comes_back(b, R"({"items":100,"linger":"50ms","pauses":)" + json(b.pauses).dump() +
                      R"(,"to_settle":"2s","tries":5})");
    CHECK(wrong<settle_batches::config>({{"tries", 1.0}}) ==
          "/tries: expected a whole number of at most 32 bits, found 1.0");
    CHECK(wrong<settle_batches::config>({{"item", 1}}) ==
          "/item: expected one of the fields items, linger, to_settle, tries, pauses, found 1");
}

TEST_CASE("leases and partitions")
{
    comes_back(lease_options{.interval = 5s, .expiry = 30s}, R"({"expiry":"30s","interval":"5s"})");
    comes_back(lease_options{.interval = 5s, .expiry = 30s, .max_moves = 8},
               R"({"expiry":"30s","interval":"5s","max_moves":8})");
    CHECK(wrong<lease_options>({{"expiry", 30}}) == not_a_duration("/expiry", "30"));
    CHECK(wrong<lease_options>({{"renew", "5s"}}) ==
          "/renew: expected one of the fields interval, expiry, max_moves, found \"5s\"");
    const partition_lifecycle::config o{.poll = 200ms, .pause = {.base = 2s}, .save_tries = 5};
    comes_back(o, R"({"pause":)" + json(o.pause).dump() + R"(,"poll":"200ms","save_tries":5})");
    CHECK(wrong<partition_lifecycle::config>({{"pause", "1s"}}) ==
          "/pause: expected an object, found \"1s\"");
    CHECK(wrong<partition_lifecycle::config>({{"polls", 1}}) ==
          "/polls: expected one of the fields poll, pause, save_tries, found 1");
}

TEST_CASE("options of trackers and commit schedules")
{
    comes_back(
        tracker_options{
            .max_in_flight = 10, .span = 20, .mark = tracker_options::commit_mark::high_water},
        R"({"mark":"high_water","max_in_flight":10,"span":20})");
    CHECK(wrong<tracker_options>({{"mark", "middle"}}) ==
          "/mark: expected low_water or high_water, found \"middle\"");
    CHECK(wrong<tracker_options>({{"max_in_flight", "unlimited"}}) ==
          "/max_in_flight: expected a whole number of at most 64 bits, found \"unlimited\"");
    CHECK(wrong<tracker_options>({{"least", 1}}) ==
          "/least: expected one of the fields max_in_flight, span, mark, found 1");

    comes_back(commit_schedule::config{.every = 1'000,
                                       .interval = 5s,
                                       .needs = commit_schedule::config::commit_needs::both,
                                       .on_close = false,
                                       .idle_refresh = 6h,
                                       .pause = 2s},
               R"({"every":1000,"idle_refresh":"6h","interval":"5s","needs":"both",)"
               R"("on_close":false,"pause":"2s"})");
    CHECK(json(commit_schedule::config{})["every"] == "unlimited");
    CHECK(json(commit_schedule::config{})["interval"] == "forever");
    CHECK(wrong<commit_schedule::config>({{"needs", "all"}}) ==
          "/needs: expected either or both, found \"all\"");
    CHECK(wrong<commit_schedule::config>({{"interval", 5}}) == not_a_duration("/interval", "5"));
    CHECK(wrong<commit_schedule::config>({{"events", 5}}) ==
          "/events: expected one of the fields every, interval, needs, on_close, idle_refresh, "
          "pause, found 5");
}

TEST_CASE("policies of process_at_least_once")
{
    comes_back(at_least_once_policy{.tries = 5,
                                    .on_exhausted = batch_policy::when_exhausted::dead_letter,
                                    .commit_every = 100,
                                    .decide_all_failed_from = 3,
                                    .dead_letters = {.reason_bytes = 80,
                                                     .keeps = dead_letter_body::summary,
                                                     .body_bytes = 4'096,
                                                     .summary_bytes = 64},
                                    .check_commit = batch_policy::commit_check::always,
                                    .keys = {.scope = idempotency_keys::options::scope_type::event,
                                             .max_bytes = 64}},
               R"({"body_bytes":4096,"check_commit":"always","commit_every":100,)"
               R"("decide_all_failed_from":3,"keeps":"summary","keys":{"max_bytes":64,)"
               R"("scope":"event"},"on_exhausted":"dead_letter","reason_bytes":80,)"
               R"("summary_bytes":64,"tries":5})");
    CHECK(json(at_least_once_policy{})["commit_every"] == "unlimited");
    CHECK(wrong<at_least_once_policy>({{"keys", {{"scope", "all"}}}}) ==
          "/keys/scope: expected group or event, found \"all\"");
    CHECK(wrong<at_least_once_policy>({{"keys", {{"length", 64}}}}) ==
          "/keys/length: expected one of the fields scope, max_bytes, found 64");
    CHECK(wrong<at_least_once_policy>({{"savepoints", true}}) ==
          "/savepoints: expected one of the fields tries, on_exhausted, commit_every, "
          "decide_all_failed_from, reason_bytes, keeps, body_bytes, summary_bytes, check_commit, "
          "keys, found true");
    CHECK(wrong<at_least_once_policy>({{"keeps", "some"}}) ==
          "/keeps: expected body, pointer, summary or discard, found \"some\"");
}

}  // namespace
}  // namespace json_options_test
