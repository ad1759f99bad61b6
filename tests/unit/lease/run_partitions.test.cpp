// SPDX-License-Identifier: MIT
//
// run_partitions in one thread, over logs, stores and leases in memory.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/row_leases.hpp>

#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/run_partitions.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_log.hpp>
#include <waybill/testing/memory_store.hpp>

namespace run_partitions_test {
namespace {

using waybill::duration;
using waybill::fault;
using waybill::partition_key;
using waybill::partition_tasks;
using waybill::partitions_report;
using waybill::steady_time;
using waybill::testing::manual_environment;
using waybill::testing::memory_event;
using waybill::testing::memory_leases;
using waybill::testing::memory_log;

using memory_store = waybill::testing::memory_store<std::string>;

steady_time seconds(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

/// Records "partition/body".
constexpr auto record_body = [](auto& tx, const memory_event& e, const partition_key& key) {
    tx.record(key.partition + "/" + e.body);
};

/// One process with everything that it needs. It stops at second 100.
struct fixture {
    memory_log<> log{{"a", "b"}};
    memory_store store;
    memory_leases leases;
    manual_environment env{seconds(0)};
    partition_tasks::policy policy{.group = "billing", .owner = "host-7"};

    fixture() { env.stop_at(seconds(100)); }

    template <class Handler>
    partitions_report run(const Handler& handler)
    {
        return waybill::run_partitions(log, store, leases, handler, policy, env);
    }
    [[nodiscard]] partition_key key(const char* partition) const
    {
        return {policy.source, policy.group, partition};
    }
    [[nodiscard]] std::optional<std::uint64_t> checkpoint(const char* partition) const
    {
        const auto stored = *store.load(key(partition));
        return stored ? std::optional(stored->at.sequence) : std::nullopt;
    }
    [[nodiscard]] bool no_lease_is_held() const
    {
        const auto table = *leases.list(policy.source, policy.group);
        for (const auto& each : table.leases) {
            if (!each.owner.none()) return false;
        }
        return table.owners.empty();
    }
};

TEST_CASE("run_partitions: each event takes effect once, in the order of its partition")
{
    fixture f;
    f.policy.max_events = 2;
    for (const char* body : {"1", "2", "3", "4", "5"}) f.log.append("a", body);
    f.log.append("b", "6");
    const partitions_report r = f.run(record_body);
    const std::vector<std::string> expected{"a/1", "a/2", "b/6", "a/3", "a/4", "a/5"};
    CHECK(f.store.records() == expected);
    CHECK(r.handled == 6);
    CHECK(r.batches == 4);
    CHECK(r.opened == 2);
    CHECK(r.released);
    CHECK(r.last_fault.ok());
    CHECK(r.incarnation != 0);
    CHECK(f.checkpoint("a") == 5);
    CHECK(f.checkpoint("b") == 1);
    CHECK(f.no_lease_is_held());
    CHECK(f.env.now() == seconds(100));
    CHECK(describe(r) ==
          "6 events took effect; batches: 4 committed (fenced); all leases given back");
}

TEST_CASE("run_partitions: an empty log, and one event")
{
    fixture f;
    partitions_report r = f.run(record_body);
    CHECK(r.handled == 0);
    CHECK(r.batches == 0);
    CHECK(r.opened == 2);
    CHECK(r.released);
    CHECK_FALSE(f.checkpoint("a"));

    f.log.append("a", "only");
    f.env.stop_at(f.env.now() + duration::seconds(100));
    r = f.run(record_body);
    CHECK(f.store.records() == std::vector<std::string>{"a/only"});
    CHECK(r.handled == 1);
    CHECK(f.no_lease_is_held());
}

TEST_CASE("run_partitions: an event that is appended later is read after `poll`")
{
    fixture f;
    f.log.append("a", "1");
    steady_time second_at;
    const auto handle = [&](auto& tx, const memory_event& e) {
        if (e.body == "1") f.log.append("b", "2");
        second_at = f.env.now();
        tx.record(e.body);
    };
    const partitions_report r = f.run(handle);
    CHECK(r.handled == 2);
    CHECK(second_at <= seconds(10));
}

TEST_CASE("run_partitions: after a truncation the first event that is left is next")
{
    fixture f;
    for (const char* body : {"1", "2", "3", "4", "5"}) f.log.append("a", body);
    const auto stops_after_two = [&](auto& tx, const memory_event& e) {
        tx.record(e.body);
        if (e.body == "2") f.env.stop_at(f.env.now());
    };
    (void)f.run(stops_after_two);
    CHECK(f.checkpoint("a") == 2);
    f.log.truncate("a", 4);
    f.env.stop_at(f.env.now() + duration::seconds(100));
    const partitions_report r = f.run(record_body);
    CHECK(f.store.records() == std::vector<std::string>{"1", "2", "a/5"});
    CHECK(r.last_fault.ok());
}

TEST_CASE("run_partitions: a checkpoint after the end of the log is reported, and nothing is read")
{
    fixture f;
    for (const char* body : {"1", "2", "3"}) f.log.append("a", body);
    (void)f.run(record_body);
    f.log = memory_log<>({"a", "b"});  // created anew
    f.log.append("a", "other");
    f.env.stop_at(f.env.now() + duration::seconds(100));
    const partitions_report r = f.run(record_body);
    CHECK(f.store.records().size() == 3);
    CHECK(r.failed_opens > 1);
    CHECK(r.last_fault.kind == waybill::fault_kind::permanent);
    CHECK(r.last_fault.text ==
          "the checkpoint is 3, after the end of the log, 1: if the log was "
          "created anew, rewind the checkpoint");
    CHECK(r.last_partition == "a");
    CHECK(r.released);
}

TEST_CASE("run_partitions: faults, skips and dead letters of the handler")
{
    fixture f;
    for (const char* body : {"good", "bad", "skipped", "good"}) f.log.append("a", body);
    const auto handle = [](auto& tx, const memory_event& e) -> waybill::event_outcome {
        if (e.body == "skipped") return waybill::skipped("not needed");
        tx.record(e.body);
        if (e.body == "bad") return waybill::permanent("unreadable");
        return {};
    };
    const partitions_report r = f.run(handle);
    CHECK(r.handled == 2);
    CHECK(r.skipped == 1);
    CHECK(r.dead_lettered == 1);
    CHECK(f.store.records().size() == 2);
    const auto letter = *f.store.find(f.key("a"), 2);
    REQUIRE(letter);
    CHECK(letter->reason == "unreadable");
    CHECK(describe(r) ==
          "2 events took effect, 1 dead-lettered, 1 skipped; batches: 1 committed "
          "(fenced); all leases given back");
}

TEST_CASE("run_partitions: a transient fault rolls back and is repeated after a pause")
{
    fixture f;
    f.log.append("a", "1");
    f.log.append("a", "2");
    int calls = 0;
    const auto handle = [&](auto& tx, const memory_event& e) -> fault {
        tx.record(e.body);
        if (e.body == "2" && ++calls <= 4) return waybill::transient("busy");
        return {};
    };
    const partitions_report r = f.run(handle);
    CHECK(f.store.records() == std::vector<std::string>{"1", "2"});
    CHECK(r.failed_batches == 1);  // three tries in the first delivery
    CHECK(r.handled == 2);
    CHECK(r.last_fault.text == "busy");
    CHECK(r.last_partition == "a");
    CHECK(r.repaired);
    CHECK(r.repeated_calls == 5);  // three tries and the event before them; then one more
    CHECK(describe(r) ==
          "2 events took effect, 5 repeated calls of the handler; batches: 1 "
          "committed (fenced), 1 failed; all leases given back; last fault, repaired: "
          "transient in partition a: busy");
}

TEST_CASE("run_partitions: without savepoints, k dead letters repeat a batch up to k times")
{
    for (const bool savepoints : {true, false}) {
        fixture f;
        f.policy.batch.savepoints = savepoints;
        for (int n = 1; n <= 100; ++n) f.log.append("a", std::to_string(n));
        const auto handle = [](auto& tx, const memory_event& e) -> fault {
            tx.record(e.body);
            return e.sequence > 97 ? waybill::permanent("bad") : fault{};
        };
        const partitions_report r = f.run(handle);
        CHECK(r.handled == 97);
        CHECK(r.dead_lettered == 3);
        CHECK(r.repeated_calls == (savepoints ? 0 : 3 * 97));  // handled 3 + 1 times
    }
}

/// Leases that a transaction cannot read.
struct unreadable_leases {
    memory_leases& rows;

    auto list(const std::string& source, const std::string& group)
    {
        return rows.list(source, group);
    }
    auto claim(const waybill::lease_claim& c) { return rows.claim(c); }
    auto heartbeat(const waybill::owner_heartbeat& p) { return rows.heartbeat(p); }
    auto leave(const waybill::owner_heartbeat& p) { return rows.leave(p); }
};

TEST_CASE("run_partitions: the report states whether commits are fenced")
{
    fixture f;
    f.log.append("a", "1");
    unreadable_leases unreadable{f.leases};
    const partitions_report r =
        waybill::run_partitions(f.log, f.store, unreadable, record_body, f.policy, f.env);
    CHECK_FALSE(r.fenced);
    CHECK(describe(r) ==
          "1 event took effect; batches: 1 committed (not fenced); all leases given back");
}

TEST_CASE("run_partitions: until_drained ends after the last event of each partition")
{
    fixture f;
    f.policy.until_drained = true;
    f.policy.max_events = 2;
    f.env.stop_at(seconds(1'000));
    for (const char* body : {"1", "2", "3", "4", "5"}) f.log.append("a", body);
    const auto handle = [&](auto& tx, const memory_event& e) {
        if (e.body == "5") f.log.append("b", "6");  // is read, too
        tx.record(e.body);
    };
    partitions_report r;
    waybill::run_partitions(f.log, f.store, f.leases, handle, f.policy, f.env, r);
    CHECK(r.handled == 6);
    CHECK(r.drained);
    CHECK(r.released);
    CHECK(f.no_lease_is_held());
    CHECK(f.env.now() < seconds(60));
    CHECK(describe(r) ==
          "6 events took effect; batches: 4 committed (fenced); drained; all leases "
          "given back");
    // The same report serves a further call, which may end in another way.
    f.env.stop_at(f.env.now());
    waybill::run_partitions(f.log, f.store, f.leases, handle, f.policy, f.env, r);
    CHECK(r.handled == 6);
    CHECK_FALSE(r.drained);
    CHECK(r.released);
}

TEST_CASE("run_partitions: until_drained ends two owners, and no event is left")
{
    fixture f;
    f.policy.until_drained = true;
    f.policy.max_events = 3;
    memory_log<> log({"a", "b", "c", "d"});
    for (int n = 0; n != 40; ++n) log.append(std::string(1, "aabd"[n % 4]), std::to_string(n));
    partition_tasks::policy other = f.policy;
    other.owner = "host-8";
    partition_tasks one(f.policy, *log.partitions(), 1);
    partition_tasks two(other, *log.partitions(), 2);
    f.env.stop_at(seconds(10'000));
    const auto handle = [&](auto& tx, const memory_event& e) {
        f.env.advance(duration::milliseconds(300));
        tx.record(e.body);
    };
    while (!one.report().released || !two.report().released) {
        steady_time until = steady_time::highest();
        for (partition_tasks* work : {&one, &two}) {
            auto t = work->next_task(f.env.now());
            if (t.ended()) continue;
            if (t.waits()) {
                if (t.until() < until) until = t.until();
                continue;
            }
            work->run(t, log, f.store, f.leases, handle, f.env);
            work->complete(std::move(t), f.env.now());
            until = f.env.now();
        }
        if (until != steady_time::highest()) f.env.sleep_until(until);
        REQUIRE(f.env.now() < seconds(600));
    }
    CHECK(f.store.records().size() == 40);
    for (const partition_tasks* work : {&one, &two}) {
        CHECK(work->report().handled > 0);
        CHECK(work->report().drained);
    }
    CHECK(f.no_lease_is_held());
}

TEST_CASE("run_partitions: until_drained waits for a log that returns no events before its end")
{
    struct lagging_log {
        memory_log<>& log;
        int reads_without_events = 5;
        auto partitions() { return log.partitions(); }
        auto end(const std::string& partition) { return log.end(partition); }
        auto read(const std::string& partition, const std::optional<waybill::position>& after,
                  std::uint64_t n)
        {
            return log.read(partition, after, reads_without_events-- > 0 ? 0 : n);
        }
    };
    fixture f;
    f.policy.until_drained = true;
    for (const char* body : {"1", "2"}) f.log.append("a", body);
    lagging_log log{f.log};
    const partitions_report r =
        waybill::run_partitions(log, f.store, f.leases, record_body, f.policy, f.env);
    CHECK(r.handled == 2);
    CHECK(r.drained);
}

TEST_CASE("run_partitions: until_drained is not reached while a partition fails")
{
    fixture f;
    f.policy.until_drained = true;
    f.log.append("a", "1");
    f.log.append("b", "2");
    const auto handle = [&](auto& tx, const memory_event& e, const partition_key& key) -> fault {
        if (key.partition == "b") return waybill::infrastructure("down");
        tx.record(e.body);
        return {};
    };
    const partitions_report r = f.run(handle);
    CHECK(r.handled == 1);
    CHECK_FALSE(r.drained);
    CHECK_FALSE(r.repaired);
    CHECK(r.released);
    CHECK(f.env.now() == seconds(100));
}

/// Leases that record the times and names of their calls.
struct recording_leases {
    memory_leases& rows;
    manual_environment& env;
    std::vector<steady_time> renewals{};
    std::vector<std::string> calls{};

    auto list(const std::string& source, const std::string& group)
    {
        calls.push_back("list");
        return rows.list(source, group);
    }
    auto renew(const waybill::owner_heartbeat& own, std::uint64_t since)
    {
        renewals.push_back(env.now());
        return rows.renew(own, since);
    }
    auto claim(const waybill::lease_claim& c) { return rows.claim(c); }
    auto claim_all(const std::vector<waybill::lease_claim>& claims)
    {
        std::string line = "claim";
        for (const auto& c : claims)
            line += (c.owner.none() ? " give back " : " ") + c.key.partition;
        calls.push_back(line);
        return rows.claim_all(claims);
    }
    auto heartbeat(const waybill::owner_heartbeat& p) { return rows.heartbeat(p); }
    auto leave(const waybill::owner_heartbeat& p)
    {
        calls.push_back("leave");
        return rows.leave(p);
    }
    template <class Tx>
    auto epoch(Tx& tx, const partition_key& key)
    {
        return rows.epoch(tx, key);
    }
};

TEST_CASE("run_partitions: a slow handler costs no lease, because batches are cut")
{
    fixture f;
    f.env.stop_at(seconds(1'000));
    for (int n = 0; n != 60; ++n) f.log.append("a", std::to_string(n));
    recording_leases leases{f.leases, f.env};
    const auto slow = [&](auto& tx, const memory_event& e) {
        f.env.advance(duration::seconds(7));
        tx.record(e.body);
    };
    const partitions_report r =
        waybill::run_partitions(f.log, f.store, leases, slow, f.policy, f.env);
    CHECK(r.handled == 60);
    CHECK(r.failed_batches == 0);
    CHECK(r.cut_batches >= 20);  // 420 s of work, a round of leases each 8 to 10 s
    duration longest{};
    for (std::size_t n = 1; n != leases.renewals.size(); ++n) {
        const duration gap = leases.renewals[n] - leases.renewals[n - 1];
        if (gap > longest) longest = gap;
    }
    CHECK(longest <= duration::seconds(17));  // an interval and one event
    CHECK(f.store.records().size() == 60);
}

TEST_CASE("run_partitions: cut batches lose and repeat nothing, also without savepoints")
{
    for (const bool savepoints : {true, false}) {
        for (const bool crash_records : {true, false}) {
            fixture f;
            f.env.stop_at(seconds(2'000));
            f.policy.batch.savepoints = savepoints;
            f.policy.batch.crash_records = crash_records;
            for (int n = 0; n != 40; ++n) f.log.append("a", std::to_string(n));
            std::map<std::string, int> calls;
            const auto slow = [&](auto& tx, const memory_event& e) -> waybill::event_outcome {
                f.env.advance(duration::seconds(3));
                const int call = ++calls[e.body];
                if (e.sequence % 10 == 7) return waybill::permanent("bad");
                if (e.sequence % 10 == 8 && call == 1) return waybill::transient("busy");
                if (e.sequence % 10 == 9) return waybill::skipped();
                tx.record(e.body);
                return {};
            };
            const partitions_report r = f.run(slow);
            CHECK(r.handled == 32);
            CHECK(r.dead_lettered == 4);
            CHECK(r.skipped == 4);
            CHECK(r.failed_batches + r.lost_batches == 0);
            CHECK(r.cut_batches > 3);
            CHECK(f.store.records().size() == 32);
            CHECK(f.store.letters().size() == 4);
            CHECK(f.checkpoint("a") == 40);
        }
    }
}

TEST_CASE("run_partitions: a lease that is lost in a batch rolls the batch back")
{
    fixture f;
    f.env.stop_at(seconds(300));
    for (const char* body : {"1", "2", "3"}) f.log.append("a", body);
    bool taken = false;
    const auto handle = [&](auto& tx, const memory_event& e, const partition_key& key) {
        tx.record(e.body);
        if (e.body != "2" || std::exchange(taken, true)) return;
        // Another owner takes the lease and then stops responding.
        const auto table = *f.leases.list("", "billing");
        for (const auto& row : table.leases) {
            if (row.key == key)
                (void)f.leases.claim({key, {"thief", 1}, row.epoch + 1, row.version, {}, 0});
        }
    };
    const partitions_report r = f.run(handle);
    CHECK(taken);
    CHECK(r.lost_batches == 1);
    CHECK(r.last_fault.kind == waybill::fault_kind::ownership_lost);
    // After the expiry of the thief's lease.
    CHECK(f.store.records() == std::vector<std::string>{"1", "2", "3"});
    CHECK(r.handled == 3);
    CHECK(r.released);
}

TEST_CASE("run_partitions: a stop request ends the batch and gives the leases back")
{
    fixture f;
    for (const char* body : {"1", "2", "3", "4"}) f.log.append("a", body);
    f.log.append("b", "5");
    recording_leases leases{f.leases, f.env};
    const auto handle = [&](auto& tx, const memory_event& e) {
        tx.record(e.body);
        if (e.body != "2") return;
        f.env.stop_at(f.env.now());
        leases.calls.clear();
    };
    const partitions_report r =
        waybill::run_partitions(f.log, f.store, leases, handle, f.policy, f.env);
    CHECK(f.store.records() == std::vector<std::string>{"1", "2"});
    CHECK(r.cut_batches == 1);
    CHECK(r.released);
    CHECK(f.checkpoint("a") == 2);
    // The heartbeat is removed first, so that no other owner counts this one any more.
    CHECK(leases.calls ==
          std::vector<std::string>{"leave", "claim give back b", "claim give back a"});
    CHECK(f.no_lease_is_held());
}

TEST_CASE("run_partitions: a time limit is a stop request")
{
    fixture f;
    f.env.stop_at(seconds(1'000));
    f.log.append("a", "1");
    const partitions_report r =
        waybill::run_partitions(f.log, f.store, f.leases, record_body, f.policy,
                                waybill::time_limited(f.env, duration::seconds(30)));
    CHECK(r.handled == 1);
    CHECK(r.released);
    CHECK(f.env.now() == seconds(30));
    CHECK(f.no_lease_is_held());
}

TEST_CASE("run_partitions: stopped before its begin, it calls nothing")
{
    fixture f;
    f.env.stop_at(seconds(0));
    struct no_log {
        waybill::result<std::vector<std::string>> partitions()
        {
            FAIL("called");
            return {};
        }
        waybill::result<std::vector<memory_event>> read(const std::string&,
                                                        const std::optional<waybill::position>&,
                                                        std::uint64_t)
        {
            FAIL("called");
            return {};
        }
    } log;
    const partitions_report r =
        waybill::run_partitions(log, f.store, f.leases, record_body, f.policy, f.env);
    CHECK(r.released);
    CHECK(r == partitions_report{.released = true});
}

TEST_CASE("run_partitions: a clock that goes back repeats and loses nothing")
{
    fixture f;
    f.policy.max_events = 2;
    for (int n = 0; n != 9; ++n) f.log.append(n % 2 == 0 ? "a" : "b", std::to_string(n));
    const auto handle = [&](auto& tx, const memory_event& e) {
        tx.record(e.body);
        f.env.advance(duration::seconds(e.sequence % 2 == 0 ? -3'600 : 20));
    };
    const partitions_report r = f.run(handle);
    CHECK(r.handled == 9);
    CHECK(f.store.records().size() == 9);
    CHECK(r.released);
}

TEST_CASE("run_partitions: partitions that cannot be listed yet are listed again")
{
    fixture f;
    f.log.append("a", "1");
    struct late_log {
        memory_log<>& log;
        int calls = 0;
        waybill::result<std::vector<std::string>> partitions()
        {
            ++calls;
            if (calls <= 2) return waybill::unexpected(waybill::infrastructure("no broker"));
            if (calls == 3) return std::vector<std::string>{};
            return log.partitions();
        }
        auto read(const std::string& p, const std::optional<waybill::position>& after,
                  std::uint64_t max_count)
        {
            return log.read(p, after, max_count);
        }
    } log{f.log};
    const partitions_report r =
        waybill::run_partitions(log, f.store, f.leases, record_body, f.policy, f.env);
    CHECK(log.calls == 4);
    CHECK(r.failed_reads == 2);
    CHECK(r.last_fault.text == "no broker");
    CHECK(r.handled == 1);
}

TEST_CASE("run_partitions: a log that cannot be read is read again, and stops nothing else")
{
    fixture f;
    f.log.append("a", "1");
    f.log.append("b", "2");
    struct broken_log {
        memory_log<>& log;
        manual_environment& env;
        auto partitions() { return log.partitions(); }
        waybill::result<std::vector<memory_event>> read(
            const std::string& p, const std::optional<waybill::position>& after,
            std::uint64_t max_count)
        {
            if (p == "a" && env.now() < seconds(40))
                return waybill::unexpected(waybill::infrastructure("no leader"));
            return log.read(p, after, max_count);
        }
    } log{f.log, f.env};
    const partitions_report r =
        waybill::run_partitions(log, f.store, f.leases, record_body, f.policy, f.env);
    CHECK(f.store.records() == std::vector<std::string>{"b/2", "a/1"});
    CHECK(r.failed_reads >= 3);
    CHECK(r.failed_reads <= 7);  // the pause doubles
    CHECK(r.last_partition == "a");
}

TEST_CASE("run_partitions: short reads and gaps lose nothing")
{
    fixture f;
    for (std::uint64_t n = 1; n <= 20; ++n)
        f.log.append("a", {.sequence = n * n, .body = std::to_string(n)});
    f.log.limit_reads(3);
    const partitions_report r = f.run(record_body);
    CHECK(r.handled == 20);
    CHECK(r.batches == 7);
    CHECK(f.checkpoint("a") == 400);
}

TEST_CASE("run_partitions: an invalid policy is refused before any call")
{
    fixture f;
    f.policy.owner.clear();
    partitions_report r = f.run(record_body);
    REQUIRE(r.invalid);
    CHECK(r.invalid->field == "owner");
    CHECK(describe(r) == "invalid: owner is 0: bytes must be at least (1)");

    f.policy = {.owner = "host-7", .max_events = 0};
    CHECK(validate(f.policy)->field == "max_events");
    f.policy = {.owner = "host-7", .leases = {.expiry = duration::seconds(5)}};
    CHECK(validate(f.policy)->field == "leases.expiry");
    f.policy = {.owner = "host-7", .batch = {.tries = 0}};
    CHECK(validate(f.policy)->field == "tries");
    f.policy = {.owner = "host-7"};
    CHECK_FALSE(validate(f.policy));

    f.log = memory_log<>({"a", "b", "a"});
    r = f.run(record_body);
    REQUIRE(r.invalid);
    CHECK(r.invalid->field == "group.partitions");
    CHECK(f.leases.list("", "")->owners.empty());
}

TEST_CASE("run_partitions: leases without `epoch`, and a store that is fenced already")
{
    fixture f;
    f.log.append("a", "1");
    tests_support::row_leases rows;
    partitions_report r =
        waybill::run_partitions(f.log, f.store, rows, record_body, f.policy, f.env);
    CHECK(r.handled == 1);

    f.log.append("a", "2");
    f.env.stop_at(f.env.now() + duration::seconds(100));
    waybill::fenced_store store(f.store, f.leases);
    r = waybill::run_partitions(f.log, store, f.leases, record_body, f.policy, f.env);
    CHECK(r.handled == 1);
    CHECK(f.store.records() == std::vector<std::string>{"a/1", "a/2"});
}

TEST_CASE("run_partitions: reports are added to")
{
    fixture f;
    f.log.append("a", "1");
    partitions_report r;
    waybill::run_partitions(f.log, f.store, f.leases, record_body, f.policy, f.env, r);
    const std::uint64_t incarnation = r.incarnation;
    f.log.append("a", "2");
    f.env.stop_at(f.env.now() + duration::seconds(100));
    waybill::run_partitions(f.log, f.store, f.leases, record_body, f.policy, f.env, r);
    CHECK(r.handled == 2);
    CHECK(r.opened == 4);
    CHECK(r.incarnation == incarnation);
}

// The tasks.

/// Two processes in one test, and a clock that the test moves.
struct tasks_fixture : fixture {
    partition_tasks work{policy, *log.partitions(), 7};

    /// Runs all tasks that are due, until the next one waits.
    template <class Handler>
    void run_due(const Handler& handler)
    {
        while (true) {
            auto t = work.next_task(env.now());
            if (t.waits() || t.ended()) return;
            work.run(t, log, store, leases, handler, env);
            work.complete(std::move(t), env.now());
        }
    }
    template <class Handler>
    void run_until(std::int64_t second, const Handler& handler)
    {
        for (; env.now() < seconds(second); env.advance(duration::seconds(1))) run_due(handler);
        run_due(handler);
    }
};

TEST_CASE("partition_tasks: a slow batch delays neither the other partition nor the leases")
{
    tasks_fixture f;
    f.env.stop_at(seconds(1'000));
    f.log.append("a", "slow");
    f.log.append("b", "1");
    std::optional<partition_tasks::task> slow;
    while (!slow || slow->key().partition != "a") {
        auto t = f.work.next_task(f.env.now());
        if (t.waits()) {
            f.env.sleep_until(t.until());
        } else if (t.key().partition == "a" && f.work.report().opened == 2) {
            slow = std::move(t);
        } else {
            f.work.run(t, f.log, f.store, f.leases, record_body, f.env);
            f.work.complete(std::move(t), f.env.now());
        }
    }
    f.log.append("b", "2");
    f.run_until(500, record_body);  // several expiries
    CHECK(f.store.records() == std::vector<std::string>{"b/1", "b/2"});
    CHECK(f.work.state().leases().held() == 2);
    CHECK(f.work.state().leases().trusted(0, f.env.now()));
    f.work.run(*slow, f.log, f.store, f.leases, record_body, f.env);
    f.work.complete(std::move(*slow), f.env.now());
    CHECK(f.store.records().size() == 3);
    CHECK(f.work.report().handled == 3);
    CHECK(f.work.report().failed_batches == 0);
}

TEST_CASE("partition_tasks: next_lease_task renews while all other threads are busy")
{
    tasks_fixture f;
    f.env.stop_at(seconds(1'000));
    f.log.append("a", "1");
    f.run_until(20, record_body);
    CHECK(f.work.state().leases().held() == 2);
    for (; f.env.now() < seconds(500); f.env.advance(duration::seconds(1))) {
        auto t = f.work.next_lease_task(f.env.now());
        CHECK(t.key().partition.empty());
        if (t.waits()) continue;
        f.work.run(t, f.log, f.store, f.leases, record_body, f.env);
        f.work.complete(std::move(t), f.env.now());
    }
    CHECK(f.work.state().leases().trusted(0, f.env.now()));
    // Only one call of the leases at a time.
    auto call = f.work.next_lease_task(f.env.now() + duration::seconds(20));
    CHECK_FALSE(call.waits());
    CHECK(f.work.next_lease_task(f.env.now() + duration::seconds(20)).waits());
    f.work.complete(std::move(call), f.env.now());
    CHECK(f.work.report().failed_lease_calls == 1);
}

TEST_CASE("partition_tasks: tasks that are not run count as failed and are repeated")
{
    tasks_fixture f;
    f.env.stop_at(seconds(100'000));
    f.log.append("a", "1");
    f.log.append("b", "2");
    int n = 0;
    while (f.work.report().handled != 2 && n < 1'000) {
        auto t = f.work.next_task(f.env.now());
        if (t.waits()) {
            f.env.sleep_until(t.until());
            continue;
        }
        if (n++ % 3 != 0) f.work.run(t, f.log, f.store, f.leases, record_body, f.env);
        f.work.complete(std::move(t), f.env.now());
    }
    CHECK(f.store.records().size() == 2);
    const partitions_report& r = f.work.report();
    CHECK(r.failed_lease_calls + r.failed_opens + r.failed_batches >= 3);
    CHECK(r.last_fault.kind == waybill::fault_kind::infrastructure);
}

TEST_CASE("partition_tasks: a lease lost during a batch, and taken again, is opened again")
{
    tasks_fixture f;
    f.env.stop_at(seconds(10'000));
    for (const char* body : {"1", "2"}) f.log.append("a", body);
    std::optional<partition_tasks::task> late;
    while (!late) {
        auto t = f.work.next_task(f.env.now());
        if (t.waits()) {
            f.env.sleep_until(t.until());
        } else if (t.key().partition == "a" && f.work.report().opened == 2) {
            late = std::move(t);
        } else {
            f.work.run(t, f.log, f.store, f.leases, record_body, f.env);
            f.work.complete(std::move(t), f.env.now());
        }
    }
    // Another owner takes the lease, handles event 1, and disappears.
    partition_tasks other({.group = "billing", .owner = "other"}, {"a"}, 9);
    f.env.advance(duration::seconds(200));
    memory_log<> first({"a"});
    first.append("a", "1");
    for (; f.env.now() < seconds(400); f.env.advance(duration::seconds(1))) {
        auto t = other.next_task(f.env.now());
        other.run(t, first, f.store, f.leases, record_body, f.env);
        other.complete(std::move(t), f.env.now());
    }
    CHECK(f.store.records() == std::vector<std::string>{"a/1"});
    // The batch of the first owner is refused.
    f.work.run(*late, f.log, f.store, f.leases, record_body, f.env);
    f.work.complete(std::move(*late), f.env.now());
    CHECK(f.work.report().lost_batches == 1);
    CHECK(f.store.records().size() == 1);
    f.run_until(700, record_body);
    CHECK(f.store.records() == std::vector<std::string>{"a/1", "a/2"});
}

TEST_CASE("partition_tasks: two owners share the partitions, and a stop moves them")
{
    fixture f;
    f.log = memory_log<>({"0", "1", "2", "3", "4"});
    const std::vector<std::string> names = *f.log.partitions();
    f.env.stop_at(seconds(10'000));
    partition_tasks one({.group = "billing", .owner = "one"}, names, 1);
    partition_tasks two({.group = "billing", .owner = "two"}, names, 2);
    const auto step = [&](partition_tasks& work) {
        while (true) {
            auto t = work.next_task(f.env.now());
            if (t.waits() || t.ended()) return;
            work.run(t, f.log, f.store, f.leases, record_body, f.env);
            work.complete(std::move(t), f.env.now());
        }
    };
    const auto run_both = [&](std::int64_t for_seconds) {
        for (std::int64_t n = 0; n != for_seconds; ++n) {
            step(one);
            step(two);
            f.log.append(std::to_string(n % 5), std::to_string(n));
            f.env.advance(duration::seconds(1));
        }
    };
    for (int n = 0; n != 30; ++n) {  // alone at first
        step(one);
        f.env.advance(duration::seconds(1));
    }
    CHECK(one.state().leases().held() == 5);
    run_both(60);
    CHECK(one.state().leases().held() == 3);
    CHECK(two.state().leases().held() == 2);
    CHECK(one.report().lost_batches + two.report().lost_batches == 0);
    one.on(waybill::stop_requested{}, f.env.now());
    run_both(25);
    CHECK(one.report().released);
    CHECK(two.state().leases().held() == 5);
    run_both(5);
    step(two);
    CHECK(f.store.records().size() == 90);
    CHECK(one.report().handled + two.report().handled == 90);
}

}  // namespace
}  // namespace run_partitions_test
