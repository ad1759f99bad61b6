// SPDX-License-Identifier: MIT
//
// Calls that throw: the pipeline requests them again, and the current message continues.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <waybill/session/process_step.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace process_step_throwing_test {
namespace {

using waybill::fault;
using waybill::pipeline;
using state_loaded = waybill::pipeline::state_loaded;
using waybill::step_facts;
using waybill::step_outcome;

struct calls {
    pipeline pipe{};
    std::string said{};
    std::string throws{};
    std::string down{};
    std::uint64_t total = 1;
    waybill::testing::manual_environment env{};

    fault call(const std::string& what)
    {
        said += what + " ";
        if (what == throws) {
            throws.clear();
            throw std::runtime_error(what);
        }
        if (what == down) return waybill::infrastructure(what);
        return {};
    }

    step_outcome operator()(std::uint64_t step)
    {
        return waybill::process_step(
            pipe, step_facts{100 + step, step, 1, total, step == total, 1}, env,
            [&](pipeline::load_state) {
                call("load");
                return state_loaded{};
            },
            [&](pipeline::execute) { return call("run"); },
            [&](pipeline::save_state) { return call("save"); },
            [&](pipeline::write_dead_letter) { return call("park"); },
            [&](waybill::complete) { return call("complete"); },
            [&](pipeline::clear_state) { return call("clear"); },
            [&](pipeline::give_back) { call("back"); }, [](waybill::wait_until) {});
    }
};

TEST_CASE("process_step: after an exception, only the call that threw is repeated")
{
    const std::string all[] = {"load", "run", "save", "complete", "clear"};
    for (const std::string& one : all) {
        calls c;
        c.throws = one;
        CHECK_THROWS_AS(c(1), std::runtime_error);
        CHECK(c.pipe.ended().has_value() == (one == "clear"));
        CHECK(c(1) == step_outcome::done);
        std::string expected;
        for (const std::string& a : all) expected += a == one ? a + " " + a + " " : a + " ";
        CHECK(c.said == expected);
    }
}

// The same message after each exception, as a caller that catches exceptions delivers it.
struct always_throws {
    std::uint64_t deliveries;
    std::uint64_t runs = 0;
    std::uint64_t rounds = 0;
    pipeline pipe{{.retry = {.max_attempts = 4}}};
    waybill::session_progress saved{};
    std::string parked{};
    std::uint64_t tries = 0;
    waybill::testing::manual_environment env{};

    void run()
    {
        std::optional<step_outcome> end;
        for (; !end && rounds != 50; ++rounds) {
            try {
                end = once();
            } catch (const std::runtime_error&) {
            }
        }
    }
    step_outcome once()
    {
        return waybill::process_step(
            pipe, step_facts{101, 1, 1, 1, true, deliveries}, env,
            [&](pipeline::load_state) { return state_loaded{}; },
            [&](pipeline::execute) -> fault {
                ++runs;
                throw std::runtime_error("out of order");
            },
            [&](pipeline::save_state) {
                saved = pipe.progress();
                return fault{};
            },
            [&](pipeline::write_dead_letter a) {
                parked = pipe.reason();
                tries = a.tries;
                return fault{};
            },
            [](waybill::complete) { return fault{}; },
            [](pipeline::clear_state) { return fault{}; }, [](pipeline::give_back) {},
            [](waybill::wait_until) {});
    }
};

TEST_CASE("process_step: a step that always throws is dead-lettered at max_attempts")
{
    // 0: the broker does not count, and tries are saved
    for (const std::uint64_t deliveries : {1U, 0U}) {
        always_throws a{.deliveries = deliveries};
        a.run();
        CHECK(a.runs == 4);
        CHECK(a.rounds == 5);
        CHECK(a.parked == "its call threw an exception");
        CHECK(a.tries == 4);
        REQUIRE(a.saved.failed.has_value());
        CHECK(a.saved.failed->reason == waybill::dead_letter_reason::exhausted);
    }
}

TEST_CASE("process_step: after a call threw, other messages are refused until its message ends")
{
    for (const std::string one : {"run", "save", "complete"}) {
        calls c;
        c.total = 3;
        c.throws = one;
        CHECK_THROWS_AS(c(1), std::runtime_error);
        const std::string before = c.said;
        CHECK(c(2) == step_outcome::other_in_hand);
        CHECK(c(3) == step_outcome::other_in_hand);
        CHECK(c.said == before);
        CHECK(!c.pipe.over());
        CHECK(c(1) == step_outcome::done);
        c.said.clear();
        CHECK(c(2) == step_outcome::done);
        CHECK(c.said == "run save complete ");
    }
}

TEST_CASE("process_step: after clear_state threw, another message may follow")
{
    calls c;
    c.throws = "clear";
    CHECK_THROWS_AS(c(1), std::runtime_error);
    CHECK(c.pipe.ended() == step_outcome::done);
    c.said.clear();
    c.total = 3;
    CHECK(c(2) ==
          step_outcome::dead_lettered);  // of a session that has nothing: a gap, and its own
    CHECK(c.said == "clear save park complete ");

    // If clearing fails, the next message is not taken, and does not get the outcome of the
    // previous one.
    calls fails;
    fails.throws = "clear";
    CHECK_THROWS_AS(fails(1), std::runtime_error);
    fails.down = "clear";
    fails.total = 3;
    CHECK(fails(2) == step_outcome::lost);
    CHECK(fails.pipe.ended() == step_outcome::done);
    CHECK(fails.pipe.over());

    calls other;
    other.total = 3;
    other.down = "save";
    other.throws = "back";
    CHECK_THROWS_AS(other(1), std::runtime_error);
    other.said.clear();
    // the session is given back, and this message with it
    CHECK(other(2) == step_outcome::given_back);
    CHECK(other.said == "back ");
    CHECK(other.pipe.over());
}

}  // namespace
}  // namespace process_step_throwing_test
