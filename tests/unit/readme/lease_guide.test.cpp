// SPDX-License-Identifier: MIT
//
// The snippets of the guide of the module lease.
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/fence_conformance.hpp>
#include <waybill/testing/lease_conformance.hpp>
#include <waybill/testing/log_conformance.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_log.hpp>
#include <waybill/testing/memory_store.hpp>

namespace lease_guide_test {
namespace {

using namespace std::chrono_literals;
using my_leases = waybill::testing::memory_leases;

struct order {
    std::uint64_t sequence;
    std::string body;
};

namespace log_calls {
//! [lease_log_calls]
struct my_log {
    waybill::result<std::vector<std::string>> partitions();  // the names of all partitions
    // At most max_count events after the position `after`, in ascending order; from the first one
    // if it is empty. No events: none for now.
    waybill::result<std::vector<order>> read(const std::string& partition,
                                             const std::optional<waybill::position>& after,
                                             std::uint64_t max_count);
    // Optional: the position of the last event; empty if there is none.
    waybill::result<std::optional<waybill::position>> end(const std::string& partition);
};
//! [lease_log_calls]
static_assert(waybill::event_log<my_log>);
}  // namespace log_calls

TEST_CASE("lease guide: all partitions of a process in one call")
{
    waybill::testing::memory_log<> log({"0", "1"});
    waybill::testing::memory_store<std::string> store;
    waybill::testing::memory_leases leases;
    waybill::testing::manual_environment env(waybill::steady_time{});
    env.stop_at(waybill::steady_time{} + 100s);
    for (const char* body : {"one", "", "three"}) log.append("0", body);
    log.append("1", "four");
    std::string printed;
    const auto print = [&](const std::string& line) { printed += line + "\n"; };

    const auto handle = [](auto& tx, const auto& order) -> waybill::fault {
        if (order.body.empty()) return waybill::permanent("it has no lines");
        tx.record(order.body);  // an effect, in the transaction of the checkpoint
        return {};
    };
    const waybill::partitions_report report = waybill::run_partitions(
        log, store, leases, handle, {.group = "billing", .owner = "host-7"}, env);
    print(describe(report));
    CHECK(printed == std::string_view(R"text(
3 events took effect, 1 dead-lettered; batches: 2 committed (fenced); all leases given back
)text")
                         .substr(1));
}

TEST_CASE("lease guide: a report that survives an exception or a stop")
{
    using namespace waybill;
    testing::memory_log<> log({"0"});
    testing::memory_store<std::string> store;
    testing::memory_leases leases;
    testing::manual_environment env;
    const partition_tasks::policy policy{.owner = "host-7", .until_drained = true};
    const auto handle = [](auto& tx, const auto& order) { tx.record(order.body); };
    log.append("0", "one");
    //! [lease_report]
    waybill::partitions_report report;
    waybill::run_partitions(log, store, leases, handle, policy, env, report);  // adds to report
    //! [lease_report]
    log.append("0", "two");
    run_partitions(log, store, leases, handle, policy, env, report);
    CHECK(report.handled == 2);
    CHECK(report.drained);
}

TEST_CASE("lease guide: several threads")
{
    waybill::testing::memory_log<> log({"0", "1"});
    waybill::testing::memory_store<std::string> store;
    waybill::testing::memory_leases leases;
    waybill::testing::manual_environment env(waybill::steady_time{});
    for (const char* body : {"one", "two", "three"}) log.append("0", body);
    const auto handle = [](auto& tx, const auto& order) { tx.record(order.body); };
    std::mutex mutex;
    bool stopping = false;
    struct {
        waybill::testing::manual_environment& env;
        bool& stopping;
        void wait_until(const std::unique_lock<std::mutex>&, waybill::steady_time t)
        {
            env.sleep_until(t);
            stopping = env.now() > waybill::steady_time{} + 60s;
        }
        void notify_all() {}
    } changed{env, stopping};

    //! [lease_threads]
    waybill::partition_tasks work({.group = "billing", .owner = "host-7"}, *log.partitions(), env);
    const auto run_thread = [&](bool only_leases) {
        std::unique_lock lock(mutex);
        while (true) {
            const waybill::steady_time now = env.now();
            if (stopping) work.on(waybill::stop_requested{}, now);
            auto task = only_leases ? work.next_lease_task(now) : work.next_task(now);
            if (task.ended()) break;
            if (task.waits()) {
                changed.wait_until(lock, task.until().to_chrono());
                continue;
            }
            lock.unlock();
            work.run(task, log, store, leases, handle, env);
            lock.lock();
            work.complete(std::move(task), env.now());
            changed.notify_all();
        }
        changed.notify_all();
    };
    //! [lease_threads]
    run_thread(false);
    run_thread(true);
    CHECK(store.records().size() == 3);
    CHECK(work.report().released);
}

TEST_CASE("lease guide: a log is checked by the conformance suite")
{
    using my_log = waybill::testing::memory_log<>;
    std::string broken;
    const auto log = [&](std::string_view rule) { broken += rule; };

    //! [lease_log]
    const auto report = waybill::testing::log_conformance(
        [] { return my_log({"0", "1"}); },  // a new, empty log
        [](my_log& l, const std::string& partition, const std::string& body) {
            l.append(partition, body);
        });
    for (const auto& rule : report.broken) log(rule);
    //! [lease_log]
    CHECK(broken.empty());
}

TEST_CASE("lease guide: all partitions in one thread")
{
    waybill::testing::memory_store<std::string> checkpoints;
    waybill::testing::memory_leases leases;
    std::map<std::uint32_t, waybill::assignment> mine;
    const std::vector<std::string> partitions{"0", "1"};
    const std::vector<order> log{{1, "a"}, {2, "b"}, {4, "c"}};
    const auto read = [&](const waybill::assignment& m) {
        std::vector<order> next;
        for (const order& o : log) {
            if (!m.from || o.sequence > m.from->sequence) next.push_back(o);
        }
        return next;
    };
    const auto handle = [](auto& tx, const order& o) -> waybill::fault {
        tx.record(o.body);
        return {};
    };
    waybill::steady_time time;
    const auto now = [&] { return time; };
    const auto dice = [] { return 0.5; };
    const waybill::wall_time wall;
    const std::uint64_t random_64_bits = 7;
    bool terminated = false;
    const auto sleep_until = [&](waybill::steady_time t) {
        time = t;
        terminated = checkpoints.records().size() == 6;
    };

    //! [lease_processor]
    using waybill::partition_lifecycle;
    waybill::fenced_store store(checkpoints, leases);  // a commit checks the lease
    const waybill::owner_id self{"host-7", random_64_bits};
    waybill::processor work({.group = {"orders", "billing", partitions, self}});
    while (!work.ended()) {
        if (terminated) work.on(waybill::stop_requested{}, now());
        waybill::match(
            work.next(now()),
            [&](const waybill::lease_manager::lease_call& c) {
                work.on(waybill::perform(leases, c, dice()), now());
            },
            [&](partition_lifecycle::open a) {
                const auto stored = store.load(work.key(a.partition));
                if (stored) mine[a.partition] = work.assignment_of(a, *stored);
                work.on(waybill::partition_lifecycle::partition_opened::of(a, stored), now());
            },
            [&](partition_lifecycle::process a) {
                waybill::assignment& m = mine[a.partition];
                auto r = waybill::process_batch(store, m, read(m), handle, wall);
                if (r.outcome == waybill::batch_outcome::committed) m.from = r.reached;
                work.on(waybill::partition_lifecycle::processed::of(a, r.outcome), now());
            },
            [&](partition_lifecycle::close a) {
                work.on(partition_lifecycle::partition_closed{a.partition, a.epoch}, now());
            },
            [&](partition_lifecycle::save a) {
                work.on(partition_lifecycle::partition_saved{a.partition, a.epoch}, now());
            },
            [&](waybill::wait_until w) { sleep_until(w.time); }, [&](waybill::idle) {});
    }
    //! [lease_processor]
    CHECK(checkpoints.records().size() == 6);
}

TEST_CASE("lease guide: a configuration is checked before it is used")
{
    const std::vector<std::string> partitions{"0", "1"};
    const waybill::owner_id self{"host-7", 81};
    std::string problem;
    const auto stop = [&](const std::string& why) { problem = why; };

    //! [lease_config]
    const waybill::processor::config config{
        .group = {"orders", "billing", partitions, self, {.interval = 10s, .expiry = 60s}},
        .lifecycle = {.poll = 1s, .save_tries = 3}};
    if (const auto error = validate(config)) stop(describe(*error));
    //! [lease_config]
    CHECK(problem.empty());
    waybill::processor::config wrong = config;
    wrong.group.leases.expiry = 20s;
    CHECK(validate(wrong)->field == "leases.expiry");
}

TEST_CASE("lease guide: a store of leases is checked by the conformance suites")
{
    waybill::testing::memory_store<std::string> checkpoints;
    my_leases leases;
    std::string broken;
    const auto log = [&](std::string_view rule) { broken += rule; };

    //! [lease_conformance]
    const auto rows = waybill::testing::lease_conformance([] { return my_leases(); });
    for (const auto& rule : rows.broken) log(rule);
    const auto fence = waybill::testing::fence_conformance(checkpoints, leases);
    for (const auto& rule : fence.broken) log(rule);
    //! [lease_conformance]
    CHECK(broken == "");
    CHECK(!rows.untested.empty());
}

TEST_CASE("lease guide: leases and partitions without a processor")
{
    my_leases store;
    waybill::steady_time now;
    const auto random = [] { return 0.5; };
    const std::vector<std::string> partitions{"0", "1"};
    const waybill::lease_group group{"orders", "billing", partitions, {"host-7", 81}};
    std::string steps;
    const auto load = [&](waybill::partition_lifecycle::open a) {
        steps += "open ";
        return waybill::partition_lifecycle::partition_opened{a.partition, a.epoch};
    };
    const auto one_batch = [&](waybill::partition_lifecycle::process a) {
        steps += "batch ";
        return waybill::partition_lifecycle::processed{
            a.partition, a.epoch, waybill::partition_lifecycle::batch_result::drained};
    };

    //! [lease_follow]
    using waybill::partition_lifecycle;
    waybill::lease_manager manager(group);
    std::vector<partition_lifecycle> parts;
    for (std::uint32_t p = 0; p != manager.partitions(); ++p) parts.emplace_back(p);

    const auto call_store = [&] {
        if (auto call = manager.call(now))
            manager.on(waybill::perform(store, *call, random()), now);
        for (std::uint32_t p = 0; p != parts.size(); ++p) {
            if (auto epoch = manager.epoch(p))
                parts[p].on(partition_lifecycle::assigned{*epoch}, now);
            else parts[p].on(partition_lifecycle::partition_lost{}, now);
            if (manager.to_release(p)) parts[p].on(partition_lifecycle::revoked{}, now);
        }
    };
    //! [lease_follow]

    //! [lease_step]
    using waybill::partition_lifecycle;
    const auto step = [&](std::uint32_t p) {
        auto& part = parts[p];
        const bool trusted = manager.trusted(p, now);
        waybill::match(
            part.next(now),
            [&](partition_lifecycle::open a) {
                if (trusted) part.on(load(a), now);
            },
            [&](partition_lifecycle::process a) {
                if (trusted) part.on(one_batch(a), now);
            },
            [&](partition_lifecycle::close a) {
                part.on(partition_lifecycle::partition_closed{p, a.epoch}, now);
            },
            [&](partition_lifecycle::save a) {
                part.on(partition_lifecycle::partition_saved{p, a.epoch}, now);
            },
            [&](partition_lifecycle::release a) {
                part.on(partition_lifecycle::partition_released{p, a.epoch}, now);
                manager.on(waybill::lease_manager::lease_released{p}, now);
            },
            [](waybill::wait_until) {}, [](waybill::idle) {});
    };
    //! [lease_step]
    const auto run = [&] {
        for (int n = 0; n != 40; ++n) {
            call_store();
            for (std::uint32_t p = 0; p != parts.size(); ++p) step(p);
            now = now + waybill::duration::milliseconds(250);
        }
    };
    run();
    CHECK(manager.held() == 2);
    CHECK(steps.starts_with("open open batch batch "));

    // Another owner joins, and gets one of the two partitions.
    waybill::lease_manager joiner({"orders", "billing", partitions, {"host-8", 82}});
    for (int n = 0; n != 200; ++n) {
        call_store();
        for (std::uint32_t p = 0; p != parts.size(); ++p) step(p);
        if (auto call = joiner.call(now)) joiner.on(waybill::perform(store, *call, random()), now);
        now = now + waybill::duration::milliseconds(250);
    }
    CHECK(manager.held() == 1);
    CHECK(joiner.held() == 1);
    joiner.on(waybill::stop_requested{}, now);
    for (std::uint32_t p = 0; p != 2; ++p)
        joiner.on(waybill::lease_manager::lease_released{p}, now);
    while (auto call = joiner.call(now)) joiner.on(waybill::perform(store, *call, random()), now);
    run();

    //! [lease_stop]
    for (auto& part : parts) part.on(waybill::partition_lifecycle::revoked{}, now);
    manager.on(waybill::stop_requested{}, now);  // then go on until manager.ended()
    //! [lease_stop]
    run();
    CHECK(manager.ended());
    const auto table = store.list("orders", "billing");
    for (const auto& row : table->leases) CHECK(row.owner.none());
}

TEST_CASE("lease guide: the plan of one owner")
{
    my_leases store;
    const std::vector<std::string> partitions{"0", "1", "2"};
    const waybill::owner_id self{"host-7", 81};
    const waybill::owner_id other{"host-8", 82};
    REQUIRE(store.claim({{"orders", "billing", "1"}, other, 1, {}}));
    const waybill::steady_time now;
    std::vector<std::uint32_t> taken;
    const auto take = [&](std::uint32_t p) { taken.push_back(p); };
    const auto release = [&](std::uint32_t) { FAIL("this owner has no partition"); };

    //! [lease_balance]
    waybill::lease_observer observer("orders", "billing", partitions);
    if (const auto table = store.list("orders", "billing")) observer.update(*table, now);
    const waybill::balance_plan plan = waybill::balance(observer.view(self), 0.0);
    for (const std::uint32_t p : plan.claim) take(p);  // free partitions
    if (plan.surplus != 0) release(plan.surplus);      // more than its share
    //! [lease_balance]
    CHECK(plan.target == 2);
    CHECK(plan.mine == 0);
    CHECK(taken == std::vector<std::uint32_t>{0, 2});
}

}  // namespace
}  // namespace lease_guide_test
