// SPDX-License-Identifier: MIT
//
// bench/window: the cost of a sample in a sliding window.
//
// One operation advances the time, removes the samples that have left, inserts one sample, and asks
// for {count, sum, mean, lowest, highest}, or for those of them that a peer has (window/peers.hpp).
// `amortised` and `worst_case` are waybill's window with its two policies. Windows have 10 to a
// million samples of 16 bytes.
//
// Before anything is timed, all results are compared with those of a scan, and allocations, bytes
// and combines are counted. A window is filled twice before its time is taken, so that no page is
// touched for the first time. A round is a number of whole windows, so that it includes its share of
// the rebuilds. Times and instructions are compared with `floor`, the raw loop.
//
// waybill and FiBA are also compared with late samples: every second one, by a constant distance.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "measure.hpp"
#include "window/data.hpp"
#include "window/fiba.hpp"
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

std::string benchmark_name(const std::string& peer, std::uint64_t n, shape data)
{
    return peer + "/" + std::to_string(n) + "/" + name(data);
}

template <class Peer>
constexpr bool is_late = requires(Peer& p, const series& values) { p.fill(values, 0U); };

/// Fills a window twice. If samples are late, a round follows, so that the state is one between
/// rounds. Returns the number of operations.
template <class Peer>
std::uint64_t fill(Peer& window, const series& values, std::uint64_t n, std::uint64_t round)
{
    CALLGRIND_STOP_INSTRUMENTATION;  // or counting instructions takes minutes
    std::uint64_t done = 2 * n;
    if constexpr (is_late<Peer>) {
        window.fill(values, done);
        operate(window, values, done, done + round);
        done += round;
    } else {
        operate(window, values, 0, done);
    }
    CALLGRIND_START_INSTRUMENTATION;
    return done;
}

template <class Peer>
void add(bench::runner& all, const std::string& peer, std::uint64_t n, shape data,
         std::uint64_t least = 16'384)
{
    const std::uint64_t round = (least + n - 1) / n * n;
    all.add(benchmark_name(peer, n, data), static_cast<double>(round),
            [n, data, round](benchmark::State& state) {
                const series values(data);
                Peer window(n);
                std::uint64_t i = fill(window, values, n, round);
                for ([[maybe_unused]] auto r : state) {
                    operate(window, values, i, i + round);
                    i += round;
                }
            },
            // A round of late samples in a large window takes minutes under callgrind.
            {.counted = data == shape::random && (n < 1'000'000 || !is_late<Peer>)});
}

/// One line for each peer, one column for each size.
void print(const bench::runner& all, const std::vector<std::string>& peers, shape data,
           const char* unit, double bench::figures::* figure)
{
    std::printf("\n%s (and in multiples of floor), %s\n%-24s", unit, name(data), "");
    for (const std::uint64_t n : sizes) std::printf(" %18llu", static_cast<unsigned long long>(n));
    std::printf("\n");
    for (const std::string& peer : peers) {
        std::printf("%-24s", peer.c_str());
        for (const std::uint64_t n : sizes) {
            const double own = all.at(benchmark_name(peer, n, data)).*figure;
            const double floor = all.at(benchmark_name("floor", n, data)).*figure;
            if (own > 0 && floor > 0) std::printf(" %9.2f (%6.2f)", own, own / floor);
            else std::printf(" %18s", "-");
        }
        std::printf("\n");
    }
}

/// Calls f for each kind of window that is compared.
template <class F>
void each(F f)
{
    f.template operator()<floor_ring>();
    f.template operator()<boost_rolling>();
    f.template operator()<buckets>();
    f.template operator()<scan>();
    f.template operator()<two_stacks>();
    f.template operator()<two_stacks_lite>();
    f.template operator()<daba_lite>();
    f.template operator()<fiba>();
    f.template operator()<amortised>();
    f.template operator()<worst_case>();
}

const char* const more_kinds[] = {"",           ", weights", ", stats", ", compensated",
                                  ", repeated", ", early 2"};
constexpr std::int64_t late_by[] = {1, 16, 256, 4'096, 262'144};

std::string late_name(const std::string& peer, std::int64_t behind)
{
    return peer + ", late " + std::to_string(behind);
}

/// Adds the windows with late samples. Sizes are at least four times the number of newer samples.
template <class Window>
void add_late(bench::runner& all, const std::string& peer, std::uint64_t n)
{
    if (n < 600) return;
    if (n < 1'000'000)
        add<late<Window, late_by[0]>>(all, late_name(peer, late_by[0]), n, shape::random);
    add<late<Window, late_by[1]>>(all, late_name(peer, late_by[1]), n, shape::random);
    if (n > 1'000)
        add<late<Window, late_by[2]>>(all, late_name(peer, late_by[2]), n, shape::random);
    if (n > 1'000)
        add<late<Window, late_by[3]>>(all, late_name(peer, late_by[3]), n, shape::random);
    if (n > 1'000'000)
        add<late<Window, late_by[4]>>(all, late_name(peer, late_by[4]), n, shape::random);
}

template <template <class> class How>
void add_more(bench::runner& all, const std::string& peer, std::uint64_t n)
{
    add<ours<weighted, How>>(all, peer + ", weights", n, shape::random);
    add<ours<everything, How>>(all, peer + ", stats", n, shape::random);
    add<ours<exact, How>>(all, peer + ", compensated", n, shape::random);
    add<repeated<How>>(all, peer + ", repeated", n, shape::random);
    add<early<How>>(all, peer + ", early 2", n, shape::random);
    add_late<ours<plain, How, 4>>(all, peer, n);
}

template <class Window>
bool late_is_right(const char* peer)
{
    return equal_late<Window, 1>(10, peer) && equal_late<Window, 1>(600, peer) &&
           equal_late<Window, 16>(600, peer) && equal_late<Window, 256>(2'000, peer) &&
           equal_late<Window, 4'096>(16'384, peer) && equal_random<Window>(10, peer) &&
           equal_random<Window>(600, peer) && equal_random<Window>(5'000, peer);
}

/// Compares all results with those of the scan, and counts what does not depend on the machine.
bool proven()
{
    bool good = late_is_right<fiba>(fiba::name) &&
                late_is_right<ours<plain, waybill::amortised, 4>>(amortised::name) &&
                late_is_right<ours<plain, waybill::worst_case, 4>>(worst_case::name);
    for (const shape s : shapes) {
        for (const std::uint64_t n : sizes) {
            each([&]<class Peer>() {
                if (std::string(Peer::name) != "scan") good = equal<Peer>(n, s) && good;
            });
        }
    }
    if (good) std::printf("all results equal those of the scan\n");
    std::printf("\n%-12s %9s %16s %26s\n", "", "window", "bytes/sample", "allocations when in use");
    for (const std::uint64_t n : sizes) {
        if (n < 100) continue;  // the allocator has such blocks in reserve, so they do not show
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

/// Prints the slowest operations. Returns true if the slowest one with `worst_case` takes less than
/// 20 times the median.
bool tails()
{
    std::printf("\n%-16s %9s %8s %8s %8s %8s %12s\n", "ticks", "window", "median", "99.9 %",
                "99.99 %", "most", "most/median");
    tail<floor_ring>(16'384);
    tail<two_stacks>(16'384);
    tail<two_stacks_lite>(16'384);
    tail<daba_lite>(16'384);
    tail<fiba>(16'384);
    tail<amortised>(16'384);
    return tail<worst_case>(16'384) < 20;
}

}  // namespace window_bench

int main(int argc, char** argv)
{
    using namespace window_bench;
    bench::runner all(argc, argv);
    std::vector<std::string> peers;
    each([&]<class Peer>() {
        peers.emplace_back(Peer::name);
        for (const shape s : shapes) {
            for (const std::uint64_t n : sizes) {
                if (peers.back() != "scan") add<Peer>(all, peers.back(), n, s);
                else if (n < 10'000) add<Peer>(all, peers.back(), n, s, 4'096);
            }
        }
    });
    std::vector<std::string> more{"floor"};
    for (const std::uint64_t n : sizes) {
        add_more<waybill::amortised>(all, "amortised", n);
        add_more<waybill::worst_case>(all, "worst_case", n);
        add_late<fiba>(all, fiba::name, n);
    }
    for (const std::string peer : {amortised::name, worst_case::name, fiba::name}) {
        if (peer == fiba::name) more.push_back(peer);
        else
            for (const char* kind : more_kinds) more.push_back(peer + kind);
        for (const std::int64_t behind : late_by) more.push_back(late_name(peer, behind));
    }
    if (!all.run(benchmark_name("floor", 600, shape::random))) return 2;
    const bool good = proven();
    if (!good) std::fprintf(stderr, "a result or a count is wrong\n");
    all.print_spread();
    if (!all.noisy()) {
        const bool even = tails();
        std::printf("\nworst_case at 16384, the slowest below 20 times the median: %s\n",
                    even ? "yes" : "no");
        for (const shape s : shapes) print(all, peers, s, "ns per operation", &bench::figures::ns);
        print(all, more, shape::random, "ns per operation", &bench::figures::ns);
    }
    print(all, peers, shape::random, "instructions per operation", &bench::figures::instructions);
    print(all, more, shape::random, "instructions per operation", &bench::figures::instructions);
    return good ? 0 : 1;
}
