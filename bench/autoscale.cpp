// SPDX-License-Identifier: MIT
//
// bench/autoscale: the cost of one round of autoscale, relative to loops by hand over `decide`.
//
// Two sources, a window of 20 samples, and a store in memory. The load rises and falls, so all
// verdicts occur. The first loop stores state and samples in each round as autoscale does, so it
// continues after a crash. It has no report, validates no policy, and trusts the clock and all
// calls. The second loop keeps its windows in memory and stores nothing. One operation is one round.

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "measure.hpp"
#include <waybill/scaling.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_autoscale_state.hpp>
#include <waybill/window.hpp>

namespace autoscale_bench {
namespace {

namespace sc = waybill::scaling;
using namespace std::chrono_literals;
using window_type = waybill::sliding_window<waybill::stats<double>>;

constexpr std::uint64_t rounds = 100;  // of one iteration

sc::policy rules()
{
    return {.up = sc::any_of(sc::mean("orders") > sc::per_instance(100), sc::highest("age") > 300),
            .down = sc::all_of(sc::mean("orders") < sc::per_instance(40), sc::highest("age") < 200),
            .min_points = 5,
            .cooldown = {.up = 1min, .down = 5min},
            .instances = {1, 20}};
}

/// The platform and its environment. It stops after the rounds of one iteration.
struct place : waybill::testing::manual_environment {
    sc::policy policy = rules();
    waybill::testing::memory_autoscale_state store{};
    std::uint64_t measured = 0;
    std::uint64_t instances = 4;
    std::uint64_t commands = 0;

    /// Rises to 1,000 and falls to 0 in 400 rounds.
    double orders()
    {
        const std::uint64_t n = ++measured % 400;
        return 5.0 * static_cast<double>(n < 200 ? n : 400 - n);
    }
    [[nodiscard]] double age() const { return static_cast<double>(measured % 150); }
    waybill::fault resize(const sc::command& c)
    {
        instances = c.to;
        ++commands;
        return {};
    }
};

void driver(place& p)
{
    p.stop_at(p.now() + static_cast<std::int64_t>(rounds) * p.policy.every);
    const auto count = [&] { return p.instances; };
    const auto resize = [&](const sc::command& c) { return p.resize(c); };
    const auto r =
        sc::autoscale({{"orders", [&] { return p.orders(); }}, {"age", [&] { return p.age(); }}},
                      p.policy, p.store, count, resize, p);
    benchmark::DoNotOptimize(r.rounds);
}

void stored_by_hand(place& p)
{
    for (std::uint64_t n = 0; n != rounds; ++n) {
        auto s = p.store.load();
        if (!s) continue;
        if (s->metrics.empty()) s->metrics = {{"orders", {}}, {"age", {}}};
        s->metrics[0].samples.push_back({p.wall_now(), p.orders()});
        s->metrics[1].samples.push_back({p.wall_now(), p.age()});
        const waybill::wall_time now = p.wall_now();
        std::vector<sc::reading> readings;
        for (auto& m : s->metrics) {
            std::erase_if(m.samples, [&](const auto& x) { return now - x.at >= p.policy.window; });
            window_type w{waybill::window_options{.span = p.policy.window}};
            for (const auto& x : m.samples) w.insert(x);
            readings.push_back(sc::read(m.metric, w.query(now)));
        }
        const sc::decision d = sc::decide(p.policy, readings, s->state, p.instances, now);
        s->state.on(d);
        if (!p.store.save(*s).ok()) continue;
        if (d.command && p.resize(*d.command).ok()) {
            s->state.on(sc::applied{d.command->id}, now);
            (void)p.store.save(*s);
        }
        p.sleep_until(p.now() + p.policy.every);
    }
}

void in_memory_by_hand(place& p)
{
    static sc::state state;
    static window_type orders{waybill::window_options{.span = p.policy.window}};
    static window_type age{waybill::window_options{.span = p.policy.window}};
    for (std::uint64_t n = 0; n != rounds; ++n) {
        const waybill::wall_time now = p.wall_now();
        orders.insert({now, p.orders()});
        age.insert({now, p.age()});
        const sc::reading readings[]{sc::read("orders", orders.query(now)),
                                     sc::read("age", age.query(now))};
        const sc::decision d = sc::decide(p.policy, readings, state, p.instances, now);
        state.on(d);
        if (d.command && p.resize(*d.command).ok()) state.on(sc::applied{d.command->id}, now);
        p.sleep_until(p.now() + p.policy.every);
    }
}

template <class Run>
void measure(benchmark::State& state, Run run)
{
    place p;
    for ([[maybe_unused]] auto i : state) run(p);
    if (p.measured % rounds != 0) state.SkipWithError("a round is missing");
    state.counters["commands"] =
        static_cast<double>(p.commands * rounds) / static_cast<double>(p.measured);
}

}  // namespace
}  // namespace autoscale_bench

int main(int argc, char** argv)
{
    using namespace autoscale_bench;
    bench::runner all(argc, argv);
    const bench::run_options few{.counted_operations = 20.0 * rounds};
    all.add(
        "by hand, in memory", rounds, [](benchmark::State& s) { measure(s, in_memory_by_hand); },
        few);
    all.add(
        "by hand, stored", rounds, [](benchmark::State& s) { measure(s, stored_by_hand); }, few);
    all.add("autoscale", rounds, [](benchmark::State& s) { measure(s, driver); }, few);
    if (!all.run("by hand, stored")) return 2;
    all.print_spread();
    all.print("one round",
              {{"by hand, in memory", "by hand, stored"},
               {"by hand, stored", "by hand, stored"},
               {"autoscale", "by hand, stored"}},
              {"commands"});
    return all.failed() ? 1 : 0;
}
