// SPDX-License-Identifier: MIT
//
// bench/sender: the bookkeeping of batch_sender, relative to a loop that only cuts batches.
//
// One operation queues an item, cuts it into a batch, sends the batch and settles it. The broker
// accepts or refuses each batch immediately, by its limit. The bytes come from prefix sums that are
// computed before. Figures are per item:
//
//   raw            the sizes are added up in a loop and cut at the limit; no item has a number
//   chunk_by       the same cuts by waybill
//   sender         sizes of bodies and an estimated header; results have no numbers
//   sender/sizes   the same, but each result has the size of the batch
//   sender/exact   sizes as the broker counts them
//   sender/ordered as `sender`, with 64 keys and two attempts in flight
//
// The messages are one million strings of 50 to 500 bytes, which no cache holds.

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "measure.hpp"
#include <waybill/batch.hpp>

namespace sender_bench {

constexpr std::size_t item_count = 1'000'000;
constexpr waybill::batch_limits limit{.bytes = 262'144, .items = 4'500, .envelope = 40};
constexpr std::uint64_t header = 60;

std::vector<std::string> messages()
{
    std::mt19937 random(20'260'101);
    std::uniform_int_distribution<std::size_t> size(50, 500);
    std::vector<std::string> made;
    made.reserve(item_count);
    for (std::size_t i = 0; i != item_count; ++i) made.emplace_back(size(random), 'x');
    return made;
}

[[gnu::noinline]] std::uint64_t raw(const std::vector<std::string>& items)
{
    std::uint64_t batches = 0, bytes = limit.envelope, count = 0;
    for (const std::string& item : items) {
        const std::uint64_t own = item.size() + header;
        if (count != 0 && (bytes + own > limit.bytes || count == limit.items)) {
            ++batches;
            bytes = limit.envelope;
            count = 0;
        }
        bytes += own;
        ++count;
    }
    return batches + (count != 0 ? 1 : 0);
}

[[gnu::noinline]] std::uint64_t chunks(const std::vector<std::string>& items)
{
    std::uint64_t batches = 0;
    const auto size = [](const std::string& s) { return s.size() + header; };
    for (const auto& part : waybill::chunk_by(items, limit, size)) {
        benchmark::DoNotOptimize(part.bytes);
        ++batches;
    }
    return batches;
}

struct mode {
    bool sizes = false;
    bool exact = false;
    bool ordered = false;
};

/// Prefix sums of the bytes on the wire: element n is the sum of the first n messages.
using sums = std::vector<std::uint64_t>;

sums sums_of(const std::vector<std::string>& items)
{
    sums made{0};
    made.reserve(items.size() + 1);
    for (const std::string& item : items) made.push_back(made.back() + item.size() + header);
    return made;
}

/// Sends all items and returns the number of batches. The sender is the same in all rounds.
[[gnu::noinline]] std::uint64_t sent(waybill::batch_sender& s,
                                     const std::vector<std::string>& items, const sums& before,
                                     const mode& m)
{
    const waybill::steady_time now{};
    std::uint64_t batches = 0;
    const std::uint64_t origin = s.end();
    bool in_flight = false;
    std::uint64_t last = 0;        // the attempt in flight
    std::uint64_t last_bytes = 0;  // and its bytes
    const auto reply = [&](std::uint64_t attempt, std::uint64_t bytes) {
        if (bytes > limit.bytes) {
            s.on(waybill::batch_sender::too_large{attempt}, now);
            return;
        }
        waybill::batch_sender::accepted result{attempt};
        if (m.sizes) result.actual = bytes;
        s.on(result, now);
    };
    const auto drain = [&] {
        for (bool going = true; going;) {
            waybill::match(
                s.next(now),
                [&](const waybill::batch_sender::send& a) {
                    std::uint64_t bytes = limit.envelope;
                    for (const waybill::item_range& r : a.items) {
                        bytes += before[r.end() - origin] - before[r.first - origin];
                    }
                    ++batches;
                    if (!m.ordered) return reply(a.attempt, bytes);
                    const std::uint64_t earlier = std::exchange(last, a.attempt);
                    const std::uint64_t its_bytes = std::exchange(last_bytes, bytes);
                    s.on(waybill::batch_sender::started{a.attempt}, now);
                    if (std::exchange(in_flight, true)) reply(earlier, its_bytes);
                },
                [&](const waybill::batch_sender::report& x) {
                    s.on(waybill::batch_sender::reported{x.items}, now);
                },
                [](const waybill::batch_sender::replace&) {}, [&](const waybill::wait_until&) {},
                [&](waybill::idle) { going = false; });
        }
    };
    std::uint64_t key = 0;
    for (const std::string& item : items) {
        const std::uint64_t size = item.size() + (m.exact ? header : 0);
        s.on(waybill::batch_sender::queued{size, key++ & 63U}, now);
        if (!s.wants_more()) drain();
    }
    s.on(waybill::batch_sender::flushed{}, now);
    drain();
    if (in_flight) reply(last, last_bytes);
    drain();
    return batches;
}

template <class F>
void add(bench::runner& all, const char* name, F run)
{
    all.add(name, item_count, [run](benchmark::State& state) mutable {
        benchmark::DoNotOptimize(run());  // all buffers grow in this round
        const std::uint64_t before = bench::allocations;
        for ([[maybe_unused]] auto round : state) benchmark::DoNotOptimize(run());
        state.counters["allocations/item"] = static_cast<double>(bench::allocations - before) /
                                             static_cast<double>(state.iterations()) /
                                             static_cast<double>(item_count);
    });
}

}  // namespace sender_bench

int main(int argc, char** argv)
{
    using namespace sender_bench;
    bench::runner all(argc, argv);
    const std::vector<std::string> items = messages();
    const sums before = sums_of(items);
    add(all, "raw", [&] { return raw(items); });
    add(all, "chunk_by", [&] { return chunks(items); });
    const auto with = [&](const char* name, const mode& m) {
        waybill::send_policy p{.limit = limit, .item_overhead = m.exact ? 0 : header};
        p.exact_sizes = m.exact;
        p.ordered = m.ordered;
        p.in_flight = m.ordered ? 2 : 1;
        add(all, name, [&items, &before, m, s = waybill::batch_sender(p)]() mutable {
            return sent(s, items, before, m);
        });
    };
    with("sender", {});
    with("sender/sizes", {.sizes = true});
    with("sender/exact", {.exact = true});
    with("sender/ordered", {.ordered = true});
    if (!all.run("raw")) return 2;
    if (raw(items) != chunks(items)) {
        std::fprintf(stderr, "chunk_by and the raw loop cut different batches\n");
        return 1;
    }
    all.print_spread();
    std::vector<bench::row> rows;
    for (const std::string& name : all.names()) rows.push_back({name, "raw"});
    all.print("item", rows, {"allocations/item"});
    return all.failed() ? 1 : 0;
}
