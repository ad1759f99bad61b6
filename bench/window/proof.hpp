// SPDX-License-Identifier: MIT
//
// proof: checks results, allocations, memory and the number of combines. These do not depend on the
// machine.

#ifndef WAYBILL_BENCH_WINDOW_PROOF_HPP
#define WAYBILL_BENCH_WINDOW_PROOF_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <malloc.h>

#include "../measure.hpp"
#include "data.hpp"
#include "ours.hpp"
#include "peers.hpp"

namespace window_bench {

inline bool same(const answer& a, const answer& b, bool extremes)
{
    // Boost updates its mean with each sample, so it drifts.
    return a.count == b.count && a.sum == b.sum && std::abs(a.mean - b.mean) < 1e-6 &&
           (!extremes || (a.lowest == b.lowest && a.highest == b.highest));
}

inline bool wrong(const char* who, std::uint64_t n, const char* data, std::uint64_t i)
{
    std::fprintf(stderr, "%s differs from the scan: window %llu, %s, sample %llu\n", who,
                 static_cast<unsigned long long>(n), data, static_cast<unsigned long long>(i));
    return false;
}

/// Compares with a scan; in a large window only some results, because a scan is slow.
template <class Peer>
bool equal(std::uint64_t n, shape data)
{
    const series values(data);
    Peer peer(n);
    scan all(n);
    const std::uint64_t every = n < 1'000 ? 1 : n / 10 + 7;
    for (std::uint64_t i = 0; i != 3 * n + 500; ++i) {
        const auto at = static_cast<std::int64_t>(i) * step;
        const answer a = peer.take(at, values[i]);
        if (i % every != 0) {
            all.skip(at, values[i]);
            continue;
        }
        answer b = all.take(at, values[i]);
        if constexpr (requires { peer.from(at); }) b = all.since_time(peer.from(at));
        if (!same(a, b, Peer::extremes)) return wrong(Peer::name, n, name(data), i);
    }
    return true;
}

/// The statistics of samples in any order.
inline answer statistics(const std::vector<timed>& all)
{
    kept k = kept::of(all.front().value);
    for (std::size_t i = 1; i != all.size(); ++i) k = kept::combine(k, kept::of(all[i].value));
    return k.statistics();
}

/// Compares with a scan in which the sample of an operation has the time `date(now)`. In a large
/// window only some results, because a scan is slow.
template <class Window, class Date>
bool equal_dates(std::uint64_t n, const char* who, const char* data, Date date)
{
    const series values(shape::random);
    Window window(n);
    std::vector<timed> all;
    const std::uint64_t every = n < 1'000 ? 1 : n / 100 + 7;
    for (std::uint64_t i = 0; i != 3 * n + 500; ++i) {
        const auto now = static_cast<std::int64_t>(i) * step;
        const std::int64_t from = now - static_cast<std::int64_t>(n) * step;
        const std::int64_t at = date(now);
        const answer a = window.take(now, at, values[i]);
        if (at > from) all.push_back({at, values[i]});
        if (i % every != 0) continue;
        std::erase_if(all, [&](const timed& t) { return t.at <= from; });
        if (!all.empty() && !same(a, statistics(all), true)) return wrong(who, n, data, i);
    }
    return true;
}

template <class Window, std::int64_t Behind>
bool equal_late(std::uint64_t n, const char* who)
{
    return equal_dates<Window>(n, who, "late", late<Window, Behind>::date);
}

/// Each sample is late by less than 1, 2, 4 ... or n steps, or on time.
template <class Window>
bool equal_random(std::uint64_t n, const char* who)
{
    std::mt19937_64 dice(20'261'123);
    return equal_dates<Window>(n, who, "random times", [&](std::int64_t now) {
        const std::uint64_t within = std::min(n, std::uint64_t{1} << dice() % 24);
        return now - static_cast<std::int64_t>(dice() % within) * step;
    });
}

/// No allocation after the constructor, and the bytes that this allocates for each sample.
template <class Ours>
bool memory(std::uint64_t n)
{
    const auto used = [] {
        const auto m = mallinfo2();
        return m.uordblks + m.hblkhd;
    };
    const series values(shape::random);
    const std::size_t before = used();
    Ours window(n);
    const double each = static_cast<double>(used() - before) / static_cast<double>(n);
    const std::uint64_t allocated = bench::allocations;
    for (std::uint64_t i = 0; i != 3 * n + 100; ++i) {
        benchmark::DoNotOptimize(window.take(static_cast<std::int64_t>(i) * step, values[i]));
    }
    const std::uint64_t after = bench::allocations - allocated;
    std::printf("%-12s %9llu %16.2f %26llu\n", Ours::name, static_cast<unsigned long long>(n), each,
                static_cast<unsigned long long>(after));
    // malloc adds 16 bytes to a block, and a page to a large one.
    const double rest = (n < 10'000 ? 64.0 : 8'192.0) / static_cast<double>(n);
    return after == 0 && each <= 16 + sizeof(plain) + rest;
}

/// The same measure with a counter of its combines.
struct counting : plain {
    inline static std::uint64_t combines = 0;

    static counting identity() { return {plain::identity()}; }
    template <class S>
    static counting of(const S& s)
    {
        return {plain::of(s)};
    }
    static counting combine(const counting& a, const counting& b)
    {
        ++combines;
        return {plain::combine(a, b)};
    }
};

/// The combines of an operation, on average over whole windows, and the most of one operation. An
/// operation is an advance, an insertion and a query. `most` is 0 if one operation may rebuild the
/// window.
template <template <class> class How>
bool combines(const char* who, std::uint64_t n, double average, std::uint64_t most)
{
    const series values(shape::random);
    ours<counting, How> window(n);
    std::uint64_t worst = 0, begun = 0;
    const std::uint64_t rounds = 8 * n;
    for (std::uint64_t i = 0; i != 2 * n + rounds; ++i) {
        if (i == 2 * n) begun = counting::combines;
        const std::uint64_t before = counting::combines;
        benchmark::DoNotOptimize(window.take(static_cast<std::int64_t>(i) * step, values[i]));
        worst = std::max(worst, counting::combines - before);
    }
    const double mean =
        static_cast<double>(counting::combines - begun) / static_cast<double>(rounds);
    std::printf("%-12s %9llu %16.3f %26llu\n", who, static_cast<unsigned long long>(n), mean,
                static_cast<unsigned long long>(worst));
    return mean <= average && (most == 0 || worst <= most);
}

}  // namespace window_bench

#endif  // WAYBILL_BENCH_WINDOW_PROOF_HPP
