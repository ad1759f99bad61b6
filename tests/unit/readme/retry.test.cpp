// SPDX-License-Identifier: MIT
//
// What the README shows of trying again, and of not trying.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <waybill/consume.hpp>
#include <waybill/queue.hpp>
#include <waybill/retry.hpp>

namespace readme_retry {
namespace {

using namespace std::chrono_literals;

TEST_CASE("README: a call that is tried again, and one that is not made")
{
    struct {
        int calls = 0;
        waybill::fault send(const std::string&)
        {
            return ++calls % 3 == 0 ? waybill::fault{} : waybill::infrastructure("no route to host");
        }
    } sdk;
    const std::string mail = "mail";
    waybill::steady_time time;
    const auto clock = [&] { return time; };
    const auto sleep_until = [&](waybill::steady_time t) { time = t; };
    const auto dice = [] { return 0.5; };
    std::vector<std::string> parked;
    const auto park = [&](const std::string& m, const std::string&) { parked.push_back(m); };

    //! [retry_call]
    waybill::retry_token_bucket tokens({.tokens = 100, .successes = 10});     // shared by all who retry
    waybill::call_policy policy = waybill::retry_presets::aws_standard();     // dated data, yours to change
    policy.time_limit = 1min;
    auto r = waybill::retry_call(policy, [&] { return sdk.send(mail); }, clock, sleep_until, dice,
                                 waybill::shared_budget(tokens));
    if (!r.ok()) park(mail, r.reason.text);
    //! [retry_call]
    CHECK(r.ok());
    CHECK(sdk.calls == 3);
    CHECK(parked.empty());
}

TEST_CASE("README: a circuit breaker")
{
    std::vector<std::string> inbox(30, "mail");
    std::uint64_t handled = 0;
    bool down = true;
    const auto handle = [&](const std::string&) -> waybill::fault {
        ++handled;
        return down ? waybill::infrastructure("connection refused") : waybill::fault{};
    };
    waybill::steady_time time;
    std::uint64_t pauses = 0;
    const auto pause_until = [&](waybill::steady_time t) {
        time = t;
        down = ++pauses < 3;
    };
    const auto now = [&] { return time; };

    //! [breaker]
    waybill::circuit_breaker breaker({.failure_ratio = 0.5, .minimum_throughput = 10});
    while (!inbox.empty()) {
        if (auto permit = waybill::scoped_permit(breaker, now)) {   // what throws is reported, too
            const waybill::fault f = handle(inbox.back());
            permit.record(f.kind);
            if (f.ok()) inbox.pop_back();
        } else {
            pause_until(breaker.next_change(now()));   // open: nothing is received, nothing is tried
        }
    }
    //! [breaker]
    CHECK(handled == 30 + 10 + 2);  // ten until it shut, two probes
}

TEST_CASE("README: what to tell a queue")
{
    struct {
        std::vector<std::string> said;
        void remove() { said.emplace_back("remove"); }
        void give_back(bool) { said.emplace_back("give back"); }
        void give_back_at(waybill::wall_time) { said.emplace_back("later"); }
        void park(const std::string& why) { said.push_back(why); }
    } queue;
    struct {
        std::uint64_t deliveries = 3;
        std::uint64_t outages = 0;
        waybill::duration lock_left = 20s;
    } m;
    const waybill::settle_policy policy{.max_deliveries = 10};
    const waybill::wall_time now;
    const auto dice = [] { return 0.5; };
    for (const waybill::fault& f : {waybill::fault{}, waybill::permanent("no such customer"),
                                    waybill::infrastructure("the database is down")}) {
        //! [settle]
        const waybill::queue_delivery d{.count = m.deliveries, .lock_left = m.lock_left,
                                        .outage_deliveries = m.outages};
        waybill::match(
            waybill::settle(policy, d, f.kind, dice(), now),
            [&](waybill::complete) { queue.remove(); },
            [&](waybill::abandon a) { queue.give_back(a.failed); },
            [&](waybill::defer a) { queue.give_back_at(a.until); },
            [&](waybill::dead_letter_message a) { queue.park(waybill::describe(a, f.text)); },
            [&](waybill::let_lock_expire) {});  // its lock runs out, then it is delivered again
        //! [settle]
    }
    CHECK(queue.said.size() == 2);
}

}  // namespace
}  // namespace readme_retry
