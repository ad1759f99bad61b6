// SPDX-License-Identifier: MIT
//
// The texts of consumers, leases, queues, circuit breakers and locks, as lines.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/chrono.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <fmt/std.h>

#include <waybill/ext/fmt/consume.hpp>
#include <waybill/ext/fmt/lease.hpp>
#include <waybill/ext/fmt/queue.hpp>
#include <waybill/ext/fmt/retry.hpp>
#include <waybill/ext/fmt/tracking.hpp>

namespace fmt_consume_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;

constexpr steady_time at_5s = steady_time::at(5s);

const partition_key key{"orders", "billing", "0"};
const owner_id host{"host-7", 81};

template <class T>
std::string line(const T& value)
{
    return fmt::format("{}", value);
}

TEST_CASE("outcomes are formatted by name")
{
    CHECK(line(circuit_breaker::circuit_state::forced_open) == "forced_open");
    CHECK(line(lock_renewal::lock_outcome::too_long) == "too_long");
    CHECK(line(completion_tracker::track_error::done_before) == "done_before");
    CHECK(line(tracker_start::decode_error::other_base) == "other_base");
    CHECK(line(encoded_done::encoded_as::left_out) == "left_out");
    CHECK(line(lease_claim::result::claim_outcome::contended) == "contended");
    CHECK(line(rewind_report::outcome_type::not_done) == "not_done");
    CHECK(line(reprocess_report::outcome_type::skipped) == "skipped");
    CHECK(line(commit_schedule::commit_reason::interval) == "interval");
    CHECK(line(tracker_options::commit_mark::high_water) == "high_water");
    CHECK(line(commit_schedule::config::commit_needs::both) == "both");
    CHECK(line(at_least_once_machine::checkpoint_found::elsewhere) == "elsewhere");
    CHECK(line(idempotency_keys::options::scope_type::event) == "event");
    CHECK(line(settle_batches::settle_kind::defer) == "defer");
    CHECK(line(settle_batches::settle_outcome::given_up) == "given_up");
    CHECK(line(receive_planner::settle_as::give_back) == "give_back");
    CHECK(line(dead_letter_message::cause::exhausted) == "exhausted");
    CHECK(line(let_lock_expire::cause::lock_short) == "lock_short");
    CHECK(line(settle_policy::when_down::abandon) == "abandon");
    CHECK(line(receive_planner::settle_result::not_found) == "not_found");
    CHECK(line(delivery_terms::lifetime::delivery_limit::time_to_live) == "time_to_live");
    CHECK(line(prune_plan::removal::limit::bytes) == "bytes");
    CHECK(line(prune_policy::when_full::refuse_new) == "refuse_new");
    CHECK(line(deferred_messages::defer_result::full) == "full");
    CHECK(line(deferral_options::hand_out_order::group_by_partition) == "group_by_partition");
    CHECK(line(deferred_messages::load_error::code::other_format) == "other_format");
    CHECK(fmt::format("{:>8}", circuit_breaker::circuit_state::open) == "    open");
}

TEST_CASE("report and actions of process_at_least_once")
{
    at_least_once_report r{
        .outcome = batch_outcome::committed, .reached = position{18, "x1"}, .handled = 9};
    CHECK(line(r) == "committed at 18 (offset x1): 9 handled, 0 dead-lettered");
    r = {.outcome = batch_outcome::redeliver,
         .reached = position{18, ""},
         .handled = 3,
         .dead_lettered = 1,
         .dropped = 2,
         .skipped = 4,
         .repeated = 5,
         .not_committed = 6,
         .reason = infrastructure("disk\nfull")};
    CHECK(line(r) ==
          "redeliver at 18: 3 handled, 1 dead-lettered; infrastructure: disk\\nfull; 2 dropped; "
          "4 skipped; 5 repeated; 6 not committed");
    CHECK(line(at_least_once_report{.outcome = batch_outcome::cancelled,
                                    .reason = cancelled("")}) == "cancelled: cancelled");
    CHECK(line(at_least_once_report{}) == "empty");

    CHECK(line(at_least_once_machine::commit_to{3}) == "commit to event 3");
    CHECK(line(at_least_once_machine(2).next()) == "handle event 0");
}

TEST_CASE("reports of rewind and reprocess")
{
    const assignment mine{key, position{7, ""}, 3};
    CHECK(line(rewind_report{rewind_report::outcome_type::rewound, mine, {}}) ==
          "rewound: orders/billing/0 after 7, epoch 3");
    CHECK(line(rewind_report{rewind_report::outcome_type::not_done, mine,
                             infrastructure("no\nroute")}) ==
          "not_done: orders/billing/0 after 7, epoch 3; infrastructure: no\\nroute");
    CHECK(line(reprocess_report{reprocess_report::outcome_type::handled, {}}) == "handled");
    CHECK(line(reprocess_report{reprocess_report::outcome_type::failed, permanent("no total")}) ==
          "failed: permanent: no total");
}

TEST_CASE("crash records")
{
    CHECK(line(crash_record{10, 14, 4, 1, 7, 3}) ==
          "4 events after 10 up to 14, 1 death, by 7 of epoch 3");
    CHECK(line(crash_record{{}, 5, 1, 2, 0, 3}) ==
          "1 event from the beginning up to 5, 2 deaths, epoch 3");
}

TEST_CASE("tracked events, encoded events and a commit schedule")
{
    CHECK(line(tracked_event{17, 2, 5}) == "event 17, generation 2");
    CHECK(line(completion_tracker::blocked{17, 1}) == "event 17 holds back 1 event");
    CHECK(line(encoded_done{"abc", 5, 2, encoded_done::encoded_as::cut}) ==
          "cut: 5 events in 3 bytes, 2 dropped");
    CHECK(line(encoded_done{}) == "whole: 0 events in 0 bytes, 0 dropped");

    commit_schedule pace{{.every = 1}, at_5s};
    CHECK(line(pace.next(at_5s)) == "idle");
    pace.on(commit_schedule::events_done{1}, at_5s);
    CHECK(line(pace.next(at_5s)) == "commit position: count");
}

TEST_CASE("owners, leases and claims")
{
    CHECK(line(host) == "host-7#81");
    CHECK(line(owner_id{}) == "no owner");
    CHECK(line(owner_id{"a\nb", 1}) == "a\\nb#1");
    CHECK(line(lease{key, host, 3, 12}) == "orders/billing/0: host-7#81, epoch 3, version 12");
    CHECK(line(lease{key, {}, 3, 13}) == "orders/billing/0: no owner, epoch 3, version 13");
    CHECK(line(owner_heartbeat{"orders", "billing", host, 5}) ==
          "orders/billing: host-7#81, version 5");
    CHECK(line(lease_table{{{}, {}}, {{}}}) == "2 leases, 1 owner");
    CHECK(line(lease_claim{key, host, 4, 12}) ==
          "orders/billing/0 for host-7#81, epoch 4, if at version 12");
    CHECK(line(lease_claim{key, {}, 4, {}}) ==
          "orders/billing/0 for no owner, epoch 4, if there is none");
    CHECK(line(lease_claim::result{lease_claim::result::claim_outcome::won, 4, 13}) ==
          "won, epoch 4, version 13");
    CHECK(line(lease_claim::result{}) == "contended");
    CHECK(line(lease_options{}) == "a round every 10s, free after 1min");
}

TEST_CASE("lease options and balance plans")
{
    CHECK(line(lease_options{.max_moves = 8}) ==
          "a round every 10s, free after 1min, at most 8 moves in a round");
    CHECK(line(balance_plan{.claim = {1, 4}, .mine = 1, .target = 3}) ==
          "has 1 of 3: claim partitions 1, 4");
    CHECK(line(balance_plan{.claim = {1}, .mine = 1, .target = 3}) ==
          "has 1 of 3: claim partition 1");
    CHECK(line(balance_plan{.steal = {5}, .mine = 2, .target = 3}) ==
          "has 2 of 3: steal partition 5");
    CHECK(line(balance_plan{.surplus = 2, .mine = 5, .target = 3}) == "has 5 of 3: release 2");
    CHECK(line(balance_plan{.mine = 3, .target = 3, .balanced = true}) == "has 3 of 3: balanced");
    CHECK(line(balance_plan{.mine = 3, .target = 3}) == "has 3 of 3: nothing to take");
}

TEST_CASE("report and policy of run_partitions")
{
    partitions_report r{.batches = 3, .cut_batches = 1, .handled = 250, .failed_reads = 2};
    r.last_fault = infrastructure("no\nleader");
    r.last_partition = "7";
    CHECK(line(r) ==
          "250 events took effect; batches: 3 committed (not fenced, 1 ended "
          "early), 2 failed calls of the log; leases not given back; last fault: "
          "infrastructure in partition 7: no\\nleader");
    r.released = r.drained = r.fenced = r.repaired = true;
    r.repeated_calls = 4;
    CHECK(line(r) ==
          "250 events took effect, 4 repeated calls of the handler; batches: 3 "
          "committed (fenced, 1 ended early), 2 failed calls of the log; drained; "
          "all leases given back; last fault, repaired: infrastructure in partition 7: "
          "no\\nleader");
    r = {.batches = 3, .cut_batches = 1, .handled = 250, .failed_reads = 2};
    r.released = true;
    CHECK(line(r) ==
          "250 events took effect; batches: 3 committed (not fenced, 1 ended "
          "early), 2 failed calls of the log; all leases given back");
    CHECK(
        line(partition_tasks::policy{.source = "orders", .group = "billing", .owner = "host-7"}) ==
        "orders/billing as host-7, batches of at most 100 events, a round every 10s, free after "
        "1min, polls every 1s, saves in 3 tries, " +
            line(backoff{.base = duration::seconds(1),
                         .cap = duration::seconds(60),
                         .spread = backoff::jitter::none}) +
            ", " + line(batch_policy{}));
    const std::string until_drained = line(partition_tasks::policy{.until_drained = true});
    CHECK(until_drained.find("100 events, until all events are read, a round") !=
          std::string::npos);
}

TEST_CASE("actions of lease_manager, partition_lifecycle and processor")
{
    CHECK(line(lease_manager::renew{{"orders", "billing", host, 5}}) ==
          "renew orders/billing: host-7#81, version 5");
    CHECK(line(lease_manager::leave{{"orders", "billing", host, 5}}) ==
          "leave the group: orders/billing: host-7#81, version 5");
    CHECK(line(lease_manager::list_leases{"orders", "b\n"}) == "list leases of orders/b\\n");
    const lease_claim row{key, host, 4, 12};
    CHECK(line(lease_manager::claim{{row}}) ==
          "claim orders/billing/0 for host-7#81, epoch 4, if at version 12");
    CHECK(line(lease_manager::claim{{row, row}}) ==
          "claim 2 leases, the first: orders/billing/0 for host-7#81, epoch 4, if at version 12");
    CHECK(line(lease_manager::claim{}) == "claim 0 leases");
    CHECK(line(lease_manager::lease_call(lease_manager::list_leases{"orders", "billing"})) ==
          "list leases of orders/billing");

    CHECK(line(partition_lifecycle::open{3, 5}) == "open partition 3, epoch 5");
    CHECK(line(partition_lifecycle::process{3, 5}) == "process partition 3, epoch 5");
    CHECK(line(partition_lifecycle::close{3, 5, false}) == "close partition 3, epoch 5");
    CHECK(line(partition_lifecycle::close{3, 5, true}) == "close lost partition 3, epoch 5");
    CHECK(line(partition_lifecycle::save{3, 5}) == "save partition 3, epoch 5");
    CHECK(line(partition_lifecycle::release{3, 5}) == "release partition 3, epoch 5");

    const lease_group group{"orders", "billing", {"0", "1"}, host, {}};
    CHECK(line(lease_manager(group).next(at_5s)) == "renew orders/billing: host-7#81, version 1");
    CHECK(line(processor({group, {}}).next(at_5s)) == "renew orders/billing: host-7#81, version 1");
    partition_lifecycle part(3);
    CHECK(line(part.next(at_5s)) == "idle");
    part.on(partition_lifecycle::assigned{5}, at_5s);
    CHECK(line(part.next(at_5s)) == "open partition 3, epoch 5");
}

TEST_CASE("settlements and actions of settle_batches")
{
    CHECK(line(complete{}) == "complete");
    CHECK(line(abandon{}) == "abandon");
    CHECK(line(abandon{false}) == "abandon, not failed");
    CHECK(line(defer{90s}) == "defer for 90s");
    CHECK(line(queue_policy::scheduled_copy{"a1", "order-7", 2, 90s}) ==
          "copy a1 of order-7 in 90s, 2 tries");
    CHECK(line(dead_letter_message{dead_letter_message::cause::last_delivery,
                                   fault_kind::infrastructure, 10, 10}) ==
          "dead-letter the message: last_delivery, infrastructure, 10 of 10 deliveries");
    CHECK(line(dead_letter_message{dead_letter_message::cause::exhausted, fault_kind::transient, 7,
                                   unlimited}) ==
          "dead-letter the message: exhausted, transient, 7 tries");
    CHECK(line(dead_letter_message{dead_letter_message::cause::permanent, fault_kind::permanent, 1,
                                   1}) == "dead-letter the message: permanent");
    CHECK(line(let_lock_expire{let_lock_expire::cause::lock_lost}) ==
          "let the lock expire: lock_lost");
    CHECK(line(settle({}, {}, fault_kind::none, 0.5)) == "complete");

    settle_batches calls;
    calls.on(settle_batches::decided{}, at_5s);
    CHECK(line(calls.next(at_5s)) == "settle batch 0: complete item 0");
    CHECK(line(settle_batches::settle_batch{
              .call = 4, .kind = settle_batches::settle_kind::defer, .items = {0, 1, 2, 7}}) ==
          "settle batch 4: defer items 0 to 2, 7");
    CHECK(line(settle_batches::settle_batch{
              .call = 4, .kind = settle_batches::settle_kind::abandon, .items = {}}) ==
          "settle batch 4: abandon no items");
    CHECK(line(settle_batches::report{3, settle_batches::settle_kind::complete,
                                      settle_batches::settle_outcome::done, fault_kind::none, 1}) ==
          "report item 3: complete done after 1 try");
    CHECK(line(settle_batches::report{3, settle_batches::settle_kind::defer,
                                      settle_batches::settle_outcome::lost, fault_kind::transient,
                                      2}) == "report item 3: defer lost after 2 tries, transient");
}

TEST_CASE("actions of receive_planner and lock_renewal")
{
    CHECK(line(receive_planner::take_due_pairs{7, 4}) == "take due: at most 4 pairs from number 7");
    CHECK(line(receive_planner::receive{7, 1}) == "receive: at most 1 message from number 7");
    CHECK(line(receive_planner::receive_deferred{7}) == "receive deferred 7");
    CHECK(line(receive_planner::settle_original{7, receive_planner::settle_as::complete}) ==
          "settle original 7: complete");
    CHECK(line(receive_planner::settle_message{7, receive_planner::settle_as::give_back}) ==
          "settle message 7: give_back");
    CHECK(line(receive_planner::settle_message{7, receive_planner::settle_as::complete, true}) ==
          "settle message 7: complete, original gone");
    CHECK(line(receive_planner({.max_in_flight = 3}).next(at_5s)) ==
          "take due: at most 3 pairs from number 0");

    CHECK(line(lock_renewal::renew{2}) == "renew, attempt 2");
    lock_renewal lock({.lock = 60s});
    lock.on(lock_renewal::lock_taken{}, at_5s);
    CHECK(line(lock.next(at_5s)) == "wait until steady 35s");
}

TEST_CASE("message lifetimes and prune plans")
{
    CHECK(line(delivery_terms::lifetime{10min,
                                        delivery_terms::lifetime::delivery_limit::deliveries}) ==
          "lasts 10min, ended by deliveries");
    CHECK(
        line(prune_plan::removal{7, 0, 100, wall_time::at(1s), prune_plan::removal::limit::age}) ==
        "remove 7: age, 100 bytes, dead-lettered 1970-01-01T00:00:01Z");
    CHECK(line(prune_plan::totals{1, 50}) == "1 row, 50 bytes");
    prune_plan p{.removals = {{}, {}}, .before = {3, 250}, .after = {1, 50}};
    CHECK(line(p) == "remove 2 of 3 rows, 250 bytes; 1 row, 50 bytes left");
    p.redriving = {1, 50};
    p.recent = 8;
    CHECK(line(p) ==
          "remove 2 of 3 rows, 250 bytes; 1 row, 50 bytes left; 1 row, 50 bytes being redriven");
    p.spike = p.limit_reached = true;
    p.rows_in_order = false;
    CHECK(line(p) ==
          "remove 2 of 3 rows, 250 bytes; 1 row, 50 bytes left; 1 row, 50 bytes being redriven; "
          "spike, 8 recent; a limit is reached; rows not in order");
    const std::vector<prune_plan::row> rows{{7, 100, {}, false}};
    CHECK(line(plan_prune(rows, {.count = 0}, {})) ==
          "remove nothing of 1 row, 100 bytes; prune.count is 0: must be at least (1)");
}

TEST_CASE("policies and options")
{
    CHECK(line(circuit_breaker::config{}) ==
          "opens at 0.1 of 100 calls failed in 30s or 50 in a row; calls of at most 1min, 4 steps "
          "to close, "
          "pauses 5s to 5min, factor 2, jitter none");
    CHECK(line(circuit_breaker::config{.minimum_throughput = circuit_breaker::config::never,
                                       .consecutive_failures = 5,
                                       .half_open_steps = 1,
                                       .transient_counts = true}) ==
          "opens at 5 in a row, transient ones too; calls of at most 1min, 1 step to close, "
          "pauses 5s to 5min, factor 2, jitter none");
    CHECK(line(circuit_breaker::config{.consecutive_failures = 5})
              .starts_with("opens at 0.1 of 100 calls failed in 30s or 5 in a row; "));
    CHECK(line(circuit_breaker::config{.consecutive_failures = circuit_breaker::config::never})
              .starts_with("opens at 0.1 of 100 calls failed in 30s; "));
    CHECK(line(receive_planner::config{}) ==
          "16 at once, pause 1s, polls every 30s; " + line(circuit_breaker::config{}));
    CHECK(line(lock_renewal::config{}) ==
          "lock 1min, renewed at 0.5 left, answer within 10s, "
          "pauses 500ms to 10s, factor 2, jitter full, hints up to 10s");
    CHECK(line(lock_renewal::config{.margin = 5s, .max_duration = 10min}) ==
          "lock 1min, renewed at 0.5 left or 5s, answer within 10s, at most 10min, "
          "pauses 500ms to 10s, factor 2, jitter full, hints up to 10s");
    CHECK(line(delivery_terms{}) == "10 deliveries, lock 1min of at most 5min");
    CHECK(line(delivery_terms{.max_deliveries = unlimited, .time_to_live = 1h}) ==
          "unlimited deliveries, lock 1min of at most 5min, time to live 1h");
    CHECK(line(prune_policy{}) == "keeps forever, prunes to 0.9; no spike limit; refuse_new");
    CHECK(line(prune_policy{.age = 168h, .count = 9, .bytes = 7, .spike = {5, 10min}}) ==
          "keeps 168h, 9 rows, 7 bytes, prunes to 0.9; spike 5 rows within 10min; refuse_new");
    CHECK(line(settle_policy{}) ==
          "961 deliveries, calls of at most 1s, on outage let_lock_expire, defers up to forever; " +
              line(settle_policy{}.levels));
    CHECK(line(settle_policy{.max_deliveries = unlimited,
                             .can_defer = false,
                             .defer_renews = true,
                             .release_counts = false}) ==
          "unlimited deliveries, calls of at most 1s, on outage let_lock_expire, cannot defer, "
          "releases not counted; " +
              line(settle_policy{}.levels));
    CHECK(line(settle_policy{.longest_defer = 12h, .defer_renews = true}) ==
          "961 deliveries, calls of at most 1s, on outage let_lock_expire, defers up to 12h and "
          "renews "
          "deliveries; " +
              line(settle_policy{}.levels));
    CHECK(line(settle_batches::config{}) ==
          "10 items a call, linger 0s, calls of at most 1s, 3 tries, " + line(backoff{}));
    CHECK(line(partition_lifecycle::config{}) ==
          "polls every 1s, saves in 3 tries, pauses 1s to 1min, factor 2, jitter none");
    CHECK(line(tracker_options{}) ==
          "at most 65536 events in flight, span 1048576, commits at low_water");
    CHECK(line(commit_schedule::config{}) == "on close, pause 1s");
    CHECK(line(commit_schedule::config{.every = 1'000, .interval = 5s, .idle_refresh = 6h}) ==
          "every 1000 events or every 5s, on close, idle every 6h, pause 1s");
    CHECK(line(commit_schedule::config{.every = 1,
                                       .interval = 5s,
                                       .needs = commit_schedule::config::commit_needs::both,
                                       .on_close = false}) ==
          "every 1 event and every 5s, pause 1s");
    CHECK(line(idempotency_keys::options{}) == "keys of the group, at most 128 bytes");
    CHECK(line(at_least_once_policy{}) ==
          "3 tries, then redeliver, reasons of at most 1024 bytes; "
          "keys of the group, at most 128 bytes");
    CHECK(line(at_least_once_policy{
              .commit_every = 100,
              .decide_all_failed_from = 3,
              .dead_letters = {.keeps = dead_letter_body::summary, .body_bytes = 7},
              .check_commit = batch_policy::commit_check::always}) ==
          "3 tries, then redeliver, commits every 100, reasons of at most 1024 bytes, "
          "dead letters keep summary, bodies of at most 7 bytes, checks commits: always, asks from "
          "3 events; "
          "keys of the group, at most 128 bytes");
    CHECK(line(at_least_once_policy{.decide_all_failed_from = unlimited})
              .ends_with(", never asks; keys of the group, at most 128 bytes"));
}

TEST_CASE("reports of reprocess_all and resubmit")
{
    dead_letter::run_report r{.outcome = dead_letter::run_report::run_outcome::stopped,
                              .reason = infrastructure("down\nagain"),
                              .done = 2,
                              .filtered = 1};
    r.failed.push_back({{"orders", "billing", "0"}, 17, permanent("no\ttotal")});
    CHECK(line(r) == "stopped (infrastructure: down\\nagain): 2 done, 1 failed, 1 not selected");
    CHECK(line(r.failed[0]) == "orders/billing/0, event 17: permanent: no\\ttotal");
    CHECK(line(r.outcome) == "stopped");
}

}  // namespace
}  // namespace fmt_consume_test
