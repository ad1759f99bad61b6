// SPDX-License-Identifier: MIT
//
// measure: runs benchmarks of Google Benchmark in turns, and keeps two figures of each.
//
//     bench::runner all(argc, argv);
//     all.add("raw", 1'000, [](benchmark::State& s) { for (auto _ : s) raw(); });
//     all.add("ours", 1'000, ...);
//     if (!all.run("raw")) return 2;          // an argument is unknown
//     std::printf("%.1f ns\n", all.at("ours").ns);
//
// Time: the least CPU time of many short repetitions, which take turns in random order in one
// process. Other work on the machine only adds time, so the least is the most reproducible figure.
// The spread of the raw loop says how much was added: if its median is more than a quarter above its
// least time, `noisy` is true, and no time should be printed.
//
// Instructions: the program runs itself under callgrind, with each benchmark twice: with few and
// with more iterations. The difference has no setup in it. It is the same in each run, so it is the
// figure to compare between machines. It is 0 if valgrind is not installed.
//
// For one translation unit of a program: it replaces operator new to count allocations.

#ifndef WAYBILL_BENCH_MEASURE_HPP
#define WAYBILL_BENCH_MEASURE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <valgrind/callgrind.h>

namespace bench {

/// The number of allocations of the program so far.
inline std::uint64_t allocations = 0;

inline void* allocate(std::size_t n)
{
    ++allocations;
    if (void* p = std::malloc(n == 0 ? 1 : n)) return p;
    std::abort();
}

/// The figures of one benchmark, for each operation.
struct figures {
    double ns = 0;            ///< The least time.
    double median_ns = 0;     ///< The median time.
    double instructions = 0;  ///< 0 if they were not counted.
    std::map<std::string, double> counters{};  ///< Those of the benchmark, as it has set them.
};

class runner {
public:
    /// The argument --count-instructions means that the program runs under callgrind. All other
    /// arguments are for Google Benchmark.
    runner(int argc, char** argv) : program_(argv[0]), arguments_(argv + 1, argv + argc)
    {
        counts_ = argc == 2 && std::string_view(argv[1]) == "--count-instructions";
    }

    /// Registers a benchmark. `operations` is the number of operations in one iteration. Without
    /// `counted`, its instructions are not counted, which takes about 50 times as long as it runs.
    template <class F>
    void add(const std::string& name, double operations, F run, bool counted = true)
    {
        names_.push_back(name);
        operations_[name] = operations;
        if (!counts_) benchmark::RegisterBenchmark(name.c_str(), run);
        if (!counts_ || !counted) return;
        const auto more = static_cast<benchmark::IterationCount>(
            std::clamp(20'000 / operations, 1.0, 20'000.0));
        for (const benchmark::IterationCount n : {more / 4 + 1, more / 4 + 1 + more})
            benchmark::RegisterBenchmark(name.c_str(), run)->Iterations(n);
    }

    /// Runs all benchmarks. `raw` is the benchmark whose spread shows the noise. Returns false if an
    /// argument is unknown. Does not return in the process that counts instructions.
    bool run(const std::string& raw)
    {
        std::vector<std::string> all{program_};
        if (!counts_) {
            all.insert(all.end(), {"--benchmark_repetitions=40", "--benchmark_min_time=0.002",
                                   "--benchmark_enable_random_interleaving=true"});
            all.insert(all.end(), arguments_.begin(), arguments_.end());
        }
        std::vector<char*> pointers;
        for (std::string& a : all) pointers.push_back(a.data());
        int count = static_cast<int>(pointers.size());
        benchmark::Initialize(&count, pointers.data());
        if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return false;
        if (counts_) {
            counting report;
            benchmark::RunSpecifiedBenchmarks(&report);
            std::exit(0);
        }
        count_instructions();
        timing report;
        benchmark::RunSpecifiedBenchmarks(&report);
        failed_ = report.failed;
        for (auto& [name, times] : report.times) {
            std::sort(times.begin(), times.end());
            figures& f = figures_[name];
            f.ns = times.front() / operations_[name];
            f.median_ns = times[times.size() / 2] / operations_[name];
            f.counters = report.counters[name];
        }
        const figures r = at(raw);
        if (r.ns > 0) spread_ = r.median_ns / r.ns - 1;
        benchmark::Shutdown();
        return true;
    }

    /// True if a benchmark has reported an error.
    [[nodiscard]] bool failed() const { return failed_; }
    /// How much the median of the raw loop is above its least time: 0.05 for 5 %.
    [[nodiscard]] double spread() const { return spread_; }
    [[nodiscard]] bool noisy() const { return spread_ > 0.25; }

    /// The figures of a benchmark; zeros if it was not run.
    [[nodiscard]] figures at(const std::string& name) const
    {
        const auto f = figures_.find(name);
        return f == figures_.end() ? figures{} : f->second;
    }
    /// All names in the order of `add`.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

    /// Prints the spread of the raw loop, and says so if the machine is noisy.
    void print_spread() const
    {
        std::printf("\nThe median of the raw loop is %.0f %% above its least time.\n", spread_ * 100);
        if (noisy())
            std::printf("This machine is too noisy for times, so only instructions are printed.\n");
    }

private:
    struct timing : benchmark::BenchmarkReporter {
        bool ReportContext(const Context&) override { return true; }
        void ReportRuns(const std::vector<Run>& runs) override
        {
            for (const Run& r : runs) {
                if (r.error_occurred) {
                    failed = true;
                    std::fprintf(stderr, "%s: %s\n", r.benchmark_name().c_str(),
                                 r.error_message.c_str());
                }
                if (r.run_type != Run::RT_Iteration || r.error_occurred) continue;
                const std::string name = r.run_name.function_name;
                times[name].push_back(r.cpu_accumulated_time * 1e9 /
                                      static_cast<double>(r.iterations));
                for (const auto& [what, value] : r.counters) counters[name][what] = value.value;
            }
        }

        std::map<std::string, std::vector<double>> times;
        std::map<std::string, std::map<std::string, double>> counters;
        bool failed = false;
    };

    /// Writes the instructions since the last benchmark into a file of callgrind.
    struct counting : benchmark::BenchmarkReporter {
        bool ReportContext(const Context&) override
        {
            CALLGRIND_ZERO_STATS;
            return true;
        }
        void ReportRuns(const std::vector<Run>& runs) override
        {
            for (const Run& r : runs) {
                if (r.run_type != Run::RT_Iteration) continue;
                const std::string label =
                    std::to_string(r.iterations) + " " + r.run_name.function_name;
                CALLGRIND_DUMP_STATS_AT(label.c_str());
            }
            CALLGRIND_ZERO_STATS;
        }
    };

    /// Runs the program under callgrind and reads what `counting` has written.
    void count_instructions()
    {
        namespace fs = std::filesystem;
        if (std::system("valgrind --version >/dev/null 2>&1") != 0) return;
        std::string pattern = (fs::temp_directory_path() / "waybill-bench-XXXXXX").string();
        const char* made = mkdtemp(pattern.data());
        if (!made) return;
        const fs::path folder = made;
        const std::string command = "valgrind --tool=callgrind --callgrind-out-file='" +
                                    (folder / "out").string() + "' '" + program_ +
                                    "' --count-instructions >/dev/null 2>&1";
        std::map<std::string, std::map<double, double>> counted;  // by name: instructions by iterations
        if (std::system(command.c_str()) == 0) {
            for (const auto& file : fs::directory_iterator(folder)) read_dump(file.path(), counted);
        }
        fs::remove_all(folder);
        for (const auto& [name, runs] : counted) {
            if (runs.size() != 2) continue;
            const auto [few, of_few] = *runs.begin();
            const auto [more, of_more] = *runs.rbegin();
            figures_[name].instructions = (of_more - of_few) / (more - few) / operations_[name];
        }
    }

    static void read_dump(const std::filesystem::path& file,
                          std::map<std::string, std::map<double, double>>& counted)
    {
        constexpr std::string_view trigger = "desc: Trigger: Client Request: ";
        std::ifstream in(file);
        std::string line, name;
        double iterations = 0;
        while (std::getline(in, line)) {
            if (line.starts_with(trigger)) {
                const std::size_t space = line.find(' ', trigger.size());
                iterations = std::stod(line.substr(trigger.size()));
                name = line.substr(space + 1);
            } else if (line.starts_with("totals: ") || line.starts_with("summary: ")) {
                if (!name.empty()) counted[name][iterations] = std::stod(line.substr(line.find(' ')));
            }
        }
    }

    std::string program_;
    std::vector<std::string> arguments_;
    bool counts_ = false;
    bool failed_ = false;
    double spread_ = 0;
    std::vector<std::string> names_;
    std::map<std::string, double> operations_;
    std::map<std::string, figures> figures_;
};

}  // namespace bench

// If these were inlined, g++ would see that memory of operator new is passed to free, and warn.
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

#endif  // WAYBILL_BENCH_MEASURE_HPP
