// SPDX-License-Identifier: MIT
//
// The snippets of include/waybill/testing/README.md that use drivers.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/chrono.hpp>
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/lease.hpp>
#include <waybill/session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_log.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>
#include <waybill/testing/memory_session_queue.hpp>
#include <waybill/testing/memory_store.hpp>

namespace testing_guide_test {

using namespace std::chrono_literals;

namespace consumer {

struct order {
    std::uint64_t sequence;
    std::string account;
    long amount;
};

struct booking {
    std::string account;
    long amount;
};

std::vector<std::vector<order>> some_orders()
{
    return {{{1, "a", 10}, {2, "b", 20}}, {{1, "a", 30}}};
}

TEST_CASE("testing guide: a consumer with effects of its own type")
{
    std::map<std::string, long> sums;
    //! [testing_consumer]
    std::vector<std::vector<order>> orders = some_orders();  // the partitions "0", "1" ...
    waybill::testing::memory_log log(orders);
    waybill::testing::memory_store<booking> store;
    waybill::testing::memory_leases leases;
    waybill::testing::manual_environment env;
    const auto handle = [](auto& tx, const order& o) { tx.record(booking{o.account, o.amount}); };
    const auto r = waybill::run_partitions(log, store, leases, handle,
                                           {.owner = "me", .until_drained = true}, env);
    for (const booking& b : store.records()) sums[b.account] += b.amount;
    //! [testing_consumer]
    CHECK(r.drained);
    CHECK(sums == std::map<std::string, long>{{"a", 40}, {"b", 20}});
}

}  // namespace consumer

TEST_CASE("testing guide: times and stops")
{
    const auto start = waybill::steady_time{} + 5s;
    const auto wall_start = waybill::wall_time{} + 9s;
    //! [testing_times]
    waybill::testing::manual_environment env;  // both clocks at 1970-01-01T00:00Z
    waybill::testing::manual_environment later(start, wall_start);
    env.advance(1h);                               // moves both clocks, as a slow call does
    env.stop_at(env.now() + 10s);                  // requests a stop from then on
    env.stop_at(waybill::steady_time::highest());  // withdraws it
    //! [testing_times]
    CHECK(env.now() == waybill::steady_time{} + 1h);
    CHECK(env.wall_now() == waybill::wall_time{} + 1h);
    CHECK(later.now() == start);
    CHECK(later.wall_now() == wall_start);
    env.sleep_until(env.now() + 1min);
    CHECK_FALSE(env.stop_requested());
    CHECK(env.slept() == 1min);
}

namespace sessions {

struct order {
    int total = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, total)

TEST_CASE("testing guide: a queue with sessions")
{
    waybill::testing::memory_pipeline_dead_letters dead_letters;
    std::uint64_t steps = 0;
    const auto run_step = [&](order&, const waybill::pipeline::step& s) {
        steps += s.number;
        return waybill::fault{};
    };
    //! [testing_sessions]
    waybill::testing::manual_environment env;
    waybill::testing::memory_session_queue queue(env);  // its locks expire by this clock
    auto job = waybill::job::make("order-17", 5);
    while (!job->complete()) queue.send(job->next(), "");
    const auto report = waybill::run_session(queue, waybill::state_codec<order>(), dead_letters,
                                             run_step, {.until_empty = true}, env);
    //! [testing_sessions]
    CHECK(steps == 1 + 2 + 3 + 4 + 5);
    CHECK(report.done == 5);
}

}  // namespace sessions
}  // namespace testing_guide_test
