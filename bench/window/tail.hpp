// SPDX-License-Identifier: MIT
//
// tail: the time of the slowest single operations.
//
// Each operation is timed by the processor's counter in three passes, and the least of its three
// times counts: an interrupt occurs in one pass, work of the algorithm in all. The time of reading
// the counter is subtracted.

#ifndef WAYBILL_BENCH_WINDOW_TAIL_HPP
#define WAYBILL_BENCH_WINDOW_TAIL_HPP

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include "data.hpp"

namespace window_bench {

inline std::uint64_t ticks()
{
    unsigned core = 0;
    const std::uint64_t t = __rdtscp(&core);
    _mm_lfence();
    return t;
}

/// Prints a line; the largest time as a multiple of the median.
template <class Peer>
double tail(std::uint64_t n)
{
    const series values(shape::random);
    const std::uint64_t how_many = 8 * n;
    std::vector<std::uint64_t> least(how_many, UINT64_MAX);
    std::uint64_t empty = UINT64_MAX;
    for (int pass = 0; pass != 3; ++pass) {
        Peer peer(n);
        std::uint64_t i = 0;
        for (; i != 2 * n; ++i) peer.take(static_cast<std::int64_t>(i) * step, values[i]);
        for (std::uint64_t& t : least) {
            const double value = values[i];
            const std::uint64_t from = ticks();
            benchmark::DoNotOptimize(peer.take(static_cast<std::int64_t>(i) * step, value));
            const std::uint64_t until = ticks();
            t = std::min(t, until - from);
            empty = std::min(empty, ticks() - until);
            ++i;
        }
    }
    for (std::uint64_t& t : least) t -= std::min(t, empty);
    std::sort(least.begin(), least.end());
    const auto at = [&](double part) {
        const double place = part * static_cast<double>(how_many - 1);
        return static_cast<double>(least[static_cast<std::size_t>(place)]);
    };
    const double most = at(1) / std::max(at(0.5), 1.0);
    std::printf("%-16s %9llu %8.0f %8.0f %8.0f %8.0f %12.1f\n", Peer::name,
                static_cast<unsigned long long>(n), at(0.5), at(0.999), at(0.9999), at(1), most);
    return most;
}

}  // namespace window_bench

#endif  // WAYBILL_BENCH_WINDOW_TAIL_HPP
