// SPDX-License-Identifier: MIT
//
// A change must be wanted for the whole time. Stabilisation can only hold.

#include <cstdint>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/decide.hpp>

namespace stabilise_test {

namespace sc = waybill::scaling;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::loop;
using tests_support::seconds;

namespace {

policy by_target(std::int64_t up, std::int64_t down)
{
    policy p{.instances = {1, 100}, .stabilise = {}};
    p.targets = {{.of = sc::mean("work"), .each = 1, .tolerance = {0, 0}}};
    p.stabilise = {seconds(up), seconds(down)};
    return p;
}

}  // namespace

TEST_CASE("stabilise: the first decision of a state removes no instance")
{
    loop l{by_target(0, 300), 10};
    const decision d = l.step({level("work", 4)}, at(0));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::stabilising);
    CHECK(d.until == at(300));
    CHECK(d.desired == 4);
    CHECK(l.step({level("work", 4)}, at(299)).verdict == verdict::held);
    CHECK(l.step({level("work", 4)}, at(300)).to == 4);
}

TEST_CASE("stabilise: a change down waits until no higher recommendation is within the time")
{
    loop l{by_target(0, 300), 10};
    l.step({level("work", 10)}, at(0));
    l.step({level("work", 10)}, at(100));
    // Ten were wanted until now: they still count 100 s later.
    CHECK(l.step({level("work", 4)}, at(200)).until == at(500));
    const decision d = l.step({level("work", 4)}, at(499));
    CHECK(d.verdict == verdict::held);
    CHECK(d.until == at(500));
    CHECK(l.step({level("work", 4)}, at(500)).to == 4);
}

TEST_CASE("stabilise: a change down stops at the highest recommendation within the time")
{
    loop l{by_target(0, 300), 10};
    l.step({level("work", 10)}, at(0));
    l.step({level("work", 7)}, at(10));
    l.step({level("work", 4)}, at(200));
    decision d = l.step({level("work", 4)}, at(310));
    CHECK(d.verdict == verdict::down);  // ten were wanted until 10, seven until 200
    CHECK(d.to == 7);
    CHECK(d.why == reason::stabilising);
    CHECK(d.until == at(500));
    CHECK(l.step({level("work", 4)}, at(499)).to == 7);
    CHECK(l.step({level("work", 4)}, at(500)).to == 4);
}

TEST_CASE("stabilise: a peak within the time restarts it")
{
    loop l{by_target(0, 300), 10};
    l.step({level("work", 4)}, at(0));
    l.step({level("work", 8)}, at(250));
    const decision d = l.step({level("work", 4)}, at(300));
    CHECK(d.to == 8);
    CHECK(d.until == at(600));
    CHECK(l.step({level("work", 4)}, at(599)).to == 8);
    CHECK(l.step({level("work", 4)}, at(600)).to == 4);
}

TEST_CASE("stabilise: a change up needs its recommendation for the whole time")
{
    loop l{by_target(60, 0), 10};
    l.step({level("work", 10)}, at(0));
    decision d = l.step({level("work", 20)}, at(10));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::stabilising);
    CHECK(d.until == at(70));
    CHECK(l.step({level("work", 15)}, at(40)).verdict == verdict::held);
    d = l.step({level("work", 20)}, at(70));
    CHECK(d.verdict == verdict::up);
    CHECK(d.to == 15);  // the lowest number that was wanted all the time
    CHECK(d.until == at(130));
    CHECK(l.step({level("work", 20)}, at(129)).to == 15);
    CHECK(l.step({level("work", 20)}, at(130)).to == 20);
}

TEST_CASE("stabilise: a dip within the time delays a change up")
{
    loop l{by_target(60, 0), 10};
    l.step({level("work", 20)}, at(0));
    l.step({level("work", 10)}, at(59));
    CHECK(l.step({level("work", 20)}, at(60)).to == 10);
    CHECK(l.step({level("work", 20)}, at(119)).to == 10);
    CHECK(l.step({level("work", 20)}, at(120)).to == 20);
}

TEST_CASE("stabilise: it reverses no change, and starts none")
{
    // A history of a hundred must not lift ten to a hundred (kubernetes/kubernetes #96671).
    loop l{by_target(300, 300), 100};
    l.step({level("work", 100)}, at(0));
    l.instances = 10;  // another process has removed them
    const decision down = l.ask({level("work", 5)}, at(10));
    CHECK(down.to == 10);
    CHECK(down.verdict == verdict::held);
    const decision stay = l.ask({level("work", 10)}, at(10));
    CHECK(stay.to == 10);
    CHECK(stay.verdict == verdict::steady);
    l.step({level("work", 1)}, at(20));
    l.instances = 50;
    const decision up = l.ask({level("work", 60)}, at(30));
    CHECK(up.to == 50);
    CHECK(up.verdict == verdict::held);
}

TEST_CASE("stabilise: an unknown recommendation is no recommendation of fewer")
{
    loop l{by_target(0, 300), 10};
    l.step({level("work", 4)}, at(0));
    l.step({}, at(200));
    CHECK(l.step({level("work", 4)}, at(310)).to == 10);
    CHECK(l.step({level("work", 4)}, at(609)).to == 10);
    CHECK(l.step({level("work", 4)}, at(610)).to == 4);
}

TEST_CASE("stabilise: the last recommendation holds through a gap")
{
    loop l{by_target(0, 300), 10};
    l.step({level("work", 10)}, at(0));
    // Ten minutes without a decision: fewer were never wanted in them.
    const decision d = l.step({level("work", 4)}, at(600));
    CHECK(d.verdict == verdict::held);
    CHECK(d.until == at(900));
    CHECK(l.step({level("work", 4)}, at(900)).to == 4);
}

TEST_CASE("stabilise: more recommendations than the state stores hold longer, never shorter")
{
    loop l{by_target(0, 1'000), 100};
    // One fewer each second: each value is above all later ones.
    for (std::int64_t t = 0; t != 90; ++t) {
        l.step({level("work", static_cast<double>(100 - t))}, at(t));
    }
    CHECK(l.state.highest.size() <= sc::state::recommendations);
    std::uint64_t last = 100;
    for (std::int64_t t = 1'000; t <= 1'200; ++t) {
        const std::uint64_t to = l.step({level("work", 11)}, at(t)).to;
        // The right number: 100 - k was wanted until k + 1.
        const std::int64_t k = t - 1'000;
        const std::uint64_t right = k < 90 ? static_cast<std::uint64_t>(100 - k) : 11U;
        CHECK(to >= right);
        CHECK(to <= last);
        last = to;
    }
    CHECK(last == 11);
}

}  // namespace stabilise_test
