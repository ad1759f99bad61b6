// SPDX-License-Identifier: MIT

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <doctest/doctest.h>

#include <waybill/ext/chrono.hpp>

namespace to_chrono_test {

using namespace waybill;
using namespace std::chrono_literals;
namespace chrono = std::chrono;

static_assert(std::same_as<decltype(duration().to_chrono()), chrono::nanoseconds>);
static_assert(std::same_as<decltype(steady_time().to_chrono()), chrono::steady_clock::time_point>);
static_assert(std::same_as<decltype(wall_time().to_chrono()), chrono::system_clock::time_point>);
static_assert(duration(1'500ms).to_chrono() == 1'500ms);
static_assert(duration::highest().to_chrono() == chrono::nanoseconds::max());
static_assert(duration::lowest().to_chrono() == chrono::nanoseconds::min());
static_assert(steady_time::at(5s).to_chrono().time_since_epoch() == 5s);
static_assert(wall_time::at(5h).to_chrono().time_since_epoch() == 5h);

TEST_CASE("to_chrono returns the time point that the time was made from")
{
    const auto steady = chrono::steady_clock::now();
    const auto wall = chrono::system_clock::now();
    CHECK(steady_time(steady).to_chrono() == steady);
    CHECK(wall_time(wall).to_chrono() == wall);
}

TEST_CASE("times are keys of unordered containers")
{
    std::unordered_map<duration, int> counts;
    for (const duration d : {duration(1s), duration(2s), duration(1'000ms)}) ++counts[d];
    CHECK(counts.size() == 2);
    CHECK(counts[1s] == 2);
    std::unordered_set<steady_time> times{steady_time::at(1s), steady_time::at(1s)};
    CHECK(times.size() == 1);
    // Times in steps of a power of two, as a coarse clock has them, do not collide.
    std::unordered_set<std::size_t> hashes;
    for (std::int64_t n = 0; n != 1'000; ++n)
        hashes.insert(std::hash<wall_time>()(wall_time::at(duration::nanoseconds(n << 20))) %
                      4'096);
    CHECK(hashes.size() > 800);
}

}  // namespace to_chrono_test
