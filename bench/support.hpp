// SPDX-License-Identifier: MIT
//
// support: what every benchmark program here does: count allocations, start Google Benchmark with
// defaults that its command line can override, and take the median. For one translation unit.

#ifndef WAYBILL_BENCH_SUPPORT_HPP
#define WAYBILL_BENCH_SUPPORT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace bench {

/// All that the program has allocated so far.
inline std::uint64_t allocations = 0;

inline void* allocate(std::size_t n)
{
    ++allocations;
    if (void* p = std::malloc(n == 0 ? 1 : n)) return p;
    std::abort();
}

/// False where the command line has an argument that nobody knows.
inline bool start(std::vector<std::string> defaults, int argc, char** argv)
{
    defaults.insert(defaults.begin(), "bench");
    defaults.insert(defaults.end(), argv + 1, argv + argc);
    std::vector<char*> arguments;
    for (auto& d : defaults) arguments.push_back(d.data());
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

inline double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

}  // namespace bench

// Inlined, g++ would see memory of new go to free, and warn.
[[gnu::noinline]] void* operator new(std::size_t n)
{
    return bench::allocate(n);
}
[[gnu::noinline]] void* operator new[](std::size_t n)
{
    return bench::allocate(n);
}
[[gnu::noinline]] void operator delete(void* p) noexcept
{
    std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p) noexcept
{
    std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept
{
    std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept
{
    std::free(p);
}

#endif  // WAYBILL_BENCH_SUPPORT_HPP
