// SPDX-License-Identifier: MIT
//
// bench/scaling: what does a decision cost that can be explained?
//
// Five metrics, ten comparisons, and each way a decision may end. Beside decide() stand the same
// ten comparisons as one would write them into an if, which leave no record behind, and the formula
// of the Horizontal Pod Autoscaler over the same metrics: desired = ceil(current * value / target),
// the greatest of all, with its tolerance. All are asked about the same numbers; what they answer
// is compared first.

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "support.hpp"
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

/// The same rules by hand: 1, -1 or 0.
int by_hand(const std::vector<reading>& m, std::uint64_t instances)
{
    const auto mean = [&](std::size_t n) { return *m[n].value(statistic::mean); };
    const auto highest = [&](std::size_t n) { return *m[n].value(statistic::highest); };
    for (const reading& r : m) {
        if (r.points < 5 || noon - r.last > 3min) return 0;
    }
    const auto n = static_cast<double>(instances);
    if (mean(0) > 100 * n || mean(1) > 400 || highest(2) > 900 || mean(3) > 800 || mean(4) > 70) return 1;
    const bool idle = highest(0) < 60 && highest(1) < 60 && highest(2) < 60 && highest(3) < 60 &&
                      highest(4) < 30;
    return idle ? -1 : 0;
}

/// The Horizontal Pod Autoscaler's formula, with 100 of everything for one instance.
std::uint64_t as_hpa(const std::vector<reading>& m, std::uint64_t instances)
{
    std::uint64_t most = 0;
    for (const reading& r : m) {
        const double ratio = *r.value(statistic::mean) / static_cast<double>(instances) / 100;
        std::uint64_t n = instances;
        if (std::abs(1 - ratio) > 0.1) n = static_cast<std::uint64_t>(std::ceil(static_cast<double>(instances) * ratio));
        most = n > most ? n : most;
    }
    return most;
}

struct situation {
    const char* name;
    double mean, highest;
    sc::verdict verdict;
    sc::reason why;
    bool settled;  // it was asked for the same for long enough
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

void decide(benchmark::State& bench, const situation& s)
{
    const sc::policy p = ten_comparisons();
    const std::vector<reading> m = metrics(s.mean, s.highest);
    const sc::state known = state_in(s, p, m);
    const std::uint64_t before = bench::allocations;
    std::uint64_t n = 0;
    for (auto _ : bench) {
        const sc::decision d = sc::decide(p, m, known, 4, noon);
        benchmark::DoNotOptimize(&d);
        ++n;
    }
    bench.counters["allocations"] = static_cast<double>(bench::allocations - before) / static_cast<double>(n);
}

void hand(benchmark::State& bench, const situation& s)
{
    const std::vector<reading> m = metrics(s.mean, s.highest);
    for (auto _ : bench) benchmark::DoNotOptimize(by_hand(m, 4));
}

void hpa(benchmark::State& bench, const situation& s)
{
    const std::vector<reading> m = metrics(s.mean, s.highest);
    for (auto _ : bench) benchmark::DoNotOptimize(as_hpa(m, 4));
}

void targets(benchmark::State& bench, const situation& s)
{
    sc::policy p{.instances = {1, 20}};
    for (const char* name : names) p.targets.push_back({.of = sc::mean(name), .each = 100});
    const std::vector<reading> m = metrics(s.mean, s.highest);
    const sc::state known;
    for (auto _ : bench) {
        const sc::decision d = sc::decide(p, m, known, 4, noon);
        benchmark::DoNotOptimize(&d);
    }
}

/// True if all give the answers that are expected.
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
        sc::policy tracking{.instances = {1, 20}};
        for (const char* name : names) tracking.targets.push_back({.of = sc::mean(name), .each = 100});
        const sc::decision t = sc::decide(tracking, m, {}, 4, noon);
        const bool same = d.verdict == s.verdict && d.why == s.why && ours == by_hand(m, 4) &&
                          d.reasons.size() == 10 && t.desired == as_hpa(m, 4);
        if (!same) {
            std::fprintf(stderr, "%s: %s, %s, %d against %d, %zu rows; %llu against %llu\n", s.name,
                         std::string(name(d.verdict)).c_str(), std::string(name(d.why)).c_str(),
                         ours, by_hand(m, 4), d.reasons.size(),
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
    if (!agree()) return 1;
    for (const situation& s : situations) {
        const std::string name = s.name;
        benchmark::RegisterBenchmark(("decide/" + name).c_str(), decide, s);
        benchmark::RegisterBenchmark(("an if by hand/" + name).c_str(), hand, s);
    }
    benchmark::RegisterBenchmark("five targets/up", targets, situations[1]);
    benchmark::RegisterBenchmark("the formula of HPA/up", hpa, situations[1]);
    if (!bench::start({"--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=9",
                       "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.05"},
                      argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
