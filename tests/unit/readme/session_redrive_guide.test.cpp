// SPDX-License-Identifier: MIT
//
// The program with which the redrive chapter of include/waybill/session/README.md begins.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>

namespace session_redrive_guide_test {
namespace {

struct session_queue {
    std::vector<std::string> ids{};

    waybill::fault send(const waybill::redrive_plan::planned_message& m)
    {
        ids.push_back(m.properties.session + "/" + std::to_string(m.properties.step));
        return {};
    }
};

TEST_CASE("session guide: all dead letters of a failed step are redriven")
{
    waybill::testing::memory_pipeline_dead_letters dead_letters;
    for (const std::string session : {"order-17", "order-18"}) {
        for (std::uint64_t step = 4; step != 6; ++step) {
            waybill::pipeline_dead_letter l;
            l.properties = {session, step, 1, 5, step == 5};
            l.sequence = step;
            l.resume_at = 4;
            if (step == 5) l.reason = waybill::dead_letter_reason::session_failed;
            dead_letters.upsert(l);
        }
    }
    session_queue queue;
    waybill::testing::manual_environment env;
    std::string line;
    const auto log = [&](const std::string& text) { line = text; };

    // The receipt template is repaired: everything that failed at step 4 comes back, in order.
    const auto r = waybill::redrive_all(
        dead_letters, {.failed_step = 4}, [&](const auto& m) { return queue.send(m); }, env);
    log(waybill::describe(r));  // finished: 4 sent, 4 removed, 0 held back
    CHECK(line == "finished: 4 sent, 4 removed, 0 held back");
    CHECK(queue.ids ==
          std::vector<std::string>{"order-17~1/4", "order-17~1/5", "order-18~1/4", "order-18~1/5"});
    CHECK(dead_letters.letters().empty());
}

}  // namespace
}  // namespace session_redrive_guide_test
