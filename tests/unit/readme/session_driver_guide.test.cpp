// SPDX-License-Identifier: MIT
//
// The snippets of the guide include/waybill/session/README.md: the sessions of a queue, in a test of
// an application, and the redrive of what has stopped.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>
#include <waybill/testing/memory_session_queue.hpp>

namespace session_driver_guide_test {

struct order {
    std::string number, receipt;
    int total = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, number, receipt, total)

namespace {

using namespace std::chrono_literals;
using waybill::fault;

// The steps of examples/articles/purchase_pipeline.cpp, in short.
struct shop {
    std::string without_receipt = "Ltd";  // the end of the names of these customers
    std::vector<std::string> receipts{};

    fault operator()(order& o, const waybill::pipeline::step& s)
    {
        if (s.number == 4 && !without_receipt.empty() && s.body.ends_with(without_receipt))
            return waybill::permanent("the template has no {vat id}");
        if (s.number == 1) o.number = "W-" + std::string(s.body);
        if (s.number == 4) receipts.push_back(s.key() + " " + o.number);
        return {};
    }
};

TEST_CASE("session guide: the sessions of a queue, and the stopped ones")
{
    shop run_step;
    std::string logged;
    const auto log = [&](const std::string& line) { logged = line; };
    //! [session_test]
    waybill::testing::manual_environment env;
    waybill::testing::memory_session_queue queue(env);
    waybill::testing::memory_pipeline_dead_letters dead_letters;
    for (const std::string customer : {"Ada", "Grace", "Babbage Ltd"}) {
        auto job = waybill::job::make("order-" + customer, 5);
        while (!job->complete()) queue.send(job->next(), customer);
    }
    const waybill::session_report report = waybill::run_session(
        queue, waybill::state_codec<order>(), dead_letters, run_step, {.until_empty = true}, env);
    log(describe(report));
    //! [session_test]
    CHECK(logged + "\n" == std::string(R"text(
3 sessions, 15 messages: 13 done, 2 dead-lettered; no session to accept
)text")
                               .substr(1));

    //! [session_stopped]
    auto stopped = dead_letters.list();  // result<std::vector<pipeline_dead_letter>>
    if (!stopped) return log(stopped.error().text);
    const auto plan = waybill::plan_redrive(*stopped);
    log(describe(plan, *stopped));
    //! [session_stopped]
    CHECK(logged + "\n" == std::string(R"text(
order-Babbage Ltd -> order-Babbage Ltd~1: 2 dead letters, steps 4 to 5 of 5: failed: the template has no {vat id}
2 dead letters of 1 session to send, 0 of 0 held back, 0 not selected
)text")
                               .substr(1));
    const auto message = plan.step(*stopped, 0);
    CHECK(message.message_id == "order-Babbage Ltd/00000000000000000014~1");

    run_step.without_receipt.clear();
    const auto r = waybill::redrive_all(
        dead_letters, {.failed_step = 4}, [&](const auto& m) { return queue.send(m); }, env);
    CHECK(describe(r) == "finished: 2 sent, 2 removed, 0 held back");
    CHECK(dead_letters.letters().empty());
    const auto again = waybill::run_session(queue, waybill::state_codec<order>(), dead_letters,
                                            run_step, {.until_empty = true}, env);
    CHECK(describe(again) == "1 session, 2 messages: 2 done; no session to accept");
    // The job, the key and the state are those of the first session.
    CHECK(run_step.receipts == std::vector<std::string>{"order-Ada/4 W-Ada",
                                                        "order-Grace/4 W-Grace",
                                                        "order-Babbage Ltd/4 W-Babbage Ltd"});
}

TEST_CASE("session guide: a session that waits is found after its pause")
{
    waybill::testing::manual_environment env;
    waybill::testing::memory_session_queue queue(env);
    waybill::testing::memory_pipeline_dead_letters dead_letters;
    auto job = waybill::job::make("order-17", 1);
    while (!job->complete()) queue.send(job->next(), "");
    bool down = true;
    const auto run_step = [&](auto& /*transaction*/, order&, const waybill::pipeline::step&) {
        return down ? waybill::infrastructure("the mail server is down") : fault{};
    };
    const auto run = [&] {
        return waybill::run_session(queue, waybill::state_codec<order>(), dead_letters, run_step,
                                    {.until_empty = true}, env);
    };
    CHECK(describe(run()) ==
          "1 session, 1 message: 0 done, 1 given back; no session to accept, 1 waits");
    down = false;
    CHECK(run().sessions == 0);
    env.advance(30s);
    CHECK(run().done == 1);
}

}  // namespace
}  // namespace session_driver_guide_test
