// SPDX-License-Identifier: MIT
//
// bench/json_parse: the time of parse_json_text, relative to nlohmann::json::parse without a
// callback, which limits nothing and accepts a name that an object has twice.
//
// Five shapes of text, each of 1 KB to 10 MB. Both take turns in one run, measured by the
// processor's time, and the ratio is that of their best rounds. The argument is the number of
// rounds. A text of 10 MB has a tenth of them, but at least 9.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

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

/// Nanoseconds of the processor, whatever else it works on meanwhile.
double used()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <class F>
double once(std::uint64_t times, F&& f)
{
    const double begin = used();
    for (std::uint64_t n = 0; n != times; ++n) f();
    return (used() - begin) / static_cast<double>(times);
}

/// Whether the ratio is at most 1.3.
bool compare(const shape& s, std::size_t bytes, int rounds)
{
    const std::string text = s.make(bytes);
    if (*waybill::parse_json_text(text) != nlohmann::json::parse(text)) std::abort();
    const auto ours = [&] { benchmark::DoNotOptimize(waybill::parse_json_text(text)); };
    const auto peer = [&] { benchmark::DoNotOptimize(nlohmann::json::parse(text)); };
    double least = once(1, peer);
    const auto times = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(1e6 / least));
    double of_peer = once(times, peer);
    double of_ours = once(times, ours);
    for (int n = 0; n != (bytes > 5'000'000 ? std::max(9, rounds / 10) : rounds); ++n) {
        of_peer = std::min(of_peer, once(times, peer));
        of_ours = std::min(of_ours, once(times, ours));
    }
    const double ratio = of_ours / of_peer;
    std::printf("%-24s %9zu %12.0f %12.0f %7.2f\n", s.name, text.size(), of_ours, of_peer, ratio);
    return ratio <= 1.3;
}

}  // namespace
}  // namespace json_parse_bench

int main(int argc, char** argv)
{
    using namespace json_parse_bench;
    const int rounds = argc > 1 ? std::max(3, std::atoi(argv[1])) : 51;
    std::printf("%-24s %9s %12s %12s %7s\n", "", "bytes", "ns", "peer ns", "ratio");
    bool within = true;
    for (const shape& s : shapes) {
        for (std::size_t bytes = 1'000; bytes <= 10'000'000; bytes *= 10) {
            within = compare(s, bytes, rounds) && within;
        }
    }
    std::printf(within ? "at most 1.3 everywhere\n" : "more than 1.3 somewhere\n");
    return 0;
}
