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
//   sender/ordered as `sender`, with 10,000 keys at random and two attempts in flight
//   strict/<keys>  answers per entry: one item of a key in a request, at most 100 items, keys at random
//
// The lines below the table have the fill of the requests of `strict`, relative to 100 items.
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
constexpr std::uint64_t strict_items = 100;

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
    std::uint64_t keys = 0;  // if not 0: in the order of keys
    bool strict = false;     // one item of a key in a request
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
    std::vector<std::pair<std::uint64_t, std::uint64_t>> in_flight;  // attempts and their bytes
    const auto reply = [&] {
        const auto [attempt, bytes] = in_flight.front();
        in_flight.erase(in_flight.begin());
        if (bytes > limit.bytes) {
            s.on(waybill::batch_sender::too_large{attempt}, now);
            return;
        }
        waybill::batch_sender::accepted result{attempt};
        if (m.sizes) result.actual = bytes;
        s.on(result, now);
    };
    const auto drain = [&](bool all) {
        for (bool going = true; going;) {
            waybill::match(
                s.next(now),
                [&](const waybill::batch_sender::send& a) {
                    std::uint64_t bytes = limit.envelope;
                    for (const waybill::item_range& r : a.items) {
                        bytes += before[r.end() - origin] - before[r.first - origin];
                    }
                    ++batches;
                    in_flight.push_back({a.attempt, bytes});
                    if (m.keys == 0 || m.strict) return reply();
                    s.on(waybill::batch_sender::started{a.attempt}, now);
                },
                [&](const waybill::batch_sender::report& x) {
                    s.on(waybill::batch_sender::reported{x.items}, now);
                },
                [](const waybill::batch_sender::replace&) {}, [&](const waybill::wait_until&) {},
                [&](waybill::idle) {
                    going = !in_flight.empty() && (all || !s.wants_more());
                    if (going) reply();
                });
        }
    };
    std::mt19937 random(20'260'102);
    for (const std::string& item : items) {
        const std::uint64_t size = item.size() + (m.exact ? header : 0);
        const std::uint64_t key = m.keys == 0 ? 0 : random() % m.keys;
        s.on(waybill::batch_sender::queued{size, key}, now);
        if (!s.wants_more()) drain(false);
    }
    s.on(waybill::batch_sender::flushed{}, now);
    drain(true);
    return batches;
}

template <class F>
void add(bench::runner& all, const std::string& name, F run)
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
    const auto policy = [](const mode& m) {
        waybill::send_policy p{.limit = limit, .item_overhead = m.exact ? 0 : header};
        p.exact_sizes = m.exact;
        p.ordered = m.keys != 0;
        p.limit.answers_per_entry = m.strict;
        if (m.strict) p.limit.items = strict_items;
        p.in_flight = p.ordered && !m.strict ? 2 : 1;
        return p;
    };
    const auto with = [&](const std::string& name, const mode& m) {
        add(all, name, [&items, &before, m, s = waybill::batch_sender(policy(m))]() mutable {
            return sent(s, items, before, m);
        });
    };
    with("sender", {});
    with("sender/sizes", {.sizes = true});
    with("sender/exact", {.exact = true});
    with("sender/ordered", {.keys = 10'000});
    for (const std::uint64_t keys : {1U, 10U, 100U, 1'000U})
        with("strict/" + std::to_string(keys), {.keys = keys, .strict = true});
    if (!all.run("raw")) return 2;
    if (raw(items) != chunks(items)) {
        std::fprintf(stderr, "chunk_by and the raw loop cut different batches\n");
        return 1;
    }
    all.print_spread();
    std::vector<bench::row> rows;
    for (const std::string& name : all.names()) rows.push_back({name, "raw"});
    all.print("item", rows, {"allocations/item"});
    for (const std::uint64_t keys : {1U, 10U, 100U, 1'000U}) {
        const mode m{.keys = keys, .strict = true};
        waybill::batch_sender s(policy(m));
        const double requests = static_cast<double>(sent(s, items, before, m));
        std::printf("strict, %4.0f keys: requests are filled to %.3f\n", static_cast<double>(keys),
                    static_cast<double>(item_count) / requests / strict_items);
    }
    return all.failed() ? 1 : 0;
}
