// SPDX-License-Identifier: MIT
//
// bench/run_queue: the cost of one message in run_queue, relative to loops written by hand.
//
// The queue is a table in SQLite, in memory. Each message is received, handled and completed. The
// short loop completes each message; it has no retries. The other loop uses the parts of the
// library as run_queue does: it asks a circuit breaker, keeps the time of the lock, and settles
// each message by `settle` with its deliveries. It defers nothing, renews no lock and has no
// report. One operation is one message.

#include <cstdint>
#include <cstdio>

#include <benchmark/benchmark.h>

#include "../examples/engines/sqlite_work_queue.hpp"
#include "measure.hpp"
#include <waybill/queue.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace run_queue_bench {
namespace {

using engines::sqlite_work_queue;
using environment = waybill::testing::manual_environment;
using waybill::duration;
using waybill::fault;

constexpr std::uint64_t messages = 200;  // of one iteration
constexpr duration lock = duration::seconds(60);

fault handle(const sqlite_work_queue::message& m)
{
    benchmark::DoNotOptimize(m.body.size());
    return {};
}

std::uint64_t short_loop(sqlite_work_queue& queue, environment&)
{
    std::uint64_t completed = 0;
    for (;;) {
        const auto m = queue.receive(lock);
        if (!m || !*m) return completed;
        if (!handle(**m).ok()) (void)queue.abandon(**m, true);
        else if (queue.complete(**m).ok()) ++completed;
    }
}

std::uint64_t over_parts(sqlite_work_queue& queue, environment& env)
{
    static waybill::circuit_breaker breaker;
    const waybill::settle_policy policy;
    std::uint64_t completed = 0;
    for (;;) {
        const waybill::steady_time begin = env.now();
        if (breaker.room(begin) == 0) return completed;
        const auto m = queue.receive(lock);
        if (!m || !*m) return completed;
        auto permit = waybill::scoped_permit(breaker, [&] { return env.now(); });
        if (!permit) return completed;
        const fault f = handle(**m);
        permit.record(f.kind, env.random());
        const waybill::queue_delivery d{.count = (*m)->deliveries,
                                        .lock_left = begin + lock - env.now()};
        waybill::match(
            settle(policy, d, f.kind, env.random()),
            [&](waybill::complete) {
                if (queue.complete(**m).ok()) ++completed;
            },
            [&](const waybill::dead_letter_message&) { (void)queue.dead_letter(**m, f.text); },
            [&](const auto&) { (void)queue.abandon(**m, true); });
    }
}

std::uint64_t driver(sqlite_work_queue& queue, environment& env)
{
    static waybill::circuit_breaker breaker;
    const auto r = waybill::run_queue(
        queue, handle, {.lock = lock, .breaker = &breaker, .stop_when_empty = true}, env);
    return r.completed;
}

template <class Run>
void measure(benchmark::State& state, Run run)
{
    engines::database db(":memory:");
    sqlite_work_queue queue(db);
    environment env;
    for ([[maybe_unused]] auto i : state) {
        bench::exclude(state, [&] {
            for (std::uint64_t n = 0; n != messages; ++n) queue.put("a message");
        });
        if (run(queue, env) != messages) state.SkipWithError("a message was not completed");
    }
}

}  // namespace
}  // namespace run_queue_bench

int main(int argc, char** argv)
{
    using namespace run_queue_bench;
    bench::runner all(argc, argv);
    const bench::run_options few{.counted_operations = 20.0 * messages};
    all.add("short loop", messages, [](benchmark::State& s) { measure(s, short_loop); }, few);
    all.add(
        "over breaker and settle", messages, [](benchmark::State& s) { measure(s, over_parts); },
        few);
    all.add("run_queue", messages, [](benchmark::State& s) { measure(s, driver); }, few);
    if (!all.run("short loop")) return 2;
    all.print_spread();
    all.print("one message", {{"short loop", "short loop"},
                              {"over breaker and settle", "short loop"},
                              {"run_queue", "short loop"}});
    return all.failed() ? 1 : 0;
}
