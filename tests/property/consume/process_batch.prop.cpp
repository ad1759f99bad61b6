// SPDX-License-Identifier: MIT
//
// Random logs, batches, handlers and faulty stores, against a naive model. In the model each event
// in turn has its effect or its dead letter, and the checkpoint is at the last of them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace process_batch_properties {
namespace {

using waybill::batch_outcome;
using waybill::fault;
using waybill::fault_kind;
using waybill::testing::injected_fault;

// The outcomes of an event's handler: first `down` times infrastructure, then `late` times
// transient.
struct event {
    std::uint64_t sequence = 0;
    std::string body;
    int late = 0;
    int down = 0;
    bool bad = false;
};

std::vector<event> any_log()
{
    const auto n = *rc::gen::inRange(0, 40);
    std::vector<event> log;
    std::uint64_t at = *rc::gen::inRange<std::uint64_t>(0, 3);
    for (int i = 0; i != n; ++i) {
        event e;
        e.sequence = at;
        e.body = *rc::gen::arbitrary<std::string>();
        e.late = *rc::gen::weightedElement<int>({{6, 0}, {2, 1}, {1, 2}, {1, 5}});
        e.down = *rc::gen::weightedElement<int>({{8, 0}, {1, 1}, {1, 2}});
        e.bad = *rc::gen::weightedElement<int>({{5, 0}, {1, 1}}) != 0;
        log.push_back(e);
        at += *rc::gen::inRange<std::uint64_t>(1, 5);
    }
    return log;
}

const waybill::partition_key key{"log", "test", "0"};

// True if the event becomes a dead letter. The tries of a transient event are counted within one
// delivery. So the result depends on the batches, unless the event fails at all tries or succeeds
// within them.
bool is_parked(const event& e, std::uint32_t tries)
{
    return e.bad || e.late >= static_cast<int>(tries);
}

void drains(bool savepoints, bool faults)
{
    const auto log = any_log();
    waybill::batch_policy policy;
    policy.tries = 3;
    policy.on_exhausted = waybill::batch_policy::when_exhausted::dead_letter;
    policy.savepoints = savepoints;

    waybill::testing::memory_store<std::string> kept;
    int injected_faults = faults ? 12 : 0;
    waybill::testing::faulty store(kept, [&](waybill::testing::store_call c) {
        if (injected_faults == 0 || *rc::gen::inRange(0, 8) != 0) return injected_fault::none;
        --injected_faults;
        const auto all = waybill::testing::faults_of(c);
        return all[*rc::gen::inRange<std::size_t>(0, all.size())];
    });

    // An event with `late` of five is transient at every call. Others are transient `late` times.
    std::map<std::uint64_t, int> calls;
    std::uint64_t all_calls = 0;
    const auto handle = [&](auto& tx, const event& e) -> fault {
        RC_ASSERT(++all_calls < 100'000);
        const int call = calls[e.sequence]++;
        tx.inner()->record("partly");
        tx.inner()->record(e.body);
        if (call < e.down) return waybill::infrastructure("down");
        if (e.bad) return waybill::permanent("bad " + std::to_string(e.sequence));
        if (e.late == 5 || call - e.down < e.late)
            return waybill::transient("late " + std::to_string(e.sequence));
        return {};
    };

    std::optional<waybill::position> from;
    bool loaded = false;
    std::uint64_t handled = 0;
    std::uint64_t parked = 0;
    for (int deliveries = 0;; ++deliveries) {
        RC_ASSERT(deliveries < 400);
        if (!store.alive()) {
            store.revive();
            loaded = false;
        }
        if (!loaded) {
            const auto stored = store.load(key);
            if (!stored) continue;
            from = waybill::position_of(*stored);
            loaded = true;
        }
        // Batches of the log, from the checkpoint or an earlier event. Events that took effect are
        // skipped.
        std::vector<event> batch;
        const auto size = *rc::gen::inRange<std::size_t>(1, 8);
        for (const event& e : log) {
            const bool fresh = !from || e.sequence > from->sequence;
            if (!fresh && *rc::gen::inRange(0, 2) != 0 && batch.empty()) continue;
            batch.push_back(e);
            if (fresh && batch.size() >= size) break;
        }
        if (log.empty() || (from && from->sequence == log.back().sequence)) break;

        const auto before = kept.records().size();
        const auto r = waybill::process_batch(store, {key, from, 1}, batch, handle, {}, policy);
        if (!store.alive()) continue;
        RC_ASSERT(r.outcome != batch_outcome::ownership_lost);
        RC_ASSERT(r.outcome != batch_outcome::invalid);
        RC_ASSERT(r.outcome != batch_outcome::cancelled);
        if (r.outcome == batch_outcome::unknown) loaded = false;
        if (r.outcome != batch_outcome::committed) {
            if (r.outcome == batch_outcome::redeliver) RC_ASSERT(kept.records().size() == before);
            RC_ASSERT(r.handled == 0u);
            continue;
        }
        RC_ASSERT(r.repeated + r.handled + r.dead_lettered == batch.size());
        RC_ASSERT(kept.records().size() == before + 2 * r.handled);
        handled += r.handled;
        parked += r.dead_lettered;
        from = r.reached;
    }

    std::vector<std::string> effects;
    std::size_t letters = 0;
    for (const event& e : log) {
        if (!is_parked(e, policy.tries)) {
            effects.push_back("partly");
            effects.push_back(e.body);
            RC_ASSERT(!kept.letters().contains({key, e.sequence}));
            continue;
        }
        ++letters;
        const auto found = kept.letters().find({key, e.sequence});
        RC_ASSERT(found != kept.letters().end());
        RC_ASSERT(found->second.body == e.body);
        RC_ASSERT(found->second.reason == (e.bad ? "bad " : "late ") + std::to_string(e.sequence));
        RC_ASSERT(found->second.kind == (e.bad ? fault_kind::permanent : fault_kind::transient));
    }
    RC_ASSERT(kept.records() == effects);
    RC_ASSERT(kept.letters().size() == letters);
    if (!faults) RC_ASSERT(handled + parked == log.size());
    if (log.empty()) return;
    RC_ASSERT((*kept.load(key))->at.sequence == log.back().sequence);
}

TEST_CASE("process_batch: any log is drained, with the effects and dead letters of the model")
{
    CHECK(rc::check("with savepoints", [] { drains(true, false); }));
    CHECK(rc::check("without savepoints", [] { drains(false, false); }));
}

TEST_CASE("process_batch: with store faults and process deaths, effects equal those of the model")
{
    CHECK(rc::check("with savepoints", [] { drains(true, true); }));
    CHECK(rc::check("without savepoints", [] { drains(false, true); }));
}

}  // namespace
}  // namespace process_batch_properties
