// SPDX-License-Identifier: MIT
//
// ways: the ways to a size that stand beside each other, and the table of what each of them costs.

#ifndef WAYBILL_BENCH_WIRE_WAYS_HPP
#define WAYBILL_BENCH_WIRE_WAYS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "../support.hpp"

namespace wire_bench {

/// Messages that a cache holds.
inline constexpr std::size_t how_many = 1'000;

/// One way through all of `messages`, which gives the sum of their bytes.
template <class Way>
void add(const std::string& protocol, std::size_t messages, const char* way, Way run)
{
    const std::string name = protocol + "/" + way;
    benchmark::RegisterBenchmark(name.c_str(), [messages, run](benchmark::State& state) {
        const std::uint64_t before = bench::allocations;
        for ([[maybe_unused]] auto round : state) {
            auto sum = run();
            benchmark::DoNotOptimize(sum);
            benchmark::ClobberMemory();
        }
        state.counters["allocations"] = static_cast<double>(bench::allocations - before);
        state.counters["messages"] = static_cast<double>(messages);
    });
}

/// False, with a line, where a peer comes to other bytes.
inline bool equal(const std::string& what, std::uint64_t ours, std::uint64_t theirs)
{
    if (ours == theirs) return true;
    std::fprintf(stderr, "%s: %llu bytes here, %llu there\n", what.c_str(),
                 static_cast<unsigned long long>(ours), static_cast<unsigned long long>(theirs));
    return false;
}

/// Prints the medians as usual, and keeps every single run for the table.
class table : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override
    {
        std::vector<Run> shown;
        for (const Run& r : runs) {
            if (r.run_type == Run::RT_Iteration) note(r);
            else if (r.aggregate_name == "median") shown.push_back(r);
        }
        ConsoleReporter::ReportRuns(shown.empty() ? runs : shown);
    }

    /// False if a size has allocated.
    bool print()
    {
        std::printf("\n%-40s %12s %12s %14s %12s\n", "way", "ns/message", "over `size`",
                    "over `lengths`", "allocations");
        bool none = true;
        for (const auto& [name, w] : ways_) {
            std::printf("%-40s %12.2f %12.2f %14.2f %12llu\n", name.c_str(),
                        bench::median(w.times), over(name, "size"), over(name, "lengths"),
                        static_cast<unsigned long long>(w.allocated));
            if (name.find("size") != name.npos && w.allocated != 0) none = false;
        }
        return none;
    }

private:
    struct way {
        std::vector<double> times;
        std::uint64_t allocated = 0;
    };

    // How many times as long as another way of the same protocol; 0 where that was not run.
    double over(const std::string& name, const char* other) const
    {
        const auto that = ways_.find(name.substr(0, name.find('/') + 1) + other);
        if (that == ways_.end()) return 0;
        return bench::median(ways_.at(name).times) / bench::median(that->second.times);
    }

    void note(const Run& r)
    {
        way& w = ways_[r.run_name.function_name];
        w.times.push_back(r.cpu_accumulated_time * 1e9 / static_cast<double>(r.iterations) /
                          r.counters.at("messages").value);
        w.allocated += static_cast<std::uint64_t>(r.counters.at("allocations").value);
    }

    std::map<std::string, way> ways_;
};

}  // namespace wire_bench

#endif  // WAYBILL_BENCH_WIRE_WAYS_HPP
