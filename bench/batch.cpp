// SPDX-License-Identifier: MIT
//
// bench/batch: what does chunk_by cost over a loop that is written by hand?
//
// One million items are cut into batches of about 8, 500 and 5,000 items, once as strings whose
// size is read, and as bare sizes of 16, 32 and 64 bits. Both the byte and the count limit close
// batches, and now and then an item is too large for any. Beside it stand three loops as one would
// write them for just this case; they give the same cuts, which is checked before anything is
// timed, and fold them into the same checksum. The bare sizes are cut without a size function, too
// (blocks), and all by the framing that a size function makes (framed). Two other ways stand there:
//
//   lists   the loop that comes with many an article: it fills a list of lists, of references here.
//           With the count limit and the envelope added, so that it cuts alike;
//   ids     range-v3, which has no cut by size, only by neighbours: a loop gives each item the
//           number of its batch, and views::chunk_by over both takes apart what differs. What the
//           loop knows of bytes it keeps for each batch. Loop and walk are timed together.
//
// The tables at the end compare with the fastest of the three loops, each by its best run, as what
// disturbs a run only ever makes it slower; and by medians.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <range/v3/range/operations.hpp>
#include <range/v3/view/chunk_by.hpp>
#include <range/v3/view/zip.hpp>

#include "support.hpp"

#include <waybill/batch/chunk_by.hpp>

namespace batch_bench {

using bench::allocations;
using bench::median;

constexpr std::size_t how_many = 1'000'000;

struct size_itself {
    constexpr std::uint64_t operator()(std::uint64_t n) const { return n; }
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
[[gnu::noinline]] checksum flat(const V& items, const waybill::batch_limits& l, const F& size)
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
[[gnu::noinline]] checksum nested(const V& items, const waybill::batch_limits& l, const F& size)
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
[[gnu::noinline]] checksum carried(const V& items, const waybill::batch_limits& l, const F& size)
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
[[gnu::noinline]] checksum ours(const V& items, const waybill::batch_limits& l, const F& size)
{
    checksum out;
    const auto begin = items.begin();
    for (auto part : waybill::chunk_by(items, l, size)) {
        out.take(static_cast<std::size_t>(part.last - begin), part.bytes, part.fits);
    }
    return out;
}

// The items are the sizes: no size function, so blocks are added up.
template <class V, class F>
[[gnu::noinline]] checksum blocks(const V& items, const waybill::batch_limits& l, const F&)
{
    checksum out;
    const auto begin = items.begin();
    for (auto part : waybill::chunk_by(items, l)) {
        out.take(static_cast<std::size_t>(part.last - begin), part.bytes, part.fits);
    }
    return out;
}

// Through the framing that a size function makes: what the tally costs over the loop of its own.
template <class V, class F>
[[gnu::noinline]] checksum framed(const V& items, const waybill::batch_limits& l, const F& size)
{
    checksum out;
    const auto begin = items.begin();
    for (auto part : waybill::chunk_by(items, l, waybill::detail::plain_framing<F>{size})) {
        out.take(static_cast<std::size_t>(part.last - begin), part.bytes, part.fits);
    }
    return out;
}

template <class V, class F>
[[gnu::noinline]] checksum lists(const V& items, const waybill::batch_limits& l, const F& size)
{
    struct list {
        std::vector<const typename V::value_type*> items{};
        std::uint64_t bytes = 0;
    };
    std::vector<list> all;
    list current{{}, l.envelope};
    for (const auto& item : items) {
        const std::uint64_t own = size(item);
        if (!current.items.empty() &&
            (current.bytes + own > l.bytes || current.items.size() == l.items)) {
            all.push_back(std::move(current));
            current = {{}, l.envelope};
        }
        current.items.push_back(&item);
        current.bytes += own;
    }
    if (!current.items.empty()) all.push_back(std::move(current));
    checksum out;
    std::size_t end = 0;
    for (const list& one : all) {
        end += one.items.size();
        out.take(end, one.bytes, one.bytes <= l.bytes);
    }
    return out;
}

template <class V, class F>
[[gnu::noinline]] checksum ids(const V& items, const waybill::batch_limits& l, const F& size)
{
    std::vector<std::uint32_t> batch_of(items.size());
    std::vector<std::uint64_t> bytes_of;
    std::uint64_t bytes = l.envelope;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i != items.size(); ++i) {
        const std::uint64_t own = size(items[i]);
        if (count != 0 && (bytes + own > l.bytes || count == l.items)) {
            bytes_of.push_back(bytes);
            bytes = l.envelope;
            count = 0;
        }
        batch_of[i] = static_cast<std::uint32_t>(bytes_of.size());
        bytes += own;
        ++count;
    }
    if (count != 0) bytes_of.push_back(bytes);

    checksum out;
    std::size_t end = 0;
    std::size_t batch = 0;
    const auto together = [](const auto& a, const auto& b) {
        return std::get<0>(a) == std::get<0>(b);
    };
    for (auto&& part : ranges::views::zip(batch_of, items) | ranges::views::chunk_by(together)) {
        end += static_cast<std::size_t>(ranges::distance(part));
        const std::uint64_t whole = bytes_of[batch++];
        out.take(end, whole, whole <= l.bytes);
    }
    return out;
}

// About `batch` items of 100 bytes fit; a few more and the count is the narrower limit.
waybill::batch_limits limits_for(std::uint64_t batch)
{
    return {.bytes = 512 + 100 * batch, .items = batch + 1 + batch / 100, .envelope = 512};
}

// In 16 bits the largest is 60,000, which still fits into a batch of 5,000.
template <class N>
std::vector<N> sizes()
{
    constexpr bool narrow = sizeof(N) == 2;
    std::mt19937 dice(20'260'101);
    std::uniform_int_distribution<std::uint32_t> usual(50, 150);
    std::vector<N> made(how_many);
    for (N& n : made) {
        n = static_cast<N>(dice() % 100'000 == 0 ? (narrow ? 60'000u : 600'000u) : usual(dice));
    }
    return made;
}

std::vector<std::string> strings()
{
    std::vector<std::string> made;
    made.reserve(how_many);
    for (const std::uint32_t n : sizes<std::uint32_t>()) made.emplace_back(n, 'x');
    return made;
}

template <class V, class F>
using loop = checksum (*)(const V&, const waybill::batch_limits&, const F&);

template <class V, class F>
void time_loop(benchmark::State& state, const V& items, std::uint64_t batch, loop<V, F> run)
{
    const waybill::batch_limits l = limits_for(batch);
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
        struct way {
            const char* name;
            loop<V, F> run;
        };
        std::vector<way> loops{
            {"raw_flat", &flat<V, F>},
            {"raw_nested", &nested<V, F>},
            {"raw_carried", &carried<V, F>},
            {"chunk_by", &ours<V, F>},
            {"framed", &framed<V, F>},
            {"lists", &lists<V, F>},
            {"ids", &ids<V, F>},
        };
        if constexpr (std::is_integral_v<typename V::value_type>) {
            loops.push_back({"blocks", &blocks<V, F>});
        }
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
            const fastest raw = fastest_raw(r);
            if (ours == r.times.end() || raw.name.empty()) continue;
            std::printf("%-12s  %-12s %12.3f %14.3f %7.2f %8.2f %12llu\n", r.what.c_str(),
                        raw.name.c_str(), raw.best, lowest(ours->second),
                        lowest(ours->second) / raw.best, median(ours->second) / raw.median,
                        static_cast<unsigned long long>(r.allocated));
            allocated += r.allocated;
        }
        std::printf("\n%-12s  %-12s %12s %14s %9s %9s\n", "items/batch", "way", "ns/item",
                    "medians ns/it", "raw/way", "medians");
        for (const row& r : rows_) {
            const fastest raw = fastest_raw(r);
            if (raw.name.empty()) continue;
            for (const auto& [name, times] : r.times) {
                if (name.rfind("raw_", 0) == 0 || name == "chunk_by") continue;
                std::printf("%-12s  %-12s %12.3f %14.3f %9.2f %9.2f\n", r.what.c_str(),
                            name.c_str(), lowest(times), median(times), raw.best / lowest(times),
                            raw.median / median(times));
            }
        }
        return allocated == 0;
    }

private:
    struct row {
        std::string what;
        std::map<std::string, std::vector<double>> times;
        std::uint64_t allocated = 0;
    };

    struct fastest {
        std::string name{};
        double best = 0;
        double median = 0;  // the lowest of all three
    };

    static fastest fastest_raw(const row& r)
    {
        fastest f;
        for (const auto& [name, times] : r.times) {
            if (name.rfind("raw_", 0) != 0) continue;
            const double m = median(times);
            if (f.name.empty() || m < f.median) f.median = m;
            if (f.name.empty() || lowest(times) < f.best) {
                f.best = lowest(times);
                f.name = name;
            }
        }
        return f;
    }

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
        if (loop == "chunk_by" || loop == "blocks") {
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

    using namespace batch_bench;
    const auto numbers = sizes<std::uint32_t>();
    const auto narrow = sizes<std::uint16_t>();
    const auto wide = sizes<std::uint64_t>();
    const auto texts = strings();
    bool equal = add_cases<std::vector<std::uint32_t>, size_itself>("uint32", numbers);
    equal = add_cases<std::vector<std::uint16_t>, size_itself>("uint16", narrow) && equal;
    equal = add_cases<std::vector<std::uint64_t>, size_itself>("uint64", wide) && equal;
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
