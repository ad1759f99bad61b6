// SPDX-License-Identifier: MIT
//
// Commands and their results: late, twice, lost, or without a command.

#include <cstdint>
#include <optional>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace command_test {

namespace sc = waybill::scaling;
using sc::admission;
using sc::admit;
using sc::command_result;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::state;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;
using tests_support::seconds;

namespace {

policy plain()
{
    return {.up = sc::mean("load") > 100,
            .down = sc::mean("load") < 10,
            .instances = {1, 100},
            .stabilise = {},
            .patience = seconds(60),
            .after_failure = {}};
}

const readings high{level("load", 200)};
const readings low{level("load", 0)};

// One command for 5 -> 6, given at 0.
state with_one_out()
{
    state s;
    s.on(decide(tests_support::kept(plain()), high, s, 5, at(0)));
    return s;
}

}  // namespace

// The executor can decide which commands to drop.
static_assert(admit({1, 5, 6}, 0, 5) == admission::fresh);
static_assert(admit({1, 5, 6}, 1, 5) == admission::duplicate);
static_assert(admit({1, 5, 6}, 1, 6) == admission::duplicate);
static_assert(admit({1, 5, 6}, 2, 5) == admission::late);
static_assert(admit({3, 5, 6}, 2, 6) == admission::moved);
static_assert(admit({3, 5, 5}, 2, 5) == admission::idle);
static_assert(admit({9, 5, 6}, 2, 5) == admission::fresh);  // some may be lost
static_assert(admit({0, 0, 0}, 0, 0) == admission::duplicate);
static_assert(admit({UINT64_MAX, 5, 6}, UINT64_MAX - 1, 5) == admission::fresh);
static_assert(name(admission::moved) == "moved" && name(command_result::stale) == "stale");

TEST_CASE("command: ids increase by one, and each command contains its old and its new number")
{
    state s;
    for (std::uint64_t n = 1; n <= 5; ++n) {
        const decision d = decide(tests_support::kept(plain()), high, s, 4 + n, at(0));
        REQUIRE(d.command);
        CHECK(*d.command == sc::command{n, 4 + n, 5 + n});
        s.on(d);
        CHECK(s.last_id == n);
        CHECK(s.on(sc::applied{n}, at(0)) == command_result::applied);
    }
}

TEST_CASE("command: a pending command blocks other commands")
{
    const state s = with_one_out();
    for (const readings& now : {high, low}) {
        const decision d = decide(tests_support::kept(plain()), now, s, 5, at(59));
        CHECK(d.verdict == verdict::held);
        CHECK(d.why == reason::pending);
        CHECK(d.until == at(60));
    }
    CHECK(decide(tests_support::kept(plain()), readings{level("load", 50)}, s, 5, at(59)).verdict ==
          verdict::steady);
}

TEST_CASE(
    "command: after the patience ends there is a new command, and results of the old one are stale")
{
    state s = with_one_out();
    const decision d = decide(tests_support::kept(plain()), high, s, 5, at(60));
    REQUIRE(d.command);
    CHECK(d.command->id == 2);
    s.on(d);
    // The result of the first command arrives late, and changes nothing.
    const state before = s;
    CHECK(s.on(sc::applied{1}, at(61)) == command_result::stale);
    CHECK(s.on(sc::failed{1}, at(61)) == command_result::stale);
    CHECK(s == before);
    CHECK(s.on(sc::applied{2}, at(62)) == command_result::applied);
    CHECK(s.last_up == at(62));
}

TEST_CASE("command: a result after the patience is applied if there is no newer command")
{
    state s = with_one_out();
    CHECK(s.on(sc::applied{1}, at(1'000)) == command_result::applied);
    CHECK(s.last_up == at(1'000));
}

TEST_CASE("command: repeated results and results of unknown commands change nothing")
{
    state s = with_one_out();
    const state out = s;
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{2}, UINT64_MAX}) {
        CHECK(s.on(sc::applied{id}, at(1)) == command_result::unknown);
        CHECK(s.on(sc::failed{id}, at(1)) == command_result::unknown);
    }
    CHECK(s == out);
    CHECK(s.on(sc::applied{1}, at(1)) == command_result::applied);
    const state done = s;
    CHECK(s.on(sc::applied{1}, at(2)) == command_result::stale);
    CHECK(s.on(sc::failed{1}, at(2)) == command_result::stale);
    CHECK(s == done);
    state fresh;
    CHECK(fresh.on(sc::applied{1}, at(1)) == command_result::unknown);
    CHECK(fresh == state{});
}

TEST_CASE("command: a failed command is no change, and does not block")
{
    state s = with_one_out();
    CHECK(s.on(sc::failed{1}, at(5)) == command_result::applied);
    CHECK_FALSE(s.pending);
    CHECK_FALSE(s.last_up);
    CHECK(s.applied_changes.empty());
    CHECK(s.last_failure == at(5));
    CHECK(s.on(sc::applied{1}, at(6)) == command_result::stale);
    CHECK(decide(tests_support::kept(plain()), high, s, 5, at(6)).command->id == 2);
}

TEST_CASE("command: reaching its number confirms a command without a result")
{
    policy p = plain();
    p.cooldown.up = seconds(120);
    state s = with_one_out();
    const decision d = decide(p, high, s, 6, at(20));
    CHECK(d.arrived);
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::cooldown);
    CHECK(d.until == at(140));
    CHECK(s.pending);  // asking changes nothing
    s.on(d);
    CHECK_FALSE(s.pending);
    CHECK(s.last_up == at(20));
    REQUIRE(s.applied_changes.size() == 1);
    CHECK(s.applied_changes[0] == sc::applied_change{at(20), 5, 6});
    CHECK(s.on(sc::applied{1}, at(30)) == command_result::stale);
    CHECK(s.last_up == at(20));
}

TEST_CASE("command: a decision may confirm the last command and contain the next")
{
    state s = with_one_out();
    const decision d = decide(tests_support::kept(plain()), high, s, 6, at(20));
    CHECK(d.arrived);
    REQUIRE(d.command);
    CHECK(*d.command == sc::command{2, 6, 7});
    s.on(d);
    REQUIRE(s.pending);
    CHECK(s.pending->issued.id == 2);
    // Reporting the same decision again does not complete the new command.
    const state once = s;
    s.on(d);
    REQUIRE(s.pending);
    CHECK(s.pending->issued.id == 2);
    CHECK(s.applied_changes == once.applied_changes);
    CHECK(s.last_up == once.last_up);
}

TEST_CASE("command: a result between decide and on(decision) is not counted twice")
{
    state s = with_one_out();
    const decision d =
        decide(tests_support::kept(plain()), readings{level("load", 50)}, s, 6, at(20));
    CHECK(d.arrived);
    CHECK(s.on(sc::applied{1}, at(20)) == command_result::applied);
    s.on(d);
    CHECK(s.applied_changes.size() == 1);
}

TEST_CASE("command: a command that is partly done is still pending")
{
    policy p = plain();
    p.step.up.count = 5;
    state s;
    s.on(decide(p, high, s, 5, at(0)));
    const decision d = decide(p, high, s, 7, at(10));
    CHECK_FALSE(d.arrived);
    CHECK(d.why == reason::pending);
    CHECK(decide(p, high, s, 10, at(11)).arrived);
}

TEST_CASE(
    "command: with a patience of zero each decision has a new command, and old results are stale")
{
    policy p = plain();
    p.patience = {};
    state s;
    s.on(decide(p, high, s, 5, at(0)));
    const decision d = decide(p, high, s, 5, at(0));
    REQUIRE(d.command);
    CHECK(d.command->id == 2);
    s.on(d);
    CHECK(s.on(sc::applied{1}, at(1)) == command_result::stale);
}

TEST_CASE("command: a decision that is not reported leaves no command")
{
    state s;
    const decision dry = decide(tests_support::kept(plain()), high, s, 5, at(0));
    CHECK(dry.command->id == 1);
    CHECK(s.on(sc::applied{dry.command->id}, at(1)) == command_result::unknown);
    CHECK(decide(tests_support::kept(plain()), low, s, 5, at(1)).command->id == 1);
}

TEST_CASE("command: a decision older than the state leaves no command")
{
    state s;
    const decision old = decide(tests_support::kept(plain()), high, s, 5, at(0));
    s.on(decide(tests_support::kept(plain()), high, s, 5, at(1)));
    s.on(sc::applied{1}, at(2));
    s.on(old);
    CHECK_FALSE(s.pending);
    CHECK(s.last_id == 1);
}

}  // namespace command_test
