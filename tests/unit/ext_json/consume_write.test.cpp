// SPDX-License-Identifier: MIT
//
// The written form of reports and actions of consumers, leases, queues, circuit breakers and locks.

#include <chrono>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <waybill/ext/json/consume.hpp>
#include <waybill/ext/json/lease.hpp>
#include <waybill/ext/json/queue.hpp>
#include <waybill/ext/json/retry.hpp>
#include <waybill/ext/json/tracking.hpp>

namespace json_consume_write_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;
using nlohmann::json;

constexpr steady_time at_5s = steady_time::at(5s);

template <class T>
std::string written(const T& value)
{
    return json(value).dump();
}

TEST_CASE("reports and assignments")
{
    CHECK(written(at_least_once_report{
              .outcome = batch_outcome::committed, .reached = position{18, "x"}, .handled = 9}) ==
          R"({"dead_lettered":0,"handled":9,"outcome":"committed","reached":{"offset":"x",)"
          R"("sequence":18},"repeated":0,"skipped":0})");
    CHECK(written(at_least_once_report{.outcome = batch_outcome::redeliver,
                                       .dead_lettered = 1,
                                       .dropped = 2,
                                       .skipped = 3,
                                       .repeated = 4,
                                       .not_committed = 5,
                                       .reason = infrastructure("disk full")}) ==
          R"({"dead_lettered":1,"dropped":2,"handled":0,"not_committed":5,)"
          R"("outcome":"redeliver","reason":{"kind":"infrastructure","text":"disk full"},)"
          R"("repeated":4,"skipped":3})");
    CHECK(written(at_least_once_report{.outcome = batch_outcome::committed,
                                       .dropped = 1,
                                       .dropped_events = {{{7, "x"}, permanent("bad")}}}) ==
          R"({"dead_lettered":0,"dropped":1,"dropped_events":[{"at":{"offset":"x","sequence":7},)"
          R"("reason":{"kind":"permanent","text":"bad"}}],"handled":0,"outcome":"committed",)"
          R"("repeated":0,"skipped":0})");
    CHECK(json(batch_report{.dropped_events = {{{7, ""}, permanent("bad")}}})["dropped_events"]
              .size() == 1);

    const assignment mine{{"a", "b", "c"}, position{7, ""}, 3};
    CHECK(written(rewind_report{rewind_report::outcome_type::rewound, mine, {}}) ==
          R"({"mine":)" + written(mine) + R"(,"outcome":"rewound"})");
    CHECK(json(rewind_report{rewind_report::outcome_type::invalid, mine,
                             permanent("no")})["reason"]["text"] == "no");
    CHECK(written(reprocess_report{reprocess_report::outcome_type::handled, {}}) ==
          R"({"outcome":"handled"})");
    CHECK(written(reprocess_report{reprocess_report::outcome_type::failed, permanent("no")}) ==
          R"({"outcome":"failed","reason":{"kind":"permanent","text":"no"}})");
    assignment taken = mine;
    taken.expired_incarnation = 9;
    CHECK(json(taken)["expired_incarnation"] == 9);
    CHECK(written(call_report{
              .outcome = retry_loop::retry_outcome::succeeded, .tries = 3, .elapsed = 1500ms}) ==
          R"({"elapsed":"1.5s","outcome":"succeeded","tries":3})");
}

TEST_CASE("tracked events, encoded events and message lifetimes")
{
    CHECK(written(tracked_event{17, 2, 5}) == R"({"generation":2,"number":5,"sequence":17})");
    CHECK(written(completion_tracker::blocked{17, 1}) == R"({"sequence":17,"waiting":1})");
    CHECK(written(encoded_done{"abc", 5, 2, encoded_done::encoded_as::cut}) ==
          R"({"bytes":"abc","dropped":2,"kept":5,"outcome":"cut"})");
    CHECK(json(encoded_done{"\xFF", 5, 2, encoded_done::encoded_as::cut})["bytes_base64"] ==
          "/w==");
    CHECK(written(delivery_terms::lifetime{
              10min, delivery_terms::lifetime::delivery_limit::time_to_live}) ==
          R"({"lasts":"10min","limited_by":"time_to_live"})");
}

TEST_CASE("outcomes are written by name")
{
    CHECK(json(circuit_breaker::circuit_state::half_open) == "half_open");
    CHECK(json(lock_renewal::lock_outcome::expired) == "expired");
    CHECK(json(completion_tracker::track_error::behind) == "behind");
    CHECK(json(tracker_start::decode_error::newer) == "newer");
    CHECK(json(at_least_once_machine::checkpoint_found::earlier_commit) == "earlier_commit");
    CHECK(json(receive_planner::settle_result::failed) == "failed");
}

TEST_CASE("settlements and actions of settle_batches")
{
    CHECK(written(settlement(complete{})) == R"({"act":"complete"})");
    CHECK(written(abandon{false}) == R"({"act":"abandon","failed":false})");
    CHECK(written(defer{90s}) == R"({"act":"defer","delay":"90s"})");
    CHECK(written(settlement(dead_letter_message{dead_letter_message::cause::exhausted,
                                                 fault_kind::transient, 7, unlimited})) ==
          R"({"act":"dead_letter_message","kind":"transient","max_attempts":"unlimited",)"
          R"("reason":"exhausted","used":7})");
    CHECK(written(let_lock_expire{let_lock_expire::cause::pause}) ==
          R"({"act":"let_lock_expire","reason":"pause"})");

    settle_batches calls;
    calls.on(settle_batches::decided{}, at_5s);
    CHECK(written(calls.next(at_5s)) ==
          R"({"act":"settle_batch","call":0,"items":[0],"kind":"complete"})");
    CHECK(written(settle_batches::report{3, settle_batches::settle_kind::defer,
                                         settle_batches::settle_outcome::done, fault_kind::none,
                                         1}) ==
          R"({"act":"report","item":3,"kind":"defer","outcome":"done","tries":1})");
    CHECK(json(settle_batches::report{3, settle_batches::settle_kind::defer,
                                      settle_batches::settle_outcome::given_up,
                                      fault_kind::permanent, 1})["fault"] == "permanent");
}

TEST_CASE("actions of the consumer state machines")
{
    CHECK(written(at_least_once_machine(2).next()) == R"({"act":"handle","event":0})");
    CHECK(written(at_least_once_machine::action(at_least_once_machine::commit_to{3})) ==
          R"({"act":"commit_to","event":3})");
    commit_schedule pace{{.every = 1}, at_5s};
    pace.on(commit_schedule::events_done{1}, at_5s);
    CHECK(written(pace.next(at_5s)) == R"({"act":"commit_position","reason":"count"})");

    const owner_heartbeat there{"orders", "billing", {"host-7", 81}, 1};
    const lease_group group{"orders", "billing", {"0", "1"}, there.owner, {}};
    const std::string announces = R"({"act":"renew","row":)" + written(there) + R"(,"since":0})";
    CHECK(written(lease_manager(group).next(at_5s)) == announces);
    CHECK(written(processor({group, {}}).next(at_5s)) == announces);
    CHECK(written(lease_manager::lease_call(lease_manager::leave{there})) ==
          R"({"act":"leave","row":)" + written(there) + "}");
    CHECK(written(lease_manager::lease_call(lease_manager::list_leases{"a", "b"})) ==
          R"({"act":"list_leases","group":"b","source":"a"})");
    const lease_claim row{{"a", "b", "c"}, there.owner, 4, 12};
    CHECK(written(lease_manager::lease_call(lease_manager::claim{{row}, 7})) ==
          R"({"act":"claim","number":7,"rows":[)" + written(row) + "]}");

    partition_lifecycle part(3);
    part.on(partition_lifecycle::assigned{5}, at_5s);
    CHECK(written(part.next(at_5s)) == R"({"act":"open","epoch":5,"partition":3})");
    CHECK(written(partition_lifecycle::process{3, 5}) ==
          R"({"act":"process","epoch":5,"partition":3})");
    CHECK(written(partition_lifecycle::close{3, 5, false}) ==
          R"({"act":"close","epoch":5,"partition":3})");
    CHECK(written(partition_lifecycle::close{3, 5, true}) ==
          R"({"act":"close","epoch":5,"lost":true,"partition":3})");
    CHECK(written(partition_lifecycle::save{3, 5}) == R"({"act":"save","epoch":5,"partition":3})");
    CHECK(written(partition_lifecycle::release{3, 5}) ==
          R"({"act":"release","epoch":5,"partition":3})");
}

TEST_CASE("actions of receive_planner and lock_renewal")
{
    CHECK(written(receive_planner({.max_in_flight = 3}).next(at_5s)) ==
          R"({"act":"take_due_pairs","first":0,"max_pairs":3})");
    CHECK(written(receive_planner::receive{7, 1}) == R"({"act":"receive","first":7,)"
                                                     R"("max_messages":1})");
    CHECK(written(receive_planner::receive_deferred{7}) ==
          R"({"act":"receive_deferred","work":7})");
    CHECK(written(receive_planner::settle_original{7, receive_planner::settle_as::complete}) ==
          R"({"act":"settle_original","as":"complete","work":7})");
    CHECK(written(receive_planner::settle_message{7, receive_planner::settle_as::give_back}) ==
          R"({"act":"settle_message","as":"give_back","work":7})");
    CHECK(json(receive_planner::settle_message{7, receive_planner::settle_as::complete,
                                               true})["gone"] == true);
    lock_renewal lock({.lock = 60s});
    lock.on(lock_renewal::lock_taken{}, at_5s);
    CHECK(written(lock.next(at_5s)) == R"({"act":"wait_until","until_steady_ns":35000000000})");
    CHECK(written(lock_renewal::action(lock_renewal::renew{2})) ==
          R"({"act":"renew","attempt":2})");
}

}  // namespace
}  // namespace json_consume_write_test
