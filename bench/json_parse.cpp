// SPDX-License-Identifier: MIT
//
// bench/json_parse: the time of parse_json_text, relative to nlohmann::json::parse without a
// callback, which has no limits and accepts an object with two members of the same name.
//
// Five shapes of text, each of 1 KB to 10 MB. One operation is one byte. Texts of 10 MB are
// measured with fewer repetitions, and their instructions are not counted, because that takes too
// long under callgrind.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "measure.hpp"
#include <waybill/ext/json/parse.hpp>

namespace json_parse_bench {
namespace {

std::string array_of_small_objects(std::size_t bytes)
{
    std::string all = "[";
    for (std::uint64_t n = 0; all.size() < bytes; ++n) {
        all += "{\"id\":" + std::to_string(n) + ",\"name\":\"item " + std::to_string(n % 977) +
               "\",\"ok\":true},";
    }
    all.back() = ']';
    return all;
}

std::string object_of_objects(std::size_t bytes)
{
    std::string all = "{";
    for (std::uint64_t n = 0; all.size() < bytes; ++n) {  // the names are in no order
        all += "\"order " + std::to_string(n * 2'654'435'761 % 4'294'967'296) +
               "\":{\"lines\":3,\"total\":" + std::to_string(n) + "},";
    }
    all.back() = '}';
    return all;
}

std::string deep_nesting(std::size_t bytes)
{
    constexpr std::size_t levels = 127;
    std::string all = "[";
    while (all.size() < bytes) {
        const std::size_t half = std::min(levels, bytes / 10);
        for (std::size_t n = 0; n != half; ++n) all += "{\"a\":[";
        all += "1";
        for (std::size_t n = 0; n != half; ++n) all += "]}";
        all += ',';
    }
    all.back() = ']';
    return all;
}

std::string long_strings(std::size_t bytes)
{
    std::string all = "[";
    while (all.size() < bytes) {
        const std::size_t length = std::min<std::size_t>(8'192, bytes / 2);
        all += '"';
        for (std::size_t n = 0; n < length; n += 32) {
            all += "the quick brown fox\\n gr\xC3\xBC\xC3\x9F 12 ";
        }
        all += "\",";
    }
    all.back() = ']';
    return all;
}

std::string numbers(std::size_t bytes)
{
    std::string all = "[";
    for (std::uint64_t n = 0; all.size() < bytes; ++n) {
        all += std::to_string(n * 7'919);
        if (n % 2 == 0) all += ".25";
        all += ',';
    }
    all.back() = ']';
    return all;
}

struct shape {
    const char* name;
    std::string (*make)(std::size_t bytes);
};

constexpr shape shapes[] = {
    {"array of small objects", array_of_small_objects},
    {"object of objects", object_of_objects},
    {"deep nesting", deep_nesting},
    {"long strings", long_strings},
    {"numbers", numbers},
};

struct text {
    const char* shape;
    std::string bytes;
    std::string ours;  // names of the benchmarks
    std::string peer;
};

std::vector<text> make_texts()
{
    std::vector<text> all;
    for (const shape& s : shapes) {
        for (std::size_t bytes = 1'000; bytes <= 10'000'000; bytes *= 10) {
            const std::string name = std::string(s.name) + "/" + std::to_string(bytes);
            all.push_back({s.name, s.make(bytes), name + "/waybill", name + "/nlohmann"});
        }
    }
    return all;
}

void add(bench::runner& all, const text& t)
{
    const auto operations = static_cast<double>(t.bytes.size());
    bench::run_options options;
    if (t.bytes.size() > 5'000'000) options = {.counted = false, .repetitions = 5};
    const auto ours = [&t](benchmark::State& state) {
        for ([[maybe_unused]] auto r : state) {
            benchmark::DoNotOptimize(waybill::parse_json_text(t.bytes));
        }
    };
    const auto peer = [&t](benchmark::State& state) {
        for ([[maybe_unused]] auto r : state) {
            benchmark::DoNotOptimize(nlohmann::json::parse(t.bytes));
        }
    };
    all.add(t.ours, operations, ours, options);
    all.add(t.peer, operations, peer, options);
}

/// Prints one row for each text.
void print(const bench::runner& all, const std::vector<text>& texts)
{
    std::printf("\n%-24s %9s %9s %9s %6s %13s %13s %6s\n", "", "", "ns/byte", "", "",
                "instructions", "per byte", "");
    std::printf("%-24s %9s %9s %9s %6s %13s %13s %6s\n", "", "bytes", "waybill", "nlohmann",
                "ratio", "waybill", "nlohmann", "ratio");
    for (const text& t : texts) {
        const bench::figures ours = all.at(t.ours);
        const bench::figures peer = all.at(t.peer);
        const double ns = all.noisy() ? 0 : ours.ns;
        const double peer_ns = all.noisy() ? 0 : peer.ns;
        std::printf("%-24s %9zu %9s %9s %6s %13s %13s %6s\n", t.shape, t.bytes.size(),
                    bench::cell(ns, 2).c_str(), bench::cell(peer_ns, 2).c_str(),
                    bench::cell(ns / peer_ns, 2).c_str(), bench::cell(ours.instructions, 1).c_str(),
                    bench::cell(peer.instructions, 1).c_str(),
                    bench::cell(ours.instructions / peer.instructions, 2).c_str());
    }
}

/// The highest ratio of the times.
double highest_ratio(const bench::runner& all, const std::vector<text>& texts)
{
    double highest = 0;
    for (const text& t : texts) {
        const double peer = all.at(t.peer).ns;
        if (peer > 0) highest = std::max(highest, all.at(t.ours).ns / peer);
    }
    return highest;
}

}  // namespace
}  // namespace json_parse_bench

int main(int argc, char** argv)
{
    using namespace json_parse_bench;
    const std::vector<text> texts = make_texts();
    bench::runner all(argc, argv);
    for (const text& t : texts) add(all, t);
    if (!all.run("long strings/10000/nlohmann")) return 2;
    for (const text& t : texts) {
        if (*waybill::parse_json_text(t.bytes) == nlohmann::json::parse(t.bytes)) continue;
        std::fprintf(stderr, "%s, %zu bytes: the results differ\n", t.shape, t.bytes.size());
        return 1;
    }
    all.print_spread();
    print(all, texts);
    if (!all.noisy()) {
        std::printf("\nall ratios of times at most 1.3: %s\n",
                    highest_ratio(all, texts) <= 1.3 ? "yes" : "no");
    }
    return all.failed() ? 1 : 0;
}
