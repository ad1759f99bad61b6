// SPDX-License-Identifier: MIT
//
// All rules of up to three comparisons of two metrics. The expected result comes from all places of
// the metrics: on every threshold, and on both sides of each.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/scaling/flapping.hpp>

namespace flapping_enumerated {

namespace sc = waybill::scaling;
using sc::relation;
using sc::rule;

namespace {

// A set of places (a, b), a and b of 0.5, 1, 1.5 ... 3.5, as bits.
using places = std::uint64_t;
constexpr int steps = 7;

struct leaf {
    bool on_b = false;
    relation how = relation::above;
    double limit = 1;

    bool is_above() const { return how == relation::above || how == relation::at_least; }
};

// The threshold itself is on both sides: a metric at it goes to and fro.
places where(const leaf& l, bool fails)
{
    places at = 0;
    for (int a = 0; a != steps; ++a) {
        for (int b = 0; b != steps; ++b) {
            const double x = 0.5 * ((l.on_b ? b : a) + 1);
            const bool in = l.is_above() != fails ? x >= l.limit : x <= l.limit;
            if (in) at |= places{1} << (a * steps + b);
        }
    }
    return at;
}

// A conjunction of a rule: the places where it holds, and the bounds that it sets on the metrics.
struct term {
    places at = ~places{0};
    std::array<bool, 4> bounds{};  // a from below, a from above, b from below, b from above
};

term both(const term& x, const term& y)
{
    term t{x.at & y.at, {}};
    for (std::size_t n = 0; n != 4; ++n) t.bounds[n] = x.bounds[n] || y.bounds[n];
    return t;
}

struct sketch {
    rule r;
    std::vector<term> holds{};
    std::vector<term> fails{};
};

sketch one(const leaf& l)
{
    sc::comparison c{.metric = l.on_b ? "b" : "a", .how = l.how, .limit = l.limit};
    sketch s{rule(c)};
    for (const bool fails : {false, true}) {
        term t{where(l, fails), {}};
        t.bounds[(l.on_b ? 2U : 0U) + (l.is_above() != fails ? 0U : 1U)] = true;
        (fails ? s.fails : s.holds).push_back(t);
    }
    return s;
}

std::vector<term> all(const std::vector<std::vector<term>>& parts)
{
    std::vector<term> ways{{}};
    for (const std::vector<term>& part : parts) {
        std::vector<term> next;
        for (const term& w : ways) {
            for (const term& t : part) next.push_back(both(w, t));
        }
        ways = next;
    }
    return ways;
}

sketch joined(rule::kind k, const std::vector<const sketch*>& parts)
{
    std::vector<rule> rules;
    std::vector<std::vector<term>> hold, fail;
    sketch s;
    const bool any = k == rule::kind::any;
    for (const sketch* p : parts) {
        rules.push_back(p->r);
        hold.push_back(p->holds);
        fail.push_back(p->fails);
    }
    std::vector<term>& alternatives = any ? s.holds : s.fails;
    for (const auto& way : any ? hold : fail) {
        alternatives.insert(alternatives.end(), way.begin(), way.end());
    }
    (any ? s.fails : s.holds) = all(any ? fail : hold);
    s.r = rule(k, rules);
    return s;
}

sketch opposite(const sketch& s)
{
    return {!s.r, s.fails, s.holds};
}

bool can_flap(const sketch& up, const sketch& down)
{
    for (const term& u : up.holds) {
        for (const term& d : down.holds) {
            bool opposed = false;
            for (std::size_t n = 0; n != 4; ++n) {
                opposed = opposed || (u.bounds[n] && d.bounds[n ^ 1U]);
            }
            if (opposed && (u.at & d.at) != 0) return true;
        }
    }
    return false;
}

std::vector<sketch> leaves()
{
    std::vector<sketch> found;
    for (const bool on_b : {false, true}) {
        for (const double limit : {1.0, 2.0, 3.0}) {
            for (const relation how :
                 {relation::above, relation::at_least, relation::below, relation::at_most}) {
                found.push_back(one({on_b, how, limit}));
            }
        }
    }
    return found;
}

struct tally {
    std::uint64_t pairs = 0, flap = 0, missed = 0, invented = 0;
};

void compare(const sketch& up, const sketch& down, tally& t)
{
    const bool is = can_flap(up, down);
    const bool said = sc::flapping(up.r, down.r, {1, 1}).has_value();
    ++t.pairs;
    t.flap += is;
    t.missed += is && !said;
    t.invented += said && !is;
}

}  // namespace

TEST_CASE("flapping: the check is exact for each pair of rules of one or two comparisons")
{
    const std::vector<sketch> ones = leaves();
    std::vector<sketch> rules = ones;
    for (const sketch& s : ones) rules.push_back(opposite(s));
    for (std::size_t n = 0; n != ones.size(); ++n) {
        for (std::size_t m = n + 1; m < ones.size(); ++m) {
            for (const rule::kind k : {rule::kind::all, rule::kind::any}) {
                rules.push_back(joined(k, {&ones[n], &ones[m]}));
            }
        }
    }
    CHECK(rules.size() == 600);
    tally t;
    for (std::size_t up = 0; up < rules.size(); up += tests_support::brief ? 7 : 1) {
        for (const sketch& down : rules) compare(rules[up], down, t);
    }
    MESSAGE(t.pairs << " pairs, " << t.flap << " flap, " << t.missed << " missed, " << t.invented
                    << " invented");
    CHECK(t.missed == 0);
    CHECK(t.invented == 0);
}

TEST_CASE("flapping: the check is exact for random rules of three comparisons and their opposites")
{
    const std::vector<sketch> ones = leaves();
    tests_support::dice roll(1);
    const auto some = [&] {
        const sketch *a = &ones[roll(24)], *b = &ones[roll(24)], *c = &ones[roll(24)];
        const rule::kind outer = roll.one_in(2) ? rule::kind::all : rule::kind::any;
        const rule::kind inner = roll.one_in(2) ? rule::kind::all : rule::kind::any;
        sketch two = joined(inner, {b, c});
        if (roll.one_in(3)) two = opposite(two);
        sketch three = roll.one_in(3) ? joined(outer, {a, b, c}) : joined(outer, {a, &two});
        return roll.one_in(3) ? opposite(three) : three;
    };
    tally t;
    for (int n = 0; n != (tests_support::brief ? 20'000 : 300'000); ++n) {
        const sketch up = some();
        const sketch down = some();
        compare(up, down, t);
    }
    MESSAGE(t.pairs << " pairs, " << t.flap << " flap, " << t.missed << " missed, " << t.invented
                    << " invented");
    CHECK(t.missed == 0);
    CHECK(t.invented == 0);
}

}  // namespace flapping_enumerated
