// SPDX-License-Identifier: MIT
//
// bench/send_all: the cost of one item in send_all, relative to loops by hand.
//
// 20,000 strings of 50 to 500 bytes, in batches of at most 256 KiB. The broker reads the size of
// each item and accepts each batch. The loop over `batch_sender` queues, sends and settles as
// send_all does. It has no report, and no stop, pause and replacement. The short loop cuts by
// `chunk_by` with an estimated header, and has no outcomes. One operation is one item.

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <benchmark/benchmark.h>

#include "measure.hpp"
#include <waybill/batch.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace send_all_bench {
namespace {

using sender = waybill::batch_sender;

constexpr std::uint64_t item_count = 20'000;
constexpr waybill::batch_limits limit{.bytes = 262'144, .items = 4'500, .envelope = 40};

std::vector<std::string> messages()
{
    std::mt19937 random(20'260'101);
    std::uniform_int_distribution<std::size_t> size(50, 500);
    std::vector<std::string> made;
    for (std::size_t i = 0; i != item_count; ++i) made.emplace_back(size(random), 'x');
    return made;
}

std::uint64_t size_of(const std::string& s)
{
    return s.size();
}

template <class Batch>
waybill::send_outcome transmit(const Batch& batch)
{
    std::uint64_t bytes = 0;
    for (const std::string& item : batch) bytes += item.size();
    benchmark::DoNotOptimize(bytes);
    return sender::accepted{};
}

/// Returns the number of accepted items, as the other loops.
std::uint64_t by_chunks(const std::vector<std::string>& items, sender&)
{
    std::uint64_t sent = 0;
    const auto size = [](const std::string& s) { return s.size() + 60; };
    for (const auto& batch : waybill::chunk_by(items, limit, size)) {
        const auto outcome = transmit(batch);
        if (waybill::holds_alternative<sender::accepted>(outcome)) sent += batch.size();
    }
    return sent;
}

std::uint64_t over_sender(const std::vector<std::string>& items, sender& s)
{
    const waybill::testing::manual_environment env;
    const std::uint64_t first = s.end();
    std::uint64_t accepted = 0;
    std::size_t next = 0;
    const auto send = [&](const sender::send& a) {
        std::uint64_t bytes = 0;
        for (const waybill::item_range& r : a.items) {
            for (std::uint64_t n = r.first; n != r.end(); ++n) bytes += items[n - first].size();
        }
        benchmark::DoNotOptimize(bytes);
        const std::uint64_t attempt = a.attempt;
        s.on(sender::started{attempt}, env.now());
        s.on(sender::accepted{attempt}, env.now());
    };
    const auto feed = [&] {
        if (next == items.size() || !s.wants_more()) return false;
        s.on(sender::queued{size_of(items[next++])}, env.now());
        if (next == items.size()) s.on(sender::flushed{}, env.now());
        return true;
    };
    for (bool going = true; going;) {
        while (feed()) {
        }
        waybill::match(
            s.next(env.now()), send,
            [&](const sender::report& x) {
                if (x.outcome == waybill::item_outcome::accepted) accepted += x.items.count;
                s.on(sender::reported{x.items}, env.now());
            },
            [](const sender::replace&) {}, [](const waybill::wait_until&) {},
            [&](waybill::idle) { going = false; });
    }
    return accepted;
}

std::uint64_t driver(const std::vector<std::string>& items, sender& s)
{
    waybill::testing::manual_environment env;
    const auto report = waybill::send_all(
        items, size_of, s, [](const auto& batch) { return transmit(batch); }, env);
    return report.accepted;
}

template <class Run>
void measure(benchmark::State& state, Run run)
{
    static const std::vector<std::string> items = messages();
    sender s{{.limit = limit}};
    for ([[maybe_unused]] auto i : state) {
        if (run(items, s) != item_count) state.SkipWithError("an item was not accepted");
    }
}

}  // namespace
}  // namespace send_all_bench

int main(int argc, char** argv)
{
    using namespace send_all_bench;
    bench::runner all(argc, argv);
    all.add("chunk_by", item_count, [](benchmark::State& s) { measure(s, by_chunks); });
    all.add("over batch_sender", item_count, [](benchmark::State& s) { measure(s, over_sender); });
    all.add("send_all", item_count, [](benchmark::State& s) { measure(s, driver); });
    if (!all.run("chunk_by")) return 2;
    all.print_spread();
    all.print("one item", {{"chunk_by", "over batch_sender"},
                           {"over batch_sender", "over batch_sender"},
                           {"send_all", "over batch_sender"}});
    return all.failed() ? 1 : 0;
}
