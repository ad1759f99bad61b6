// SPDX-License-Identifier: MIT
//
// bench/batch: what does chunk_by cost over a loop that is written by hand?
//
// One million items are cut into batches of about 8, 500 and 5,000 items, once as bare 32-bit sizes
// and once as strings whose size is read. Both the byte and the count limit close batches, and now
// and then an item is too large for any. Beside it stand three loops as one would write them for
// just this case; they give the same cuts, which is checked before anything is timed, and fold
// them into the same checksum. The table at the end compares with the fastest of the three, each
// by its best run, as what disturbs a run only ever makes it slower.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "support.hpp"

#include <waybill/batch/chunk_by.hpp>

namespace batch_bench {

using bench::allocations;
using bench::median;

constexpr std::size_t how_many = 1'000'000;

struct size_itself {
    constexpr std::uint64_t operator()(std::uint32_t n) const { return n; }
};

struct size_of_string {
    std::uint64_t operator()(const std::string& s) const { return s.size(); }
};

// What a loop does with a cut: little, so that the loop itself is seen; but all of it counts.
struct checksum {
    void take(std::size_t end, std::uint64_t bytes, bool fits)
    {
        sum = (sum ^ end) * 0x9E37'79B9'7F4A'7C15u + bytes + (fits ? 1u : 0u);
        ++cuts;
    }
    std::uint64_t sum = 0;
    std::uint64_t cuts = 0;
    friend bool operator==(const checksum&, const checksum&) = default;
};

// The loop that first comes to mind: one pass, and a batch is closed when the next one is too much.
template <class V, class F>
[[gnu::noinline]] checksum flat(const V& items, const waybill::limits& l, const F& size)
{
    checksum out;
    std::uint64_t bytes = l.envelope;
    std::uint64_t count = 0;
    std::size_t i = 0;
    for (const auto& item : items) {
        const std::uint64_t own = size(item);
        if (count != 0 && (bytes + own > l.bytes || count == l.items)) {
            out.take(i, bytes, true);
            bytes = l.envelope;
            count = 0;
        }
        ++i;
        if (l.envelope + own > l.bytes) {
            out.take(i, l.envelope + own, false);
            continue;
        }
        bytes += own;
        ++count;
    }
    if (count != 0) out.take(i, bytes, true);
    return out;
}

// A loop for the batch in a loop for all, with indices; the refused item is measured again.
template <class V, class F>
[[gnu::noinline]] checksum nested(const V& items, const waybill::limits& l, const F& size)
{
    checksum out;
    const std::size_t n = items.size();
    for (std::size_t first = 0; first != n;) {
        const std::size_t stop = n - first < l.items ? n : first + l.items;
        std::uint64_t bytes = l.envelope;
        std::size_t i = first;
        for (; i != stop; ++i) {
            const std::uint64_t own = size(items[i]);
            if (bytes + own > l.bytes) break;
            bytes += own;
        }
        const bool fits = i != first;
        if (!fits) bytes += size(items[i++]);
        out.take(i, bytes, fits);
        first = i;
    }
    return out;
}

// The same with pointers and a budget that is used up; what was refused goes first in the next.
template <class V, class F>
[[gnu::noinline]] checksum carried(const V& items, const waybill::limits& l, const F& size)
{
    checksum out;
    const auto* const begin = items.data();
    const auto* const end = begin + items.size();
    const std::uint64_t space = l.bytes - l.envelope;
    const auto* at = begin;
    if (at == end) return out;
    std::uint64_t own = size(*at);
    for (;;) {
        bool known = false;
        if (own > space) {
            ++at;
            out.take(static_cast<std::size_t>(at - begin), l.envelope + own, false);
        } else {
            const auto* const stop =
                static_cast<std::uint64_t>(end - at) < l.items ? end : at + l.items;
            std::uint64_t left = space - own;
            for (++at; at != stop; ++at) {
                own = size(*at);
                known = own > left;
                if (known) break;
                left -= own;
            }
            out.take(static_cast<std::size_t>(at - begin), l.envelope + (space - left), true);
        }
        if (at == end) return out;
        if (!known) own = size(*at);
    }
}

template <class V, class F>
[[gnu::noinline]] checksum ours(const V& items, const waybill::limits& l, const F& size)
{
    checksum out;
    const auto begin = items.begin();
    for (auto part : waybill::chunk_by(items, l, size)) {
        out.take(static_cast<std::size_t>(part.last - begin), part.bytes, part.fits);
    }
    return out;
}

// About `batch` items of 100 bytes fit; a few more and the count is the narrower limit.
waybill::limits limits_for(std::uint64_t batch)
{
    return {.bytes = 512 + 100 * batch, .items = batch + 1 + batch / 100, .envelope = 512};
}

std::vector<std::uint32_t> sizes()
{
    std::mt19937 dice(20'260'101);
    std::uniform_int_distribution<std::uint32_t> usual(50, 150);
    std::vector<std::uint32_t> made(how_many);
    for (auto& n : made) n = dice() % 100'000 == 0 ? 600'000u : usual(dice);
    return made;
}

std::vector<std::string> strings()
{
    std::vector<std::string> made;
    made.reserve(how_many);
    for (const std::uint32_t n : sizes()) made.emplace_back(n, 'x');
    return made;
}

template <class V, class F>
using loop = checksum (*)(const V&, const waybill::limits&, const F&);

template <class V, class F>
void time_loop(benchmark::State& state, const V& items, std::uint64_t batch, loop<V, F> run)
{
    const waybill::limits l = limits_for(batch);
    checksum out;
    const std::uint64_t before = allocations;
    for ([[maybe_unused]] auto round : state) {
        out = run(items, l, F{});
        benchmark::DoNotOptimize(out);
    }
    const std::uint64_t made = allocations - before;
    state.counters["allocations"] = static_cast<double>(made);
    state.counters["items/batch"] = static_cast<double>(how_many) / static_cast<double>(out.cuts);
}

template <class V, class F>
bool add_cases(const char* what, const V& items)
{
    bool equal = true;
    for (const std::uint64_t batch : {8u, 500u, 5'000u}) {
        const struct {
            const char* name;
            loop<V, F> run;
        } loops[] = {
            {"raw_flat", &flat<V, F>},
            {"raw_nested", &nested<V, F>},
            {"raw_carried", &carried<V, F>},
            {"chunk_by", &ours<V, F>},
        };
        const checksum expected = flat<V, F>(items, limits_for(batch), F{});
        for (const auto& l : loops) {
            if (l.run(items, limits_for(batch), F{}) != expected) {
                std::fprintf(stderr, "%s cuts %s differently at %u a batch\n", l.name, what,
                             static_cast<unsigned>(batch));
                equal = false;
            }
            const std::string name = std::string(what) + "/" + std::to_string(batch) + "/" + l.name;
            benchmark::RegisterBenchmark(name.c_str(), [&items, batch,
                                                        run = l.run](benchmark::State& s) {
                time_loop<V, F>(s, items, batch, run);
            })->Unit(benchmark::kMillisecond);
        }
    }
    return equal;
}

// Prints the medians as usual, and keeps every single run for the table.
class table : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override
    {
        std::vector<Run> shown;
        for (const Run& r : runs) {
            if (r.run_type == Run::RT_Iteration)
                note(r);
            else if (r.aggregate_name == "median")
                shown.push_back(r);
        }
        ConsoleReporter::ReportRuns(shown.empty() ? runs : shown);
    }

    // False if chunk_by has allocated.
    bool print()
    {
        // The runs come in any order.
        std::sort(rows_.begin(), rows_.end(), [](const row& a, const row& b) {
            const auto kind = [](const row& r) { return r.what.substr(0, r.what.find('/')); };
            return kind(a) != kind(b) ? kind(a) > kind(b) : a.what.size() < b.what.size();
        });
        std::uint64_t allocated = 0;
        std::printf("\n%-12s  %-12s %12s %14s %7s %8s %12s\n", "items/batch", "fastest raw",
                    "raw ns/item", "chunk_by ns/it", "ratio", "medians", "allocations");
        for (const row& r : rows_) {
            const auto ours = r.times.find("chunk_by");
            if (ours == r.times.end() || r.times.size() < 2) continue;
            auto best = r.times.end();
            double best_median = 0;
            for (auto it = r.times.begin(); it != r.times.end(); ++it) {
                if (it == ours) continue;
                if (best == r.times.end() || lowest(it->second) < lowest(best->second)) best = it;
                const double m = median(it->second);
                if (best_median == 0 || m < best_median) best_median = m;
            }
            std::printf("%-12s  %-12s %12.3f %14.3f %7.2f %8.2f %12llu\n", r.what.c_str(),
                        best->first.c_str(), lowest(best->second), lowest(ours->second),
                        lowest(ours->second) / lowest(best->second),
                        median(ours->second) / best_median,
                        static_cast<unsigned long long>(r.allocated));
            allocated += r.allocated;
        }
        return allocated == 0;
    }

private:
    struct row {
        std::string what;
        std::map<std::string, std::vector<double>> times;
        std::uint64_t allocated = 0;
    };

    void note(const Run& r)
    {
        const std::string whole = r.run_name.function_name;
        const auto slash = whole.rfind('/');
        const std::string what = whole.substr(0, slash);
        const std::string loop = whole.substr(slash + 1);
        auto at =
            std::find_if(rows_.begin(), rows_.end(), [&](const row& x) { return x.what == what; });
        if (at == rows_.end()) at = rows_.insert(at, row{what, {}, 0});
        at->times[loop].push_back(r.cpu_accumulated_time * 1e9 / static_cast<double>(r.iterations) /
                                  static_cast<double>(how_many));
        if (loop == "chunk_by") {
            at->allocated += static_cast<std::uint64_t>(r.counters.at("allocations").value);
        }
    }

    static double lowest(const std::vector<double>& v)
    {
        return *std::min_element(v.begin(), v.end());
    }

    std::vector<row> rows_;
};

}  // namespace batch_bench

int main(int argc, char** argv)
{
    if (!bench::start({"--benchmark_repetitions=25",
                       "--benchmark_min_time=0.02",
                       "--benchmark_enable_random_interleaving=true"},
                      argc, argv)) {
        return 2;
    }

    const auto numbers = batch_bench::sizes();
    const auto texts = batch_bench::strings();
    using namespace batch_bench;
    bool equal = add_cases<std::vector<std::uint32_t>, size_itself>("uint32", numbers);
    equal = add_cases<std::vector<std::string>, size_of_string>("string", texts) && equal;
    if (!equal) return 1;
    if (allocations == 0) {
        std::fprintf(stderr, "allocations are not counted\n");
        return 1;
    }

    table out;
    benchmark::RunSpecifiedBenchmarks(&out);
    const bool none = out.print();
    benchmark::Shutdown();
    return none ? 0 : 1;
}
