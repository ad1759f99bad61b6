// SPDX-License-Identifier: MIT
//
// Random policies, metrics, gaps and command results, against a scaler that stores everything.
// While the state does not have to merge entries, both return the same decision, reason and time.
// After that the library may hold longer, never shorter.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/naive_scaler.hpp>
#include <support/scaling.hpp>

#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/decide.hpp>

namespace decide_prop {

namespace sc = waybill::scaling;
using sc::command_result;
using sc::decision;
using sc::policy;
using sc::reason;
using sc::state;
using sc::verdict;
using tests_support::at;
using tests_support::dice;
using tests_support::level;
using tests_support::naive_limit;
using tests_support::naive_metrics;
using tests_support::naive_policy;
using tests_support::naive_scaler;
using tests_support::readings;
using tests_support::seconds;

namespace {

constexpr int episodes = tests_support::brief ? 400 : 4'000;

std::vector<naive_limit> limits(dice& roll)
{
    std::vector<naive_limit> all;
    for (std::uint64_t n = roll(3); n > 0; --n) {
        all.push_back({roll(6), roll.one_in(2) ? 0 : 10 * roll(11), 5 + roll.below(90)});
    }
    return all;
}

naive_policy any_policy(dice& roll)
{
    naive_policy p;
    p.per_instance = roll.one_in(3);
    p.averaged = !p.per_instance && roll.one_in(2);
    p.more = p.per_instance ? 10 : 80;
    if (!roll.one_in(4)) p.fewer = 50;
    if (roll.one_in(2)) p.each = static_cast<double>(1 << roll(3));
    p.step_up = 1 + roll(5);
    p.step_down = 1 + roll(8);
    if (roll.one_in(2)) p.stabilise_up = roll.below(60);
    if (roll.one_in(2)) p.stabilise_down = roll.below(200);
    p.rate_up = limits(roll);
    p.rate_down = limits(roll);
    if (roll.one_in(2)) p.cooldown_up = roll.below(40);
    if (roll.one_in(2)) p.cooldown_down = roll.below(120);
    p.shared = roll.one_in(4);
    p.lowest = 1 + roll(3);
    p.highest = p.lowest + roll(25);
    p.may_up = !roll.one_in(20);
    p.may_down = !roll.one_in(20);
    p.patience = roll.below(60);
    if (roll.one_in(2)) p.after_failure = roll.below(30);
    if (roll.one_in(4)) p.if_unknown = roll(30);
    if (roll.one_in(4)) {  // more changes within a period than the state can store
        p.cooldown_up = p.cooldown_down = 0;
        p.highest = p.lowest + 200;
        for (auto* all : {&p.rate_up, &p.rate_down}) {
            for (naive_limit& r : *all) r.per *= 8;
        }
        p.stabilise_down *= 8;
    }
    if (roll.one_in(4)) {
        p.active = 5;
        p.zero_after = roll.one_in(4) ? 0 : roll.below(80);
        p.wake_alone = roll.one_in(2);
        p.lowest = 0;
        p.highest = p.highest == 0 ? 1 : p.highest;
    }
    return p;
}

std::vector<sc::rate_limit> converted(const std::vector<naive_limit>& all)
{
    std::vector<sc::rate_limit> limits;
    for (const naive_limit& r : all) {
        limits.push_back({{r.count, static_cast<double>(r.percent)}, seconds(r.per)});
    }
    return limits;
}

policy converted(const naive_policy& n)
{
    const sc::measured load = n.averaged ? sc::averaged(sc::mean("load")) : sc::mean("load");
    policy p{.up = load > (n.per_instance ? sc::per_instance(n.more) : sc::threshold(n.more)),
             .instances = {n.lowest, n.highest},
             .stabilise = {}};
    if (n.fewer) p.down = sc::mean("idle") > *n.fewer;
    if (n.each) p.targets = {{.of = sc::mean("work"), .each = *n.each, .tolerance = {0.25, 0.25}}};
    p.step = {{n.step_up, 0}, {n.step_down, 0}};
    p.stabilise = {seconds(n.stabilise_up), seconds(n.stabilise_down)};
    p.rate = {converted(n.rate_up), converted(n.rate_down)};
    p.cooldown = {seconds(n.cooldown_up), seconds(n.cooldown_down), n.shared};
    p.allow = {n.may_up, n.may_down};
    p.patience = seconds(n.patience);
    p.after_failure = seconds(n.after_failure);
    p.if_unknown = n.if_unknown;
    const auto never = [](const char* metric) {
        return (sc::mean(metric) > 1e9).if_missing(sc::when_missing::fails);
    };
    if (n.active) p.activation = sc::mean("wake") > *n.active;
    if (n.active && !n.wake_alone) {
        p.activation = sc::any_of(*p.activation, never("idle"), !!never("work"));
    }
    p.zero_after = seconds(n.zero_after);
    return p;
}

naive_metrics any_metrics(dice& roll, std::uint64_t n, const naive_policy& p, bool awake)
{
    const auto whole = static_cast<double>(n);
    naive_metrics m;
    const double middle = p.per_instance ? 10 * whole : 80;
    if (!roll.one_in(9)) m.load = middle * static_cast<double>(roll(9)) / 5;
    if (!roll.one_in(9)) m.idle = static_cast<double>(roll(100));
    const double each = p.each.value_or(1);
    if (!roll.one_in(9)) m.work = each * static_cast<double>(roll(2 * n + 4)) - 1;
    if (!roll.one_in(30)) m.wake = awake ? 6 : 5;
    return m;
}

readings converted(const naive_metrics& m)
{
    readings r;
    if (m.load) r.push_back(level("load", *m.load));
    if (m.idle) r.push_back(level("idle", *m.idle));
    if (m.work) r.push_back(level("work", *m.work));
    if (m.wake) r.push_back(level("wake", *m.wake));
    return r;
}

struct tally {
    std::uint64_t decisions = 0, exact = 0, up = 0, down = 0, to_zero = 0, held[12]{};
};

std::string words(const decision& d)
{
    return std::string(name(d.verdict)) + " " + std::string(name(d.why)) + " " +
           std::to_string(d.from) + " -> " + std::to_string(d.to) + " of " +
           std::to_string(d.desired);
}

// Rules for every policy.
bool is_sound(const decision& d, const naive_policy& p)
{
    const bool outside = d.from < p.lowest || d.from > p.highest;
    const bool within = d.to >= p.lowest && d.to <= p.highest;
    const bool turned = d.desired >= d.from ? d.to < d.from : d.to > d.from;
    const bool converted = d.command ? d.command->to == d.to && d.to != d.from : d.to == d.from;
    return (within || outside) && (outside || !turned) && converted &&
           (d.command.has_value() == (d.verdict == verdict::up || d.verdict == verdict::down));
}

void episode(std::uint64_t seed, tally& all)
{
    dice roll(seed);
    const naive_policy rules = any_policy(roll);
    const policy p = converted(rules);
    naive_scaler naive(rules);
    state s;
    std::uint64_t n = rules.lowest + roll(rules.highest - rules.lowest + 1);
    std::int64_t t = 0;
    bool exact = true;
    bool awake = true;
    const auto fail = [&](const char* what, const decision& d) {
        FAIL(what << ": seed " << seed << " at " << t << ": " << words(d));
    };
    for (int step = 0; step != 120; ++step) {
        t += roll.one_in(12) ? roll.below(400) : roll.below(12);
        if (roll.one_in(60)) n = 1 + roll(30);  // another process changes the number of instances
        if (roll.one_in(12)) awake = !awake;
        const naive_metrics m = any_metrics(roll, n, rules, awake);
        const readings now = converted(m);
        const state before = s;
        const decision d = sc::decide(p, now, s, n, at(t));
        if (!(s == before) || !(sc::decide(p, now, before, n, at(t)) == d)) fail("not pure", d);
        const naive_scaler kept_by_naive = naive;
        naive.look(n, t);
        exact = exact && naive.changes() < state::changes && !s.highest.is_full() &&
                !s.lowest.is_full();
        const naive_scaler::answer a = naive.decide(m, n, t);
        if (d.desired != a.desired) fail("desired", d);
        if (!is_sound(d, rules)) fail("not sound", d);
        if (exact) {
            const auto until = a.until ? std::optional(at(*a.until)) : std::nullopt;
            if (d.to != a.to || d.why != a.why || d.until != until) {
                FAIL("seed " << seed << " at " << t << ": " << words(d)
                             << ", naive: " << name(a.why) << " to " << a.to << ", until "
                             << (until && d.until ? (*until - *d.until).count() : 0));
            }
            ++all.exact;
        } else if (d.to >= d.from ? d.to > a.to && a.to >= d.from : d.to < a.to && a.to <= d.from) {
            FAIL("a larger change than the model: seed " << seed << " at " << t << ": " << words(d)
                                                         << ", naive " << name(a.why) << " "
                                                         << a.to);
        }
        if (d.verdict == verdict::down && d.up == sc::tribool::unknown && d.why != reason::bounds) {
            fail("down while the up rule is unknown", d);
        }
        ++all.decisions;
        all.up += d.verdict == verdict::up;
        all.down += d.verdict == verdict::down;
        all.to_zero += d.verdict == verdict::down && d.to == 0;
        if (d.verdict == verdict::held) ++all.held[static_cast<int>(d.why)];
        if (roll.one_in(15)) {  // a dry run
            naive = kept_by_naive;
            continue;
        }
        s.on(d);
        naive.decided(m, n, d.desired, t);
        if (d.command) naive.ordered(*d.command, t);
        if (roll.one_in(20)) s.on(d);  // reported twice
        // The result of the command, now or later.
        const std::optional<std::uint64_t> id = naive.waits_for();
        if (id && s.pending->issued.id != *id) fail("waits for another", d);
        if (id) {
            const std::uint64_t to = s.pending->issued.to;
            switch (roll(8)) {
                case 0: break;                            // lost in transit
                case 1: n = to; break;                    // done, and the answer is lost
                case 2: n = n + (to > n ? 1 : 0); break;  // half done
                case 3:
                    if (s.on(sc::failed{*id}, at(t)) != command_result::applied) fail("failed", d);
                    naive.not_done(t);
                    break;
                default:
                    n = to;
                    if (s.on(sc::applied{*id}, at(t)) != command_result::applied)
                        fail("applied", d);
                    naive.done(t);
            }
        }
        if (roll.one_in(4)) {  // a late answer, or one without a command
            const state kept = s;
            const std::uint64_t other = roll(s.last_id + 3);
            if (!s.pending || other != s.pending->issued.id) {
                if (s.on(sc::applied{other}, at(t)) == command_result::applied) fail("taken", d);
                if (s.on(sc::failed{other}, at(t)) == command_result::applied) fail("taken", d);
                if (!(s == kept)) fail("changed", d);
            }
        }
    }
}

}  // namespace

TEST_CASE("decide: gives the decisions of a model that stores all samples, or holds longer")
{
    tally all;
    for (int n = 1; n <= episodes; ++n) episode(static_cast<std::uint64_t>(n), all);
    MESSAGE(all.decisions << " decisions, " << all.exact << " to the reason; " << all.up << " up, "
                          << all.down << " down, " << all.to_zero << " to zero");
    CHECK(all.to_zero > episodes / 4);
    CHECK(all.exact * 2 > all.decisions);
    CHECK((all.decisions - all.exact) * 20 > all.decisions);
    for (const reason r :
         {reason::unknown, reason::pending, reason::failed, reason::disabled, reason::stabilising,
          reason::flapping, reason::rate, reason::cooldown, reason::active, reason::bounds}) {
        CHECK(all.held[static_cast<int>(r)] > 100);
    }
}

}  // namespace decide_prop
