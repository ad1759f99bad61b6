// SPDX-License-Identifier: MIT
//
// Memory: `decide` allocates only its rows, and the state allocates nothing.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>
#include <support/scarce_new.hpp>

#include <waybill/scaling/decide.hpp>

namespace decide_memory_test {

namespace sc = waybill::scaling;
using sc::decision;
using sc::policy;
using sc::state;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;
using tests_support::seconds;
using tests_support::scarce::taken;

namespace {

policy five_metrics_ten_leaves()
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    std::vector<sc::rule> more, fewer;
    for (const char* m : {"a name that no string keeps in itself", "b", "c", "d", "e"}) {
        more.push_back(sc::averaged(sc::mean(m)) > sc::by_instances({{1, 80}, {9, 70}}));
        fewer.push_back(sc::highest(m) < 50);
    }
    p.up = sc::rule(sc::rule::kind::any, more);
    p.down = sc::rule(sc::rule::kind::all, fewer);
    p.step.down.percent = 90;
    p.stabilise = {seconds(60), seconds(100)};
    p.rate.down = {{{.count = 3}, seconds(60)}};
    p.ladder = {{"S", 1}, {"M", 2}, {"L", 8}, {"XL", 64}};
    p.instances = {0, 3};
    return p;
}

readings all_at(double value)
{
    readings r;
    for (const char* m : {"a name that no string keeps in itself", "b", "c", "d", "e"}) {
        r.push_back(level(m, value));
    }
    return r;
}

std::uint64_t growth(std::size_t rows)
{
    const std::uint64_t before = taken;
    std::vector<sc::evidence> because;
    while (because.size() != rows) because.emplace_back();
    return taken - before;
}

}  // namespace

TEST_CASE("decide memory: decide allocates only for the rows of its reasons")
{
    const policy p = five_metrics_ten_leaves();
    const readings low = all_at(5), tight = all_at(45), high = all_at(90), none;
    state s;
    std::uint64_t n = 3, changed = 0, projected = 0;
    for (std::int64_t t = 0; t != 4'000; t += 20) {
        const bool jump = t % 1'500 == 0;  // back by more than is believed, and then a copy is made
        const readings& slow = t % 1'000 < 200 || t % 1'000 > 600 ? low : tight;
        const readings& now = t % 700 == 0 ? none : t / 1'000 % 2 == 0 ? slow : high;
        const std::uint64_t before = taken;
        const decision d = sc::decide(p, now, s, n, at(jump ? t - 9'000 : t));
        const std::uint64_t used = taken - before;
        // The check with fewer instances adds five rows, which are removed again.
        CHECK(used <= growth(d.reasons.size() + 5));
        const std::uint64_t then = taken;
        s.on(d);
        if (d.command && t % 60 != 0) s.on(sc::applied{d.command->id}, d.now);
        CHECK(taken == then);
        if (d.command) n = d.to;
        changed += d.command.has_value();
        projected += d.reasons.size() > 10;
    }
    CHECK(changed > 5);
    CHECK(projected > 5);
}

}  // namespace decide_memory_test
