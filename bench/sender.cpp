// SPDX-License-Identifier: MIT
//
// What a sender's bookkeeping costs: every item queued, cut, sent, answered and settled, beside the
// loop that does nothing but cut. The broker answers at once, by the limit and the headers that it
// is said to have, out of sums that were made beforehand.
//
//   raw            sizes added up in a loop, cut at the limit: nothing is numbered or kept
//   chunk_by       the same by waybill, over the same messages
//   sender         sizes of bodies, a header guessed, answers without numbers
//   sender/sizes   the same, and each answer tells the size of the batch
//   sender/exact   sizes as the broker counts them
//   sender/ordered as `sender`, with 64 keys and two attempts in flight
//
// The messages are strings of 50 to 500 bytes, so that their sizes come out of memory as they do
// for who sends them. The table has the median of the repetitions, and allocations an item.

#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/batch.hpp>

#include "support.hpp"

namespace sender_bench {

constexpr std::size_t how_many = 1'000'000;
constexpr waybill::batch_limits limit{.bytes = 262'144, .items = 4'500, .envelope = 40};
constexpr std::uint64_t header = 60;

std::vector<std::string> messages()
{
    std::mt19937 dice(20'260'101);
    std::uniform_int_distribution<std::size_t> size(50, 500);
    std::vector<std::string> made;
    made.reserve(how_many);
    for (std::size_t i = 0; i != how_many; ++i) made.emplace_back(size(dice), 'x');
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

/// The bytes of all messages before each on the wire.
using sums = std::vector<std::uint64_t>;

sums sums_of(const std::vector<std::string>& items)
{
    sums made{0};
    made.reserve(items.size() + 1);
    for (const std::string& item : items) made.push_back(made.back() + item.size() + header);
    return made;
}

/// The sender outlives a round, as it does where messages keep coming.
[[gnu::noinline]] std::uint64_t sent(waybill::batch_sender& s,
                                     const std::vector<std::string>& items, const sums& before,
                                     const mode& m)
{
    const waybill::steady_time now{};
    std::uint64_t batches = 0;
    const std::uint64_t origin = s.end();
    std::uint64_t last = 0;  // the attempt that is on its way
    bool away = false;
    std::uint64_t last_bytes = 0;
    const auto answer = [&](std::uint64_t attempt, std::uint64_t bytes) {
        if (bytes > limit.bytes) {
            s.on(waybill::batch_sender::too_large{attempt}, now);
            return;
        }
        waybill::batch_sender::accepted yes{attempt};
        if (m.sizes) yes.actual = bytes;
        s.on(yes, now);
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
                    if (!m.ordered) return answer(a.attempt, bytes);
                    const std::uint64_t earlier = std::exchange(last, a.attempt);
                    const std::uint64_t its_bytes = std::exchange(last_bytes, bytes);
                    s.on(waybill::batch_sender::started{a.attempt}, now);
                    if (std::exchange(away, true)) answer(earlier, its_bytes);
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
    if (away) answer(last, last_bytes);
    drain();
    return batches;
}

class table : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override
    {
        for (const Run& r : runs) {
            if (r.run_type != Run::RT_Iteration) continue;
            const double ns = r.cpu_accumulated_time * 1e9 / static_cast<double>(r.iterations) /
                              static_cast<double>(how_many);
            times_[r.run_name.function_name].push_back(ns);
            allocations_[r.run_name.function_name] = r.counters.at("allocations/item").value;
        }
    }
    void print() const
    {
        const auto raw = times_.find("raw");
        std::printf("%-16s %10s %8s %18s\n", "", "ns/item", "x raw", "allocations/item");
        for (const auto& [name, ns] : times_) {
            const double m = bench::median(ns);
            std::printf("%-16s %10.2f %8.2f %18.6f\n", name.c_str(), m,
                        raw == times_.end() ? 0 : m / bench::median(raw->second),
                        allocations_.at(name));
        }
    }

private:
    std::map<std::string, std::vector<double>> times_;
    std::map<std::string, double> allocations_;
};

template <class F>
void add(const char* name, F run)
{
    benchmark::RegisterBenchmark(name, [run](benchmark::State& state) mutable {
        benchmark::DoNotOptimize(run());  // buffers grow here
        const std::uint64_t before = bench::allocations;
        for ([[maybe_unused]] auto round : state) benchmark::DoNotOptimize(run());
        state.counters["allocations/item"] =
            static_cast<double>(bench::allocations - before) /
            static_cast<double>(state.iterations()) / static_cast<double>(how_many);
    })->Unit(benchmark::kMillisecond);
}

}  // namespace sender_bench

int main(int argc, char** argv)
{
    using namespace sender_bench;
    if (!bench::start({"--benchmark_repetitions=15", "--benchmark_min_time=0.02",
                       "--benchmark_enable_random_interleaving=true"},
                      argc, argv)) {
        return 2;
    }
    const std::vector<std::string> items = messages();
    if (raw(items) != chunks(items)) return 1;
    const sums before = sums_of(items);
    add("raw", [&] { return raw(items); });
    add("chunk_by", [&] { return chunks(items); });
    const auto with = [&](const char* name, const mode& m) {
        waybill::send_policy p{.limit = limit, .item_overhead = m.exact ? 0 : header};
        p.exact_sizes = m.exact;
        p.ordered = m.ordered;
        p.in_flight = m.ordered ? 2 : 1;
        add(name, [&items, &before, m, s = waybill::batch_sender(p)]() mutable {
            return sent(s, items, before, m);
        });
    };
    with("sender", {});
    with("sender/sizes", {.sizes = true});
    with("sender/exact", {.exact = true});
    with("sender/ordered", {.ordered = true});
    table out;
    benchmark::RunSpecifiedBenchmarks(&out);
    out.print();
    benchmark::Shutdown();
    return 0;
}
