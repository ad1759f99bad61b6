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
// The spread of the raw loop shows how much was added: if its median is more than a quarter above
// its least time, `noisy` is true, and no time should be printed.
//
// Instructions: the program runs itself under callgrind, with each benchmark three times: once to
// warm up, then with few and with more iterations. The difference of these two has no setup in it.
// It is the same in each run, so it is the figure to compare between machines. It is 0 if valgrind
// is not installed.
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
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <malloc.h>
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

/// A figure for a table, or "-" if it was not measured: it, or the divisor of a ratio, is 0.
inline std::string cell(double value, int decimals)
{
    if (!(value > 0 && value < 1e300)) return "-";
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

/// The figures of one benchmark, for each operation.
struct figures {
    double ns = 0;                             ///< The least time.
    double median_ns = 0;                      ///< The median time.
    double instructions = 0;                   ///< 0 if they were not counted.
    std::map<std::string, double> counters{};  ///< Those of the benchmark, as it has set them.
};

/// A line of a table: a benchmark, and the benchmark that it is compared with, or "".
struct row {
    std::string name;
    std::string base;
};

/// Runs a part of an iteration that is not in the time and the instructions of the benchmark.
template <class F>
void exclude(benchmark::State& state, F f)
{
    CALLGRIND_TOGGLE_COLLECT;
    state.PauseTiming();
    f();
    state.ResumeTiming();
    CALLGRIND_TOGGLE_COLLECT;
}

/// Exceptions for one benchmark.
struct run_options {
    bool counted = true;                 ///< False if it takes too long under callgrind.
    double counted_operations = 20'000;  ///< About as many are counted. Fewer for slow operations.
    benchmark::IterationCount iterations = 0;  ///< Per repetition. 0: by its time.
    int repetitions = 0;                       ///< 0: as many as of the others.
};

class runner {
public:
    /// The first argument --count-instructions means that the program runs under callgrind. All
    /// other arguments are for Google Benchmark.
    runner(int argc, char** argv) : program_(argv[0]), arguments_(argv + 1, argv + argc)
    {
        counts_ = argc > 1 && std::string_view(argv[1]) == "--count-instructions";
        if (counts_) arguments_.erase(arguments_.begin());
        // The first benchmark of a process also initialises libraries. This one is not reported.
        if (!counts_) return;
        add("first", 20'000, [](benchmark::State& s) {
            for ([[maybe_unused]] auto r : s) {
            }
        });
    }

    /// True in the process that counts instructions. Callgrind is about 50 times slower than the
    /// processor, so a program may use smaller inputs, with fewer operations in one iteration.
    [[nodiscard]] bool counts_instructions() const { return counts_; }

    /// Registers a benchmark. `operations` is the number of operations in one iteration.
    template <class F>
    void add(const std::string& name, double operations, F body, const run_options& o = {})
    {
        names_.push_back(name);
        operations_[name] = operations;
        if (!counts_) {
            auto* const made = benchmark::RegisterBenchmark(name.c_str(), body);
            if (o.iterations != 0) made->Iterations(o.iterations);
            if (o.repetitions != 0) made->Repetitions(o.repetitions);
            return;
        }
        if (!o.counted) return;
        const auto more = static_cast<benchmark::IterationCount>(
            std::clamp(o.counted_operations / operations, 1.0, 20'000.0));
        const benchmark::IterationCount few = more / 4 + 1;
        for (const benchmark::IterationCount n : {benchmark::IterationCount{1}, few, few + more})
            benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(n);
    }

    /// Runs all benchmarks. `raw` is the benchmark whose spread shows the noise. Returns false if
    /// an argument is unknown. Does not return in the process that counts instructions.
    bool run(const std::string& raw)
    {
        std::vector<std::string> all{program_};
        if (!counts_) {
            all.insert(all.end(), {"--benchmark_repetitions=40", "--benchmark_min_time=0.002",
                                   "--benchmark_enable_random_interleaving=true"});
        }
        all.insert(all.end(), arguments_.begin(), arguments_.end());
        std::vector<char*> pointers;
        for (std::string& a : all) pointers.push_back(a.data());
        int count = static_cast<int>(pointers.size());
        benchmark::Initialize(&count, pointers.data());
        if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return false;
        if (counts_) {
            counting report(operations_);
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

    /// Prints the spread of the raw loop, and reports a noisy machine.
    void print_spread() const
    {
        std::printf("\nThe median of the raw loop is %.0f %% above its least time.\n",
                    spread_ * 100);
        if (noisy())
            std::printf("This machine is too noisy for times, so only instructions are printed.\n");
    }

    /// Prints times, instructions and counters. The ratios are multiples of the figures of
    /// `row::base`. A "-" is a figure that is not known, or a time on a noisy machine.
    void print(const char* title, const std::vector<row>& rows,
               const std::vector<std::string>& counters = {}) const
    {
        std::printf("\n%-36s %10s %8s %14s %8s", title, "ns", "ratio", "instructions", "ratio");
        for (const std::string& c : counters) std::printf(" %18s", c.c_str());
        std::printf("\n");
        for (const row& r : rows) {
            const figures own = at(r.name);
            const figures base = at(r.base);
            std::printf("%-36s", r.name.c_str());
            print_with_ratio(10, noisy() ? 0 : own.ns, base.ns);
            print_with_ratio(14, own.instructions, base.instructions);
            for (const std::string& c : counters) {
                const auto found = own.counters.find(c);
                if (found == own.counters.end()) std::printf(" %18s", "-");
                else std::printf(" %18.3g", found->second);
            }
            std::printf("\n");
        }
    }

private:
    static void print_with_ratio(int width, double value, double base)
    {
        std::printf(" %*s %8s", width, cell(value, 2).c_str(), cell(value / base, 2).c_str());
    }

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

    /// Writes the instructions since the last benchmark into a file of callgrind. The first run of
    /// a benchmark is left out: it initialises static variables.
    struct counting : benchmark::BenchmarkReporter {
        explicit counting(const std::map<std::string, double>& o) : operations(o) {}
        bool ReportContext(const Context&) override
        {
            start();
            return true;
        }
        void ReportRuns(const std::vector<Run>& runs) override
        {
            for (const Run& r : runs) {
                if (r.run_type != Run::RT_Iteration) continue;
                const std::string& name = r.run_name.function_name;
                if (known.insert(name).second) continue;
                const double all = static_cast<double>(r.iterations) * operations.at(name);
                const std::string label = std::to_string(all) + " " + name;
                CALLGRIND_DUMP_STATS_AT(label.c_str());
            }
            start();
        }
        /// Starts with an orderly heap. Otherwise the next benchmark would join the small blocks
        /// that the previous one has freed.
        static void start()
        {
            malloc_trim(0);
            CALLGRIND_ZERO_STATS;
        }

        const std::map<std::string, double>& operations;
        std::set<std::string> known{};
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
        // LD_BIND_NOW: otherwise the first benchmark would look up the functions of libraries.
        std::string command = "LD_BIND_NOW=1 valgrind --tool=callgrind --callgrind-out-file='" +
                              (folder / "out").string() + "' '" + program_ +
                              "' --count-instructions";
        for (const std::string& a : arguments_) {
            if (a.starts_with("--benchmark_filter")) command += " '" + a + "'";
        }
        command += " >/dev/null 2>&1";
        std::map<std::string, std::map<double, double>> counted;  // by name and operations
        if (std::system(command.c_str()) == 0) {
            for (const auto& file : fs::directory_iterator(folder)) read_dump(file.path(), counted);
        }
        fs::remove_all(folder);
        for (const auto& [name, runs] : counted) {
            if (runs.size() != 2) continue;
            const auto [few, of_few] = *runs.begin();
            const auto [more, of_more] = *runs.rbegin();
            figures_[name].instructions = (of_more - of_few) / (more - few);
        }
    }

    static void read_dump(const std::filesystem::path& file,
                          std::map<std::string, std::map<double, double>>& counted)
    {
        constexpr std::string_view trigger = "desc: Trigger: Client Request: ";
        std::ifstream in(file);
        std::string line, name;
        double operations = 0;
        while (std::getline(in, line)) {
            if (line.starts_with(trigger)) {
                const std::size_t space = line.find(' ', trigger.size());
                operations = std::stod(line.substr(trigger.size()));
                name = line.substr(space + 1);
            } else if (line.starts_with("summary: ")) {
                if (!name.empty())
                    counted[name][operations] = std::stod(line.substr(line.find(' ')));
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
