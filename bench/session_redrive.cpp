// SPDX-License-Identifier: MIT
//
// bench/session_redrive: the time of a plan to redrive up to a million dead letters.
//
// The sessions have different numbers of dead letters. The dead letters are in three orders: sorted
// as in a table, at random, and in turn, which is the order of a queue: the first of each session,
// then the second of each. plan_redrive sorts them in place. The raw loop is std::sort over the
// same dead letters by session and number, without any other part of a plan. One operation is one
// dead letter.
//
// Each run gets new dead letters, which are not part of its time and instructions. Instructions are
// counted for the smaller number of dead letters only, because a million take too long under
// callgrind. A million are measured three times; --benchmark_filter=/10000/ leaves them out.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <valgrind/callgrind.h>

#include "measure.hpp"
#include <waybill/session.hpp>

namespace session_redrive_bench {
namespace {

using waybill::pipeline_dead_letter;

constexpr std::size_t counts[] = {10'000, 1'000'000};
constexpr std::size_t all_in_one = 0;  // instead of a number of letters per session

enum class order { sorted, in_turn, at_random };

struct row {
    std::size_t per_session;
    bool long_ids;
    order how;
};

constexpr row rows[] = {
    {4, false, order::sorted},    {4, false, order::in_turn},
    {4, false, order::at_random}, {4, true, order::at_random},
    {1, false, order::at_random}, {all_in_one, false, order::at_random},
};

const char* name(order how)
{
    return how == order::sorted ? "sorted" : how == order::in_turn ? "in turn" : "at random";
}

std::size_t per_session(const row& r, std::size_t count)
{
    return r.per_session == all_in_one ? count : r.per_session;
}

/// The first dead letter of each session has failed; the others were not tried.
std::vector<pipeline_dead_letter> make_letters(const row& r, std::size_t count)
{
    std::vector<std::size_t> places(count);
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (r.how == order::at_random) {
        std::mt19937_64 random(7);
        std::shuffle(places.begin(), places.end(), random);
    }
    std::vector<pipeline_dead_letter> letters(count);
    const std::size_t each = per_session(r, count);
    const std::size_t sessions = count / each;
    for (std::size_t i = 0; i != count; ++i) {
        const std::size_t session = r.how == order::in_turn ? i % sessions : i / each;
        const std::size_t step = r.how == order::in_turn ? i / sessions : i % each;
        char id[64];
        std::snprintf(id, sizeof id,
                      r.long_ids ? "tenant-3f2a/region-west/order-%08zu" : "order-%08zu", session);
        pipeline_dead_letter& l = letters[places[i]];
        l.properties = {id, step + 3, 1, each + 2, step + 1 == each};
        l.sequence = 1'000 + step * sessions + session;
        l.message_id = "0123456789abcdef0123456789abcdef";
        l.reason = step == 0 ? waybill::dead_letter_reason::failed
                             : waybill::dead_letter_reason::session_failed;
        l.cause = 1'000 + session;
        l.resume_at = 3;
        l.text = "the receipt template is broken";
        l.body = "{\"total\":17}";
        l.size = l.body.size();
    }
    return letters;
}

/// Calls f without its time and its instructions.
template <class F>
void unmeasured(benchmark::State& state, F f)
{
    state.PauseTiming();
    CALLGRIND_TOGGLE_COLLECT;
    f();
    CALLGRIND_TOGGLE_COLLECT;
    state.ResumeTiming();
}

void plan(benchmark::State& state, const row& r, std::size_t count)
{
    std::vector<pipeline_dead_letter> letters;
    waybill::redrive_plan made;
    std::uint64_t allocated = 0;
    for ([[maybe_unused]] auto round : state) {
        unmeasured(state, [&] {
            made = {};
            letters.clear();
            letters = make_letters(r, count);
        });
        const std::uint64_t before = bench::allocations;
        made = waybill::plan_redrive(letters);
        benchmark::DoNotOptimize(made);
        allocated = bench::allocations - before;
    }
    if (made.ready != count || made.sessions.size() != count / per_session(r, count)) {
        state.SkipWithError("the plan is wrong");
    }
    state.counters["allocations"] = static_cast<double>(allocated) / static_cast<double>(count);
}

void sort(benchmark::State& state, const row& r, std::size_t count)
{
    std::vector<pipeline_dead_letter> letters;
    for ([[maybe_unused]] auto round : state) {
        unmeasured(state, [&] {
            letters.clear();
            letters = make_letters(r, count);
        });
        std::sort(letters.begin(), letters.end(),
                  [](const pipeline_dead_letter& a, const pipeline_dead_letter& b) {
                      const int c = a.properties.session.compare(b.properties.session);
                      return c != 0 ? c < 0 : a.sequence < b.sequence;
                  });
        benchmark::DoNotOptimize(letters.data());
        benchmark::ClobberMemory();
    }
}

std::string benchmark_name(const char* peer, const row& r, std::size_t count)
{
    return std::string(peer) + "/" + std::to_string(count) + "/" + std::to_string(r.per_session) +
           (r.long_ids ? "/long ids/" : "/short ids/") + name(r.how);
}

void print(const bench::runner& all)
{
    std::printf("\n%9s %11s %-8s %-9s %9s %9s %6s %18s %14s %6s %18s\n", "dead", "of each", "", "",
                "plan", "plan", "", "plan,", "std::sort,", "", "allocations");
    std::printf("%9s %11s %-8s %-9s %9s %9s %6s %18s %14s %6s %18s\n", "letters", "session", "ids",
                "order", "ms", "ns/letter", "ratio", "instructions", "instructions", "ratio",
                "of a plan/letter");
    for (const std::size_t count : counts) {
        for (const row& r : rows) {
            const bench::figures ours = all.at(benchmark_name("plan", r, count));
            const bench::figures raw = all.at(benchmark_name("std::sort", r, count));
            if (ours.counters.empty()) continue;  // left out by --benchmark_filter
            const double ns = all.noisy() ? 0 : ours.ns;
            std::printf("%9zu %11zu %-8s %-9s %9s %9s %6s %18s %14s %6s %18.2f\n", count,
                        per_session(r, count), r.long_ids ? "38 bytes" : "14 bytes", name(r.how),
                        bench::cell(ns * static_cast<double>(count) / 1e6, 1).c_str(),
                        bench::cell(ns, 0).c_str(), bench::cell(ns / raw.ns, 2).c_str(),
                        bench::cell(ours.instructions, 0).c_str(),
                        bench::cell(raw.instructions, 0).c_str(),
                        bench::cell(ours.instructions / raw.instructions, 2).c_str(),
                        ours.counters.at("allocations"));
        }
    }
}

}  // namespace
}  // namespace session_redrive_bench

int main(int argc, char** argv)
{
    using namespace session_redrive_bench;
    bench::runner all(argc, argv);
    for (const std::size_t count : counts) {
        // The setup of a million dead letters takes longer than their plan.
        bench::run_options options{.iterations = 1};
        if (count == 1'000'000) options = {.counted = false, .iterations = 1, .repetitions = 3};
        for (const row& r : rows) {
            const auto operations = static_cast<double>(count);
            all.add(
                benchmark_name("plan", r, count), operations,
                [r, count](benchmark::State& s) { plan(s, r, count); }, options);
            all.add(
                benchmark_name("std::sort", r, count), operations,
                [r, count](benchmark::State& s) { sort(s, r, count); }, options);
        }
    }
    if (!all.run(benchmark_name("std::sort", rows[2], counts[0]))) return 2;
    std::printf("%zu bytes per dead letter\n", sizeof(pipeline_dead_letter));
    all.print_spread();
    print(all);
    return all.failed() ? 1 : 0;
}
