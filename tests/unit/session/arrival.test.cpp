// SPDX-License-Identifier: MIT
//
// Messages without step numbers: a pipeline numbers them by their arrival.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/session/process_step.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace arrival_test {
namespace {

using waybill::dead_letter_reason;
using waybill::duration;
using waybill::fault;
using waybill::pipeline;
using waybill::pipeline_policy;
using waybill::session_progress;
using waybill::state_read;
using waybill::steady_time;
using waybill::step_facts;
using waybill::step_outcome;
using waybill::wall_time;

step_facts unnumbered(std::uint64_t sequence, bool last = false, std::uint64_t deliveries = 1)
{
    return {.sequence = sequence,
            .step = 0,
            .last = last,
            .deliveries = deliveries,
            .by_arrival = true};
}

/// One session: its stored progress, its effects and its dead letters.
struct session {
    pipeline_policy policy{};
    bool has_state = false;
    session_progress state{};
    std::vector<std::uint64_t> ran{};
    std::vector<std::uint64_t> failing{};
    std::string letters{};
    int saves = 0;
    pipeline pipe{policy};
    waybill::testing::manual_environment env{steady_time::at(duration::seconds(5)),
                                             wall_time::at(duration::seconds(1'000))};

    /// A new holder of the lock.
    void again() { pipe = pipeline(policy); }

    step_outcome operator()(const step_facts& facts)
    {
        return waybill::process_step(
            pipe, facts, env,
            [&](pipeline::load_state) {
                return pipeline::state_loaded{has_state ? state_read::ok : state_read::absent,
                                              state};
            },
            [&](pipeline::execute a) -> fault {
                for (const std::uint64_t n : failing) {
                    if (n == a.step) return waybill::permanent("no price");
                }
                ran.push_back(a.step);
                return {};
            },
            [&](pipeline::save_state) {
                ++saves;
                has_state = true;
                state = pipe.progress();
                return fault{};
            },
            [&](const pipeline::write_dead_letter& a) {
                letters += std::to_string(pipe.message().step) + " " + std::string(name(a.reason)) +
                           ": " + std::string(pipe.reason()) + "\n";
                return fault{};
            },
            [&](waybill::complete) { return fault{}; },
            [&](pipeline::clear_state) {
                has_state = false;
                return fault{};
            },
            [&](pipeline::give_back) {}, [&](waybill::wait_until) { return fault{}; });
    }
};

}  // namespace

TEST_CASE("arrival: messages are numbered from 1 on, and the marked one is the last")
{
    session s;
    CHECK(s(unnumbered(70)) == step_outcome::done);
    CHECK(s.state.arrived == 1);
    CHECK(s.state.arrived_sequence == 70);
    s.again();
    CHECK(s(unnumbered(75)) == step_outcome::done);
    CHECK(s(unnumbered(72, true)) == step_outcome::done);
    CHECK(s.ran == std::vector<std::uint64_t>{1, 2, 3});
    CHECK(!s.has_state);
    CHECK(s.saves == 3);
}

TEST_CASE("arrival: a message that is delivered again keeps its number and does not run again")
{
    session s;
    CHECK(s(unnumbered(70)) == step_outcome::done);
    s.again();
    CHECK(s(unnumbered(70, false, 2)) == step_outcome::repeated);
    CHECK(s(unnumbered(71)) == step_outcome::done);
    CHECK(s.ran == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("arrival: a failed session gives each later message its own number")
{
    session s;
    s.failing = {2};
    CHECK(s(unnumbered(70)) == step_outcome::done);
    CHECK(s(unnumbered(71)) == step_outcome::dead_lettered);
    CHECK(s(unnumbered(72)) == step_outcome::dead_lettered);
    s.again();
    CHECK(s(unnumbered(72, false, 2)) == step_outcome::dead_lettered);  // it was not complete
    CHECK(s(unnumbered(73, true)) == step_outcome::dead_lettered);
    CHECK(s.ran == std::vector<std::uint64_t>{1});
    CHECK(s.letters ==
          "2 failed: no price\n3 session_failed: no price\n"
          "3 session_failed: no price\n4 session_failed: no price\n");
    CHECK(!s.has_state);
}

TEST_CASE("arrival: a message that the broker took after two deliveries is a gap")
{
    session s;
    s.has_state = true;
    s.state = {.done = 1,
               .begun = wall_time::at(duration::seconds(1)),
               .arrived = 2,
               .arrived_sequence = 71};
    CHECK(s(unnumbered(72)) == step_outcome::dead_lettered);
    CHECK(s.letters == "3 gap: step 3 arrived, but step 2 is missing\n");
    CHECK(s.ran.empty());
}

TEST_CASE("arrival: its number is saved before the second delivery runs, and not before the first")
{
    session s;
    CHECK(s(unnumbered(70, false, 2)) == step_outcome::done);
    CHECK(s.saves == 2);
    CHECK(s(unnumbered(71)) == step_outcome::done);
    CHECK(s.saves == 3);
}

TEST_CASE("arrival: numbered and other messages in one session contradict each other")
{
    session s;
    CHECK(s({.sequence = 70, .step = 1, .total = 3}) == step_outcome::done);
    CHECK(s(unnumbered(71)) == step_outcome::dead_lettered);
    CHECK(s.letters ==
          "0 contradiction: step 0: it has no step number, but earlier messages of "
          "its session have one\n");

    session other;
    CHECK(other(unnumbered(70)) == step_outcome::done);
    CHECK(other({.sequence = 71, .step = 2, .total = 3}) == step_outcome::dead_lettered);
    CHECK(other.letters ==
          "2 contradiction: step 2: it has a step number, but earlier messages "
          "of its session have none\n");
}

TEST_CASE("arrival: independent messages fail alone, and the numbers go on")
{
    session s;
    s.policy.mode = pipeline_policy::pipeline_mode::independent;
    s.again();
    s.failing = {2};
    CHECK(s(unnumbered(70)) == step_outcome::done);
    CHECK(s(unnumbered(71)) == step_outcome::dead_lettered);
    s.again();
    CHECK(s(unnumbered(71, false, 2)) == step_outcome::repeated);
    CHECK(s(unnumbered(72, true)) == step_outcome::done);
    CHECK(s.ran == std::vector<std::uint64_t>{1, 3});
    CHECK(s.letters == "2 failed: no price\n");
}

}  // namespace arrival_test
