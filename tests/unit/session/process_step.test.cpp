// SPDX-License-Identifier: MIT

#include <cstdint>
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include <waybill/session/process_step.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace process_step_test {
namespace {

using waybill::duration;
using waybill::fault;
using waybill::fault_kind;
using waybill::pipeline;
using waybill::result;
using state_loaded = waybill::pipeline::state_loaded;
using waybill::state_read;
using waybill::steady_time;
using waybill::step_facts;
using waybill::step_outcome;
using waybill::wall_time;
using waybill::testing::manual_environment;

/// Records the calls, and returns the scripted results.
struct calls {
    pipeline pipe;
    std::string said{};
    state_loaded found{};
    fault run{};
    fault save{};
    fault complete{};
    fault waited{};
    std::function<void(int)> on_save{};
    int saves = 0;
    std::uint64_t deliveries = 1;
    manual_environment env{};

    step_outcome operator()(std::uint64_t step)
    {
        const step_facts m{100 + step, step, 1, 2, step == 2, deliveries};
        return waybill::process_step(
            pipe, m, env,
            [&](pipeline::load_state) {
                said += "load ";
                return found;
            },
            [&](pipeline::execute) {
                said += "run ";
                env.advance(duration::seconds(5));
                const fault f = run;
                run = {};
                return f;
            },
            [&](pipeline::save_state) {
                said += "save ";
                if (on_save) on_save(++saves);
                return save;
            },
            [&](pipeline::write_dead_letter) {
                said += "park ";
                return result<void>();
            },
            [&](waybill::complete) {
                said += "complete ";
                return complete;
            },
            [&](pipeline::clear_state) -> result<void> {
                said += "clear ";
                return {};
            },
            [&](pipeline::give_back) { said += "back "; },
            [&](waybill::wait_until w) {
                said += "wait ";
                if (waited.ok()) env.sleep_until(w.time);
                return waited;
            });
    }
};

calls with(waybill::pipeline_policy p = {})
{
    p.retry.pauses = {.base = duration::seconds(4), .spread = waybill::backoff::jitter::none};
    return calls{pipeline(p)};
}

TEST_CASE("process_step: two steps, from the first to the last")
{
    calls c = with();
    CHECK(c(1) == step_outcome::done);
    CHECK(c.said == "load run save complete ");
    c.said.clear();
    CHECK(c(2) == step_outcome::done);
    CHECK(c.said == "run save complete clear ");
    CHECK(!c.pipe.over());
}

TEST_CASE("process_step: a pause begins when the step has ended")
{
    calls c = with();
    c.run = waybill::transient("busy");
    CHECK(c(1) == step_outcome::done);
    CHECK(c.said == "load run wait run save complete ");
    CHECK(c.env.now() == steady_time::at(duration::seconds(5 + 4 + 5)));
}

TEST_CASE("process_step: a lock lost in a pause ends the session")
{
    calls c = with();
    c.run = waybill::transient("busy");
    c.waited = waybill::ownership_lost("gone");
    CHECK(c(1) == step_outcome::lost);
    CHECK(c.said == "load run wait ");
    CHECK(c.pipe.over());
    CHECK(c(1) == step_outcome::lost);
    CHECK(c.said == "load run wait ");
}

TEST_CASE("process_step: a cancelled pause gives the session back")
{
    calls c = with();
    c.run = waybill::transient("busy");
    c.waited = waybill::cancelled("stop");
    CHECK(c(1) == step_outcome::given_back);
    CHECK(c.said == "load run wait save back ");
    CHECK(c.pipe.over());
}

TEST_CASE("process_step: pauses after a failed load_state grow with the deliveries")
{
    const auto until = [](std::uint64_t deliveries) {
        pipeline pipe(with().pipe);
        std::int64_t given = -1;
        const step_facts m{101, 1, 1, 2, false, deliveries};
        manual_environment env;
        const step_outcome e = waybill::process_step(
            pipe, m, env,
            [](pipeline::load_state) { return state_loaded{.kind = fault_kind::infrastructure}; },
            [](pipeline::execute) { return fault{}; }, [](pipeline::save_state) { return fault{}; },
            [](pipeline::write_dead_letter) { return fault{}; },
            [](waybill::complete) { return fault{}; },
            [](pipeline::clear_state) { return fault{}; },
            [&](pipeline::give_back g) { given = g.until.since_epoch().count() / 1'000'000'000; },
            [](waybill::wait_until) {});
        CHECK(e == step_outcome::given_back);
        return given;
    };
    CHECK(until(1) == 4);
    CHECK(until(2) == 8);
    CHECK(until(9) == 30);
    CHECK(until(0) == 30);
}

TEST_CASE("process_step: a stop request during the save of a try gives the step back")
{
    calls c = with();
    c.deliveries = 0;
    c.on_save = [&](int saves) {
        if (saves == 1) c.pipe.on(waybill::stop_requested{}, c.env.now());
    };
    CHECK(c(1) == step_outcome::given_back);
    CHECK(c.said == "load save save back ");
    CHECK(c.pipe.over());
}

TEST_CASE("process_step: without a delivery count, a pause comes before the save of the try")
{
    calls c = with();
    c.deliveries = 0;
    c.run = waybill::transient("busy");
    CHECK(c(1) == step_outcome::done);
    CHECK(c.said == "load save run wait save run save complete ");
}

TEST_CASE("process_step: failed calls give the session back or dead-letter the step")
{
    calls c = with();
    c.found.kind = fault_kind::infrastructure;
    CHECK(c(1) == step_outcome::given_back);
    CHECK(c.said == "load back ");

    c = with();
    c.save = waybill::infrastructure("down");
    CHECK(c(1) == step_outcome::given_back);
    CHECK(c.said == "load run save back ");

    c = with();
    c.run = waybill::permanent("no");
    CHECK(c(1) == step_outcome::dead_lettered);
    CHECK(c.said == "load run save park complete ");
    c.complete = waybill::infrastructure("down");
    c.said.clear();
    CHECK(c(2) == step_outcome::lost);
    CHECK(c.said == "park complete back ");
    CHECK(c.pipe.over());
}

TEST_CASE("process_step: the dead letter contains why the state is unreadable or refused")
{
    calls c = with();
    c.found = {.found = state_read::corrupt, .reason = "state: corrupt: 7 bytes"};
    CHECK(c(1) == step_outcome::dead_lettered);
    CHECK(c.pipe.reason() == "state: corrupt: 7 bytes");
    c.found = {};
    c = with();
    c.found = {.found = state_read::corrupt};
    CHECK(c(1) == step_outcome::dead_lettered);
    CHECK(c.pipe.reason() == "the state of its session is corrupt");
    c = with({.reason_bytes = 5});
    c.found = {.found = state_read::corrupt, .reason = "state: corrupt"};
    CHECK(c(1) == step_outcome::dead_lettered);
    CHECK(c.pipe.reason() == "state");

    for (const char* const why : {"", "858 bytes, and 400 is the most"}) {
        c = with();
        c.save = waybill::permanent(why);
        c.on_save = [&](int) {
            if (c.said.ends_with("run save save ")) c.save = {};
        };
        CHECK(c(1) == step_outcome::dead_lettered);
        const std::string more = *why == '\0' ? std::string() : std::string(": ") + why;
        CHECK(c.pipe.reason() == "the store permanently refuses the state after this step" + more);
    }
}

/// One step that fails `failures` times, with a sleep by the environment.
struct short_calls {
    pipeline pipe = with().pipe;
    manual_environment env{steady_time{}, wall_time::at(duration::seconds(1'000))};
    int failures = 0;
    bool stop_in_attempt = false;
    int attempts = 0;
    std::string said{};
    waybill::session_progress saved{};

    step_outcome operator()()
    {
        return waybill::process_step(
            pipe, step_facts{101, 1, 1, 2, false, 1}, env,
            [](pipeline::load_state) { return state_loaded{}; },
            [&](pipeline::execute) {
                said += "run ";
                if (stop_in_attempt) env.stop_at(env.now());
                return ++attempts > failures ? fault{} : waybill::transient("busy");
            },
            [&](pipeline::save_state) {
                said += "save ";
                saved = pipe.progress();
                return fault{};
            },
            [](pipeline::write_dead_letter) { return fault{}; },
            [&](waybill::complete) {
                said += "complete ";
                return fault{};
            },
            [](pipeline::clear_state) { return fault{}; },
            [&](pipeline::give_back) { said += "back "; });
    }
};

TEST_CASE("process_step: without a call for wait_until the environment sleeps")
{
    short_calls c{.failures = 2};
    CHECK(c() == step_outcome::done);
    CHECK(c.env.sleeps() == 2);
    CHECK(c.env.slept() == duration::seconds(4 + 8));
    CHECK(c.saved.changed == wall_time::at(duration::seconds(1'000 + 12)));
}

TEST_CASE("process_step: pauses have the jitter of the environment's random numbers")
{
    short_calls c{.pipe = pipeline({.retry = {.pauses = {.base = duration::seconds(4)}}}),
                  .failures = 1};
    manual_environment same = c.env;
    CHECK(c() == step_outcome::done);
    const duration expected = waybill::pause({.base = duration::seconds(4)}, 1, same.random());
    CHECK(c.env.slept() == expected);
}

TEST_CASE("process_step: after a stop request no attempt begins")
{
    short_calls c;
    c.env.stop_at(c.env.now());
    CHECK(c() == step_outcome::given_back);
    CHECK(c.said == "back ");
    CHECK(c.pipe.over());
}

TEST_CASE("process_step: a stop request ends a pause, and the attempts are saved")
{
    short_calls c{.failures = 1};
    c.env.stop_at(steady_time::at(duration::seconds(3)));
    CHECK(c() == step_outcome::given_back);
    CHECK(c.said == "run save back ");
    CHECK(c.saved.tries == 1);
    CHECK(c.env.now() == steady_time::at(duration::seconds(3)));
}

TEST_CASE("process_step: a step that has run is saved and completed in spite of a stop request")
{
    short_calls c{.stop_in_attempt = true};
    CHECK(c() == step_outcome::done);
    CHECK(c.said == "run save complete ");
}

TEST_CASE("process_step: after a stop request the caller's wait is not called")
{
    calls c = with();
    c.run = waybill::transient("busy");
    c.env.stop_at(steady_time::at(duration::seconds(5)));
    CHECK(c(1) == step_outcome::given_back);
    CHECK(c.said == "load run save back ");
}

TEST_CASE("process_step: a result with an empty fault as its error is an error")
{
    pipeline pipe;
    manual_environment env;
    const step_outcome e = waybill::process_step(
        pipe, step_facts{}, env, [](pipeline::load_state) { return state_loaded{}; },
        [](pipeline::execute) { return waybill::pipeline::executed{}; },
        [](pipeline::save_state) -> result<void> { return waybill::unexpected(fault{}); },
        [](pipeline::write_dead_letter) { return fault{}; },
        [](waybill::complete) { return fault{}; }, [](pipeline::clear_state) { return fault{}; },
        [](pipeline::give_back) {}, [](waybill::wait_until) {});
    CHECK(e == step_outcome::given_back);
}

}  // namespace
}  // namespace process_step_test
