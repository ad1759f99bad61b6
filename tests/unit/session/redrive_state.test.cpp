// SPDX-License-Identifier: MIT
//
// The state with which a redriven session begins, for all origins of its letters.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/session/pipeline.hpp>
#include <waybill/session/plan_redrive.hpp>
#include <waybill/session/redrive_plan.hpp>

namespace redrive_state_test {
namespace {

using waybill::dead_letter_reason;
using waybill::pipeline_dead_letter;
using waybill::plan_redrive;
using waybill::redrive_plan;
using waybill::session_progress;
using letters = std::vector<pipeline_dead_letter>;

// Step 2 of "trip" failed after step 1, and steps 2 to 4 were redriven as "trip~1".
waybill::pipeline_dead_letter::message came_back(std::uint64_t step)
{
    waybill::pipeline_dead_letter::message m{
        {"trip~1", step, 2, 4, step == 4}, {}, 10 + step, "m", "body", {}, {}};
    m.origin = {"trip", step, 1, 1, {}, {}};
    if (step == 2) m.origin.state = "one done";
    return m;
}
pipeline_dead_letter parked(waybill::pipeline_dead_letter::message m, dead_letter_reason why,
                            const session_progress& p, std::string_view state)
{
    m.state = state;
    return make_pipeline_dead_letter(m, waybill::pipeline::write_dead_letter{why, 13, 3, 1}, "no",
                                     p, {});
}
// The letter of step 2 from the broker's dead-letter queue, without a state.
pipeline_dead_letter drained()
{
    return make_broker_dead_letter(came_back(2), "expired", 10, nullptr, {});
}
// The state in the first message of the new session.
std::string state(letters v, const waybill::redrive_plan::options& o = {})
{
    const redrive_plan p = plan_redrive(v, {}, o);
    REQUIRE(p.ready != 0);
    for (std::uint64_t n = 1; n != p.ready; ++n) CHECK(p.step(v, n).origin.state.empty());
    return p.step(v, 0).origin.state;
}
std::string line(letters v)
{
    const redrive_plan p = plan_redrive(v);
    return describe(p.sessions.at(0), v);
}

TEST_CASE(
    "redrive_state: a redriven session without a completed step keeps the state it was sent with")
{
    // Step 3 found a gap: the message with the state was never taken, and a new state was begun.
    const session_progress nothing{.total = 4};
    letters v{drained(), parked(came_back(3), dead_letter_reason::gap, nothing, "none done"),
              parked(came_back(4), dead_letter_reason::session_failed, nothing, "none done")};
    CHECK(v[1].resume_at == 2);
    CHECK(state(v) == "one done");
    CHECK(line(v) == "trip~1 -> trip~2: 3 dead letters, steps 2 to 4 of 4: broker: expired");
    // The same if the drain has found that new state, and if there is only its letter.
    v[0] = make_broker_dead_letter(came_back(2), "expired", 10, &nothing, {});
    v[0].state = "none done";
    CHECK(state(v) == "one done");
    CHECK(state({v[0]}, {.close = true}) == "one done");
    // After a completed step, its state counts.
    const session_progress two{.done = 2, .total = 4, .first = 2};
    CHECK(state({parked(came_back(3), dead_letter_reason::failed, two, "two done"),
                 parked(came_back(4), dead_letter_reason::session_failed, two, "two done")}) ==
          "two done");
    // Also if the first step was delivered again, after its session had continued.
    CHECK(state({parked(came_back(3), dead_letter_reason::failed, two, "two done"), drained()},
                {.close = true}) == "two done");
    // Without the message that had the state, the option `damaged` accepts the remaining one.
    letters headless{v[1], v[2]};
    CHECK(state(headless, {.damaged = true}) == "none done");
    // For the first session the new state counts as before: it began without one.
    for (pipeline_dead_letter& l : v) {
        l.properties.session = "trip";
        l.properties.first = 1;
        l.origin = {};
    }
    CHECK(state(v) == "none done");
}

TEST_CASE("redrive_state: the dead letter of the last step has the state if no other one has it")
{
    // The process that saved the failure of step 2 died, and the broker has dead-lettered it. The
    // last step clears the state, so the drain finds none.
    const auto of_trip = [](std::uint64_t step) {
        waybill::pipeline_dead_letter::message m = came_back(step);
        m.properties.session = "trip";
        m.properties.first = 1;
        m.origin = {};
        return m;
    };
    const session_progress one{.done = 1, .total = 4};
    letters v{make_broker_dead_letter(of_trip(2), "too often", 10, nullptr, {}),
              parked(of_trip(3), dead_letter_reason::session_failed, one, "one done"),
              parked(of_trip(4), dead_letter_reason::session_failed, one, "one done")};
    CHECK(v[1].state.empty());
    CHECK(state(v) == "one done");
    CHECK(line(v) == "trip -> trip~1: 3 dead letters, steps 2 to 4 of 4: broker: too often");
    // If two letters have the state, that of the step that stopped the session counts.
    v[0] = parked(of_trip(2), dead_letter_reason::failed, one, "one");
    CHECK(state(v) == "one");
}

TEST_CASE("redrive_state: a session redriven without its state is marked")
{
    const session_progress two{.done = 2, .total = 4, .first = 2};
    const auto marks = [](letters v, const waybill::redrive_plan::options& o = {}) {
        return plan_redrive(v, {}, o).sessions.at(0).marks;
    };
    letters v{parked(came_back(3), dead_letter_reason::failed, two, {}),
              parked(came_back(4), dead_letter_reason::session_failed, two, {})};
    CHECK(marks(v).without_state);
    CHECK(!marks(v).damaged());
    CHECK(state(v).empty());
    CHECK(line(v) ==
          "trip~1 -> trip~2: 2 dead letters, steps 3 to 4 of 4 (without its state): failed: no");
    // A state that was too large is marked as omitted.
    v[0].state_omitted = true;
    CHECK(!marks(v).without_state);
    CHECK(marks(v).state_omitted);
    v[0].state_omitted = false;
    v[1].state = "two done";
    CHECK(!marks(v).without_state);
    // The state is sent with the first message, so later ones need none.
    v[1].state.clear();
    v[0].last_redriven_step = 3;
    CHECK(!marks(v).without_state);
    // No state is missing if no step is done, if steps are independent, or without step numbers.
    letters begins{parked(came_back(2), dead_letter_reason::failed, {}, {})};
    CHECK(!marks(begins).without_state);
    begins[0].origin.state.clear();
    CHECK(marks(begins).without_state);
    begins[0].properties.step = begins[0].properties.first = begins[0].resume_at = 1;
    CHECK(!marks(begins).without_state);
    v[0].last_redriven_step = 0;
    for (pipeline_dead_letter& l : v) l.properties.step = 0;
    CHECK(!marks(v, {.damaged = true}).without_state);
    letters alone{parked(came_back(3), dead_letter_reason::failed, two, {})};
    alone[0].independent = true;
    CHECK(!marks(alone).without_state);
}

}  // namespace
}  // namespace redrive_state_test
