// SPDX-License-Identifier: MIT
//
// bench/scaling: the cost of a decision with its record.
//
// Five metrics and ten comparisons, in four situations. There are two peers: the same comparisons in
// an `if` by hand, which has no record; and the formula of the Horizontal Pod Autoscaler over the
// same metrics, desired = ceil(current * value / target), the greatest of all, with its tolerance.
// All get the same numbers. All decisions of a situation must be the same.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "measure.hpp"
#include <waybill/scaling.hpp>

namespace scaling_bench {
namespace {

namespace sc = waybill::scaling;
using namespace std::chrono_literals;
using sc::reading;
using sc::statistic;
using waybill::wall_time;

constexpr wall_time noon = wall_time::at(waybill::duration::seconds(43'200));
constexpr const char* names[]{"orders", "mails", "age", "errors", "cpu"};

/// The five metrics, all with this mean and this highest value.
std::vector<reading> metrics(double mean, double highest)
{
    std::vector<reading> all;
    for (const char* name : names) {
        reading r{.metric = name, .points = 10, .first = noon - 9min, .last = noon, .timed = true};
        r.set(statistic::mean, mean);
        r.set(statistic::highest, highest);
        all.push_back(r);
    }
    return all;
}

sc::policy ten_comparisons()
{
    return {.up = sc::any_of(sc::mean("orders") > sc::per_instance(100), sc::mean("mails") > 400,
                             sc::highest("age") > 900, sc::mean("errors") > 800,
                             averaged(sc::mean("cpu")) > 70),
            .down = sc::all_of(sc::highest("orders") < 60, sc::highest("mails") < 60,
                               sc::highest("age") < 60, sc::highest("errors") < 60,
                               averaged(sc::highest("cpu")) < 30),
            .min_points = 5,
            .max_age = 3min,
            .cooldown = {.up = 1min, .down = 10min},
            .instances = {1, 20},
            .stabilise = {.down = 5min},
            .rate = {.up = {{.max_change = {.count = 4}, .per = 1min}}}};
}

/// The same rules by hand: 1 for up, -1 for down, or 0.
int by_hand(const std::vector<reading>& m, std::uint64_t instances)
{
    const auto mean = [&](std::size_t n) { return *m[n].value(statistic::mean); };
    const auto highest = [&](std::size_t n) { return *m[n].value(statistic::highest); };
    for (const reading& r : m) {
        if (r.points < 5 || noon - r.last > 3min) return 0;
    }
    const auto n = static_cast<double>(instances);
    if (mean(0) > 100 * n || mean(1) > 400 || highest(2) > 900 || mean(3) > 800 || mean(4) > 70)
        return 1;
    const bool idle =
        highest(0) < 60 && highest(1) < 60 && highest(2) < 60 && highest(3) < 60 && highest(4) < 30;
    return idle ? -1 : 0;
}

/// The formula of the Horizontal Pod Autoscaler. The target of each metric is 100 per instance.
std::uint64_t as_hpa(const std::vector<reading>& m, std::uint64_t instances)
{
    std::uint64_t most = 0;
    for (const reading& r : m) {
        const double ratio = *r.value(statistic::mean) / static_cast<double>(instances) / 100;
        std::uint64_t n = instances;
        if (std::abs(1 - ratio) > 0.1)
            n = static_cast<std::uint64_t>(std::ceil(static_cast<double>(instances) * ratio));
        most = n > most ? n : most;
    }
    return most;
}

struct situation {
    const char* name;
    double mean, highest;
    sc::verdict verdict;
    sc::reason why;
    bool settled;  // the state has earlier decisions, so that stabilisation is over
};

constexpr situation situations[]{
    {"steady", 65, 80, sc::verdict::steady, sc::reason::nothing, true},
    {"up", 500, 600, sc::verdict::up, sc::reason::nothing, true},
    {"down", 10, 20, sc::verdict::down, sc::reason::nothing, true},
    {"held by stabilisation", 10, 20, sc::verdict::held, sc::reason::stabilising, false},
};

sc::state state_in(const situation& s, const sc::policy& p, const std::vector<reading>& m)
{
    sc::state known;
    if (!s.settled) return known;
    known.on(sc::decide(p, m, known, 4, noon - 20min));
    known.pending.reset();
    known.on(sc::decide(p, m, known, 4, noon - 10min));
    known.pending.reset();
    return known;
}

/// Reports the allocations of one operation.
void report_allocations(benchmark::State& state, std::uint64_t before)
{
    state.counters["allocations"] =
        static_cast<double>(bench::allocations - before) / static_cast<double>(state.iterations());
}

void decide(benchmark::State& state, const situation& s)
{
    const sc::policy p = ten_comparisons();
    const std::vector<reading> m = metrics(s.mean, s.highest);
    const sc::state known = state_in(s, p, m);
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto round : state) {
        const sc::decision d = sc::decide(p, m, known, 4, noon);
        benchmark::DoNotOptimize(&d);
    }
    report_allocations(state, before);
}

void hand_loop(benchmark::State& state, const situation& s)
{
    const std::vector<reading> m = metrics(s.mean, s.highest);
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto round : state) benchmark::DoNotOptimize(by_hand(m, 4));
    report_allocations(state, before);
}

void hpa(benchmark::State& state, const situation& s)
{
    const std::vector<reading> m = metrics(s.mean, s.highest);
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto round : state) benchmark::DoNotOptimize(as_hpa(m, 4));
    report_allocations(state, before);
}

void targets(benchmark::State& state, const situation& s)
{
    sc::policy p{.instances = {1, 20}, .stabilise = {}};
    for (const char* name : names) p.targets.push_back({.of = sc::mean(name), .each = 100});
    const std::vector<reading> m = metrics(s.mean, s.highest);
    const sc::state known;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto round : state) {
        const sc::decision d = sc::decide(p, m, known, 4, noon);
        benchmark::DoNotOptimize(&d);
    }
    report_allocations(state, before);
}

/// Returns true if all decisions are as expected.
bool agree()
{
    bool all = true;
    const sc::policy p = ten_comparisons();
    if (const auto bad = sc::validate(p)) {
        std::fprintf(stderr, "the policy: %s\n", sc::describe(*bad).c_str());
        return false;
    }
    for (const situation& s : situations) {
        const std::vector<reading> m = metrics(s.mean, s.highest);
        const sc::decision d = sc::decide(p, m, state_in(s, p, m), 4, noon);
        const int ours = d.desired > 4 ? 1 : d.desired < 4 ? -1 : 0;
        sc::policy tracking{.instances = {1, 20}, .stabilise = {}};
        for (const char* name : names)
            tracking.targets.push_back({.of = sc::mean(name), .each = 100});
        const sc::decision t = sc::decide(tracking, m, {}, 4, noon);
        const bool same = d.verdict == s.verdict && d.why == s.why && ours == by_hand(m, 4) &&
                          d.reasons.size() == 10 && t.desired == as_hpa(m, 4);
        if (!same) {
            std::fprintf(stderr,
                         "%s: %s, %s, direction %d (by hand %d), %zu rows, "
                         "five targets %llu (formula %llu)\n",
                         s.name, std::string(name(d.verdict)).c_str(),
                         std::string(name(d.why)).c_str(), ours, by_hand(m, 4), d.reasons.size(),
                         static_cast<unsigned long long>(t.desired),
                         static_cast<unsigned long long>(as_hpa(m, 4)));
        }
        all = all && same;
    }
    return all;
}

}  // namespace
}  // namespace scaling_bench

int main(int argc, char** argv)
{
    using namespace scaling_bench;
    bench::runner all(argc, argv);
    std::vector<bench::row> rows;
    const auto add = [&](const std::string& name, const std::string& base, auto run,
                         const situation& s) {
        rows.push_back({name, base});
        all.add(name, 1, [=](benchmark::State& state) { run(state, s); });
    };
    const std::string hand = "an if by hand/";
    for (const situation& s : situations) {
        add(hand + s.name, hand + s.name, hand_loop, s);
        add(std::string("decide/") + s.name, hand + s.name, decide, s);
    }
    const std::string formula = "the formula of HPA/up";
    add(formula, formula, hpa, situations[1]);
    add("decide, five targets/up", formula, targets, situations[1]);
    if (!all.run(hand + situations[0].name)) return 2;
    if (!agree()) return 1;
    all.print_spread();
    all.print("decision", rows, {"allocations"});
    return all.failed() ? 1 : 0;
}
