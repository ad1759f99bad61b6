// SPDX-License-Identifier: MIT
//
// The snippets of the guide include/waybill/session/README.md: the sessions of a queue.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_session_queue.hpp>

namespace session_driver_guide_test {

//! [session_driver_value]
struct order { std::string number, receipt; int total = 0; };
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, number, receipt, total)
//! [session_driver_value]

namespace {

using waybill::fault;

struct letters {
    std::vector<waybill::pipeline_dead_letter> all{};
    fault upsert(const waybill::pipeline_dead_letter& l)
    {
        all.push_back(l);
        return {};
    }
};

void send(waybill::testing::memory_session_queue& queue, const char* id, std::uint64_t steps)
{
    auto job = waybill::job::make(id, steps);
    while (!job->complete()) queue.send(job->next(), "");
}

fault succeed(order& o, const waybill::pipeline::step&)
{
    ++o.total;
    return {};
}

fault number(order& o, const waybill::pipeline::step& s)
{
    if (s.job == "order-18") return waybill::permanent("no number is left");
    o.number = "W17";
    return {};
}

TEST_CASE("session guide: the sessions of a queue")
{
    waybill::testing::manual_environment env;
    waybill::testing::memory_session_queue queue(env);
    letters dead_letters;
    send(queue, "order-17", 5);
    send(queue, "order-18", 3);
    fault (*const steps[])(order&, const waybill::pipeline::step&) = {number, succeed, succeed,
                                                                     succeed, succeed};
    std::string logged;
    const auto log = [&](const std::string& line) { logged = line; };
    //! [session_driver]
    const auto run_step = [&](order& o, const waybill::pipeline::step& s) {
        return steps[s.number - 1](o, s);                        // a fault; empty if it succeeded
    };
    const waybill::session_report report = waybill::run_session(
        queue, waybill::state_codec<order>(), dead_letters, run_step, {.until_empty = true}, env);
    log(describe(report));
    //! [session_driver]
    CHECK(report.dead_lettered == dead_letters.all.size());
    CHECK(logged + "\n" == std::string(R"text(
2 sessions, 8 messages: 5 done, 3 dead-lettered; queue_empty
)text").substr(1));
}

TEST_CASE("session guide: a step and its state in one transaction")
{
    waybill::testing::manual_environment env;
    waybill::testing::memory_session_queue queue(env);
    letters dead_letters;
    send(queue, "order-17", 2);
    std::vector<std::string> receipts;
    //! [session_driver_transaction]
    const auto run_step = [&](auto& tx, order& o, const waybill::pipeline::step& s) {
        tx.on_commit([&, key = s.key()] { receipts.push_back(key); });       // "order-17/4"
        o.receipt = s.key();
    };
    //! [session_driver_transaction]
    const auto report =
        waybill::run_session(queue, waybill::state_codec<order>(), dead_letters, run_step,
                             {.until_empty = true}, env);
    CHECK(report.done == 2);
    CHECK(receipts == std::vector<std::string>{"order-17/1", "order-17/2"});
}

}  // namespace
}  // namespace session_driver_guide_test
