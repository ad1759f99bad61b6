// SPDX-License-Identifier: MIT
//
// bench/window: what does it cost to know what the last samples come to?
//
// One operation is: the time is told and what is too old goes, a sample comes, and all are asked
// for {count, sum, mean, lowest, highest}, or for as much of it as a peer has (window/peers.hpp).
// Ours is the same window with either way to keep measures. Windows hold 10 to a million samples of
// 16 bytes.
//
// Before anything is timed, all have answered as a scan does, and what can be counted was counted:
// allocations, bytes, combines. A window has been filled twice before its time is taken, so that no
// page is touched for the first time; a round is whole windows, so that each pays for its own
// turning over. The tables have medians of the repetitions, and multiples of `floor`.

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "support.hpp"
#include "window/data.hpp"
#include "window/ours.hpp"
#include "window/peers.hpp"
#include "window/proof.hpp"
#include "window/tail.hpp"

namespace window_bench {

constexpr std::uint64_t sizes[] = {10, 600, 16'384, 1'048'576};

template <class Peer>
[[gnu::noinline]] void operate(Peer& peer, const series& values, std::uint64_t from,
                               std::uint64_t to)
{
    for (std::uint64_t i = from; i != to; ++i) {
        benchmark::DoNotOptimize(peer.take(static_cast<std::int64_t>(i) * step, values[i]));
    }
}

template <class Peer>
void add(const std::string& who, std::uint64_t n, shape data, std::uint64_t least = 65'536)
{
    const std::string what = who + "/" + std::to_string(n) + "/" + name(data);
    benchmark::RegisterBenchmark(what.c_str(), [n, data, least](benchmark::State& state) {
        const std::uint64_t round = (least + n - 1) / n * n;
        const series values(data);
        Peer peer(n);
        std::uint64_t i = 2 * n;
        operate(peer, values, 0, i);
        for ([[maybe_unused]] auto r : state) {
            operate(peer, values, i, i + round);
            i += round;
        }
        state.counters["operations"] = static_cast<double>(round);
    })->Unit(benchmark::kMillisecond);
}

class table : public benchmark::ConsoleReporter {
public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override
    {
        for (const Run& r : runs) {
            if (r.run_type != Run::RT_Iteration) continue;
            times_[r.run_name.function_name].push_back(r.cpu_accumulated_time * 1e9 /
                                                       static_cast<double>(r.iterations) /
                                                       r.counters.at("operations").value);
        }
    }

    /// A line for each of `who`, a column for each size: nanoseconds and how often the floor.
    void print(const std::vector<std::string>& who, const char* data) const
    {
        std::printf("\nns an operation (times the floor), %s\n%-24s", data, "");
        for (const std::uint64_t n : sizes) {
            std::printf(" %18llu", static_cast<unsigned long long>(n));
        }
        std::printf("\n");
        for (const std::string& w : who) {
            std::printf("%-24s", w.c_str());
            for (const std::uint64_t n : sizes) {
                const std::string rest = "/" + std::to_string(n) + "/" + data;
                const double own = median(w + rest), least = median("floor" + rest);
                if (own == 0) std::printf(" %18s", "-");
                else if (least == 0) std::printf(" %18.2f", own);
                else std::printf(" %9.2f (%6.2f)", own, own / least);
            }
            std::printf("\n");
        }
    }

private:
    double median(const std::string& name) const
    {
        const auto t = times_.find(name);
        return t == times_.end() ? 0 : bench::median(t->second);
    }

    std::map<std::string, std::vector<double>> times_;
};

/// Calls it with a window of each kind that is compared, under its name.
template <class F>
void each(F f)
{
    f.template operator()<floor_ring>();
    f.template operator()<boost_rolling>();
    f.template operator()<buckets>();
    f.template operator()<scan>();
    f.template operator()<two_stacks>();
    f.template operator()<amortised>();
    f.template operator()<worst_case>();
}

template <template <class> class How>
void add_more(const std::string& who, std::uint64_t n)
{
    add<ours<weighted, How>>(who + ", weights", n, shape::random);
    add<ours<everything, How>>(who + ", stats", n, shape::random);
    add<ours<exact, How>>(who + ", compensated", n, shape::random);
    add<twice<How>>(who + ", told twice", n, shape::random);
    add<early<How>>(who + ", early 2", n, shape::random);
    if (n != 600 && n != 16'384) return;
    add<late<How, 1>>(who + ", late 1", n, shape::random);
    add<late<How, 16>>(who + ", late 16", n, shape::random);
    if (n > 1'000) add<late<How, 256>>(who + ", late 256", n, shape::random);
}

template <template <class> class How>
bool late_is_right(const char* who)
{
    return equal_late<late<How, 1>>(10, who) && equal_late<late<How, 1>>(600, who) &&
           equal_late<late<How, 16>>(600, who) && equal_late<late<How, 256>>(2'000, who);
}

bool proven()
{
    bool good = late_is_right<waybill::amortised>("amortised") &&
                late_is_right<waybill::worst_case>("worst_case");
    for (const shape s : shapes) {
        for (const std::uint64_t n : sizes) {
            each([&]<class Peer>() {
                if (std::string(Peer::name) != "scan") good = equal<Peer>(n, s) && good;
            });
        }
    }
    if (good) std::printf("all answers are those of the scan\n");
    std::printf("\n%-12s %9s %16s %26s\n", "", "window", "bytes/sample", "allocations when in use");
    for (const std::uint64_t n : sizes) {
        if (n < 100) continue;  // the allocator has such blocks at hand, and they do not show
        good = memory<amortised>(n) && good;
        good = memory<worst_case>(n) && good;
    }
    std::printf("\n%-12s %9s %16s %26s\n", "", "window", "combines/op", "at most in one");
    for (const std::uint64_t n : sizes) {
        good = combines<waybill::amortised>("amortised", n, 3, 0) && good;
        good = combines<waybill::worst_case>("worst_case", n, 6, 8) && good;
    }
    return good;
}

bool tails()
{
    std::printf("\n%-12s %9s %8s %8s %8s %8s %12s\n", "ticks", "window", "median", "99.9 %",
                "99.99 %", "most", "most/median");
    tail<floor_ring>(16'384);
    tail<two_stacks>(16'384);
    tail<amortised>(16'384);
    return tail<worst_case>(16'384) < 20;
}

}  // namespace window_bench

int main(int argc, char** argv)
{
    using namespace window_bench;
    if (!bench::start({"--benchmark_repetitions=15", "--benchmark_min_time=0.01",
                       "--benchmark_enable_random_interleaving=true"},
                      argc, argv)) {
        return 2;
    }
    const bool good = proven();
    if (!good) std::fprintf(stderr, "not as promised\n");
    const bool even = tails();
    std::vector<std::string> who;
    each([&]<class Peer>() {
        who.emplace_back(Peer::name);
        for (const shape s : shapes) {
            for (const std::uint64_t n : sizes) {
                if (who.back() != "scan") add<Peer>(who.back(), n, s);
                else if (n < 10'000) add<Peer>(who.back(), n, s, 4'096);
            }
        }
    });
    std::vector<std::string> more;
    for (const std::uint64_t n : sizes) {
        add_more<waybill::amortised>("amortised", n);
        add_more<waybill::worst_case>("worst_case", n);
    }
    for (const char* w : {"amortised", "worst_case"}) {
        for (const char* what : {"", ", weights", ", stats", ", compensated", ", told twice",
                                 ", early 2", ", late 1", ", late 16", ", late 256"}) {
            more.push_back(std::string(w) + what);
        }
    }
    table out;
    benchmark::RunSpecifiedBenchmarks(&out);
    for (const shape s : shapes) out.print(who, name(s));
    std::printf("\nwhat more is asked of ours:\n");
    out.print(more, "random");
    std::printf("\nworst_case at 16384, the largest below 20 times the median: %s\n",
                even ? "yes" : "no");
    benchmark::Shutdown();
    return good ? 0 : 1;
}
