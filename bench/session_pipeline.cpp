// SPDX-License-Identifier: MIT
//
// bench/session_pipeline: what does it cost to ask what comes next in a session, and to answer?
//
// One operation is one action: next, match, and the answer. A session of five steps has 22 of them:
// the state is loaded, each step is received, executed, saved and completed, and the state is
// cleared in the end. Behind a failed step it is three a message: received, parked, completed.
// Beside it stands what one writes by hand into the consumer: is it done already, is it the next
// one, save, complete; which knows no gap, no try, no other holder and no call that fails.
//
// Nothing here allocates; the last column counts it.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "support.hpp"
#include <waybill/core/match.hpp>
#include <waybill/session/process_step.hpp>

namespace session_pipeline_bench {
namespace {

using waybill::steady_time;

constexpr std::uint64_t steps = 5;
constexpr std::uint64_t actions = 2 + 4 * steps;

/// What the calls have done, so that none of them is left out.
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

waybill::pipeline::step_received message(std::uint64_t n)
{
    return {{1'000 + n, n, 1, steps, n == steps, 1}, waybill::wall_time::at(waybill::duration::seconds(1))};
}

void count(benchmark::State& state, std::uint64_t per_run, std::uint64_t before)
{
    const std::uint64_t allocated = bench::allocations - before;  // a counter is one itself
    state.counters["per_run"] = static_cast<double>(per_run);
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
    count(state, actions, before);
}

/// One action: false where the next message is wanted.
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
    count(state, actions, before);
}

void behind_a_failure(benchmark::State& state)
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
        if (w.parked != w.completed) state.SkipWithError("a message was not parked");
    }
    count(state, 3, before);
}

void driver(benchmark::State& state)
{
    work w;
    std::uint64_t n = 0;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        waybill::pipeline pipe;
        for (std::uint64_t step = 1; step <= steps; ++step) {
            const auto end = waybill::process_step(
                pipe, message(step), [&] { return after(++n); },
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
                [](waybill::pipeline::give_back) {}, [](waybill::wait_until) {});
            benchmark::DoNotOptimize(end);
        }
        if (w.cleared != w.loaded) state.SkipWithError("a session did not end");
    }
    count(state, actions, before);
}

class table : public benchmark::ConsoleReporter {
public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override
    {
        for (const Run& r : runs) {
            if (r.error_occurred) failed = true;
            if (r.run_type != Run::RT_Iteration || r.error_occurred) continue;
            const std::string name = r.run_name.function_name;
            const double operations = static_cast<double>(r.iterations) * r.counters.at("per_run").value;
            times_[name].push_back(r.cpu_accumulated_time * 1e9 / operations);
            allocated_[name] = r.counters.at("allocations").value;
        }
    }

    void print(const std::vector<std::string>& who) const
    {
        std::printf("\n%-34s %14s %14s %12s\n", "an action", "median ns", "lowest ns", "allocations");
        for (const std::string& name : who) {
            const auto found = times_.find(name);
            if (found == times_.end()) continue;
            const auto& t = found->second;
            std::printf("%-34s %14.1f %14.1f %12.0f\n", name.c_str(), bench::median(t),
                        *std::min_element(t.begin(), t.end()), allocated_.at(name));
        }
    }

    bool failed = false;

private:
    std::map<std::string, std::vector<double>> times_;
    std::map<std::string, double> allocated_;
};

}  // namespace
}  // namespace session_pipeline_bench

int main(int argc, char** argv)
{
    using namespace session_pipeline_bench;
    std::vector<std::string> who;
    const auto add = [&](const char* name, auto run, auto... arguments) {
        who.emplace_back(name);
        benchmark::RegisterBenchmark(name, run, arguments...);
    };
    add("by hand", by_hand);
    add("pipeline", machine, waybill::pipeline_policy::pipeline_mode::stop_on_failure);
    add("pipeline, independent", machine, waybill::pipeline_policy::pipeline_mode::independent);
    add("pipeline, behind a failure", behind_a_failure);
    add("process_step", driver);
    if (!bench::start({"--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=9",
                       "--benchmark_min_time=0.05"},
                      argc, argv)) {
        return 2;
    }
    table out;
    benchmark::RunSpecifiedBenchmarks(&out);
    out.print(who);
    benchmark::Shutdown();
    return out.failed ? 1 : 0;
}
