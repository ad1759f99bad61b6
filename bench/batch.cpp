// SPDX-License-Identifier: MIT
//
// bench/batch: the cost of chunk_by, relative to a loop by hand.
//
// One million items are cut into batches of about 8, 500 and 5,000 items. The items are strings, or
// integers of 16, 32 and 64 bits that are sizes. Both the byte limit and the count limit close
// batches. About one item in 100,000 is too large for a batch, except for 16 bits and 5,000 items per
// batch. Each peer reduces its batches to a checksum, and all checksums must be equal. Figures are
// per item, and allocations are per round of one million items:
//
//   raw_flat, raw_nested, raw_carried   three loops by hand; ratios are relative to the fastest one,
//                                       in instructions to the one that has the fewest
//   chunk_by   waybill with a size function
//   framed     waybill with the framing that a size function is converted to
//   blocks     waybill without a size function: sizes are added up in blocks
//   lists      the usual recipe: a list of lists, here of pointers, with the same limits
//   ids        range-v3, which has no cut by size: a loop gives each item the number of its batch,
//              and views::chunk_by cuts between items of different numbers; both are measured

#include <cstdint>
#include <cstdio>
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

#include "measure.hpp"
#include <waybill/batch/chunk_by.hpp>

namespace batch_bench {

/// A tenth of the items is enough to count instructions.
std::size_t item_count(const bench::runner& all)
{
    return all.counts_instructions() ? 100'000 : 1'000'000;
}

struct size_itself {
    constexpr std::uint64_t operator()(std::uint64_t n) const { return n; }
};

struct size_of_string {
    std::uint64_t operator()(const std::string& s) const { return s.size(); }
};

// The result of a loop. It is cheap to compute and depends on all batches.
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

// One pass. A batch is closed if the next item does not fit.
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

// An inner loop for each batch, with indices. The size of an item that does not fit is read twice.
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

// The same with pointers and the remaining bytes. The size of an item that does not fit is kept.
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

// Without a size function. The items are the sizes and are added up in blocks.
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

// With the framing that a size function is converted to, so without the loop for size functions.
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

// About `batch` items of 100 bytes fit. The count limit is a little higher.
waybill::batch_limits limits_for(std::uint64_t batch)
{
    return {.bytes = 512 + 100 * batch, .items = batch + 1 + batch / 100, .envelope = 512};
}

// Sizes of 50 to 150, and a few large ones. In 16 bits these are 60,000, which fits into a batch of
// 5,000.
template <class N>
std::vector<N> sizes(std::size_t count)
{
    constexpr bool narrow = sizeof(N) == 2;
    std::mt19937 random(20'260'101);
    std::uniform_int_distribution<std::uint32_t> usual(50, 150);
    std::vector<N> made(count);
    for (N& n : made) {
        n = static_cast<N>(random() % 100'000 == 0 ? (narrow ? 60'000u : 600'000u) : usual(random));
    }
    return made;
}

std::vector<std::string> strings(std::size_t count)
{
    std::vector<std::string> made;
    made.reserve(count);
    for (const std::uint32_t n : sizes<std::uint32_t>(count)) made.emplace_back(n, 'x');
    return made;
}

template <class V, class F>
using loop = checksum (*)(const V&, const waybill::batch_limits&, const F&);

template <class V, class F>
void measure_loop(benchmark::State& state, const V& items, std::uint64_t batch, loop<V, F> run)
{
    const waybill::batch_limits l = limits_for(batch);
    checksum out;
    const std::uint64_t before = bench::allocations;
    for ([[maybe_unused]] auto round : state) {
        out = run(items, l, F{});
        benchmark::DoNotOptimize(out);
    }
    state.counters["allocations"] =
        static_cast<double>(bench::allocations - before) / static_cast<double>(state.iterations());
    state.counters["items/batch"] =
        static_cast<double>(items.size()) / static_cast<double>(out.cuts);
}

constexpr std::uint64_t batches[] = {8, 500, 5'000};

template <class V, class F>
struct way {
    const char* name;
    loop<V, F> run;
};

template <class V, class F>
std::vector<way<V, F>> ways()
{
    std::vector<way<V, F>> all{
        {"raw_flat", &flat<V, F>}, {"raw_nested", &nested<V, F>}, {"raw_carried", &carried<V, F>},
        {"chunk_by", &ours<V, F>}, {"framed", &framed<V, F>},     {"lists", &lists<V, F>},
        {"ids", &ids<V, F>},
    };
    if constexpr (std::is_integral_v<typename V::value_type>) {
        all.push_back({"blocks", &blocks<V, F>});
    }
    return all;
}

/// The names of the benchmarks of one table: all ways to cut the same items.
struct group {
    std::string name;
    std::vector<std::string> ways{};
};

template <class V, class F>
void add(bench::runner& all, std::vector<group>& groups, const std::string& kind, const V& items)
{
    for (const std::uint64_t batch : batches) {
        group g{kind + "/" + std::to_string(batch)};
        for (const way<V, F>& w : ways<V, F>()) {
            g.ways.push_back(g.name + "/" + w.name);
            all.add(g.ways.back(), static_cast<double>(items.size()),
                    [&items, batch, run = w.run](benchmark::State& s) {
                        measure_loop<V, F>(s, items, batch, run);
                    });
        }
        groups.push_back(std::move(g));
    }
}

/// Returns true if all ways cut the same batches.
template <class V, class F>
bool equal(const char* kind, const V& items)
{
    bool same = true;
    for (const std::uint64_t batch : batches) {
        const waybill::batch_limits l = limits_for(batch);
        const checksum expected = flat<V, F>(items, l, F{});
        for (const way<V, F>& w : ways<V, F>()) {
            if (w.run(items, l, F{}) == expected) continue;
            std::fprintf(stderr, "%s/%llu/%s cuts other batches than raw_flat\n", kind,
                         static_cast<unsigned long long>(batch), w.name);
            same = false;
        }
    }
    return same;
}

/// The least of a figure among the loops by hand, or 0 if it is not known.
double least(const bench::runner& all, const group& g, double bench::figures::* figure)
{
    double value = 0;
    for (const char* loop : {"/raw_flat", "/raw_nested", "/raw_carried"}) {
        const double own = all.at(g.name + loop).*figure;
        if (own > 0 && (value <= 0 || own < value)) value = own;
    }
    return value;
}

void print(double value, double base)
{
    if (value > 0 && base > 0) std::printf(" %10.3f %7.2f", value, value / base);
    else std::printf(" %10s %7s", "-", "-");
}

/// Prints one line for each way. Returns false if chunk_by or blocks has allocated.
bool print(const bench::runner& all, const std::vector<group>& groups)
{
    bool good = true;
    std::printf("\n%-28s %10s %7s %10s %7s %12s %12s\n", "item", "ns", "ratio", "instr.", "ratio",
                "allocations", "items/batch");
    for (const group& g : groups) {
        const double ns = least(all, g, &bench::figures::ns);
        const double instructions = least(all, g, &bench::figures::instructions);
        for (const std::string& name : g.ways) {
            const bench::figures f = all.at(name);
            if (f.counters.empty()) continue;  // excluded by an argument
            const double allocations = f.counters.at("allocations");
            std::printf("%-28s", name.c_str());
            print(all.noisy() ? 0 : f.ns, ns);
            print(f.instructions, instructions);
            std::printf(" %12.0f %12.1f\n", allocations, f.counters.at("items/batch"));
            const bool ours = name.ends_with("/chunk_by") || name.ends_with("/blocks");
            good = good && (!ours || allocations <= 0);
        }
    }
    return good;
}

}  // namespace batch_bench

int main(int argc, char** argv)
{
    using namespace batch_bench;
    bench::runner all(argc, argv);
    const std::size_t count = item_count(all);
    const auto numbers = sizes<std::uint32_t>(count);
    const auto narrow = sizes<std::uint16_t>(count);
    const auto wide = sizes<std::uint64_t>(count);
    const auto texts = strings(count);
    std::vector<group> groups;
    add<std::vector<std::uint32_t>, size_itself>(all, groups, "uint32", numbers);
    add<std::vector<std::uint16_t>, size_itself>(all, groups, "uint16", narrow);
    add<std::vector<std::uint64_t>, size_itself>(all, groups, "uint64", wide);
    add<std::vector<std::string>, size_of_string>(all, groups, "string", texts);
    if (!all.run("uint32/500/raw_flat")) return 2;
    bool good = equal<std::vector<std::uint32_t>, size_itself>("uint32", numbers);
    good = equal<std::vector<std::uint16_t>, size_itself>("uint16", narrow) && good;
    good = equal<std::vector<std::uint64_t>, size_itself>("uint64", wide) && good;
    good = equal<std::vector<std::string>, size_of_string>("string", texts) && good;
    if (!good) return 1;
    if (bench::allocations == 0) {
        std::fprintf(stderr, "allocations are not counted\n");
        return 1;
    }
    all.print_spread();
    if (!print(all, groups)) {
        std::fprintf(stderr, "chunk_by or blocks has allocated\n");
        return 1;
    }
    return all.failed() ? 1 : 0;
}
