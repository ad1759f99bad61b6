// SPDX-License-Identifier: MIT
//
// Each allocation of a relay fails in turn, alone or with all later ones until the caller catches.
// A further call sends the rest. No row is lost, and none is marked before it has arrived.

#include <cstdint>
#include <new>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/queue/relay.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_outbox.hpp>

namespace relay_memory_test {
namespace {

namespace scarce = tests_support::scarce;
using waybill::batch_sender;
using waybill::relay_report;
using waybill::result;
using waybill::wall_time;
using waybill::testing::memory_outbox;

/// Calls `f` with enough memory: the allocations of a store are not those of the relay.
template <class F>
auto amply(F f)
{
    const scarce::pause all_that_is_needed;
    return f();
}

struct store {
    using message = memory_outbox::message;
    using transaction = memory_outbox::transaction;
    using claimed_rows = memory_outbox::claimed_rows;
    using positions = std::vector<std::uint64_t>;
    memory_outbox box{};
    std::set<std::string> arrived{};
    bool early = false;

    result<void> add(transaction& tx, const message& m) { return box.add(tx, m); }
    result<claimed_rows> claim(std::uint64_t max, wall_time now, wall_time until)
    {
        return amply([&] { return box.claim(max, now, until); });
    }
    result<void> hold(const claimed_rows& c, const positions& p, wall_time until)
    {
        return amply([&] { return box.hold(c, p, until); });
    }
    result<void> mark_sent(const claimed_rows& c, const positions& p)
    {
        for (const std::uint64_t n : p) early = early || !arrived.contains(c.messages[n].id);
        return amply([&] { return box.mark_sent(c, p); });
    }
    result<void> mark_dead(const claimed_rows& c, std::uint64_t n, const std::string& reason,
                           bool b)
    {
        return amply([&] { return box.mark_dead(c, n, reason, b); });
    }
    template <class Batch>
    waybill::send_outcome publish(const Batch& batch)
    {
        return amply([&]() -> waybill::send_outcome {
            if (batch.size() == 3 && arrived.empty()) return batch_sender::outcome_unknown{};
            for (const auto& m : batch) arrived.insert(m.id);
            return batch_sender::accepted{};
        });
    }
};

constexpr int rows = 12;

store filled()
{
    store s;
    for (int n = 0; n != rows; ++n) {
        auto tx = *s.box.begin();
        (void)s.box.add(tx, {.key = n % 2 != 0 ? "a" : "",
                             .id = std::to_string(n),
                             .body = n == 5 ? std::string(200, 'x') : "b"});
        (void)tx.commit();
    }
    return s;
}

/// True if an allocation has failed.
bool relay_with(std::uint64_t allocations)
{
    store s = filled();
    waybill::testing::manual_environment env;
    batch_sender sender{{.limit = {.bytes = 100, .items = 3, .answers_per_entry = false},
                         .exact_sizes = true,
                         .ordered = true}};
    const auto publish = [&](const auto& batch) { return s.publish(batch); };
    const relay_report::policy drain{.drain = true};
    relay_report report;
    const bool failed = scarce::fails_after(
        allocations, [&] { waybill::relay(s, sender, publish, env, drain, report); });
    if (failed) waybill::relay(s, sender, publish, env, drain, report);
    CHECK(report.outcome == relay_report::ending::drained);
    CHECK(s.arrived.size() == rows - 1);
    CHECK_FALSE(s.early);
    REQUIRE(s.box.rows().size() == 1);
    CHECK(s.box.rows().begin()->second.dead);
    CHECK(sender.finished());
    return failed;
}

TEST_CASE("relay: each allocation in turn fails, and no row is lost")
{
    for (const bool once : {false, true}) {
        scarce::fails_once = once;
        std::uint64_t allocations = 0;
        while (relay_with(allocations)) ++allocations;
        CHECK(allocations > 20);
    }
    scarce::fails_once = false;
}

}  // namespace
}  // namespace relay_memory_test
