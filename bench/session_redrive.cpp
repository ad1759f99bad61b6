// SPDX-License-Identifier: MIT
//
// bench/session_redrive: how long does the plan of a million dead letters take?
//
// Letters of sessions of different sizes, in three orders: as a table gives them, at random, and
// with every session in turn, which is how a queue parks them. They are put in order where they
// stand. Beside it stands what one would write first: std::sort over the letters themselves by
// session and number, and nothing else of a plan. Each run begins with the same letters, made anew
// outside of the time, which is that of the processor.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "support.hpp"
#include <waybill/session.hpp>

namespace session_redrive_bench {

using bench::allocations;
using bench::median;
using waybill::pipeline_dead_letter;

constexpr std::size_t how_many = 1'000'000;

enum class ids { short_ones, long_ones };
enum class order { of_the_table, in_turn, at_random };

// `of` letters a session, the first of which failed.
std::vector<pipeline_dead_letter> letters(std::size_t of, ids kind, order how)
{
    std::vector<pipeline_dead_letter> made(how_many);
    const std::size_t sessions = how_many / of;
    for (std::size_t i = 0; i != how_many; ++i) {
        const std::size_t session = how == order::in_turn ? i % sessions : i / of;
        const std::size_t step = how == order::in_turn ? i / sessions : i % of;
        char id[64];
        std::snprintf(id, sizeof id, kind == ids::short_ones ? "order-%08zu" : "tenant-3f2a/region-west/order-%08zu",
                      session);
        pipeline_dead_letter& l = made[i];
        l.properties = {id, step + 3, 1, of + 2, step + 1 == of};
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
    if (how == order::at_random) {
        std::mt19937_64 dice(7);
        std::shuffle(made.begin(), made.end(), dice);
    }
    return made;
}

// Of this process alone: both ways compute and wait for nothing.
double seconds(std::clock_t since) { return static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC; }

struct times {
    double plan = 0;
    double sort = 0;
    double allocated = 0;
};

times run(std::size_t of, ids kind, order how)
{
    std::vector<double> plans;
    std::vector<double> sorts;
    std::uint64_t allocated = 0;
    for (int i = 0; i != 5; ++i) {
        {
            std::vector<pipeline_dead_letter> ours = letters(of, kind, how);
            const std::uint64_t before = allocations;
            const std::clock_t started = std::clock();
            const waybill::redrive_plan plan = waybill::plan_redrive(ours);
            plans.push_back(seconds(started));
            allocated = allocations - before;
            if (plan.ready != how_many || plan.sessions.size() != how_many / of) std::abort();
            benchmark::DoNotOptimize(plan);
        }
        std::vector<pipeline_dead_letter> theirs = letters(of, kind, how);
        const std::clock_t started = std::clock();
        std::sort(theirs.begin(), theirs.end(),
                  [](const pipeline_dead_letter& a, const pipeline_dead_letter& b) {
                      const int way = a.properties.session.compare(b.properties.session);
                      return way != 0 ? way < 0 : a.sequence < b.sequence;
                  });
        sorts.push_back(seconds(started));
        benchmark::DoNotOptimize(theirs.data());
    }
    return {median(plans), median(sorts), static_cast<double>(allocated) / static_cast<double>(how_many)};
}

}  // namespace session_redrive_bench

int main()
{
    using namespace session_redrive_bench;
    std::printf(
        "A redrive plan of %zu dead letters, %zu bytes each, medians of 5, processor time\n\n",
        how_many, sizeof(pipeline_dead_letter));
    std::printf("letters a session  ids        order         plan       std::sort alone  ratio  allocations a letter\n");
    const struct {
        std::size_t of;
        ids kind;
        order how;
        const char* kind_name;
        const char* how_name;
    } rows[] = {
        {4, ids::short_ones, order::of_the_table, "14 bytes", "of the table"},
        {4, ids::short_ones, order::in_turn, "14 bytes", "in turn"},
        {4, ids::short_ones, order::at_random, "14 bytes", "at random"},
        {4, ids::long_ones, order::at_random, "38 bytes", "at random"},
        {1, ids::short_ones, order::at_random, "14 bytes", "at random"},
        {how_many, ids::short_ones, order::at_random, "14 bytes", "at random"},
    };
    for (const auto& r : rows) {
        const times t = run(r.of, r.kind, r.how);
        std::printf("%17zu  %-9s  %-12s  %6.0f ms  %12.0f ms  %5.2f  %20.2f\n", r.of, r.kind_name, r.how_name, 1e3 * t.plan,
                    1e3 * t.sort, t.plan / t.sort, t.allocated);
    }
    return 0;
}
