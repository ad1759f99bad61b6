// SPDX-License-Identifier: MIT
//
// run_partitions with callables that throw: an exception at each call of the log, the store, the
// leases and the handler. A further call continues.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/exceptions.hpp>
#include <waybill/lease/run_partitions.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_log.hpp>
#include <waybill/testing/memory_store.hpp>

namespace run_partitions_throwing_test {
namespace {

using waybill::duration;
using waybill::partition_key;
using waybill::partition_tasks;
using waybill::partitions_report;
using waybill::steady_time;
using waybill::testing::injected_fault;
using waybill::testing::manual_environment;
using waybill::testing::memory_event;
using waybill::testing::memory_leases;
using waybill::testing::memory_log;
using memory = waybill::testing::memory_store<std::string>;

/// Throws at call number `at`.
struct thrower {
    std::uint64_t at = ~std::uint64_t{0};
    std::uint64_t calls = 0;
    void call()
    {
        if (calls++ == at) throw std::runtime_error("call " + std::to_string(at));
    }
};

struct throwing_log {
    memory_log<>& log;
    thrower& t;
    auto partitions()
    {
        t.call();
        return log.partitions();
    }
    auto read(const std::string& p, const std::optional<waybill::position>& after, std::uint64_t n)
    {
        t.call();
        return log.read(p, after, n);
    }
    auto end(const std::string& p)
    {
        t.call();
        return log.end(p);
    }
};

struct throwing_leases {
    memory_leases& rows;
    thrower& t;
    auto list(const std::string& source, const std::string& group)
    {
        t.call();
        return rows.list(source, group);
    }
    auto renew(const waybill::owner_heartbeat& own, std::uint64_t since)
    {
        t.call();
        return rows.renew(own, since);
    }
    auto claim(const waybill::lease_claim& c) { return rows.claim(c); }
    auto claim_all(const std::vector<waybill::lease_claim>& claims)
    {
        t.call();
        return rows.claim_all(claims);
    }
    auto heartbeat(const waybill::owner_heartbeat& p) { return rows.heartbeat(p); }
    auto leave(const waybill::owner_heartbeat& p)
    {
        t.call();
        return rows.leave(p);
    }
    template <class Tx>
    auto epoch(Tx& tx, const partition_key& key)
    {
        t.call();
        return rows.epoch(tx, key);
    }
};

struct script {
    thrower* t;
    injected_fault operator()(waybill::testing::store_call) const
    {
        t->call();
        return injected_fault::none;
    }
};

struct fixture {
    memory_log<> kept{{"a", "b"}};
    memory effects;
    memory_leases rows;
    thrower t{};
    throwing_log log{kept, t};
    waybill::testing::faulty<memory, script> store{effects, script{&t}};
    throwing_leases leases{rows, t};
    manual_environment env{steady_time::at(duration::seconds(0))};
    partition_tasks::policy policy{.group = "billing", .owner = "host-7", .max_events = 2};

    fixture()
    {
        for (const char* body : {"1", "2", "3"}) kept.append("a", body);
        kept.append("b", "4");
    }

    [[nodiscard]] auto handler()
    {
        return [this](auto& tx, const memory_event& e, const partition_key& key) {
            t.call();
            tx.inner()->record(key.partition + e.body);
        };
    }

    void check_effects() const
    {
        std::string a;
        std::string b;
        for (const std::string& r : effects.records()) (r[0] == 'a' ? a : b) += r[1];
        CHECK(a == "123");
        CHECK(b == "4");
        CHECK(effects.letters().empty());
        const auto table = *rows.list("", "billing");
        for (const auto& row : table.leases) CHECK(row.owner.none());
    }
};

TEST_CASE("run_partitions throwing: after an exception a further call with the report continues")
{
    std::uint64_t tried = 0;
    for (std::uint64_t at = 0;; ++at, ++tried) {
        fixture f;
        f.t.at = at;
        f.env.stop_at(steady_time::at(duration::seconds(40)));
        partitions_report r;
        bool threw = false;
        try {
            waybill::run_partitions(f.log, f.store, f.leases, f.handler(), f.policy, f.env, r);
        } catch (const std::runtime_error&) {
            threw = true;
        }
        if (!threw) {
            f.check_effects();
            break;
        }
        CAPTURE(at);
        CHECK_FALSE(r.released);
        const auto before = r;
        f.env.stop_at(f.env.now() + duration::seconds(40));
        waybill::run_partitions(f.log, f.store, f.leases, f.handler(), f.policy, f.env, r);
        f.check_effects();
        CHECK(r.released);
        CHECK(r.handled >= before.handled);
        CHECK(r.handled == 4);  // within 40 s: without the report, the leases would expire in 60 s
        if (before.incarnation != 0) CHECK(r.incarnation == before.incarnation);
    }
    CHECK(tried > 60);
}

TEST_CASE("run_partitions throwing: after an exception the same tasks go on")
{
    for (std::uint64_t at = 1;; ++at) {
        fixture f;
        partition_tasks work(f.policy, *f.log.partitions(), f.env);
        f.t.at = at;
        f.env.stop_at(steady_time::at(duration::seconds(40)));
        bool threw = false;
        try {
            (void)waybill::run_partitions(f.log, f.store, f.leases, f.handler(), work, f.env);
        } catch (const std::runtime_error&) {
            threw = true;
        }
        if (!threw) break;
        CAPTURE(at);
        const partitions_report& r = work.report();
        CHECK(r.failed_batches + r.failed_opens + r.failed_lease_calls == 1);
        f.env.stop_at(f.env.now() + duration::seconds(40));
        (void)waybill::run_partitions(f.log, f.store, f.leases, f.handler(), work, f.env);
        f.check_effects();
        CHECK(r.handled == 4);
        CHECK(r.released);
    }
}

TEST_CASE(
    "run_partitions throwing: a handler that always throws for one event ends as a dead letter")
{
    fixture f;
    partitions_report r;
    int exceptions = 0;
    const auto handle = [](auto& tx, const memory_event& e) {
        tx.inner()->record(e.body);
        if (e.body == "2") throw std::runtime_error("unreadable");
    };
    while (!r.released && exceptions < 20) {
        f.env.stop_at(f.env.now() + duration::seconds(100));
        try {
            waybill::run_partitions(f.log, f.store, f.leases, handle, f.policy, f.env, r);
        } catch (const std::runtime_error&) {
            ++exceptions;
        }
    }
    CHECK(exceptions <= 6);  // 2 * 3 + log2(2) - 1
    CHECK(r.dead_lettered == 1);
    CHECK(r.handled == 3);
    CHECK(f.effects.records().size() == 3);
}

TEST_CASE("run_partitions throwing: the last fault names an exception, and its repair")
{
    fixture f;
    partitions_report r;
    bool throws = true;
    const auto handle = [&](auto& tx, const memory_event& e, const partition_key& key) {
        if (key.partition == "a" && e.body == "2" && std::exchange(throws, false))
            throw std::runtime_error("once");
        tx.inner()->record(e.body);
    };
    f.env.stop_at(steady_time::at(duration::seconds(40)));
    CHECK_THROWS_AS(waybill::run_partitions(f.log, f.store, f.leases, handle, f.policy, f.env, r),
                    std::runtime_error);
    CHECK(r.last_fault == waybill::infrastructure("an exception"));
    CHECK(r.last_partition == "a");
    CHECK(r.repeated_calls == 2);  // of "1", which was rolled back, and of "2"
    CHECK_FALSE(r.repaired);

    partitions_report stopped = r;
    manual_environment at_once = f.env;
    at_once.stop_at(at_once.now());
    waybill::run_partitions(f.log, f.store, f.leases, handle, f.policy, at_once, stopped);
    CHECK(stopped.last_fault == r.last_fault);  // not lost in a call that does nothing
    CHECK_FALSE(stopped.repaired);

    f.env.stop_at(f.env.now() + duration::seconds(40));
    waybill::run_partitions(f.log, f.store, f.leases, handle, f.policy, f.env, r);
    CHECK(r.last_fault == waybill::infrastructure("an exception"));
    CHECK(r.last_partition == "a");
    CHECK(r.repaired);
    CHECK(r.fenced);
}

TEST_CASE("run_partitions throwing: with catching, an exception is a fault of its event")
{
    fixture f;
    f.env.stop_at(steady_time::at(duration::seconds(40)));
    const auto handle = [](auto& tx, const memory_event& e) {
        tx.inner()->record(e.body);
        if (e.body == "2") throw std::runtime_error("unreadable");
    };
    const partitions_report r = waybill::run_partitions(f.log, f.store, f.leases,
                                                        waybill::catching(handle), f.policy, f.env);
    CHECK(r.handled == 3);
    CHECK(r.dead_lettered == 1);
    CHECK((*f.effects.find({"", "billing", "a"}, 2))->reason == "unreadable");
}

}  // namespace
}  // namespace run_partitions_throwing_test
