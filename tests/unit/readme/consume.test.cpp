// SPDX-License-Identifier: MIT
//
// What the README shows of consumers that share partitions, and of those that cannot share a
// transaction.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_store.hpp>
#include <waybill/tracking.hpp>

namespace readme_consume {
namespace {

using namespace std::chrono_literals;

struct order {
    std::uint64_t sequence;
    std::string body;
};

TEST_CASE("README: a process that shares partitions")
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

    //! [processor]
    using waybill::partition_lifecycle;
    waybill::fenced_store store(checkpoints, leases);       // a commit asks whose the lease is
    const waybill::owner_id self{"host-7", random_64_bits};
    waybill::processor work({.group = {"orders", "billing", partitions, self}});
    while (!work.ended()) {
        if (terminated) work.on(waybill::stop_requested{}, now());
        waybill::match(work.next(now()),
            [&](const waybill::lease_call& c) { work.on(waybill::ask(leases, c, dice()), now()); },
            [&](partition_lifecycle::open a) {
                const auto stored = store.load(work.key(a.partition));
                if (stored) mine[a.partition] = work.assignment_of(a, *stored);
                work.on(waybill::opened_with(a, stored), now());
            },
            [&](partition_lifecycle::process a) {
                waybill::assignment& m = mine[a.partition];
                auto r = waybill::process_batch(store, m, read(m), handle, wall);
                if (r.outcome == waybill::batch_outcome::committed) m.from = r.reached;
                work.on(waybill::processed_with(a, r.outcome), now());
            },
            [&](partition_lifecycle::close a) {
                work.on(partition_lifecycle::partition_closed{a.partition, a.epoch}, now());
            },
            [&](partition_lifecycle::save a) {
                work.on(partition_lifecycle::partition_saved{a.partition, a.epoch}, now());
            },
            [&](waybill::wait_until w) { sleep_until(w.time); },
            [&](waybill::idle) {});
    }
    //! [processor]
    CHECK(checkpoints.records().size() == 6);
}

TEST_CASE("README: events that are handled side by side")
{
    struct {
        std::uint64_t next = 0;
        std::string beside;
        bool commit(std::uint64_t n, const std::string& metadata)
        {
            next = n;
            beside = metadata;
            return true;
        }
    } kafka;
    const std::vector<order> fetched{{10, "a"}, {11, "b"}, {14, "c"}};
    std::map<std::uint64_t, waybill::tracked_event> started;
    waybill::steady_time now;

    //! [tracker]
    using waybill::commit_schedule;
    waybill::completion_tracker tracker{{.max_in_flight = 1'000}, 9};              // 9 is done
    commit_schedule pace{{.every = 2, .interval = 5s}, now};
    for (const order& o : fetched) {
        if (auto t = tracker.begin(o.sequence)) started[o.sequence] = *t;  // or why not
    }
    const auto ended = [&](std::uint64_t sequence) {                       // in any order
        if (tracker.complete(started[sequence]) != waybill::event_result::applied) return;
        pace.on(commit_schedule::events_done{1}, now);
        if (!pace.due(now)) return;
        pace.on(commit_schedule::commit_started{}, now);
        const auto beside = waybill::encode_text(tracker, {.max_bytes = 4'096});
        if (kafka.commit(*tracker.resume_at(), beside.bytes))
            pace.on(commit_schedule::commit_confirmed{}, now);
        else pace.on(commit_schedule::commit_failed{}, now);
    };
    //! [tracker]
    ended(14);
    ended(10);
    CHECK(kafka.next == 11);   // 11 is still in flight; 14 is done, which stands beside it
    CHECK_FALSE(kafka.beside.empty());
    const auto again = waybill::decode_text(10, kafka.beside);
    REQUIRE(again);
    waybill::completion_tracker other{{.max_in_flight = 1'000}};
    other.resume(*again);
    CHECK(other.begin(11));
    CHECK_FALSE(other.begin(14));
}

}  // namespace
}  // namespace readme_consume
