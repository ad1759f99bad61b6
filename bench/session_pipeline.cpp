// SPDX-License-Identifier: MIT
//
// bench/session_pipeline: the cost of one action of a `pipeline`.
//
// One operation is one action: the call of next, its match, and the event with the result. A
// session of five steps has 22 actions: the state is loaded, each step is received, executed, saved
// and completed, and the state is cleared. After a failed step, each message takes three actions:
// it is received, written to the dead letters, and completed.
//
// The raw loop is a consumer by hand for the same messages. It checks that the step is the next
// one, saves and completes. It has no gaps, retries, other holders or failed calls.
//
// No peer may allocate; the last column of the table shows it.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "measure.hpp"
#include <waybill/core/match.hpp>
#include <waybill/session/process_step.hpp>

namespace session_pipeline_bench {
namespace {

using waybill::steady_time;

constexpr std::uint64_t steps = 5;
constexpr std::uint64_t actions = 2 + 4 * steps;

/// The number of calls, so that the compiler removes none.
struct work {
    std::uint64_t loaded = 0;
    std::uint64_t ran = 0;
    std::uint64_t saved = 0;
    std::uint64_t parked = 0;
    std::uint64_t completed = 0;
    std::uint64_t cleared = 0;
};

steady_time after(std::uint64_t n)
{
    return steady_time::at(waybill::duration::nanoseconds(static_cast<std::int64_t>(n)));
}

struct counting_environment {
    std::uint64_t n = 0;
    steady_time now() { return after(++n); }
    static waybill::wall_time wall_now()
    {
        return waybill::wall_time::at(waybill::duration::seconds(1));
    }
    static void sleep_until(steady_time) {}
    static double random() { return 0.5; }
};

waybill::pipeline::step_received message(std::uint64_t n)
{
    return {{1'000 + n, n, 1, steps, n == steps, 1}, counting_environment::wall_now()};
}

void count(benchmark::State& state, std::uint64_t before)
{
    const std::uint64_t allocated = bench::allocations - before;  // a counter allocates, too
    state.counters["allocations"] = static_cast<double>(allocated);
}

void by_hand(benchmark::State& state)
{
    work w;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        waybill::session_progress at;
        ++w.loaded;
        for (std::uint64_t n = 1; n <= steps; ++n) {
            const waybill::pipeline::step_received m = message(n);
            benchmark::DoNotOptimize(m);
            if (!at.failed && m.facts.step == at.done + 1) {
                ++w.ran;
                at.done = m.facts.step;
                at.total = m.facts.total;
                at.changed = m.wall;
                ++w.saved;
                benchmark::DoNotOptimize(at);
            }
            ++w.completed;
            if (m.facts.last) ++w.cleared;
            benchmark::DoNotOptimize(w);
        }
    }
    count(state, before);
}

/// One action. Returns false if the pipeline waits for the next message.
bool one_action(waybill::pipeline& pipe, work& w, steady_time now,
                const waybill::pipeline::state_loaded& found)
{
    return waybill::match(
        pipe.next(now),
        [&](waybill::pipeline::load_state) {
            ++w.loaded;
            pipe.on(found, now);
            return true;
        },
        [&](waybill::pipeline::execute) {
            ++w.ran;
            pipe.on(waybill::pipeline::executed{}, now);
            return true;
        },
        [&](waybill::pipeline::save_state) {
            ++w.saved;
            pipe.on(waybill::pipeline::state_saved{}, now);
            return true;
        },
        [&](waybill::pipeline::write_dead_letter) {
            ++w.parked;
            pipe.on(waybill::pipeline::step_dead_lettered{}, now);
            return true;
        },
        [&](waybill::complete) {
            ++w.completed;
            pipe.on(waybill::pipeline::completed{}, now);
            return true;
        },
        [&](waybill::pipeline::clear_state) {
            ++w.cleared;
            pipe.on(waybill::pipeline::state_cleared{}, now);
            return true;
        },
        [](waybill::pipeline::give_back) { return false; },
        [](waybill::wait_until) { return false; }, [](waybill::idle) { return false; });
}

void machine(benchmark::State& state, waybill::pipeline_policy::pipeline_mode mode)
{
    work w;
    const waybill::pipeline_policy policy{.mode = mode};
    const waybill::pipeline::state_loaded absent;
    std::uint64_t n = 0;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        waybill::pipeline pipe(policy);
        for (std::uint64_t step = 1; step <= steps; ++step) {
            const waybill::pipeline::step_received m = message(step);
            benchmark::DoNotOptimize(m);
            while (one_action(pipe, w, after(++n), absent)) benchmark::DoNotOptimize(pipe);
            pipe.on(m, after(++n));
        }
        while (one_action(pipe, w, after(++n), absent)) benchmark::DoNotOptimize(pipe);
        if (w.cleared != w.loaded) state.SkipWithError("a session did not end");
    }
    count(state, before);
}

void after_failure(benchmark::State& state)
{
    work w;
    waybill::pipeline pipe;
    waybill::pipeline::state_loaded found{waybill::state_read::ok};
    found.progress.done = 1;
    found.progress.total = steps;
    found.progress.failed.emplace().step = 2;
    pipe.on(found, after(0));
    const waybill::pipeline::step_received m = message(3);
    std::uint64_t n = 0;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        pipe.on(m, after(++n));
        while (one_action(pipe, w, after(++n), found)) benchmark::DoNotOptimize(pipe);
        if (w.parked != w.completed)
            state.SkipWithError("a message was not written to the dead letters");
    }
    count(state, before);
}

void driver(benchmark::State& state)
{
    work w;
    counting_environment env;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        waybill::pipeline pipe;
        for (std::uint64_t step = 1; step <= steps; ++step) {
            const auto end = waybill::process_step(
                pipe, message(step).facts, env,
                [&](waybill::pipeline::load_state) {
                    ++w.loaded;
                    return waybill::pipeline::state_loaded{};
                },
                [&](waybill::pipeline::execute) {
                    ++w.ran;
                    return waybill::fault{};
                },
                [&](waybill::pipeline::save_state) {
                    ++w.saved;
                    return waybill::fault{};
                },
                [&](waybill::pipeline::write_dead_letter) {
                    ++w.parked;
                    return waybill::fault{};
                },
                [&](waybill::complete) {
                    ++w.completed;
                    return waybill::fault{};
                },
                [&](waybill::pipeline::clear_state) {
                    ++w.cleared;
                    return waybill::fault{};
                },
                [](waybill::pipeline::give_back) {});
            benchmark::DoNotOptimize(end);
        }
        if (w.cleared != w.loaded) state.SkipWithError("a session did not end");
    }
    count(state, before);
}

/// One row for each benchmark. Returns true if none of them has allocated.
bool print(const bench::runner& all, const std::string& raw)
{
    bool none = true;
    const bench::figures base = all.at(raw);
    std::printf("\n%-28s %8s %8s %14s %8s %12s\n", "one action", "ns", "ratio", "instructions",
                "ratio", "allocations");
    for (const std::string& name : all.names()) {
        const bench::figures f = all.at(name);
        if (f.counters.empty()) continue;  // left out by --benchmark_filter
        const double ns = all.noisy() ? 0 : f.ns;
        const double allocated = f.counters.at("allocations");
        std::printf("%-28s %8s %8s %14s %8s %12.0f\n", name.c_str(), bench::cell(ns, 1).c_str(),
                    bench::cell(ns / base.ns, 2).c_str(), bench::cell(f.instructions, 1).c_str(),
                    bench::cell(f.instructions / base.instructions, 2).c_str(), allocated);
        none = none && allocated == 0;
    }
    return none;
}

}  // namespace
}  // namespace session_pipeline_bench

int main(int argc, char** argv)
{
    using namespace session_pipeline_bench;
    using mode = waybill::pipeline_policy::pipeline_mode;
    bench::runner all(argc, argv);
    all.add("by hand", actions, by_hand);
    all.add("pipeline", actions, [](benchmark::State& s) { machine(s, mode::stop_on_failure); });
    all.add("pipeline, independent", actions,
            [](benchmark::State& s) { machine(s, mode::independent); });
    all.add("pipeline, after a failure", 3, after_failure);
    all.add("process_step", actions, driver);
    if (!all.run("by hand")) return 2;
    all.print_spread();
    const bool none = print(all, "by hand");
    if (!none) std::fprintf(stderr, "an action has allocated\n");
    return none && !all.failed() ? 0 : 1;
}
