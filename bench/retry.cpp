// SPDX-License-Identifier: MIT
//
// bench/retry: what does it cost to ask before a call, and to say how it went?
//
// One operation is a permit and its report, the clock going on by a microsecond: with one call at a
// time, with 64 out that come back in another order, with one call in twenty failing, and shut,
// when none may pass. Beside it stands the breaker that one writes by hand into a loop: two
// counters that start anew each period, a flag and a time; it has no permits, so a result that
// comes late counts, and a probe that is lost is waited for. `decide` is what to do after a call
// that has failed.
//
// Nothing here allocates; the last column counts it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "support.hpp"
#include <waybill/retry.hpp>

namespace retry_bench {
namespace {

using waybill::duration;
using waybill::fault_kind;
using waybill::steady_time;

constexpr steady_time after(std::uint64_t calls)
{
    return steady_time::at(duration::nanoseconds(static_cast<std::int64_t>(calls) * 1'000));
}

/// As one writes it by hand: shuts where half of at least ten calls in a period failed.
class counters {
public:
    bool may_pass(steady_time now)
    {
        if (!shut_) return true;
        if (now < until_ || probing_) return false;
        probing_ = true;
        return true;
    }

    void ended(bool failed, steady_time now)
    {
        if (shut_) {
            shut_ = failed;
            probing_ = false;
            if (failed) until_ = now + duration::seconds(5);
            calls_ = failed_ = 0;
            return;
        }
        if (!(now < ends_)) {
            ends_ = now + duration::seconds(30);
            calls_ = failed_ = 0;
        }
        ++calls_;
        if (!failed) return;
        ++failed_;
        if (calls_ < 10 || failed_ * 2 < calls_) return;
        shut_ = true;
        until_ = now + duration::seconds(5);
    }

private:
    std::uint64_t calls_ = 0;
    std::uint64_t failed_ = 0;
    steady_time ends_{};
    steady_time until_{};
    bool shut_ = false;
    bool probing_ = false;
};

bool fails(std::uint64_t call, std::uint64_t one_in) { return one_in != 0 && call % one_in == 0; }

void one_at_a_time(benchmark::State& state, std::uint64_t one_in)
{
    waybill::circuit_breaker v;
    std::uint64_t n = 0;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        const steady_time now = after(++n);
        const auto p = v.try_acquire(now);
        if (!p) {
            state.SkipWithError("it shut");
            return;
        }
        benchmark::DoNotOptimize(
            v.record(*p, fails(n, one_in) ? fault_kind::infrastructure : fault_kind::none, now));
    }
    state.counters["allocations"] = static_cast<double>(bench::allocations - before);
}

void many_out(benchmark::State& state)
{
    constexpr std::uint64_t out = 64;
    waybill::circuit_breaker v;
    std::array<waybill::circuit_breaker::permit, out> given;
    std::uint64_t n = 0;
    for (auto& p : given) p = *v.try_acquire(after(++n));
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        const steady_time now = after(++n);
        auto& p = given[n * 29 % out];  // neither the oldest nor the newest
        benchmark::DoNotOptimize(v.record(p, fault_kind::none, now));
        const auto next = v.try_acquire(now);
        if (!next) {
            state.SkipWithError("it gave none");
            return;
        }
        p = *next;
    }
    state.counters["allocations"] = static_cast<double>(bench::allocations - before);
}

void none_may_pass(benchmark::State& state)
{
    waybill::circuit_breaker v(
        {.minimum_throughput = 1,
         .break_duration = {.base = duration::highest(), .cap = duration::highest()}});
    v.record(*v.try_acquire(after(1)), fault_kind::infrastructure, after(1));
    std::uint64_t n = 1;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        const auto p = v.try_acquire(after(++n));
        if (p) std::abort();
        benchmark::DoNotOptimize(p);
    }
    state.counters["allocations"] = static_cast<double>(bench::allocations - before);
}

void by_hand(benchmark::State& state, std::uint64_t one_in)
{
    counters c;
    std::uint64_t n = 0;
    for ([[maybe_unused]] auto r : state) {
        const steady_time now = after(++n);
        if (!c.may_pass(now)) {
            state.SkipWithError("it shut");
            return;
        }
        c.ended(fails(n, one_in), now);
        benchmark::DoNotOptimize(c);
    }
    state.counters["allocations"] = 0;
}

void nothing(benchmark::State& state)
{
    std::uint64_t n = 0;
    for ([[maybe_unused]] auto r : state) {
        const steady_time now = after(++n);
        benchmark::DoNotOptimize(now);
    }
    state.counters["allocations"] = 0;
}

void decide(benchmark::State& state, waybill::retry_policy p)
{
    std::uint32_t tries = 0;
    std::uint64_t n = 0;
    const std::uint64_t before = bench::allocations;
    benchmark::DoNotOptimize(p);
    for ([[maybe_unused]] auto r : state) {
        tries = tries % 4 + 1;
        const auto a = waybill::decide(p, tries, fault_kind::transient, 0.5, after(++n));
        benchmark::DoNotOptimize(a);
    }
    state.counters["allocations"] = static_cast<double>(bench::allocations - before);
}

/// Both let pass, shut, probe and open at the same calls where results come one by one and in time.
bool agree()
{
    waybill::circuit_breaker v({.failure_ratio = 0.5,
                                .minimum_throughput = 10,
                                .sampling_duration = duration::seconds(30),
                                .consecutive_failures = waybill::circuit_breaker::config::never,
                                .half_open_steps = 1});
    counters c;
    // 40 seconds, a call each tenth of one
    for (std::uint64_t n = 0; n != 40'000'000; n += 100'000) {
        const steady_time now = after(n);
        const bool down = n >= 3'000'000 && n < 6'000'000;
        const auto p = v.try_acquire(now);
        if (p.has_value() != c.may_pass(now)) return false;
        if (!p) continue;
        v.record(*p, down ? fault_kind::infrastructure : fault_kind::none, now);
        c.ended(down, now);
    }
    return true;
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
            times_[name].push_back(r.cpu_accumulated_time * 1e9 / static_cast<double>(r.iterations));
            allocated_[name] = r.counters.at("allocations").value;
        }
    }

    void print(const std::vector<std::string>& who) const
    {
        std::printf("\n%-34s %14s %14s %12s\n", "an operation", "median ns", "lowest ns", "allocations");
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
}  // namespace retry_bench

int main(int argc, char** argv)
{
    using namespace retry_bench;
    if (!agree()) {
        std::fprintf(
            stderr, "the circuit breaker and the breaker by hand do not let the same calls pass\n");
        return 1;
    }
    std::vector<std::string> who;
    const auto add = [&](const char* name, auto run, auto... arguments) {
        who.emplace_back(name);
        benchmark::RegisterBenchmark(name, run, arguments...);
    };
    add("raw loop", nothing);
    add("breaker by hand", by_hand, std::uint64_t{0});
    add("breaker by hand, 1 in 20 fails", by_hand, std::uint64_t{20});
    add("circuit breaker", one_at_a_time, std::uint64_t{0});
    add("circuit breaker, 1 in 20 fails", one_at_a_time, std::uint64_t{20});
    add("circuit breaker, 64 out", many_out);
    add("circuit breaker, shut", none_may_pass);
    add("decide", decide, waybill::retry_policy{});
    add("decide, fixed pause", decide, waybill::retry_policy{.pauses = {.factor = 1.0}});
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
