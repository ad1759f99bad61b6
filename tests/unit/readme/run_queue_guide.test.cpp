// SPDX-License-Identifier: MIT
//
// The code of the guide of the module queue about run_queue, between marks.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/queue.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

namespace queue_calls {

//! [queue_calls]
using waybill::duration, waybill::fault, waybill::result;
struct my_queue {
    struct message {
        std::string id, body;
        std::uint64_t deliveries;
    };  // deliveries: 1, 2, 3 ...
    result<std::optional<message>> receive(duration lock);  // locked; nothing if none is visible
    fault complete(const message&);                         // ownership_lost without the lock
    fault abandon(const message&, bool failed);             // visible at once
    fault dead_letter(const message&, std::string_view reason);  // stores it, then removes it
    // Optional:
    fault defer(const message&, duration delay, bool failed);  // invisible for `delay`
    fault renew(const message&, duration lock);                // locked for `lock` from now on
    result<bool> empty();                                      // false also for invisible ones
};
static_assert(waybill::message_queue<my_queue>);
//! [queue_calls]

}  // namespace queue_calls

namespace {

using namespace std::chrono_literals;
using message = waybill::testing::queued_message;
using waybill::testing::manual_environment;
using my_queue = waybill::testing::memory_queue<manual_environment>;

}  // namespace

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
        const auto handle = [&](const message& m, waybill::queue_policy::message_lock& lock) {
            for (const char part : m.body) {
                if (!lock.keep()) return waybill::ownership_lost("the lock is lost");
                upload(part);
            }
            return waybill::fault{};
        };
        const waybill::queue_policy policy{.lock = 60s, .stop_when_empty = true};
        if (const auto bad = waybill::validate<my_queue>(policy))
            return stop(waybill::describe(*bad));
        waybill::queue_report report;  // complete, also if a callable throws an exception
        waybill::run_queue(queue, handle, policy, env, report);
        //! [run_queue_lock]
        CHECK(report.completed == 1);
        CHECK(report.renewals == 1);
    };
    run();
    CHECK(text.empty());
    CHECK(uploads == 3);
}

TEST_CASE("queue guide: the conformance suite for a caller's queue")
{
    manual_environment env(waybill::steady_time::at(1h), waybill::wall_time::at(24h));
    const auto reasons_of = [](my_queue& q) {
        std::vector<std::string> all;
        for (const auto& d : q.dead_letters()) all.push_back(d.reason);
        return all;
    };
    std::vector<std::string> lines;
    const auto log = [&](const std::string& line) { lines.push_back(line); };
    //! [queue_conformance]
    const auto report = waybill::testing::queue_conformance(
        [&] { return my_queue(env); },  // make: a new, empty queue at each call
        [](my_queue& q, std::string body) { q.put(body); },  // put: adds a message
        env,                                                 // sleeps until locks end
        [&](my_queue& q) { return reasons_of(q); },          // optional: the texts of dead letters
        [](my_queue& q) -> my_queue& { return q; });         // optional: a second connection
    for (const auto& rule : report.broken) log("broken: " + rule);
    //! [queue_conformance]
    CHECK(lines.empty());
    CHECK(report.untested.empty());
}
