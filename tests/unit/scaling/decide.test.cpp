// SPDX-License-Identifier: MIT
//
// The wanted number, its direction, and the fields of a decision.

#include <cstdint>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace decide_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::role;
using sc::state;
using sc::tribool;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;

namespace {

template <class Policy, class Time>
concept decides = requires(Policy&& p, const readings& r, const state& s, Time now) {
    decide(static_cast<Policy&&>(p), r, s, 5, now);
};
static_assert(decides<const policy&, waybill::wall_time>);
// The state outlives the process, but a time of the steady clock does not.
static_assert(!decides<const policy&, waybill::steady_time>);
// The rows of a decision view the names in its policy, which has to outlive them.
static_assert(!decides<policy, waybill::wall_time>);

policy plain()
{
    return {.up = sc::mean("load") > 100,
            .down = sc::mean("load") < 10,
            .instances = {1, 20},
            .stabilise = {}};
}

void is(const decision& d, verdict v, reason why, std::uint64_t to)
{
    CHECK(d.verdict == v);
    CHECK(d.why == why);
    CHECK(d.to == to);
    CHECK(d.command.has_value() == (v == verdict::up || v == verdict::down));
    CHECK((d.to != d.from) == d.command.has_value());
    if (d.command) {
        CHECK(d.command->from == d.from);
        CHECK(d.command->to == d.to);
    }
}

}  // namespace

TEST_CASE("decide: up above one threshold, down below another, steady between them and at both")
{
    const policy p = plain();
    is(decide(p, readings{level("load", 101)}, {}, 5, at(0)), verdict::up, reason::nothing, 6);
    is(decide(p, readings{level("load", 9)}, {}, 5, at(0)), verdict::down, reason::nothing, 4);
    for (const double between : {100.0, 50.0, 10.0}) {
        is(decide(p, readings{level("load", between)}, {}, 5, at(0)), verdict::steady,
           reason::nothing, 5);
    }
}

TEST_CASE("decide: the reasons contain the values of each rule, in the order of the rules")
{
    policy p{.up = sc::any_of(sc::mean("a") > sc::per_instance(100), sc::highest("b") > 3),
             .down = sc::all_of(sc::highest("a") < 10, sc::mean("c") < 7),
             .instances = {1, 20},
             .stabilise = {}};
    p.targets = {{.of = sc::mean("a"), .each = 50}};
    const readings now{level("a", 250, at(-30)), level("b", 1)};
    const decision d = decide(p, now, {}, 2, at(0));
    REQUIRE(d.reasons.size() == 5);
    const auto& row = d.reasons;
    CHECK(row[0].part == role::up);
    CHECK(row[0].metric == "a");
    CHECK(row[0].value == 250.0);
    CHECK(row[0].limit == 200.0);
    CHECK(row[0].how == sc::relation::above);
    CHECK(row[0].holds == tribool::yes);
    CHECK(row[0].points == 10);
    CHECK(row[0].timed);
    CHECK(row[0].last == at(-30));
    CHECK(row[1].part == role::up);
    CHECK(row[1].holds == tribool::no);
    CHECK_FALSE(row[1].timed);
    CHECK(row[2].part == role::down);
    CHECK(row[3].part == role::down);
    CHECK(row[3].holds == tribool::unknown);
    CHECK(row[3].missing == sc::missing_part::metric);
    CHECK(row[4].part == role::target);
    CHECK(row[4].wants == 5);
    CHECK(d.up == tribool::yes);
    CHECK(d.down == tribool::no);
    CHECK(d.desired == 5);
    CHECK(d.now == at(0));
}

TEST_CASE("decide: up has priority over down, and a known up over unknown rules")
{
    policy p = plain();
    p.up = sc::mean("a") > 1;
    p.down = sc::mean("a") > 0;
    is(decide(p, readings{level("a", 2)}, {}, 5, at(0)), verdict::up, reason::nothing, 6);
    p.up = sc::any_of(sc::mean("a") > 1, sc::mean("absent") > 1);
    p.down = sc::mean("absent") < 1;
    p.targets = {{.of = sc::mean("absent"), .each = 1}};
    is(decide(p, readings{level("a", 2)}, {}, 5, at(0)), verdict::up, reason::nothing, 6);
}

TEST_CASE("decide: the greatest increase of all rules counts")
{
    policy p = plain();
    p.step.up.count = 2;
    p.bands.up = {{sc::mean("load") > 200, {.count = 3}}, {sc::mean("load") > 400, {.count = 8}}};
    p.targets = {{.of = sc::mean("work"), .each = 10}};
    const auto to = [&](double load, double work) {
        return decide(p, readings{level("load", load), level("work", work)}, {}, 5, at(0)).to;
    };
    CHECK(to(150, 50) == 7);
    CHECK(to(201, 50) == 8);
    CHECK(to(500, 50) == 13);
    CHECK(to(150, 95) == 10);  // the target needs more
    CHECK(to(50, 95) == 10);   // and needs no rule
    CHECK(to(500, 95) == 13);
    CHECK(to(500, 1'000) == 20);
}

TEST_CASE("decide: a band up decides alone, a band down only if the rule down holds")
{
    policy p = plain();
    p.bands.up = {{sc::mean("errors") > 5, {.count = 4}}};
    p.bands.down = {{sc::mean("errors") < 1, {.count = 3}}};
    const auto d = [&](double load, double errors) {
        return decide(p, readings{level("load", load), level("errors", errors)}, {}, 10, at(0));
    };
    is(d(50, 6), verdict::up, reason::nothing, 14);
    is(d(50, 0), verdict::steady, reason::nothing, 10);
    is(d(5, 0), verdict::down, reason::nothing, 7);
    is(d(5, 2), verdict::down, reason::nothing, 9);
    is(d(5, 6), verdict::up, reason::nothing, 14);
}

TEST_CASE("decide: a target limits a change down, and needs the rule down if there is one")
{
    policy p = plain();
    p.step.down.count = 5;
    p.targets = {{.of = sc::mean("work"), .each = 10}};
    const auto to = [&](double load, double work) {
        return decide(p, readings{level("load", load), level("work", work)}, {}, 10, at(0)).to;
    };
    CHECK(to(5, 20) == 5);    // the number of the rule, although 2 would be enough
    CHECK(to(5, 70) == 7);    // the target needs 7
    CHECK(to(5, 95) == 10);   // within the tolerance
    CHECK(to(50, 20) == 10);  // the rule down does not hold
    p.down = {};
    CHECK(to(50, 20) == 2);  // without one the target is enough
}

TEST_CASE("decide: a missing rule changes nothing")
{
    const policy p{.instances = {1, 9}, .stabilise = {}};
    is(decide(p, {}, {}, 5, at(0)), verdict::steady, reason::nothing, 5);
    policy up_alone = plain();
    up_alone.down = {};
    is(decide(up_alone, readings{level("load", 0)}, {}, 5, at(0)), verdict::steady, reason::nothing,
       5);
    policy down_alone = plain();
    down_alone.up = {};
    is(decide(down_alone, readings{level("load", 0)}, {}, 5, at(0)), verdict::down, reason::nothing,
       4);
}

TEST_CASE("decide: bounds limit a change, and are its reason")
{
    policy p = plain();
    p.step = {.up = {.count = 7}, .down = {.count = 7}};
    const readings high{level("load", 200)}, low{level("load", 0)};
    decision d = decide(p, high, {}, 15, at(0));
    is(d, verdict::up, reason::bounds, 20);
    CHECK(d.desired == 22);
    d = decide(p, high, {}, 20, at(0));
    is(d, verdict::held, reason::bounds, 20);
    CHECK(d.desired == 27);
    is(decide(p, low, {}, 5, at(0)), verdict::down, reason::bounds, 1);
    d = decide(p, low, {}, 1, at(0));
    is(d, verdict::steady, reason::bounds, 1);  // it already has the lowest number
    CHECK(d.desired == 0);
}

TEST_CASE("decide: a number outside the bounds is brought within them at once")
{
    policy p = plain();
    p.instances = {3, 10};
    p.cooldown = {tests_support::seconds(600), tests_support::seconds(600)};
    p.stabilise = {tests_support::seconds(600), tests_support::seconds(600)};
    p.rate.up = {{{.count = 1}, tests_support::seconds(600)}};
    state s;
    s.last_up = s.last_down = at(-1);
    const readings none, high{level("load", 200)}, low{level("load", 0)}, mid{level("load", 50)};
    for (const readings& now : {none, high, low, mid}) {
        is(decide(p, now, s, 1, at(0)), verdict::up, reason::bounds, 3);
        is(decide(p, now, s, 0, at(0)), verdict::up, reason::bounds, 3);
    }
    for (const readings& now : {none, high, mid}) {
        is(decide(p, now, s, 15, at(0)), verdict::down, reason::bounds, 10);
    }
    CHECK(decide(p, low, s, 15, at(0)).to == 10);
    CHECK(decide(p, low, s, 11, at(0)).to == 10);
    // But not while a command to that number is pending.
    s.on(decide(p, none, s, 1, at(0)));
    is(decide(p, none, s, 2, at(1)), verdict::held, reason::pending, 2);
}

TEST_CASE("decide: disabling one direction keeps the other one enabled")
{
    policy p = plain();
    p.allow.down = false;
    is(decide(p, readings{level("load", 0)}, {}, 5, at(0)), verdict::held, reason::disabled, 5);
    is(decide(p, readings{level("load", 200)}, {}, 5, at(0)), verdict::up, reason::nothing, 6);
    p.allow = {false, true};
    is(decide(p, readings{level("load", 200)}, {}, 5, at(0)), verdict::held, reason::disabled, 5);
    is(decide(p, readings{level("load", 0)}, {}, 5, at(0)), verdict::down, reason::nothing, 4);
    p.allow = {false, false};  // computes the wanted number without a command
    const decision d = decide(p, readings{level("load", 0)}, {}, 5, at(0));
    is(d, verdict::held, reason::disabled, 5);
    CHECK(d.desired == 4);
}

TEST_CASE("decide: extreme numbers of instances do not overflow")
{
    policy p = plain();
    p.instances = {0, UINT64_MAX};
    const readings high{level("load", 200)}, low{level("load", 0)};
    is(decide(p, high, {}, UINT64_MAX, at(0)), verdict::steady, reason::nothing, UINT64_MAX);
    is(decide(p, high, {}, UINT64_MAX - 1, at(0)), verdict::up, reason::nothing, UINT64_MAX);
    is(decide(p, low, {}, UINT64_MAX, at(0)), verdict::down, reason::nothing, UINT64_MAX - 1);
    is(decide(p, low, {}, 0, at(0)), verdict::steady, reason::nothing, 0);
    p.step = {.up = {.count = UINT64_MAX}, .down = {.percent = 1e300}};
    is(decide(p, high, {}, 7, at(0)), verdict::up, reason::nothing, UINT64_MAX);
    is(decide(p, low, {}, 7, at(0)), verdict::down, reason::nothing, 0);
    p.rate.up = {{{.count = 5}, tests_support::seconds(60)}};
    is(decide(p, high, {}, UINT64_MAX - 2, at(0)), verdict::up, reason::nothing, UINT64_MAX);
    p.targets = {{.of = sc::mean("load"), .each = 1e-320}};
    CHECK(decide(p, high, {}, 1, at(0)).desired == UINT64_MAX);
    p.instances = {1, 1};
    is(decide(p, high, {}, UINT64_MAX, at(0)), verdict::down, reason::bounds, 1);
}

TEST_CASE("decide: an invalid policy still gets a bounded decision")
{
    policy p = plain();
    p.instances = {9, 3};  // then there are nine
    CHECK(decide(p, readings{level("load", 0)}, {}, 9, at(0)).to == 9);
    CHECK(decide(p, readings{level("load", 0)}, {}, 5, at(0)).to == 9);
    p = plain();
    p.step.up.percent = -50;
    p.step.down.percent = -50;
    CHECK(decide(p, readings{level("load", 200)}, {}, 5, at(0)).to == 6);
    CHECK(decide(p, readings{level("load", 0)}, {}, 5, at(0)).to == 4);
    p.rate.down = {{{.percent = -1}, tests_support::seconds(-1)}};
    p.cooldown = {tests_support::seconds(-1), tests_support::seconds(-1)};
    p.stabilise = {tests_support::seconds(-1), tests_support::seconds(-1)};
    CHECK(decide(p, readings{level("load", 0)}, {}, 5, at(0)).to == 4);
}

TEST_CASE("decide: equal inputs give equal decisions, and unreported decisions change no state")
{
    policy p = plain();
    p.stabilise.down = tests_support::seconds(60);
    state s;
    const readings low{level("load", 0)};
    s.on(decide(p, low, s, 5, at(0)));
    const state before = s;
    const decision a = decide(p, low, s, 5, at(61));
    const decision b = decide(p, low, s, 5, at(61));
    CHECK(a == b);
    CHECK(s == before);
    CHECK(a.verdict == verdict::down);
    CHECK(a.command->id == 1);
    CHECK(decide(p, low, s, 5, at(62)).command->id == 1);  // it was never given
}

}  // namespace decide_test
