// SPDX-License-Identifier: MIT
//
// bench/session_redrive_all: the cost of redrive_all, relative to a hand-written loop over the same
// state machine.
//
// Both read 3,000 sessions of three dead letters each from a table in memory, send each message to a
// function that reads its sizes, record it, and remove the dead letters. The loop has no retries, no
// report, no stop request and no order by age. One operation is one message. The table and its
// filling are not part of the figures.

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <valgrind/callgrind.h>

#include "measure.hpp"
#include <waybill/session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>

namespace session_redrive_all_bench {
namespace {

using waybill::pipeline_dead_letter;
using waybill::redrive;
using table = waybill::testing::memory_pipeline_dead_letters;
using message = waybill::redrive_plan::planned_message;

constexpr std::uint64_t sessions = 3'000;
constexpr std::uint64_t steps = 3;

table filled()
{
    table t;
    for (std::uint64_t n = 0; n != sessions; ++n) {
        for (std::uint64_t step = 3; step != 3 + steps; ++step) {
            pipeline_dead_letter l;
            l.properties = {"order-" + std::to_string(100'000 + n), step, 1, 5, step == 5};
            l.sequence = step;
            l.resume_at = 3;
            l.body = std::string(200, 'x');
            if (step != 3) l.reason = waybill::dead_letter_reason::session_failed;
            t.upsert(l);
        }
    }
    return t;
}

struct queue {
    std::uint64_t bytes = 0;
    waybill::fault send(const message& m)
    {
        bytes += m.body.size() + m.message_id.size();
        return {};
    }
};

void by_driver(table& t, queue& q)
{
    waybill::testing::manual_environment env;
    const auto r = waybill::redrive_all(t, {}, [&](const auto& m) { return q.send(m); }, env);
    benchmark::DoNotOptimize(r.sent);
}

void by_hand(table& t, queue& q)
{
    const waybill::testing::manual_environment env;
    auto letters = *t.list();
    const auto plan = waybill::plan_redrive(letters);
    redrive run(plan);
    while (!run.over()) {
        waybill::match(
            run.next(env.now()),
            [&](const redrive::resubmit& a) {
                for (std::uint64_t n = a.offset; n != a.offset + a.count; ++n) {
                    if (!q.send(plan.step(letters, n)).ok()) return;
                    const pipeline_dead_letter marked = plan.marked_letter(letters, n);
                    if (!t.mark(std::span(&marked, 1)).ok()) return;
                }
                run.on(redrive::resubmitted{a.count}, env.now());
            },
            [&](const redrive::mark_sent& a) {
                std::vector<pipeline_dead_letter> marked;
                for (std::uint64_t s = a.session; s != a.session + a.count; ++s) {
                    if (plan.sessions[s].mark_before_removal)
                        marked.push_back(plan.marked(letters, s));
                }
                run.on(redrive::sessions_marked{t.mark(marked).kind}, env.now());
            },
            [&](const redrive::remove_dead_letters& a) {
                const std::span<const pipeline_dead_letter> all(letters);
                const waybill::fault f = t.remove(all.subspan(a.offset, a.count));
                run.on(redrive::dead_letters_removed{f.ok() ? a.count : 0, f.kind}, env.now());
            },
            [](const waybill::wait_until&) {}, [](waybill::idle) {});
    }
}

template <class F>
void measure(benchmark::State& state, F redrive_them)
{
    table t;
    queue q;
    for ([[maybe_unused]] auto round : state) {
        state.PauseTiming();
        CALLGRIND_TOGGLE_COLLECT;
        t = filled();
        q = {};
        CALLGRIND_TOGGLE_COLLECT;
        state.ResumeTiming();
        redrive_them(t, q);
    }
    if (!t.letters().empty() || q.bytes < 200 * sessions * steps)
        state.SkipWithError("dead letters are left");
}

}  // namespace
}  // namespace session_redrive_all_bench

int main(int argc, char** argv)
{
    using namespace session_redrive_all_bench;
    bench::runner all(argc, argv);
    constexpr auto operations = static_cast<double>(sessions * steps);
    const bench::run_options options{.iterations = 1};
    all.add("redrive_all", operations, [](benchmark::State& s) { measure(s, by_driver); }, options);
    all.add("by hand", operations, [](benchmark::State& s) { measure(s, by_hand); }, options);
    if (!all.run("by hand")) return 2;
    const bench::figures ours = all.at("redrive_all");
    const bench::figures raw = all.at("by hand");
    std::printf("\nredrive_all: %s instructions per message, by hand %s, ratio %s\n",
                bench::cell(ours.instructions, 0).c_str(), bench::cell(raw.instructions, 0).c_str(),
                bench::cell(ours.instructions / raw.instructions, 3).c_str());
    all.print_spread();
    return all.failed() ? 1 : 0;
}
