// SPDX-License-Identifier: MIT

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/session/sweep.hpp>

namespace sweep_test {
namespace {

using namespace std::chrono_literals;
using waybill::duration;
using waybill::plan_sweep;
using waybill::session_progress;
using waybill::state_read;
using waybill::sweep_item;
using waybill::sweep_policy;
using waybill::wall_time;

const wall_time day_100 = wall_time::at(100 * 24h);

sweep_item::swept_state state(duration age, session_progress p)
{
    p.changed = day_100 - age;
    return {"order-17", state_read::ok, std::move(p), {}};
}
session_progress failed()
{
    session_progress p{.done = 2, .total = 5};
    p.failed = waybill::session_progress::failure{.step = 3};
    return p;
}
const session_progress finished{.done = 5, .total = 5};
const session_progress half{.done = 2, .total = 5};

std::optional<sweep_item::sweep_verdict> verdict(const sweep_item::swept_state& s,
                                                 const sweep_policy& p = {})
{
    const std::vector<sweep_item::swept_state> one{s};
    const auto checked = plan_sweep(one, day_100, p);
    REQUIRE(checked);
    const auto& plan = *checked;
    if (plan.empty()) return {};
    CHECK(name(plan[0].verdict) != "?");
    CHECK(!describe(plan[0]).empty());
    return plan[0].verdict;
}

TEST_CASE("sweep: the age and the progress of a state decide its verdict")
{
    CHECK(!verdict(state(14 * 24h, finished)));
    CHECK(verdict(state(14 * 24h + 1ns, finished)) == sweep_item::sweep_verdict::clear_finished);
    CHECK(!verdict(state(30 * 24h, failed())));
    CHECK(verdict(state(30 * 24h + 1ns, failed())) == sweep_item::sweep_verdict::clear_failed);
    CHECK(!verdict(state(24h, half)));
    CHECK(verdict(state(24h + 1ns, half)) == sweep_item::sweep_verdict::stuck);
    CHECK(verdict(state(99 * 24h, half)) == sweep_item::sweep_verdict::stuck);
    CHECK(verdict(state(61 * 24h, half), {.give_up_after = 60 * 24h}) ==
          sweep_item::sweep_verdict::clear_stuck);
    // A session without a known total is not finished.
    CHECK(verdict(state(99 * 24h, {.done = 5})) == sweep_item::sweep_verdict::stuck);
    // A failed one is never cleared as finished, for any numbers.
    session_progress both = failed();
    both.done = 5;
    CHECK(!verdict(state(20 * 24h, both)));
    // A clock that was wrong does not make it old.
    CHECK(!verdict(state(-99 * 24h, finished)));
}

TEST_CASE("sweep: unreadable states are reported and never cleared")
{
    for (const state_read how : {state_read::newer, state_read::corrupt, state_read::too_large}) {
        const sweep_item::swept_state s{"x", how, {}, wall_time::lowest()};
        CHECK(verdict(s) == sweep_item::sweep_verdict::unreadable);
        const std::vector<sweep_item::swept_state> one{s};
        const auto plan = plan_sweep(one, day_100);
        REQUIRE(plan);
        CHECK(!plan->at(0).clears());
    }
    CHECK(!verdict({"x", state_read::absent, {}, {}}));
    CHECK(verdict({"x", state_read::ok, finished, {}}) == sweep_item::sweep_verdict::no_time);
    CHECK(verdict({"x", state_read::ok, finished, day_100 - 20 * 24h}) ==
          sweep_item::sweep_verdict::clear_finished);
}

TEST_CASE("sweep: a state that has changed since the plan is not cleared")
{
    const std::vector<sweep_item::swept_state> states{state(20 * 24h, half),
                                                      state(20 * 24h, finished)};
    const auto checked = plan_sweep(states, day_100);
    REQUIRE(checked);
    const auto& plan = *checked;
    REQUIRE(plan.size() == 2);
    CHECK(plan[1].index == 1);
    CHECK(describe(plan[0]) == "stuck at 2 of 5 for 480h");
    CHECK(!plan[0].may_clear(states[0]));
    CHECK(plan[1].may_clear(states[1]));
    CHECK(!plan[1].may_clear(state(1h, finished)));
    sweep_item::swept_state other = states[1];
    other.progress.done = 6;
    CHECK(!plan[1].may_clear(other));
    other = states[1];
    other.outcome = state_read::corrupt;
    CHECK(!plan[1].may_clear(other));
}

TEST_CASE("sweep: a policy that could restart a session is refused, and plans nothing")
{
    CHECK(!validate(sweep_policy{}));
    const sweep_policy wrong[] = {{.messages_live = {}},
                                  // longer than failed states are kept
                                  {.messages_live = 40 * 24h},
                                  {.stuck_after = {}},
                                  {.give_up_after = 24h}};
    const char* const fields[] = {"sweep.messages_live", "sweep.keep_failed", "sweep.stuck_after",
                                  "sweep.give_up_after"};
    for (int i = 0; i != 4; ++i) {
        REQUIRE(validate(wrong[i]));
        CHECK(validate(wrong[i])->field == fields[i]);
        const std::vector<sweep_item::swept_state> one{state(99 * 24h, finished)};
        const auto plan = plan_sweep(one, day_100, wrong[i]);
        REQUIRE(!plan);
        CHECK(plan.error().field == fields[i]);
    }
}

}  // namespace
}  // namespace sweep_test
