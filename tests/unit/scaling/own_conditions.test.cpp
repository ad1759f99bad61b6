// SPDX-License-Identifier: MIT
//
// A user's own conditions, alone and among rules.

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>

namespace own_conditions_test {

namespace sc = waybill::scaling;
using sc::decide;
using sc::decision;
using sc::evidence;
using sc::reason;
using sc::role;
using sc::situation;
using sc::tribool;
using sc::verdict;
using tests_support::at;
using tests_support::level;
using tests_support::readings;

namespace {

// Reads two metrics, and has its own text.
struct backlog_grows {
    double by = 0;
    tribool operator()(const situation& s, std::vector<evidence>& because) const
    {
        const sc::reading *in = nullptr, *out = nullptr;
        for (const sc::reading& r : s.metrics) {
            if (r.metric == "in") in = &r;
            if (r.metric == "out") out = &r;
        }
        evidence e{.metric = "in - out", .note = "the backlog grows"};
        if (in == nullptr || out == nullptr) {
            e.missing = sc::missing_part::metric;
            because.push_back(e);
            return tribool::unknown;
        }
        const double rest = *in->value(sc::statistic::mean) - *out->value(sc::statistic::mean);
        e.value = rest;
        e.limit = by;
        e.holds = sc::truth_of(rest > by);
        because.push_back(e);
        return e.holds;
    }
};

tribool always(const situation&, std::vector<evidence>&)
{
    return tribool::yes;
}

struct says_bool {
    bool operator()(const situation&, std::vector<evidence>&) const { return true; }
};
struct wants_nothing {
    tribool operator()() const { return tribool::yes; }
};
struct changes_itself {
    tribool operator()(const situation&, std::vector<evidence>&) { return tribool::yes; }
};

static_assert(sc::condition<sc::rule>);
static_assert(sc::condition<backlog_grows>);
static_assert(sc::condition<decltype(&always)>);
static_assert(!sc::condition<says_bool>);
static_assert(!sc::condition<wants_nothing>);
static_assert(!sc::condition<changes_itself>);
static_assert(!sc::condition<tribool>);
static_assert(!sc::condition<bool>);

// Combined with a rule, the result is a rule.
static_assert(std::is_same_v<decltype(sc::any_of(sc::rule(), sc::rule())), sc::rule>);
static_assert(sc::condition<decltype(sc::any_of(sc::rule(), backlog_grows(), &always))>);

// A condition has three results. A bool cannot express "unknown".
template <class C>
concept combines = requires(C c) { sc::any_of(sc::rule(), c); };
template <class C>
concept makes_policy = requires(C c) { sc::policy_of(c, sc::rule()); };
static_assert(combines<backlog_grows> && !combines<says_bool>);
static_assert(makes_policy<backlog_grows> && !makes_policy<says_bool>);

}  // namespace

TEST_CASE("own condition: it decides alone, and adds its own evidence")
{
    auto p = sc::policy_of(backlog_grows{5}, sc::mean("in") < 1);
    p.stabilise = {};
    p.instances = {1, 10};
    const decision d = decide(p, readings{level("in", 20), level("out", 10)}, {}, 3, at(0));
    CHECK(d.verdict == verdict::up);
    REQUIRE(d.reasons.size() == 2);
    CHECK(d.reasons[0].part == role::up);
    CHECK(d.reasons[0].metric == "in - out");
    CHECK(d.reasons[0].note == "the backlog grows");
    CHECK(decide(p, readings{level("in", 0), level("out", 10)}, {}, 3, at(0)).to == 2);
}

TEST_CASE("own condition: an unknown result holds the decision")
{
    auto p = sc::policy_of(backlog_grows{5}, sc::mean("in") < 1);
    p.stabilise = {};
    p.instances = {1, 10};
    const decision d = decide(p, readings{level("in", 0)}, {}, 3, at(0));
    CHECK(d.verdict == verdict::held);
    CHECK(d.why == reason::unknown);
}

TEST_CASE("own condition: any_of and all_of accept it in any position")
{
    const readings grows{level("in", 20), level("out", 10)};
    const readings shrinks{level("in", 0.5), level("out", 10)};
    const auto check = [&](auto up, auto down) {
        auto p = sc::policy_of(up, down);
        p.stabilise = {};
        p.instances = {1, 10};
        const decision more = decide(p, grows, {}, 3, at(0));
        CHECK(more.verdict == verdict::up);
        CHECK(more.reasons.size() == 5);  // each is evaluated, for any result of the others
        CHECK(decide(p, shrinks, {}, 3, at(0)).verdict == verdict::down);
    };
    const auto idle = [](const situation& s, std::vector<evidence>& because) {
        return (sc::mean("in") < 1)(s, because);
    };
    const sc::rule few = sc::mean("out") < 50, many = sc::mean("in") > 1'000;
    check(sc::any_of(backlog_grows{5}, many, many), sc::all_of(few, idle));
    check(sc::any_of(many, backlog_grows{5}, many), sc::all_of(idle, few));
    check(sc::any_of(many, many, backlog_grows{5}), sc::all_of(sc::all_of(idle), sc::any_of(few)));
}

TEST_CASE("own condition: a lambda with captures may combine rules and conditions")
{
    double most = 100;
    const auto up = [most](const situation& s, std::vector<evidence>& because) {
        return sc::both((sc::mean("in") > most)(s, because), backlog_grows{0}(s, because));
    };
    auto p = sc::policy_of(up, sc::rule());
    p.stabilise = {};
    p.instances = {1, 10};
    CHECK(decide(p, readings{level("in", 101), level("out", 1)}, {}, 3, at(0)).to == 4);
    CHECK(decide(p, readings{level("in", 101), level("out", 102)}, {}, 3, at(0)).to == 3);
}

TEST_CASE("own condition: the flap guard evaluates it with the load of fewer instances")
{
    const auto busy = [](const situation& s, std::vector<evidence>&) {
        return sc::truth_of(60 * s.load > 80);
    };
    auto p = sc::policy_of(busy, sc::mean("in") < 100);
    p.stabilise = {};
    p.instances = {1, 10};
    CHECK(decide(p, readings{level("in", 0)}, {}, 2, at(0)).why == reason::flapping);
    CHECK(decide(p, readings{level("in", 0)}, {}, 5, at(0)).to == 4);
}

TEST_CASE("own condition: a function pointer is a condition")
{
    auto p = sc::policy_of(&always, sc::rule());
    p.stabilise = {};
    p.instances = {1, 10};
    CHECK(decide(p, {}, {}, 3, at(0)).to == 4);
}

TEST_CASE("own condition: validate skips it, and checks the rest of the policy")
{
    auto p = sc::policy_of(backlog_grows{5}, sc::mean("in") < 1);
    p.stabilise = {};
    p.instances = {1, 10};
    CHECK_FALSE(sc::validate(p));
    p.down = sc::mean("") < 1;
    CHECK(sc::validate(p));
    p.down = sc::mean("in") < 1;
    p.stabilise = {};
    p.instances = {5, 3};
    CHECK(sc::validate(p));
}

}  // namespace own_conditions_test
