// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/held.hpp>

#include <waybill/core/match.hpp>
#include <waybill/session/pipeline.hpp>

namespace pipeline_test {
namespace {

using waybill::dead_letter_reason;
using waybill::duration;
using waybill::event_result;
using waybill::fault;
using waybill::fault_kind;
using waybill::pipeline;
using waybill::pipeline_policy;
using waybill::session_progress;
using waybill::state_read;
using waybill::steady_time;
using waybill::step_facts;
using waybill::step_outcome;
using waybill::wall_time;

static_assert(sizeof(pipeline({})) != 0, "braces are default options, not a copy");
static_assert(std::is_copy_constructible_v<pipeline> &&
              std::is_nothrow_move_constructible_v<pipeline>);

constexpr steady_time at(std::int64_t seconds)
{
    return steady_time::at(duration::seconds(seconds));
}
constexpr wall_time noon(std::int64_t seconds = 0)
{
    return wall_time::at(duration::seconds(1'000'000 + seconds));
}

/// Step n of five; its message has the number 100 + n.
step_facts message(std::uint64_t n, std::uint64_t deliveries = 1)
{
    return {100 + n, n, 1, 5, n == 5, deliveries};
}

pipeline_policy quick()
{
    pipeline_policy p;
    p.retry = {.max_attempts = 3,
               .pauses = {.base = duration::seconds(4), .spread = waybill::backoff::jitter::none}};
    return p;
}

pipeline_policy independent()
{
    pipeline_policy p = quick();
    p.mode = pipeline_policy::pipeline_mode::independent;
    return p;
}

pipeline held(const pipeline_policy& p, state_read how = state_read::absent,
              session_progress found = {})
{
    pipeline pipe(p);
    CHECK(waybill::holds_alternative<pipeline::load_state>(pipe.next(at(0))));
    CHECK(pipe.on(waybill::pipeline::state_loaded{how, std::move(found)}, at(0)) ==
          event_result::applied);
    CHECK(waybill::holds_alternative<waybill::idle>(pipe.next(at(0))));
    return pipe;
}

/// A short text for the next action.
std::string asks(const pipeline& pipe, steady_time now = at(0))
{
    return waybill::match(
        pipe.next(now), [](pipeline::load_state) { return std::string("load"); },
        [](pipeline::execute e) {
            return "execute " + std::to_string(e.step) + " try " + std::to_string(e.tries);
        },
        [](pipeline::save_state s) {
            return std::string(s.keep_old_value ? "save undone" : "save");
        },
        [](pipeline::write_dead_letter p) {
            return "park " + std::string(name(p.reason)) + " " + std::to_string(p.cause) + "/" +
                   std::to_string(p.cause_step) + " tries " + std::to_string(p.tries) +
                   (p.without_body ? " bare" : "");
        },
        [](waybill::complete) { return std::string("complete"); },
        [](pipeline::clear_state) { return std::string("clear"); },
        [](pipeline::give_back g) {
            return "give back " + std::string(name(g.reason)) + " " +
                   std::to_string(g.until.since_epoch().count() / 1'000'000'000);
        },
        [](waybill::wait_until w) {
            return "wait " + std::to_string(w.time.since_epoch().count() / 1'000'000'000);
        },
        [](waybill::idle) { return std::string("idle"); });
}

bool receives(pipeline& pipe, const step_facts& m, steady_time now = at(0))
{
    return pipe.on(waybill::pipeline::step_received{m, noon()}, now) == event_result::applied;
}
bool runs(pipeline& pipe, fault f = {}, steady_time now = at(0))
{
    return pipe.on(waybill::pipeline::executed{std::move(f)}, now) == event_result::applied;
}
bool saves(pipeline& pipe, fault_kind how = fault_kind::none, steady_time now = at(0))
{
    return pipe.on(waybill::pipeline::state_saved{how}, now) == event_result::applied;
}
bool parks(pipeline& pipe, fault_kind how = fault_kind::none)
{
    return pipe.on(waybill::pipeline::step_dead_lettered{how}, at(0)) == event_result::applied;
}
bool completes(pipeline& pipe, fault_kind how = fault_kind::none)
{
    return pipe.on(waybill::pipeline::completed{how}, at(0)) == event_result::applied;
}
bool clears(pipeline& pipe, fault_kind how = fault_kind::none)
{
    return pipe.on(waybill::pipeline::state_cleared{how}, at(0)) == event_result::applied;
}

/// Reports success for all actions, up to the next message.
std::string ends(pipeline& pipe)
{
    std::string asked;
    for (int n = 0; n != 9; ++n) {
        const std::string a = asks(pipe);
        if (a == "idle") break;
        asked += (asked.empty() ? "" : ", ") + a;
        if (a.starts_with("execute")) runs(pipe);
        if (a.starts_with("save")) saves(pipe);
        if (a.starts_with("park")) parks(pipe);
        if (a == "complete") completes(pipe);
        if (a == "clear") clears(pipe);
        if (a.starts_with("give")) pipe.on(waybill::pipeline::given_back{}, at(0));
    }
    return asked;
}

session_progress done_up_to(std::uint64_t n)
{
    session_progress p;
    p.done = n;
    p.total = 5;
    p.begun = p.changed = noon(-60);
    return p;
}

session_progress failed_at(std::uint64_t n, dead_letter_reason why = dead_letter_reason::failed)
{
    session_progress p = done_up_to(n - 1);
    p.failed =
        waybill::session_progress::failure{n, 100 + n, why, 2, "the printer burns", noon(-60)};
    return p;
}

// ---------------------------------------------------------------------------------------------

TEST_CASE("pipeline: five steps run in order, and the state is cleared after the last")
{
    pipeline pipe = held(quick());
    for (std::uint64_t n = 1; n != 5; ++n) {
        REQUIRE(receives(pipe, message(n)));
        CHECK(!pipe.ended());
        CHECK(ends(pipe) == "execute " + std::to_string(n) + " try 1, save, complete");
        CHECK(pipe.ended() == step_outcome::done);
        CHECK(pipe.progress().done == n);
        CHECK(pipe.progress().total == 5);
    }
    REQUIRE(receives(pipe, message(5)));
    CHECK(ends(pipe) == "execute 5 try 1, save, complete, clear");
    CHECK(pipe.ended() == step_outcome::done);
    CHECK(pipe.found() == state_read::absent);
    CHECK(pipe.progress() == session_progress{});
    CHECK(!pipe.over());
}

TEST_CASE("pipeline: the state has the wall time of the receipt")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, message(1), at(10)));
    runs(pipe, {}, at(17));
    CHECK(pipe.progress().begun == noon());
    CHECK(pipe.progress().changed == noon(7));
    CHECK(saves(pipe));
    CHECK(completes(pipe));
    REQUIRE(pipe.on(waybill::pipeline::step_received{message(2), noon(100)}, at(20)) ==
            event_result::applied);
    runs(pipe, waybill::permanent("no"), at(19));  // a clock that jumps back does not count
    CHECK(pipe.progress().begun == noon());
    CHECK(pipe.progress().changed == noon(100));
    CHECK(pipe.progress().failed->at == noon(100));
}

TEST_CASE("pipeline: without a total, the step marked as last is the last")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, {7, 1, 1, 0, false, 1}));
    CHECK(ends(pipe) == "execute 1 try 1, save, complete");
    CHECK(pipe.progress().total == 0);
    REQUIRE(receives(pipe, {8, 2, 1, 0, true, 1}));
    runs(pipe);
    CHECK(pipe.progress().total == 2);
    CHECK(pipe.progress().finished());
    CHECK(ends(pipe) == "save, complete, clear");
}

TEST_CASE("pipeline: a redriven session begins at its first step, with the saved tries")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, {50, 3, 3, 5, false, 1}));
    CHECK(asks(pipe) == "execute 3 try 1");

    session_progress tried;
    tried.tries = 1;
    tried.total = 5;
    tried.changed = noon(-60);
    pipe = held(quick(), state_read::ok, tried);
    REQUIRE(receives(pipe, {50, 3, 3, 5, false, 1}));
    CHECK(ends(pipe) == "execute 3 try 2, save, complete");
    CHECK(pipe.progress().tries == 0);
}

TEST_CASE(
    "pipeline: a failed step is saved, dead-lettered and completed in this order, later steps "
    "follow")
{
    pipeline pipe = held(quick(), state_read::ok, done_up_to(1));
    REQUIRE(receives(pipe, message(2)));
    REQUIRE(runs(pipe, waybill::permanent("the printer burns")));
    CHECK(pipe.progress().failed ==
          waybill::session_progress::failure{2, 102, dead_letter_reason::failed, 1,
                                             "the printer burns", noon()});
    CHECK(pipe.progress().done == 1);
    CHECK(pipe.reason() == "the printer burns");
    CHECK(ends(pipe) == "save undone, park failed 102/2 tries 1, complete");
    CHECK(pipe.ended() == step_outcome::dead_lettered);
    REQUIRE(receives(pipe, message(3)));
    CHECK(pipe.reason() == "the printer burns");
    CHECK(ends(pipe) == "park session_failed 102/2 tries 0, complete");
    REQUIRE(receives(pipe, message(5)));
    CHECK(ends(pipe) == "park session_failed 102/2 tries 0, complete, clear");
    CHECK(pipe.ended() == step_outcome::dead_lettered);
}

TEST_CASE("pipeline: a failure of the last step clears the state")
{
    pipeline pipe = held(quick(), state_read::ok, done_up_to(4));
    REQUIRE(receives(pipe, message(5)));
    REQUIRE(runs(pipe, waybill::permanent("no")));
    CHECK(ends(pipe) == "save undone, park failed 105/5 tries 1, complete, clear");
}

TEST_CASE("pipeline: the next holder continues to dead-letter a failed session")
{
    pipeline pipe = held(quick(), state_read::ok, failed_at(2));
    REQUIRE(receives(pipe, message(2, 2)));
    CHECK(pipe.reason() == "the printer burns");
    CHECK(ends(pipe) == "park failed 102/2 tries 2, complete");
    REQUIRE(receives(pipe, message(1, 2)));  // step 1 was sent again
    CHECK(ends(pipe) == "park session_failed 102/2 tries 0, complete");
    REQUIRE(receives(pipe, {999, 2, 1, 5, false, 1}));  // a copy of the cause is not the cause
    CHECK(ends(pipe) == "park session_failed 102/2 tries 0, complete");
}

TEST_CASE("pipeline: a failure's text is cut between characters")
{
    pipeline_policy p = quick();
    p.reason_bytes = 4;
    pipeline pipe = held(p);
    REQUIRE(receives(pipe, message(1)));
    runs(pipe, waybill::permanent("abc\xC3\xA9"));
    CHECK(pipe.reason() == "abc");
}

TEST_CASE("pipeline: a completed step that is delivered again is completed and not run")
{
    pipeline pipe = held(quick(), state_read::ok, done_up_to(3));
    REQUIRE(receives(pipe, message(2, 4)));
    CHECK(ends(pipe) == "complete");
    CHECK(pipe.ended() == step_outcome::repeated);
    REQUIRE(receives(pipe, message(3, 40)));
    CHECK(ends(pipe) == "complete");
    pipe = held(quick(), state_read::ok, done_up_to(5));
    REQUIRE(receives(pipe, message(5, 2)));
    CHECK(ends(pipe) == "complete, clear");
    CHECK(pipe.ended() == step_outcome::repeated);
}

TEST_CASE("pipeline: a gap stops the session, and the reason contains the missing step")
{
    pipeline pipe = held(quick(), state_read::ok, done_up_to(1));
    REQUIRE(receives(pipe, message(3)));
    CHECK(pipe.reason() == "step 3 arrived, but step 2 is missing");
    CHECK(ends(pipe) == "save undone, park gap 103/3 tries 0, complete");
    REQUIRE(receives(pipe, message(5)));
    CHECK(ends(pipe) == "park session_failed 103/3 tries 0, complete, clear");
}

TEST_CASE(
    "pipeline: if the first step is missing, the failed state stays, and that step does not run "
    "later")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, message(2)));
    CHECK(ends(pipe) == "save undone, park gap 102/2 tries 0, complete");
    REQUIRE(receives(pipe, message(5)));
    CHECK(ends(pipe) == "park session_failed 102/2 tries 0, complete");
    REQUIRE(receives(pipe, message(1)));
    CHECK(ends(pipe) == "park session_failed 102/2 tries 0, complete");
    // A dead first step is cleared with the last step.
    pipe = held(quick(), state_read::ok, failed_at(1));
    REQUIRE(receives(pipe, message(5)));
    CHECK(ends(pipe) == "park session_failed 101/1 tries 0, complete, clear");
}

TEST_CASE("pipeline: contradictory step numbers stop the session")
{
    const auto first_asked = [](session_progress found, step_facts m) {
        const bool absent = found == session_progress{};
        pipeline pipe =
            held(quick(), absent ? state_read::absent : state_read::ok, std::move(found));
        REQUIRE(receives(pipe, m));
        const std::string why(pipe.reason());
        return why + " | " + ends(pipe);
    };
    const std::string parked = "save undone, park contradiction 9/";
    CHECK(first_asked({}, {9, 0, 1, 5, false, 1}) ==
          "step 0 of 5 from 1: steps are numbered from 1 on | " + parked + "0 tries 0, complete");
    CHECK(first_asked({}, {9, 1, 2, 5, false, 1}) ==
          "step 1 of 5 from 2: it is before the first step | " + parked + "1 tries 0, complete");
    CHECK(first_asked({}, {9, 6, 6, 5, false, 1}) ==
          "step 6 of 5 from 6: it is after the last step | " + parked + "6 tries 0, complete");
    CHECK(first_asked({}, {9, 1, 1, 5, true, 1}) ==
          "step 1 of 5 from 1: it is marked as the last step, but the total is greater | " +
              parked + "1 tries 0, complete");
    // Two jobs with the same id: the second one does not count as a repetition of the first.
    CHECK(first_asked(done_up_to(2), {9, 1, 1, 3, false, 1}) ==
          "step 1 of 3 from 1: the session has another total (session: 2 done of 5) | " + parked +
              "1 tries 0, complete");
    CHECK(first_asked(done_up_to(2), {9, 3, 1, 3, true, 1}) ==
          "step 3 of 3 from 1: the session has another total (session: 2 done of 5) | " + parked +
              "3 tries 0, complete");
    CHECK(first_asked(done_up_to(5), {9, 6, 1, 0, false, 1}) ==
          "step 6 of 0 from 1: the session has ended before it (session: 5 done of 5) | " + parked +
              "6 tries 0, complete");
    CHECK(first_asked(done_up_to(2), {9, 3, 1, 0, true, 1}) ==
          "step 3 of 0 from 1: the session has another last step (session: 2 done of 5) | " +
              parked + "3 tries 0, complete");
    CHECK(first_asked(done_up_to(2), {9, 3, 3, 5, false, 1}) ==
          "step 3 of 5 from 3: the session began before its first step (session: 2 done of 5) | " +
              parked + "3 tries 0, complete");
}

TEST_CASE("pipeline: an unreadable state is kept, and no step runs")
{
    for (const state_read how : {state_read::corrupt, state_read::too_large}) {
        pipeline pipe = held(quick(), how);
        REQUIRE(receives(pipe, message(1)));
        CHECK(pipe.reason() == describe(how));
        CHECK(ends(pipe) == "park unreadable 0/0 tries 0, complete");
        CHECK(pipe.ended() == step_outcome::dead_lettered);
        REQUIRE(receives(pipe, message(5)));
        CHECK(ends(pipe) == "park unreadable 0/0 tries 0, complete");
        CHECK(!pipe.over());

        pipeline_policy hold = quick();
        hold.unreadable = waybill::pipeline_policy::when_unreadable::hold;
        pipe = held(hold, how);
        REQUIRE(receives(pipe, message(1)));
        CHECK(ends(pipe) == "give back none 30");
        CHECK(pipe.ended() == step_outcome::state_unreadable);
        CHECK(pipe.over());
    }
    pipeline pipe = held(quick(), state_read::newer, failed_at(2));
    CHECK(pipe.progress() == session_progress{});
    REQUIRE(receives(pipe, message(5)));
    CHECK(ends(pipe) == "give back none 30");
    CHECK(pipe.ended() == step_outcome::state_unreadable);
    CHECK(pipe.over());
}

TEST_CASE("pipeline: a short pause after a transient fault keeps the session")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, message(1)));
    CHECK(runs(pipe, waybill::transient("busy"), at(10)));
    CHECK(asks(pipe, at(10)) == "wait 14");
    CHECK(asks(pipe, at(13)) == "wait 14");
    CHECK(asks(pipe, at(14)) == "execute 1 try 2");
    CHECK(runs(pipe, waybill::transient("busy"), at(14)));
    CHECK(asks(pipe, at(14)) == "wait 22");
    CHECK(runs(pipe, waybill::transient("busy still"), at(22)));
    CHECK(pipe.progress().failed->reason == dead_letter_reason::exhausted);
    CHECK(ends(pipe) == "save undone, park exhausted 101/1 tries 3, complete");
    CHECK(pipe.reason() == "busy still");
}

TEST_CASE("pipeline: before a longer pause the tries are saved, and the session is given back")
{
    pipeline_policy p = quick();
    p.max_wait_in_hand = duration::seconds(5);
    pipeline pipe = held(p, state_read::ok, done_up_to(1));
    REQUIRE(receives(pipe, message(2)));
    CHECK(runs(pipe, waybill::transient("busy"), at(10)));
    CHECK(runs(pipe, waybill::transient("busy"), at(14)));
    CHECK(asks(pipe, at(14)) == "save undone");
    CHECK(pipe.progress().tries == 2);
    CHECK(pipe.progress().done == 1);
    CHECK(saves(pipe));
    CHECK(asks(pipe, at(14)) == "give back transient 22");
    const session_progress saved = pipe.progress();
    CHECK(!pipe.over());
    CHECK(pipe.on(waybill::pipeline::given_back{}, at(15)) == event_result::applied);
    CHECK(pipe.ended() == step_outcome::given_back);
    CHECK(pipe.over());

    // The next holder continues the count and the pause, if the pause is within its maximum wait.
    const auto again = [&](std::int64_t after) {
        pipeline next = held(p, state_read::ok, saved);
        const wall_time wall = saved.changed + duration::seconds(after);
        CHECK(next.on(waybill::pipeline::step_received{message(2), wall}, at(100)) ==
              event_result::applied);
        return next;
    };
    CHECK(asks(again(2), at(100)) == "wait 105");
    CHECK(asks(again(4), at(100)) == "wait 104");
    CHECK(asks(again(8), at(100)) == "execute 2 try 3");
    CHECK(asks(again(-99), at(100)) == "wait 105");  // clocks that differ
    pipeline next = again(9);
    CHECK(runs(next, waybill::transient("busy"), at(100)));
    CHECK(asks(next) == "save undone");
    REQUIRE(next.progress().failed.has_value());
    CHECK(next.progress().failed->tries == 3);
    CHECK(next.progress().tries == 0);
}

TEST_CASE("pipeline: if the tries cannot be saved, the session is given back with its pause")
{
    pipeline_policy p = quick();
    p.max_wait_in_hand = {};
    for (const fault_kind how :
         {fault_kind::infrastructure, fault_kind::permanent, fault_kind::transient}) {
        pipeline pipe = held(p);
        REQUIRE(receives(pipe, message(1)));
        CHECK(runs(pipe, waybill::transient("busy")));
        CHECK(saves(pipe, how));
        CHECK(asks(pipe) == "give back transient 4");
    }
}

TEST_CASE("pipeline: a saved state with all tries used dead-letters the step")
{
    session_progress p = done_up_to(1);
    p.tries = 3;
    pipeline pipe = held(quick(), state_read::ok, p);
    REQUIRE(receives(pipe, message(2)));
    CHECK(pipe.reason() == "step 2 was tried 3 times in other deliveries");
    CHECK(ends(pipe) == "save undone, park exhausted 102/2 tries 3, complete");
}

TEST_CASE("pipeline: deliveries without an end are limited below the broker's maximum")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, message(1, 7)));
    CHECK(asks(pipe) == "execute 1 try 7");
    pipe = held(quick());
    REQUIRE(receives(pipe, message(1, 8)));
    CHECK(pipe.reason() == "step 1 was delivered 8 times, and no delivery completed it");
    CHECK(ends(pipe) == "save undone, park ended_process 101/1 tries 7, complete");
}

TEST_CASE("pipeline: without a delivery count, each try is saved before it begins")
{
    pipeline pipe = held(quick(), state_read::ok, done_up_to(1));
    REQUIRE(receives(pipe, message(2, 0)));
    CHECK(asks(pipe) == "save undone");
    CHECK(pipe.progress().tries == 1);
    CHECK(pipe.progress().done == 1);
    const session_progress begun = pipe.progress();
    CHECK(saves(pipe));
    CHECK(asks(pipe) == "execute 2 try 1");
    CHECK(runs(pipe, waybill::transient("busy"), at(10)));
    CHECK(asks(pipe, at(10)) == "wait 14");
    CHECK(!saves(pipe, fault_kind::none, at(13)));  // this save was not requested yet
    CHECK(asks(pipe, at(14)) == "save undone");
    CHECK(pipe.progress().tries == 2);
    CHECK(pipe.progress().changed == noon(14));
    CHECK(saves(pipe, fault_kind::none, at(14)));
    CHECK(asks(pipe, at(14)) == "execute 2 try 2");
    pipeline other = pipe;
    CHECK(runs(pipe, {}, at(14)));
    CHECK(pipe.progress().tries == 0);
    CHECK(ends(pipe) == "save, complete");
    // A try that ends without a fault of the step is not counted.
    CHECK(runs(other, waybill::infrastructure("down"), at(14)));
    CHECK(other.progress().tries == 1);
    CHECK(asks(other) == "save undone");
    // A process that has died has used up a try.
    session_progress died = begun;
    died.tries = 3;
    pipe = held(quick(), state_read::ok, died);
    REQUIRE(receives(pipe, message(2, 0)));
    CHECK(ends(pipe) == "save undone, park exhausted 102/2 tries 3, complete");
    // A try that cannot be saved does not begin.
    pipe = held(quick());
    REQUIRE(receives(pipe, message(1, 0)));
    CHECK(saves(pipe, fault_kind::infrastructure));
    CHECK(asks(pipe) == "give back infrastructure 30");
}

TEST_CASE("pipeline: without a delivery count, a lost lock or a stop in a pause uses no try")
{
    pipeline pipe = held(quick(), state_read::ok, done_up_to(1));
    REQUIRE(receives(pipe, message(2, 0)));
    session_progress stored = pipe.progress();
    CHECK(stored.tries == 1);
    CHECK(saves(pipe));
    CHECK(runs(pipe, waybill::transient("busy")));
    CHECK(asks(pipe) == "wait 4");
    for (int holders = 0; holders != 9; ++holders) {
        pipeline next = held(quick(), state_read::ok, stored);
        REQUIRE(receives(next, message(2, 0)));
        CHECK(asks(next) == "wait 4");
        pipeline stopped = next;
        CHECK(stopped.on(waybill::stop_requested{}, at(1)) == event_result::applied);
        CHECK(stopped.progress() == stored);
        CHECK(ends(stopped) == "give back cancelled 4");
        CHECK(next.on(waybill::lock_lost{}, at(1)) == event_result::applied);
    }
    pipe = held(quick(), state_read::ok, stored);
    REQUIRE(receives(pipe, message(2, 0)));
    CHECK(asks(pipe, at(4)) == "save undone");
    CHECK(pipe.progress().tries == 2);
}

TEST_CASE(
    "pipeline: without a delivery count, a stop request during the save of a try undoes the try")
{
    pipeline pipe = held(quick(), state_read::ok, done_up_to(1));
    REQUIRE(receives(pipe, message(2, 0)));
    CHECK(asks(pipe) == "save undone");
    CHECK(pipe.on(waybill::stop_requested{}, at(0)) == event_result::applied);
    CHECK(asks(pipe) == "save undone");  // it may have reached the store
    CHECK(saves(pipe));
    CHECK(pipe.progress().tries == 0);
    CHECK(ends(pipe) == "save undone, give back cancelled 0");
    CHECK(pipe.ended() == step_outcome::given_back);
    CHECK(pipe.over());
}

TEST_CASE("pipeline: without a delivery count, a long pause begins at the end of the try")
{
    pipeline_policy p = quick();
    p.max_wait_in_hand = duration::seconds(3);
    pipeline pipe = held(p, state_read::ok, done_up_to(1));
    REQUIRE(receives(pipe, message(2, 0)));
    CHECK(saves(pipe));
    CHECK(runs(pipe, waybill::transient("busy"), at(25)));
    CHECK(pipe.progress().tries == 1);
    CHECK(pipe.progress().changed == noon(25));
    CHECK(ends(pipe) == "save undone, give back transient 29");
}

TEST_CASE("pipeline: pauses after infrastructure faults grow with the deliveries")
{
    const auto down = fault_kind::infrastructure;
    const auto loads = [&](std::uint64_t deliveries, fault_kind how) {
        pipeline pipe(quick());
        pipe.on(waybill::pipeline::state_loaded{.kind = how, .deliveries = deliveries}, at(0));
        return asks(pipe);
    };
    CHECK(loads(1, down) == "give back infrastructure 4");
    CHECK(loads(3, down) == "give back infrastructure 16");
    CHECK(loads(99, down) == "give back infrastructure 30");
    CHECK(loads(0, down) == "give back infrastructure 30");  // the delivery count is unknown
    CHECK(loads(1, fault_kind::permanent) == "give back permanent 30");

    const auto executes = [&](std::uint64_t deliveries, duration hint = {}) {
        pipeline_policy p = quick();
        p.retry.pauses.highest_hint = duration::seconds(60);
        pipeline pipe = held(p);
        receives(pipe, message(1, deliveries));
        if (deliveries == 0) saves(pipe);
        pipe.on(waybill::pipeline::executed{waybill::infrastructure("down"), 0.5, hint}, at(0));
        if (deliveries == 0) saves(pipe);
        return asks(pipe);
    };
    CHECK(executes(1) == "give back infrastructure 4");
    CHECK(executes(2) == "give back infrastructure 8");
    CHECK(executes(0) == "give back infrastructure 30");
    CHECK(executes(0, duration::seconds(9)) == "give back infrastructure 30");
    CHECK(executes(0, duration::seconds(50)) == "give back infrastructure 50");

    const auto completing = [&](std::uint64_t deliveries) {
        pipeline pipe = held(quick(), state_read::ok, done_up_to(1));
        receives(pipe, message(1, deliveries));
        CHECK(completes(pipe, fault_kind::transient));
        return asks(pipe);
    };
    CHECK(completing(1) == "give back transient 4");
    CHECK(completing(3) == "give back transient 16");
    CHECK(completing(0) == "give back transient 30");

    pipeline pipe = held(quick(), state_read::ok, failed_at(2));
    receives(pipe, message(3));
    CHECK(parks(pipe, fault_kind::permanent));
    CHECK(asks(pipe) == "give back permanent 30");
}

TEST_CASE("pipeline: a result during a pause is stale")
{
    pipeline pipe = held(quick());
    receives(pipe, message(1));
    CHECK(runs(pipe, waybill::transient("busy"), at(10)));
    CHECK(asks(pipe, at(13)) == "wait 14");
    const pipeline before = pipe;
    CHECK(!runs(pipe, waybill::transient("busy"), at(13)));
    CHECK(!runs(pipe, {}, at(13)));
    CHECK(pipe == before);
    CHECK(runs(pipe, {}, at(14)));
}

TEST_CASE("pipeline: another first step than that of the session is a contradiction")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, {50, 4, 4, 6, false, 1}));
    CHECK(ends(pipe) == "execute 4 try 1, save, complete");
    CHECK(pipe.progress().first == 4);
    const session_progress begun = pipe.progress();
    REQUIRE(receives(pipe, {51, 5, 4, 6, false, 1}));
    CHECK(ends(pipe) == "execute 5 try 1, save, complete");
    REQUIRE(receives(pipe, {50, 4, 4, 6, false, 2}));
    CHECK(ends(pipe) == "complete");
    CHECK(pipe.ended() == step_outcome::repeated);

    for (const step_facts& other :
         {step_facts{52, 3, 3, 6, false, 1}, step_facts{53, 2, 1, 6, false, 1},
          step_facts{54, 5, 1, 6, false, 1}}) {
        pipe = held(quick(), state_read::ok, begun);
        REQUIRE(receives(pipe, other));
        CHECK(pipe.reason().ends_with(
            "the session has another first step (session: 4 done of 6 from 4)"));
        CHECK(pipe.progress().failed->reason == dead_letter_reason::contradiction);
    }
    // A state without a first step has no rule for it.
    session_progress unknown = begun;
    unknown.first = 0;
    pipe = held(quick(), state_read::ok, unknown);
    REQUIRE(receives(pipe, {51, 5, 4, 6, false, 1}));
    CHECK(ends(pipe) == "execute 5 try 1, save, complete");
    CHECK(pipe.progress().first == 4);
    // And a session from the first step on has no line for it.
    pipe = held(quick());
    receives(pipe, message(1));
    CHECK(ends(pipe) == "execute 1 try 1, save, complete");
    CHECK(pipe.progress().first == 0);
}

TEST_CASE("pipeline: infrastructure faults and cancellation use no try")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, message(1, 2)));
    CHECK(runs(pipe, waybill::infrastructure("down"), at(10)));
    CHECK(asks(pipe) == "give back infrastructure 18");
    CHECK(pipe.progress() == session_progress{});
    CHECK(pipe.on(waybill::pipeline::given_back{}, at(10)) == event_result::applied);
    CHECK(pipe.ended() == step_outcome::given_back);

    pipe = held(quick());
    REQUIRE(receives(pipe, message(1)));
    CHECK(runs(pipe, waybill::cancelled("stop"), at(10)));
    CHECK(asks(pipe) == "give back cancelled 10");

    // Earlier tries still count.
    pipe = held(quick());
    REQUIRE(receives(pipe, message(1)));
    CHECK(runs(pipe, waybill::transient("busy"), at(10)));
    CHECK(runs(pipe, waybill::infrastructure("down"), at(14)));
    CHECK(pipe.progress().tries == 1);
    CHECK(ends(pipe) == "save undone, give back infrastructure 18");
}

TEST_CASE("pipeline: retry_after of the call sets the pause")
{
    pipeline pipe = held(quick());
    REQUIRE(receives(pipe, message(1)));
    pipe.on(waybill::pipeline::executed{waybill::transient("busy"), 0.5, duration::seconds(9)},
            at(1));
    CHECK(asks(pipe, at(1)) == "wait 10");
}

TEST_CASE("pipeline: after an unconfirmed call the session is given back")
{
    const auto given_back = [](pipeline& pipe) {
        CHECK(asks(pipe).starts_with("give back infrastructure"));
        pipe.on(waybill::pipeline::given_back{}, at(0));
        CHECK(pipe.over());
        return pipe.ended();
    };
    const fault_kind down = fault_kind::infrastructure;
    pipeline pipe = held(quick());
    receives(pipe, message(1));
    runs(pipe);
    CHECK(saves(pipe, down));
    CHECK(given_back(pipe) == step_outcome::given_back);

    pipe = held(quick());
    receives(pipe, message(1));
    runs(pipe, waybill::permanent("no"));
    CHECK(saves(pipe, down));
    CHECK(given_back(pipe) == step_outcome::given_back);

    pipe = held(quick(), state_read::ok, failed_at(1));
    receives(pipe, message(2));
    CHECK(parks(pipe, down));
    CHECK(given_back(pipe) == step_outcome::given_back);

    pipe = held(quick(), state_read::ok, done_up_to(4));
    receives(pipe, message(5));
    runs(pipe);
    saves(pipe);
    CHECK(completes(pipe, down));  // no clear_state: the message may be delivered again
    CHECK(given_back(pipe) == step_outcome::lost);

    pipe = held(quick(), state_read::ok, done_up_to(5));
    receives(pipe, message(5));
    completes(pipe);
    CHECK(asks(pipe) == "clear");
    CHECK(clears(pipe, down));  // the message is complete all the same
    CHECK(pipe.over());
    CHECK(pipe.ended() == step_outcome::repeated);

    pipe = pipeline(quick());
    CHECK(pipe.on(waybill::pipeline::state_loaded{.kind = down}, at(0)) == event_result::applied);
    CHECK(given_back(pipe) == step_outcome::given_back);
}

TEST_CASE("pipeline: a permanently refused state is a failure of its step")
{
    pipeline pipe = held(quick(), state_read::ok, done_up_to(1));
    receives(pipe, message(2));
    runs(pipe);
    CHECK(pipe.progress().done == 2);
    CHECK(saves(pipe, fault_kind::permanent));
    CHECK(pipe.progress().done == 1);
    CHECK(pipe.reason() == "the store permanently refuses the state after this step");
    CHECK(asks(pipe) == "save undone");
    CHECK(saves(pipe, fault_kind::permanent));  // not even as failed
    CHECK(asks(pipe).starts_with("give back permanent"));

    pipe = held(independent());
    receives(pipe, message(1));
    runs(pipe);
    CHECK(saves(pipe, fault_kind::permanent));
    CHECK(ends(pipe) == "park failed 101/1 tries 1, save undone, complete");
    CHECK(pipe.progress().dead_lettered == 1);
}

TEST_CASE("pipeline: a permanently refused dead letter is held, or written without its body")
{
    pipeline hold = held(quick(), state_read::ok, failed_at(2));
    receives(hold, message(3));
    CHECK(parks(hold, fault_kind::permanent));
    CHECK(asks(hold).starts_with("give back permanent"));

    pipeline_policy bare = quick();
    bare.refused = waybill::pipeline_policy::when_refused::without_body;
    pipeline pipe = held(bare, state_read::ok, failed_at(2));
    receives(pipe, message(3));
    CHECK(parks(pipe, fault_kind::permanent));
    CHECK(asks(pipe) == "park session_failed 102/2 tries 0 bare");
    pipeline other = pipe;
    CHECK(ends(pipe) == "park session_failed 102/2 tries 0 bare, complete");
    CHECK(parks(other, fault_kind::permanent));
    CHECK(asks(other).starts_with("give back permanent"));
}

TEST_CASE("pipeline: after a lost lock every event is stale")
{
    const fault_kind lost = fault_kind::ownership_lost;
    const auto all_late = [](pipeline& pipe) {
        CHECK(pipe.over());
        CHECK(asks(pipe) == "idle");
        const pipeline before = pipe;
        CHECK(!receives(pipe, message(1)));
        CHECK(!runs(pipe));
        CHECK(!saves(pipe));
        CHECK(!parks(pipe));
        CHECK(!completes(pipe));
        CHECK(!clears(pipe));
        CHECK(pipe.on(waybill::pipeline::state_loaded{}, at(0)) == event_result::stale);
        CHECK(pipe.on(waybill::pipeline::given_back{}, at(0)) == event_result::stale);
        CHECK(pipe.on(waybill::lock_lost{}, at(0)) == event_result::stale);
        CHECK(pipe.on(waybill::stop_requested{}, at(0)) == event_result::stale);
        CHECK(pipe == before);
    };
    // At every action of a step that fails, and of one that is the last.
    for (int steps = 0; steps != 4; ++steps) {
        for (const bool by_call : {true, false}) {
            pipeline pipe = held(quick(), state_read::ok, done_up_to(4));
            receives(pipe, message(5));
            if (steps > 0) runs(pipe, waybill::permanent("no"));
            if (steps > 1) saves(pipe);
            if (steps > 2) parks(pipe);
            if (!by_call) pipe.on(waybill::lock_lost{}, at(0));
            else if (steps == 0) runs(pipe, waybill::ownership_lost("late"));
            else if (steps == 1) saves(pipe, lost);
            else if (steps == 2) parks(pipe, lost);
            else completes(pipe, lost);
            CHECK(pipe.ended() == step_outcome::lost);
            all_late(pipe);
        }
    }
    pipeline pipe = held(quick(), state_read::ok, done_up_to(5));
    receives(pipe, message(5));
    completes(pipe);
    CHECK(clears(pipe, lost));
    CHECK(pipe.ended() == step_outcome::repeated);
    all_late(pipe);
    pipe = held(quick());
    CHECK(pipe.on(waybill::lock_lost{}, at(0)) == event_result::applied);
    CHECK(!pipe.ended());
    all_late(pipe);
    pipe = pipeline(quick());
    CHECK(pipe.on(waybill::pipeline::state_loaded{.kind = lost}, at(0)) == event_result::applied);
    all_late(pipe);
}

TEST_CASE("pipeline: results that were not requested change nothing")
{
    pipeline pipe(quick());
    CHECK(!receives(pipe, message(1)));  // not before the state is known
    CHECK(!saves(pipe));
    pipe = held(quick());
    CHECK(pipe.on(waybill::pipeline::state_loaded{}, at(0)) == event_result::stale);
    CHECK(!pipe.busy());
    receives(pipe, message(1));
    CHECK(pipe.busy());
    const pipeline before = pipe;
    CHECK(!receives(pipe, message(2)));
    CHECK(!saves(pipe));
    CHECK(!parks(pipe));
    CHECK(!completes(pipe));
    CHECK(!clears(pipe));
    CHECK(pipe.on(waybill::pipeline::given_back{}, at(0)) == event_result::stale);
    CHECK(pipe == before);
    CHECK(asks(pipe) == asks(pipe));
}

TEST_CASE("pipeline: a stop request lets a begun step end, and ends pauses")
{
    pipeline pipe = held(quick());
    CHECK(pipe.on(waybill::stop_requested{}, at(0)) == event_result::applied);
    CHECK(pipe.over());

    pipe = held(quick());
    receives(pipe, message(1));
    CHECK(pipe.on(waybill::stop_requested{}, at(0)) == event_result::applied);
    CHECK(pipe.on(waybill::stop_requested{}, at(0)) == event_result::stale);
    CHECK(ends(pipe) == "execute 1 try 1, save, complete");
    CHECK(pipe.ended() == step_outcome::done);
    CHECK(pipe.over());

    pipe = held(quick());
    receives(pipe, message(1));
    runs(pipe, waybill::transient("busy"), at(10));
    CHECK(asks(pipe, at(11)) == "wait 14");
    CHECK(pipe.on(waybill::stop_requested{}, at(11)) == event_result::applied);
    CHECK(pipe.progress().tries == 1);
    CHECK(ends(pipe) == "save undone, give back cancelled 14");

    pipe = held(quick());
    receives(pipe, message(1));
    pipe.on(waybill::stop_requested{}, at(0));
    runs(pipe, waybill::transient("busy"), at(10));
    CHECK(ends(pipe) == "save undone, give back transient 14");
}

// ---------------------------------------------------------------------------------------------

TEST_CASE(
    "pipeline, independent: a failed step is dead-lettered before it is saved, and the next one "
    "runs")
{
    pipeline pipe = held(independent());
    receives(pipe, message(1));
    CHECK(runs(pipe, waybill::permanent("no price")));
    CHECK(pipe.reason() == "no price");
    CHECK(ends(pipe) == "park failed 101/1 tries 1, save undone, complete");
    CHECK(pipe.ended() == step_outcome::dead_lettered);
    CHECK(pipe.progress().dead_lettered == 1);
    CHECK(pipe.progress().done == 1);
    CHECK(!pipe.progress().failed);
    receives(pipe, message(2));
    CHECK(ends(pipe) == "execute 2 try 1, save, complete");
    receives(pipe, message(5));
    runs(pipe, waybill::permanent("no price"));
    CHECK(ends(pipe) == "park failed 105/5 tries 1, save undone, complete, clear");
}

TEST_CASE("pipeline, independent: steps may be missing or late")
{
    pipeline pipe = held(independent());
    receives(pipe, message(3));
    CHECK(ends(pipe) == "execute 3 try 1, save, complete");
    CHECK(pipe.progress().done == 3);
    receives(pipe, message(1));
    CHECK(ends(pipe) == "execute 1 try 1, complete");
    CHECK(pipe.ended() == step_outcome::done);
    CHECK(pipe.progress().done == 3);
    receives(pipe, message(2));
    runs(pipe, waybill::permanent("no"));
    CHECK(ends(pipe) == "park failed 102/2 tries 1, save undone, complete");
    CHECK(pipe.progress().done == 3);
    CHECK(pipe.progress().dead_lettered == 1);
    receives(pipe, message(3, 2));  // that one is sure to be a repetition
    CHECK(ends(pipe) == "complete");
    CHECK(pipe.ended() == step_outcome::repeated);
}

TEST_CASE("pipeline, independent: saved tries count for one step only")
{
    pipeline_policy p = independent();
    p.max_wait_in_hand = {};
    session_progress tried = done_up_to(1);
    tried.tries = 2;
    // For the step after `done` only: step 2 is in the broker's own dead-letter queue.
    pipeline pipe = held(p, state_read::ok, tried);
    receives(pipe, message(3));
    CHECK(asks(pipe) == "execute 3 try 1");
    CHECK(runs(pipe, waybill::transient("busy")));
    CHECK(pipe.progress().tries == 1);
    CHECK(pipe.progress().done == 2);
    CHECK(ends(pipe) == "save undone, give back transient 4");
    // If step 2 arrives late after all, it does not count as a repetition.
    pipeline next = held(p, state_read::ok, pipe.progress());
    receives(next, message(2));
    CHECK(asks(next) == "execute 2 try 1");
    CHECK(runs(next, waybill::transient("busy")));
    CHECK(asks(next, at(0)) == "wait 4");  // the state has no space for it: the step waits in hand
    CHECK(next.progress() == pipe.progress());
    CHECK(runs(next, {}, at(4)));
    CHECK(ends(next) == "complete");
    CHECK(next.progress().tries == 1);
}

TEST_CASE("pipeline, independent: an undone try skips no step")
{
    for (const bool stops : {false, true}) {
        pipeline pipe = held(independent(), state_read::ok, done_up_to(1));
        receives(pipe, message(3, 0));
        CHECK(asks(pipe) == "save undone");
        CHECK(pipe.progress().done == 2);
        if (stops) pipe.on(waybill::stop_requested{}, at(0));
        CHECK(saves(pipe));
        if (!stops) runs(pipe, waybill::infrastructure("down"));
        CHECK(pipe.progress().done == 1);
        CHECK(pipe.progress().tries == 0);
        CHECK(asks(pipe) == "save undone");
        pipeline next = held(independent(), state_read::ok, pipe.progress());
        receives(next, message(2, 0));
        CHECK(ends(next) == "save undone, execute 2 try 1, save, complete");
        CHECK(next.ended() == step_outcome::done);
    }
}

TEST_CASE(
    "pipeline, independent: dead letters are marked independent, and a repeated one counts once")
{
    pipeline pipe = held(independent(), state_read::ok, done_up_to(1));
    receives(pipe, message(2));
    runs(pipe, waybill::permanent("no"));
    CHECK(tests_support::held<pipeline::write_dead_letter>(pipe.next(at(0))).independent);
    pipe = held(quick());
    receives(pipe, message(2));
    saves(pipe);
    CHECK(!tests_support::held<pipeline::write_dead_letter>(pipe.next(at(0))).independent);

    // Dead-lettered and counted, but not complete, several times: it counts once.
    session_progress found = done_up_to(3);
    found.dead_lettered = 2;
    for (int times = 0; times != 3; ++times) {
        pipe = held(independent(), state_read::ok, found);
        receives(pipe, message(2));
        runs(pipe, waybill::permanent("no"));
        parks(pipe);
        found = pipe.progress();
        CHECK(found.dead_lettered == 3);
    }
}

TEST_CASE("pipeline, independent: the first step is not stored")
{
    pipeline pipe = held(independent());
    receives(pipe, {50, 4, 4, 6, false, 1});
    CHECK(ends(pipe) == "execute 4 try 1, save, complete");
    CHECK(pipe.progress().first == 0);
    receives(pipe, {51, 3, 1, 6, false, 1});
    CHECK(ends(pipe) == "execute 3 try 1, complete");
}

TEST_CASE(
    "pipeline, independent: contradictory step numbers dead-letter one step, and the state stays")
{
    pipeline pipe = held(independent(), state_read::ok, done_up_to(2));
    receives(pipe, {9, 3, 1, 5, true, 1});
    CHECK(ends(pipe) == "park contradiction 9/3 tries 0, complete");
    CHECK(pipe.progress() == done_up_to(2));
    receives(pipe, message(3));
    CHECK(ends(pipe) == "execute 3 try 1, save, complete");
}

TEST_CASE("pipeline, independent: a failed state stops the session")
{
    pipeline pipe = held(independent(), state_read::ok, failed_at(2));
    receives(pipe, message(3));
    CHECK(ends(pipe) == "park session_failed 102/2 tries 0, complete");
}

TEST_CASE("pipeline: copies are independent")
{
    pipeline pipe = held(quick());
    receives(pipe, message(1));
    pipeline trial = pipe;
    CHECK(trial == pipe);
    runs(trial, waybill::permanent("no"));
    CHECK(!(trial == pipe));
    CHECK(asks(pipe) == "execute 1 try 1");
    CHECK(asks(trial) == "save undone");
}

TEST_CASE("pipeline: a policy of zeros allows one try")
{
    pipeline_policy p;
    p.retry.max_attempts = 0;
    p.max_deliveries = 0;
    p.broker_max_deliveries = 0;
    p.max_wait_in_hand = duration::lowest();
    p.reason_bytes = 0;
    pipeline pipe = held(p);
    receives(pipe, message(1));
    CHECK(asks(pipe) == "execute 1 try 1");
    CHECK(runs(pipe, waybill::transient("busy")));
    CHECK(pipe.reason().empty());
    CHECK(ends(pipe) == "save undone, park exhausted 101/1 tries 1, complete");
}

}  // namespace
}  // namespace pipeline_test
