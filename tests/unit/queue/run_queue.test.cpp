// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/environment.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/queue/run_queue.hpp>
#include <waybill/retry/call_report.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>

namespace {

using namespace std::chrono_literals;
using waybill::fault;
using waybill::fault_kind;
using waybill::queue_policy;
using waybill::queue_report;
using waybill::testing::manual_environment;
using waybill::testing::memory_queue;
using waybill::testing::queue_deferral;
using waybill::testing::queued_message;

using end_reason = queue_report::end_reason;
using outcome = queue_report::outcome;

const waybill::steady_time start = waybill::steady_time::at(1h);

[[nodiscard]] std::uint64_t sum_of_outcomes(const queue_report& r)
{
    return r.completed + r.given_back + r.deferred + r.dead_lettered + r.left_to_lock +
           r.unconfirmed;
}

template <queue_deferral D>
using queue_with = memory_queue<manual_environment, D>;

}  // namespace

TEST_CASE("messages are handled in order, and the driver ends when the queue is empty")
{
    manual_environment env(start);
    memory_queue queue(env);
    for (const char* body : {"a", "b", "c"}) queue.put(body);
    std::string handled;
    const auto handle = [&](const queued_message& m) { handled += m.body; };
    const auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
    CHECK(handled == "abc");
    CHECK(r.end == end_reason::empty);
    CHECK(r.received == 3);
    CHECK(r.completed == 3);
    CHECK(r.listed.empty());
    CHECK(queue.size() == 0);
    CHECK(waybill::describe(r) == "empty: 3 received, 3 completed");
}

TEST_CASE("each result of a handler settles the message")
{
    struct row {
        fault result;
        outcome first;
    };
    const row rows[] = {
        {{}, outcome::completed},
        {waybill::transient("busy"), outcome::deferred},
        {waybill::infrastructure("down"), outcome::deferred},
        {waybill::permanent("no such customer"), outcome::dead_lettered},
        {waybill::ownership_lost("other"), outcome::left_to_lock},
        {waybill::cancelled("stopping"), outcome::given_back},
    };
    for (const row& x : rows) {
        CAPTURE(x.result.text);
        manual_environment env(start);
        memory_queue queue(env);
        queue.put("a", "order-7");
        bool first = true;
        const auto handle = [&](const queued_message&) {
            return std::exchange(first, false) ? x.result : fault{};
        };
        auto r = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
        const bool ends = x.first == outcome::completed || x.first == outcome::dead_lettered;
        CHECK(r.received == (ends ? 1 : 2));
        CHECK(sum_of_outcomes(r) == r.received);
        CHECK(r.count_of(x.first) == 1);
        CHECK(r.completed == (x.first == outcome::dead_lettered ? 0 : 1));
        CHECK(queue.size() == 0);
        if (x.first == outcome::dead_lettered) {
            REQUIRE(r.listed.size() == 1);
            CHECK(waybill::describe(r.listed[0]) ==
                  "order-7: dead_lettered: permanent: no such customer");
            CHECK(queue.dead_letters().at(0).reason == "permanent: no such customer");
        }
    }
}
