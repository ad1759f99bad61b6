// SPDX-License-Identifier: MIT
//
// bench/retry: the cost of a permit of the circuit breaker with its report, and of `decide`.
//
// One operation issues a permit and reports a result, one microsecond after the previous operation.
// The cases: one call at a time; 64 calls in flight that return in another order; one call in 20
// fails; and an open breaker, which issues no permit. The peer is a breaker by hand: two counters
// that are reset in each period, a flag and a time. It has no permits, so it counts late results,
// and a lost probe keeps it half open. `decide` selects the action after a failed call.
//
// Times and instructions are compared with the breaker by hand. `clock` is the loop without a
// breaker. Allocations are those of all iterations; the expected number is 0.

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "measure.hpp"
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

/// The breaker by hand. It opens if at least half of at least ten calls in a period have failed.
class counters {
public:
    bool may_pass(steady_time now)
    {
        if (!open_) return true;
        if (now < until_ || probing_) return false;
        probing_ = true;
        return true;
    }

    void ended(bool failed, steady_time now)
    {
        if (open_) {
            open_ = failed;
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
        open_ = true;
        until_ = now + duration::seconds(5);
    }

private:
    std::uint64_t calls_ = 0;
    std::uint64_t failed_ = 0;
    steady_time ends_{};
    steady_time until_{};
    bool open_ = false;
    bool probing_ = false;
};

bool fails(std::uint64_t call, std::uint64_t one_in)
{
    return one_in != 0 && call % one_in == 0;
}

void one_at_a_time(benchmark::State& state, std::uint64_t one_in)
{
    waybill::circuit_breaker v;
    std::uint64_t n = 0;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        const steady_time now = after(++n);
        const auto p = v.try_acquire(now);
        if (!p) {
            state.SkipWithError("the breaker has opened");
            return;
        }
        benchmark::DoNotOptimize(
            v.record(*p, fails(n, one_in) ? fault_kind::infrastructure : fault_kind::none, now));
    }
    state.counters["allocations"] = static_cast<double>(bench::allocations - before);
}

void many_in_flight(benchmark::State& state)
{
    constexpr std::uint64_t many = 64;
    waybill::circuit_breaker v;
    std::array<waybill::circuit_breaker::permit, many> permits;
    std::uint64_t n = 0;
    for (auto& p : permits) p = *v.try_acquire(after(++n));
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto r : state) {
        const steady_time now = after(++n);
        auto& p = permits[n * 29 % many];  // neither the oldest nor the newest
        benchmark::DoNotOptimize(v.record(p, fault_kind::none, now));
        const auto next = v.try_acquire(now);
        if (!next) {
            state.SkipWithError("the breaker has issued no permit");
            return;
        }
        p = *next;
    }
    state.counters["allocations"] = static_cast<double>(bench::allocations - before);
}

void open_breaker(benchmark::State& state)
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
            state.SkipWithError("the breaker has opened");
            return;
        }
        c.ended(fails(n, one_in), now);
        benchmark::DoNotOptimize(c);
    }
    state.counters["allocations"] = 0;
}

void clock_only(benchmark::State& state)
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

/// Returns true if both breakers permit the same calls. There is one call at a time, so no result is
/// late.
bool agree()
{
    waybill::circuit_breaker v({.failure_ratio = 0.5,
                                .minimum_throughput = 10,
                                .sampling_duration = duration::seconds(30),
                                .consecutive_failures = waybill::circuit_breaker::config::never,
                                .half_open_steps = 1});
    counters c;
    // 40 seconds with one call every 100 ms.
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

}  // namespace
}  // namespace retry_bench

int main(int argc, char** argv)
{
    using namespace retry_bench;
    bench::runner all(argc, argv);
    std::vector<bench::row> rows;
    const auto add = [&](const char* name, const char* base, auto run, auto... arguments) {
        rows.push_back({name, base});
        all.add(name, 1, [=](benchmark::State& state) { run(state, arguments...); });
    };
    const char* const hand = "by hand";
    const char* const hand_with_failures = "by hand, 1 in 20 fails";
    add("clock", hand, clock_only);
    add(hand, hand, by_hand, std::uint64_t{0});
    add(hand_with_failures, hand_with_failures, by_hand, std::uint64_t{20});
    add("circuit breaker", hand, one_at_a_time, std::uint64_t{0});
    add("circuit breaker, 1 in 20 fails", hand_with_failures, one_at_a_time, std::uint64_t{20});
    add("circuit breaker, 64 in flight", hand, many_in_flight);
    add("circuit breaker, open", hand, open_breaker);
    add("decide", "", decide, waybill::retry_policy{});
    add("decide, fixed pause", "", decide, waybill::retry_policy{.pauses = {.factor = 1.0}});
    if (!all.run(hand)) return 2;
    if (!agree()) {
        std::fprintf(stderr, "the circuit breaker and the loop by hand permit different calls\n");
        return 1;
    }
    all.print_spread();
    all.print("operation", rows, {"allocations"});
    return all.failed() ? 1 : 0;
}
