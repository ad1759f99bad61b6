// SPDX-License-Identifier: MIT
//
// ways: registers the ways to get the size of a message, and prints a table of their costs.

#ifndef WAYBILL_BENCH_WIRE_WAYS_HPP
#define WAYBILL_BENCH_WIRE_WAYS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include <benchmark/benchmark.h>

#include "../measure.hpp"

namespace wire_bench {

/// The number of messages that fit in the cache.
inline constexpr std::size_t cached = 1'000;

/// Registers a way. `run` passes over all messages and returns the sum of their sizes.
template <class Way>
void add(bench::runner& all, const std::string& protocol, std::size_t messages,
         const std::string& way, Way run)
{
    all.add(protocol + "/" + way, static_cast<double>(messages), [run](benchmark::State& state) {
        const std::uint64_t before = bench::allocations;
        for ([[maybe_unused]] auto round : state) {
            auto sum = run();
            benchmark::DoNotOptimize(sum);
            benchmark::ClobberMemory();
        }
        const std::uint64_t allocated = bench::allocations - before;  // a counter allocates, too
        state.counters["allocations"] = static_cast<double>(allocated);
    });
}

/// Returns false and prints an error if the sizes of a way differ from those of its peer.
inline bool equal(const std::string& way, std::uint64_t ours, std::uint64_t theirs)
{
    if (ours == theirs) return true;
    std::fprintf(stderr, "%s: %llu bytes, but the peer has %llu\n", way.c_str(),
                 static_cast<unsigned long long>(ours), static_cast<unsigned long long>(theirs));
    return false;
}

/// Prints one row for each way, with its ratios to `size` and `lengths` of the same protocol.
/// Returns false if the computation of a size has allocated.
inline bool print(const bench::runner& all)
{
    std::printf("\n%-42s %10s %6s %9s %13s %6s %9s %12s\n", "per message", "ns", "/size",
                "/lengths", "instructions", "/size", "/lengths", "allocations");
    bool none = true;
    for (const std::string& name : all.names()) {
        const bench::figures f = all.at(name);
        if (f.counters.empty()) continue;  // left out by --benchmark_filter
        const std::string protocol = name.substr(0, name.find('/') + 1);
        const bench::figures size = all.at(protocol + "size");
        const bench::figures lengths = all.at(protocol + "lengths");
        const double ns = all.noisy() ? 0 : f.ns;
        const double allocated = f.counters.at("allocations");
        std::printf("%-42s %10s %6s %9s %13s %6s %9s %12.0f\n", name.c_str(),
                    bench::cell(ns, 2).c_str(), bench::cell(ns / size.ns, 2).c_str(),
                    bench::cell(ns / lengths.ns, 2).c_str(), bench::cell(f.instructions, 1).c_str(),
                    bench::cell(f.instructions / size.instructions, 2).c_str(),
                    bench::cell(f.instructions / lengths.instructions, 2).c_str(), allocated);
        if (name.find("size") != name.npos && allocated != 0) none = false;
    }
    return none;
}

}  // namespace wire_bench

#endif  // WAYBILL_BENCH_WIRE_WAYS_HPP
