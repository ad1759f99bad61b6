// SPDX-License-Identifier: MIT
//
// The code of the guide of the module queue about run_queue, between marks.
#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <waybill/core/environment.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>

namespace {

using namespace std::chrono_literals;
using message = waybill::testing::queued_message;
using waybill::testing::manual_environment;
using my_queue = waybill::testing::memory_queue<manual_environment>;

}  // namespace

TEST_CASE("queue guide: a mail server that is down for an hour")
{
    manual_environment clocks(waybill::steady_time::at(1h), waybill::wall_time::at(24h));
    my_queue queue(clocks);
    for (int i = 0; i != 100; ++i) queue.put("mail");
    queue.put("", "order-7");
    struct {
        waybill::fault deliver(const message& m)
        {
            if (clocks.now() < waybill::steady_time::at(2h)) return waybill::infrastructure("down");
            if (m.body.empty()) return waybill::permanent("no address");
            return {};
        }
        manual_environment& clocks;
    } smtp{clocks};
    std::string text;
    const auto log = [&](const std::string& line) { text += line; };
    waybill::time_limited env(clocks, 2h);
    //! [run_queue]
    waybill::circuit_breaker breaker;
    const auto report = waybill::run_queue(
        queue, [&](const message& m) { return smtp.deliver(m); },
        {.lock = 90s, .retry_for = 24h, .breaker = &breaker}, env);
    for (const auto& d : report.listed) log(waybill::describe(d));
    //! [run_queue]
    CHECK(report.completed == 100);
    CHECK(report.outages < 80);
    CHECK(text == "order-7: dead_lettered: permanent: no address");
}

TEST_CASE("queue guide: a handler with steps, and a report that survives exceptions")
{
    manual_environment env(waybill::steady_time::at(1h));
    my_queue queue(env);
    queue.put("abc");
    int uploads = 0;
    const auto upload = [&](char) {
        ++uploads;
        env.advance(20s);
    };
    std::string text;
    const auto stop = [&](const std::string& line) { text = line; };
    const auto run = [&] {
        //! [run_queue_lock]
        static_assert(waybill::message_queue<my_queue>);
        const auto handle = [&](const message& m, waybill::queue_policy::message_lock& lock) {
            for (const char part : m.body) {
                if (!lock.keep()) return waybill::ownership_lost("the lock is lost");
                upload(part);
            }
            return waybill::fault{};
        };
        const waybill::queue_policy policy{.lock = 60s, .stop_when_empty = true};
        if (const auto bad = waybill::validate(policy)) return stop(waybill::describe(*bad));
        waybill::queue_report report;        // complete, also if a callable throws an exception
        waybill::run_queue(queue, handle, policy, env, report);
        //! [run_queue_lock]
        CHECK(report.completed == 1);
        CHECK(report.renewals == 1);
    };
    run();
    CHECK(text.empty());
    CHECK(uploads == 3);
}
