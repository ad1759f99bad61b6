// SPDX-License-Identifier: MIT
//
// bench/session: what does it cost to know that a state is still what was written?
//
// The first table is CRC-32C alone, of bytes that are in the cache: waybill's, Boost.CRC's, the
// loop with one table that everybody writes, and the processor's own instruction where it has one,
// which is what is left to be had. The second is the envelope around a body, beside a copy and the
// same checksum, which are the least that one can do; then a whole state of text, and the same with
// a failure whose text has to be cut.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/crc.hpp>

#include "support.hpp"
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

std::uint32_t by_ours(std::string_view b) { return crc32c(b); }

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
bool has_instruction() { return __builtin_cpu_supports("sse4.2") != 0; }
#else
std::uint32_t by_instruction(std::string_view b) { return by_ours(b); }
bool has_instruction() { return false; }
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

/// The least that one can do: a copy with room in front, and its checksum.
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
    s.progress = {.done = 2, .total = 5, .begun = wall_time::at(duration::seconds(1'709'208'000)),
                  .changed = wall_time::at(duration::seconds(1'709'208'007))};
    if (failed) {
        s.progress.failed = step_failure{
            3, 17, dead_letter_reason::exhausted, 5, std::string(4'000, '\n'), s.progress.changed};
    }
    return s;
}

text_state_options options_for(std::uint64_t size)
{
    return {.budget = {.bytes = size + 4'096, .failure_reserve = 2'048}, .version = {}};
}

void write_text(benchmark::State& state, std::uint64_t size, bool failed)
{
    const text_state s = state_of(size, failed);
    const text_state_options o = options_for(size);
    for ([[maybe_unused]] auto r : state) benchmark::DoNotOptimize(detail::write_text_state(s, o));
}

void read_text(benchmark::State& state, std::uint64_t size, bool failed)
{
    const text_state_options o = options_for(size);
    const std::string bytes = *detail::write_text_state(state_of(size, failed), o);
    for ([[maybe_unused]] auto r : state) {
        const text_state::read_result s = detail::read_text_state(bytes, o);
        if (s.outcome != state_read::ok) std::abort();
        benchmark::DoNotOptimize(&s);
    }
}

/// All of them make the same sums.
bool agree()
{
    for (std::uint64_t size = 0; size != 300; ++size) {
        const std::string bytes = bytes_of(size);
        const std::uint32_t s = by_ours(bytes);
        if (by_boost(bytes) != s || by_hand(bytes) != s) return false;
        if (has_instruction() && by_instruction(bytes) != s) return false;
    }
    return true;
}

class table : public benchmark::ConsoleReporter {
public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override
    {
        for (const Run& r : runs) {
            if (r.error_occurred) failed = true;
            if (r.run_type != Run::RT_Iteration || r.error_occurred) continue;
            const double ns = r.cpu_accumulated_time * 1e9 / static_cast<double>(r.iterations);
            times_[r.run_name.function_name].push_back(ns);
        }
    }

    /// GB/s or ns of the median, a row for each who and a column for each size.
    void print(const char* title, const std::vector<std::string>& who, bool as_rate) const
    {
        std::printf("\n%-34s", title);
        for (const std::uint64_t n : sizes) {
            std::printf(" %9llu B", static_cast<unsigned long long>(n));
        }
        for (const std::string& name : who) {
            std::printf("\n%-34s", name.c_str());
            for (const std::uint64_t n : sizes) {
                const auto found = times_.find(name + "/" + std::to_string(n));
                if (found == times_.end()) {
                    std::printf(" %11s", "-");
                    continue;
                }
                const double ns = bench::median(found->second);
                std::printf(" %11.2f", as_rate ? static_cast<double>(n) / ns : ns);
            }
        }
        std::printf("\n");
    }

    bool failed = false;

private:
    std::map<std::string, std::vector<double>> times_;
};

}  // namespace
}  // namespace session_bench

int main(int argc, char** argv)
{
    using namespace session_bench;
    if (!agree()) {
        std::fprintf(stderr, "the checksums are not the same\n");
        return 1;
    }
    std::vector<std::string> sums;
    std::vector<std::string> states;
    const auto add = [](std::vector<std::string>& to, const char* name, auto run, auto... more) {
        to.emplace_back(name);
        for (const std::uint64_t n : sizes) {
            const std::string full = std::string(name) + "/" + std::to_string(n);
            benchmark::RegisterBenchmark(full.c_str(),
                                         [=](benchmark::State& s) { run(s, n, more...); });
        }
    };
    const auto add_sum = [&](const char* name, sum_of f) {
        add(sums, name, [f](benchmark::State& s, std::uint64_t n) { sum(s, f, n); });
    };
    add_sum("waybill", by_ours);
    add_sum("Boost.CRC", by_boost);
    add_sum("one table, by hand", by_hand);
    if (has_instruction()) add_sum("the processor's instruction", by_instruction);
    add(states, "a copy and its checksum", copied);
    add(states, "seal_state", sealed);
    add(states, "open_state", opened);
    add(states, "write_text_state", write_text, false);
    add(states, "read_text_state", read_text, false);
    add(states, "write_text_state, failed and cut", write_text, true);
    add(states, "read_text_state, failed", read_text, true);
    if (!bench::start({"--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=9",
                       "--benchmark_min_time=0.02"},
                      argc, argv)) {
        return 2;
    }
    table out;
    benchmark::RunSpecifiedBenchmarks(&out);
    out.print("CRC-32C, GB/s", sums, true);
    out.print("a state, ns", states, false);
    benchmark::Shutdown();
    return out.failed ? 1 : 0;
}
