// SPDX-License-Identifier: MIT

#include <chrono>

#include <doctest/doctest.h>

#include <waybill/core/detail/time_source.hpp>

namespace time_source_test {

using waybill::duration;
using waybill::steady_time;
using waybill::detail::time_of;
using waybill::detail::time_source;

constexpr auto fixed = [] { return steady_time::at(duration::seconds(3)); };
static_assert(time_source<steady_time> && time_source<decltype(fixed)>);
static_assert(time_source<std::chrono::steady_clock::time_point>);
static_assert(time_source<decltype(&std::chrono::steady_clock::now)>);
static_assert(!time_source<decltype(&std::chrono::system_clock::now)>);
static_assert(!time_source<int> && !time_source<waybill::wall_time> && !time_source<duration>);
static_assert(time_of(fixed) == steady_time::at(duration::seconds(3)));

TEST_CASE("time_source: a function is called each time, a time point stays constant")
{
    auto ticking = [n = std::int64_t{0}]() mutable {
        return steady_time::at(duration::seconds(++n));
    };
    CHECK(time_of(ticking) == steady_time::at(duration::seconds(1)));
    CHECK(time_of(ticking) == steady_time::at(duration::seconds(2)));
    const steady_time still = steady_time::at(duration::seconds(9));
    CHECK(time_of(still) == still);
    CHECK(time_of(still) == still);
    auto real = &std::chrono::steady_clock::now;
    const steady_time a = time_of(real), b = time_of(real);
    CHECK(a <= b);
}

}  // namespace time_source_test
