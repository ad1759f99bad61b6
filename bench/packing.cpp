// SPDX-License-Identifier: MIT
//
// bench/packing: the number of batches in any order, relative to the lower bound.
//
// Nothing is timed, and each run prints the same. 20,000 items are packed in order (next fit, as
// chunk_by does), with pack and 8 open bins, and with pack and any number of bins. The peers need
// all bins open or all items in advance: first fit; first fit and best fit of the sorted items
// (FFD, BFD). First fit with 8 bins also closes the fullest bin. It shows the gain of choosing the
// fullest bin instead of the first.
//
// The lower bound is the sum of bytes over the bytes of a batch, or items over items of a batch.
// The program fails if an item is packed wrongly, or ours is not between next fit and the bound.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/chunk_by.hpp>

namespace packing_bench {

using sizes = std::vector<std::uint64_t>;

constexpr std::size_t how_many = 20'000;
constexpr std::uint64_t kib_256 = 256 * 1024;

std::uint64_t itself(const std::uint64_t& n)
{
    return n;
}

// The generator returns the same numbers with every standard library; distributions do not.
struct dice {
    std::mt19937_64 bits;
    std::uint64_t between(std::uint64_t a, std::uint64_t b) { return a + bits() % (b - a + 1); }
    double normal()  // the sum of twelve uniform numbers is nearly normal
    {
        double sum = -6;
        for (int i = 0; i != 12; ++i) sum += static_cast<double>(bits() >> 11) * 0x1p-53;
        return sum;
    }
};

struct bin {
    std::uint64_t bytes = 0;
    std::uint64_t items = 0;
    bool takes(std::uint64_t own, const waybill::batch_limits& l) const
    {
        return bytes + own <= l.bytes && items < l.items;
    }
};

bool by_bytes(const bin& a, const bin& b)
{
    return a.bytes < b.bytes;
}

// First fit, or best fit, with at most `most` open bins. If a further one is needed, the fullest
// is closed.
std::size_t fit(const sizes& all, const waybill::batch_limits& l, bool best, std::size_t most)
{
    std::vector<bin> open;
    std::size_t closed = 0;
    for (const std::uint64_t own : all) {
        auto to = open.end();
        for (auto b = open.begin(); b != open.end(); ++b) {
            if (!b->takes(own, l) || (to != open.end() && !by_bytes(*to, *b))) continue;
            to = b;
            if (!best) break;
        }
        if (to == open.end()) {
            if (open.size() == most) {
                open.erase(std::max_element(open.begin(), open.end(), by_bytes));
                ++closed;
            }
            to = open.insert(open.end(), bin{});
        }
        to->bytes += own;
        if (++to->items == l.items) {  // a full batch is sent
            open.erase(to);
            ++closed;
        }
    }
    return closed + open.size();
}

std::size_t next_fit(const sizes& all, const waybill::batch_limits& l)
{
    std::size_t n = 0;
    for (auto part : waybill::chunk_by(all, l, itself)) n += part.fits ? 1 : 0;
    return n;
}

// The number of batches, or 0 if the result is wrong.
std::size_t ours(const sizes& all, const waybill::batch_limits& l, std::uint64_t bins)
{
    const waybill::packed_bins p = waybill::pack(all, l, itself, bins);
    std::vector<int> seen(all.size(), 0);
    for (const auto& b : p.batches) {
        std::uint64_t sum = 0;
        for (const std::size_t i : b.items) {
            sum += all[i];
            ++seen[i];
        }
        if (sum != b.bytes || sum > l.bytes || b.items.size() > l.items) return 0;
    }
    return seen == std::vector<int>(all.size(), 1) ? p.batches.size() : 0;
}

struct row {
    const char* name;
    waybill::batch_limits l;
    std::uint64_t lowest;   // uniform in [lowest, highest]
    std::uint64_t highest;  // 0: lognormal with the median `lowest`
};

constexpr std::array<row, 6> rows{{
    {"100-500 B in 256 KiB", {.bytes = kib_256}, 100, 500},
    {"lognormal, median 2 kB", {.bytes = kib_256}, 2'000, 0},
    {"1-60 kB", {.bytes = kib_256}, 1'000, 60'000},
    {"1-130 kB", {.bytes = kib_256}, 1'000, 130'000},
    {"1-250 kB", {.bytes = kib_256}, 1'000, 250'000},
    {"1-100 kB, 10 items at most", {.bytes = kib_256, .items = 10}, 1'000, 100'000},
}};

bool print(const row& r)
{
    dice d{std::mt19937_64(20)};
    sizes all;
    std::uint64_t sum = 0;
    while (all.size() != how_many) {
        const std::uint64_t n =
            r.highest != 0
                ? d.between(r.lowest, r.highest)
                : static_cast<std::uint64_t>(static_cast<double>(r.lowest) * std::exp(d.normal()));
        all.push_back(n);
        sum += n;
    }
    const std::uint64_t by_count = r.l.items == waybill::unlimited ? 1 : how_many / r.l.items;
    const std::uint64_t bound = std::max((sum + r.l.bytes - 1) / r.l.bytes, by_count);
    sizes sorted = all;
    std::sort(sorted.rbegin(), sorted.rend());
    const std::array<std::size_t, 7> batches{
        next_fit(all, r.l),
        fit(all, r.l, false, 8),
        ours(all, r.l, 8),
        ours(all, r.l, waybill::unlimited),
        fit(all, r.l, false, how_many),
        fit(sorted, r.l, false, how_many),
        fit(sorted, r.l, true, how_many),
    };
    std::printf("%-27s", r.name);
    for (const std::size_t n : batches) {
        std::printf("%10.3f", static_cast<double>(n) / static_cast<double>(bound));
    }
    std::printf("%10zu\n", static_cast<std::size_t>(bound));
    return batches[2] >= bound && batches[2] <= batches[0] && batches[3] >= bound;
}

}  // namespace packing_bench

int main()
{
    std::printf("%-27s%10s%10s%10s%10s%10s%10s%10s%10s\n", "batches over lower bound", "next fit",
                "FF, 8", "ours, 8", "ours, any", "FF", "FFD", "BFD", "bound");
    bool right = true;
    for (const auto& r : packing_bench::rows) right = packing_bench::print(r) && right;
    if (!right) std::printf("something was packed wrongly\n");
    return right ? 0 : 1;
}
