// SPDX-License-Identifier: MIT
//
// bench/session: the cost of CRC-32C and of the envelope of a state.
//
// The first table is CRC-32C alone, for bytes in the cache. Its peers are Boost.CRC, the usual loop
// with one table, which is the raw loop, and the instruction of the processor, if it has one. The
// second table is the envelope around a body, with a copy and its checksum as the raw loop. Its
// last rows are states of text, without and with a failure whose text has to be cut.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/crc.hpp>

#include "measure.hpp"
#include <waybill/core/crc32c.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/state_text.hpp>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace session_bench {
namespace {

using namespace waybill;

constexpr std::uint64_t sizes[] = {64, 1'024, 16'384, 262'144};

std::string bytes_of(std::uint64_t size)
{
    std::string out;
    for (std::uint64_t n = 0; n != size; ++n) out += static_cast<char>(n * 2'654'435'761U >> 13U);
    return out;
}

std::uint32_t by_ours(std::string_view b)
{
    return crc32c(b);
}

std::uint32_t by_boost(std::string_view b)
{
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
    sum.process_bytes(b.data(), b.size());
    return sum.checksum();
}

std::uint32_t by_hand(std::string_view b)
{
    static const std::vector<std::uint32_t> table = [] {
        std::vector<std::uint32_t> t;
        for (std::uint32_t byte = 0; byte != 256; ++byte) {
            std::uint32_t rest = byte;
            for (int bit = 0; bit != 8; ++bit) {
                rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? 0x82F63B78U : 0U);
            }
            t.push_back(rest);
        }
        return t;
    }();
    std::uint32_t rest = 0xFFFFFFFF;
    for (const char c : b) {
        rest = (rest >> 8U) ^ table[(rest ^ static_cast<unsigned char>(c)) & 0xFFU];
    }
    return ~rest;
}

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::string_view b)
{
    std::uint64_t rest = 0xFFFFFFFF;
    for (; b.size() >= 8; b.remove_prefix(8)) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, b.data(), 8);
        rest = _mm_crc32_u64(rest, word);
    }
    auto last = static_cast<std::uint32_t>(rest);
    for (const char c : b) last = _mm_crc32_u8(last, static_cast<unsigned char>(c));
    return ~last;
}
bool has_instruction()
{
    return __builtin_cpu_supports("sse4.2") != 0;
}
#else
std::uint32_t by_instruction(std::string_view b)
{
    return by_ours(b);
}
bool has_instruction()
{
    return false;
}
#endif

using sum_of = std::uint32_t (*)(std::string_view);

void sum(benchmark::State& state, sum_of f, std::uint64_t size)
{
    const std::string bytes = bytes_of(size);
    for ([[maybe_unused]] auto r : state) {
        std::string_view view = bytes;
        benchmark::DoNotOptimize(view);
        benchmark::DoNotOptimize(f(view));
    }
}

/// The raw loop of a state: a copy with room for the envelope, and its checksum.
void copied(benchmark::State& state, std::uint64_t size)
{
    const std::string body = bytes_of(size);
    for ([[maybe_unused]] auto r : state) {
        std::string out;
        out.reserve(detail::envelope_bytes + body.size());
        out.assign(detail::envelope_bytes, ' ');
        out += body;
        benchmark::DoNotOptimize(crc32c(out));
        benchmark::DoNotOptimize(out);
    }
}

void sealed(benchmark::State& state, std::uint64_t size)
{
    const std::string body = bytes_of(size);
    for ([[maybe_unused]] auto r : state) {
        benchmark::DoNotOptimize(detail::seal_state(state_format::text, {1, 0}, body));
    }
}

void opened(benchmark::State& state, std::uint64_t size)
{
    const std::string bytes = detail::seal_state(state_format::text, {1, 0}, bytes_of(size));
    for ([[maybe_unused]] auto r : state) {
        const opened_state s = detail::open_state(bytes, detail::highest_size);
        if (s.outcome != state_read::ok) std::abort();
        benchmark::DoNotOptimize(s);
    }
}

text_state state_of(std::uint64_t size, bool failed)
{
    text_state s;
    s.own = bytes_of(size);
    s.progress = {.done = 2,
                  .total = 5,
                  .begun = wall_time::at(duration::seconds(1'709'208'000)),
                  .changed = wall_time::at(duration::seconds(1'709'208'007))};
    if (failed) {
        s.progress.failed = session_progress::failure{
            3, 17, dead_letter_reason::exhausted, 5, std::string(4'000, '\n'), s.progress.changed};
    }
    return s;
}

text_state::options options_for(std::uint64_t size)
{
    return {.budget = {.bytes = size + 4'096, .failure_reserve = 2'048}, .version = {}};
}

void write_text(benchmark::State& state, std::uint64_t size, bool failed)
{
    const text_state s = state_of(size, failed);
    const text_state::options o = options_for(size);
    for ([[maybe_unused]] auto r : state) benchmark::DoNotOptimize(detail::write_text_state(s, o));
}

void read_text(benchmark::State& state, std::uint64_t size, bool failed)
{
    const text_state::options o = options_for(size);
    const std::string bytes = *detail::write_text_state(state_of(size, failed), o);
    for ([[maybe_unused]] auto r : state) {
        const text_state::read_result s = detail::read_text_state(bytes, o);
        if (s.outcome != state_read::ok) std::abort();
        benchmark::DoNotOptimize(&s);
    }
}

/// True if all checksums are equal.
bool checksums_equal()
{
    for (std::uint64_t size = 0; size != 300; ++size) {
        const std::string bytes = bytes_of(size);
        const std::uint32_t s = by_ours(bytes);
        if (by_boost(bytes) != s || by_hand(bytes) != s) return false;
        if (has_instruction() && by_instruction(bytes) != s) return false;
    }
    return true;
}

std::string benchmark_name(const std::string& peer, std::uint64_t size)
{
    return peer + "/" + std::to_string(size);
}

/// One operation is one byte, so that large sizes are counted with few iterations.
template <class F>
void add(bench::runner& all, std::vector<std::string>& peers, const std::string& peer, F run)
{
    peers.push_back(peer);
    for (const std::uint64_t n : sizes) {
        all.add(benchmark_name(peer, n), static_cast<double>(n),
                [run, n](benchmark::State& s) { run(s, n); });
    }
}

/// A row for each peer and a column for each size. `of(figures, size)` is the figure of a cell, and
/// the number in parentheses is its ratio to that of `raw`.
template <class F>
void print(const bench::runner& all, const char* title, const std::vector<std::string>& peers,
           const std::string& raw, F of)
{
    std::printf("\n%s (and in multiples of that of: %s)\n%-34s", title, raw.c_str(), "");
    for (const std::uint64_t n : sizes) {
        std::printf(" %17llu B", static_cast<unsigned long long>(n));
    }
    std::printf("\n");
    for (const std::string& peer : peers) {
        std::printf("%-34s", peer.c_str());
        for (const std::uint64_t n : sizes) {
            const double own = of(all.at(benchmark_name(peer, n)), static_cast<double>(n));
            const double base = of(all.at(benchmark_name(raw, n)), static_cast<double>(n));
            std::printf(" %10s (%6s)", bench::cell(own, 2).c_str(),
                        bench::cell(own / base, 2).c_str());
        }
        std::printf("\n");
    }
}

double rate(const bench::figures& f, double)
{
    return f.ns > 0 ? 1 / f.ns : 0;
}
double time_of_all(const bench::figures& f, double size)
{
    return f.ns * size;
}
double instructions(const bench::figures& f, double)
{
    return f.instructions;
}
double instructions_of_all(const bench::figures& f, double size)
{
    return f.instructions * size;
}

}  // namespace
}  // namespace session_bench

int main(int argc, char** argv)
{
    using namespace session_bench;
    if (!checksums_equal()) {
        std::fprintf(stderr, "the checksums are not equal\n");
        return 1;
    }
    const std::string loop = "one table, by hand";
    const std::string copy = "a copy and its checksum";
    bench::runner all(argc, argv);
    std::vector<std::string> sums;
    std::vector<std::string> states;
    const auto add_sum = [&](const std::string& peer, sum_of f) {
        add(all, sums, peer, [f](benchmark::State& s, std::uint64_t n) { sum(s, f, n); });
    };
    add_sum("waybill", by_ours);
    add_sum("Boost.CRC", by_boost);
    add_sum(loop, by_hand);
    if (has_instruction()) add_sum("the processor's instruction", by_instruction);
    add(all, states, copy, copied);
    add(all, states, "seal_state", sealed);
    add(all, states, "open_state", opened);
    for (const bool failed : {false, true}) {
        add(all, states, failed ? "write_text_state, failed and cut" : "write_text_state",
            [failed](benchmark::State& s, std::uint64_t n) { write_text(s, n, failed); });
        add(all, states, failed ? "read_text_state, failed" : "read_text_state",
            [failed](benchmark::State& s, std::uint64_t n) { read_text(s, n, failed); });
    }
    if (!all.run(benchmark_name(loop, 1'024))) return 2;
    all.print_spread();
    if (!all.noisy()) {
        print(all, "CRC-32C, GB/s", sums, loop, rate);
        print(all, "a state, ns", states, copy, time_of_all);
    }
    print(all, "CRC-32C, instructions per byte", sums, loop, instructions);
    print(all, "a state, instructions", states, copy, instructions_of_all);
    return all.failed() ? 1 : 0;
}
