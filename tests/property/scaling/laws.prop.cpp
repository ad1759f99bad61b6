// SPDX-License-Identifier: MIT
//
// Laws for any policy, any clock and any external change: bands, ladders, waking, warm-up, shares,
// tables, invalid metrics, clocks that jump, and extreme counts. A replayed history gives the same
// decisions, also with copies of the state.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>

namespace laws_prop {

namespace sc = waybill::scaling;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::rule;
using sc::state;
using sc::tribool;
using sc::verdict;
using tests_support::at;
using tests_support::dice;
using tests_support::readings;
using tests_support::seconds;
using waybill::duration;
using waybill::wall_time;

namespace {

constexpr int episodes = tests_support::brief ? 400 : 6'000;
constexpr const char* metrics[]{"a", "b", "c"};

double number(dice& roll)
{
    constexpr double odd[]{0.0,
                           -0.0,
                           -7.0,
                           1e300,
                           5e-324,
                           std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()};
    if (roll.one_in(25)) return roll.any_of(odd);
    return static_cast<double>(roll(120));
}

sc::threshold limit(dice& roll)
{
    switch (roll(6)) {
        case 0: return sc::per_instance(static_cast<double>(1 + roll(20)));
        case 1: return sc::by_instances({{roll(3), number(roll)}, {4 + roll(9), number(roll)}});
        case 2:
            return sc::of_instances([](std::uint64_t n) {
                return n % 7 == 3 ? 5.0 : 30.0;  // not monotonic
            });
        default: return number(roll);
    }
}

rule comparison(dice& roll)
{
    constexpr sc::relation hows[]{sc::relation::above, sc::relation::at_least, sc::relation::below,
                                  sc::relation::at_most};
    sc::measured m = sc::mean(roll.any_of(metrics));
    m.averaged = roll.one_in(3);
    rule r = m.against(roll.any_of(hows), limit(roll));
    constexpr sc::when_missing ways[]{sc::when_missing::unknown, sc::when_missing::holds,
                                      sc::when_missing::fails};
    if (roll.one_in(10)) r = r.if_missing(roll.any_of(ways));
    return r;
}

rule any_rule(dice& roll)
{
    switch (roll(6)) {
        case 0: return sc::any_of(comparison(roll), comparison(roll));
        case 1: return sc::all_of(comparison(roll), comparison(roll));
        case 2: return !comparison(roll);
        case 3: return sc::at_least_of(2, comparison(roll), comparison(roll), comparison(roll));
        case 4: return roll.one_in(5) ? rule() : comparison(roll);
        default: return comparison(roll);
    }
}

sc::change any_change(dice& roll)
{
    return {roll(6), roll.one_in(2) ? 0.0 : static_cast<double>(roll(150))};
}

duration any_time(dice& roll)
{
    if (roll.one_in(60)) return duration::highest();
    return roll.one_in(2) ? duration{} : seconds(roll.below(200));
}

policy any_policy(dice& roll)
{
    policy p{.up = any_rule(roll), .down = any_rule(roll), .stabilise = {}};
    for (std::uint64_t n = roll(3); n != 0; --n) {
        sc::measured m = sc::mean(roll.any_of(metrics));
        m.averaged = roll.one_in(2);
        p.targets.push_back({.of = m, .each = number(roll), .tolerance = {0.1, 0.2}});
    }
    if (roll.one_in(3)) p.bands.up = {{any_rule(roll), any_change(roll)}};
    if (roll.one_in(3)) p.bands.down = {{any_rule(roll), any_change(roll)}};
    p.cooldown = {any_time(roll), any_time(roll), roll.one_in(3)};
    p.stabilise = {any_time(roll), any_time(roll)};
    if (roll.one_in(3)) p.rate.up = {{any_change(roll), any_time(roll)}};
    if (roll.one_in(3)) p.rate.down = {{any_change(roll), any_time(roll)}};
    p.step = {any_change(roll), any_change(roll)};
    p.instances.lowest = roll(4);
    p.instances.highest = roll.one_in(9) ? UINT64_MAX : p.instances.lowest + roll(30);
    if (roll.one_in(3)) p.activation = any_rule(roll);
    p.zero_after = any_time(roll);
    p.warm_up = any_time(roll);
    p.patience = any_time(roll);
    p.after_failure = any_time(roll);
    p.allow = {!roll.one_in(9), !roll.one_in(9)};
    if (roll.one_in(4)) p.if_unknown = roll(40);
    if (roll.one_in(4)) p.ladder = {{"S", 1}, {"M", 2}, {"L", 5}, {"XL", 12}, {"XXL", 30}};
    return p;
}

readings any_readings(dice& roll)
{
    readings all;
    for (const char* m : metrics) {
        if (roll.one_in(12)) continue;
        sc::reading r{.metric = m, .points = roll(3)};
        r.set(sc::statistic::mean, number(roll));
        all.push_back(r);
    }
    return all;
}

std::string words(const decision& d)
{
    return std::string(name(d.verdict)) + " " + std::string(name(d.why)) + " " +
           std::to_string(d.from) + " -> " + std::to_string(d.to) + " of " +
           std::to_string(d.desired);
}

tribool asks_for_more(const policy& p, const readings& now, const decision& d)
{
    const auto from = static_cast<double>(sc::capacity_at(p.ladder, d.from));
    const std::uint64_t n = sc::capacity_at(p.ladder, d.to);
    const sc::situation then{.metrics = now,
                             .instances = n,
                             .now = d.now,
                             .min_points = p.min_points,
                             .max_age = p.max_age,
                             .load = from / static_cast<double>(n)};
    std::vector<sc::evidence> rows;
    tribool t = p.up(then, rows);
    for (const sc::band& b : p.bands.up) t = either(t, b.when(then, rows));
    return t;
}

const char* broken(const policy& p, const readings& now, const state& s, const decision& d)
{
    const std::uint64_t lowest = p.instances.lowest;
    std::uint64_t highest = p.instances.highest;
    if (!p.ladder.empty() && highest >= p.ladder.size()) highest = p.ladder.size() - 1;
    const bool outside = d.from < lowest || d.from > highest;
    const bool up = d.verdict == verdict::up, down = d.verdict == verdict::down;
    if (up != (d.to > d.from) || down != (d.to < d.from)) return "verdict";
    if ((up || down) != d.command.has_value()) return "command";
    if (d.command && (d.command->from != d.from || d.command->to != d.to)) return "command";
    if (d.command && d.command->id <= s.last_id) return "id";
    if (!outside && (d.to < lowest || d.to > highest)) return "out of bounds";
    if (outside && d.from < lowest && d.to < d.from) return "farther out of bounds";
    if (outside && d.from > highest && d.to > d.from) return "farther out of bounds";
    if (!outside && (d.desired >= d.from ? d.to < d.from : d.to > d.from))
        return "the direction is reversed";
    if (d.why == reason::nothing && d.verdict == verdict::held) return "held without a reason";
    const bool lowest_wanted = d.from == lowest && d.desired < d.from && d.why == reason::bounds;
    if (d.verdict == verdict::steady && d.why != reason::nothing && !lowest_wanted) {
        return "steady for a reason";
    }
    if (d.until && *d.until <= d.now && d.now != wall_time::highest()) return "held until before";
    if (d.until && *d.until != wall_time::highest()) {
        const decision then = sc::decide(p, now, s, d.from, *d.until);
        if (then.why == d.why && then.to == d.to && then.until == d.until) return "held longer";
    }
    if (outside) return nullptr;
    if (down && d.up != tribool::no) return "down while the up rule is not `no`";
    const bool zero = p.activation && p.ladder.empty() && d.to == 0;
    if (down && !p.down.empty() && d.down != tribool::yes && d.activation != tribool::no) {
        return "down without all conditions";
    }
    for (const sc::evidence& e : d.reasons) {
        if (down && e.part == sc::role::target && !e.wants) return "down with an unknown target";
    }
    if (down && zero && (d.activation != tribool::no || d.needed)) return "to zero while active";
    const bool all_go = p.activation && p.ladder.empty() && lowest == 0 && d.desired == 0;
    if (all_go && (d.why == reason::stabilising || d.why == reason::rate)) {
        return "to zero, and held by a rule for single steps";
    }
    if (!p.allow.up && up) return "up is not allowed";
    if (!p.allow.down && down) return "down is not allowed";
    if (d.from == 0 && p.ladder.empty()) return nullptr;
    if (down && sc::capacity_at(p.ladder, d.to) != 0 && asks_for_more(p, now, d) != tribool::no) {
        return "the up rule holds after down";
    }
    const auto soon = [&](std::optional<wall_time> last, duration wait) {
        return last && wait > duration{} && d.now - *last < wait;
    };
    if (up && soon(s.last_up, p.cooldown.up)) return "cooldown";
    if (up && p.cooldown.shared && soon(s.last_down, p.cooldown.up)) return "cooldown";
    if (down && (soon(s.last_down, p.cooldown.down) || soon(s.last_up, p.cooldown.down))) {
        return "cooldown";
    }
    if (down && s.warm_at && d.now < *s.warm_at) return "warming";
    return nullptr;
}

struct step {
    readings now{};
    std::uint64_t instances = 0;
    wall_time time{};
    unsigned fate = 0;
};

wall_time jump(dice& roll, wall_time t)
{
    if (roll.one_in(200)) return roll.one_in(2) ? wall_time::lowest() : wall_time::highest();
    if (roll.one_in(40)) return at(roll.below(4'000));
    if (roll.one_in(15)) return t - seconds(roll.below(100));
    return t + seconds(roll.below(40));
}

void answer(state& s, const decision& d, const step& in, std::uint64_t& n)
{
    if (!d.command) return;
    if (in.fate < 5) n = d.to;
    if (in.fate < 4) (void)s.on(sc::applied{d.command->id}, in.time);
    if (in.fate == 6) (void)s.on(sc::failed{d.command->id}, in.time);
}

void episode(std::uint64_t seed, std::uint64_t& changed)
{
    dice roll(seed);
    const policy p = any_policy(roll);
    (void)sc::validate(p);
    std::vector<step> steps;
    std::vector<decision> made;
    std::vector<std::uint64_t> counts;
    state s;
    std::uint64_t n = roll(12);
    wall_time t = at(0);
    for (int i = 0; i != 80; ++i) {
        t = jump(roll, t);
        if (roll.one_in(25)) n = roll.one_in(4) ? UINT64_MAX - roll(2) : roll(40);
        steps.push_back({any_readings(roll), n, t, static_cast<unsigned>(roll(8))});
        const step& in = steps.back();
        const state before = s;
        const decision d = sc::decide(p, in.now, s, n, t);
        if (!(before == s)) FAIL("decide changed the state, seed " << seed);
        state seen = s;
        seen.correct_future_times(t);
        if (d.arrived) (void)seen.on(sc::applied{seen.pending->issued.id}, t);
        if (const char* what = broken(p, in.now, seen, d)) {
            FAIL(what << ": seed " << seed << " step " << i << ": " << words(d));
        }
        changed += d.command.has_value();
        s.on(d);
        const state once = s;
        s.on(d);
        if (!(s.applied_changes == once.applied_changes && s.pending == once.pending))
            FAIL("a repeated decision changed the state, seed " << seed);
        s = once;
        answer(s, d, in, n);
        made.push_back(d);
    }
    // Replays the history, with a copy of the state at each step.
    state replayed;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i != steps.size(); ++i) {
        const state copy = replayed;
        replayed = state{};
        const decision d = sc::decide(p, steps[i].now, copy, steps[i].instances, steps[i].time);
        if (!(d == made[i])) FAIL("the replay differs, seed " << seed << " step " << i);
        replayed = copy;
        replayed.on(d);
        answer(replayed, d, steps[i], count);
    }
    CHECK(replayed == s);
}

}  // namespace

TEST_CASE("decide: all rules hold for any policy, any clock and any external change")
{
    std::uint64_t changed = 0;
    for (int n = 1; n <= episodes; ++n) episode(static_cast<std::uint64_t>(n), changed);
    MESSAGE(changed << " commands");
    CHECK(changed > 1'000);
}

}  // namespace laws_prop
