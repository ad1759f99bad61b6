// SPDX-License-Identifier: MIT
//
// Time arithmetic against 128 bits, which do not saturate.

#include <chrono>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>

namespace time_prop {

#ifdef __SIZEOF_INT128__

__extension__ using wide = __int128;
using waybill::duration;

namespace {

std::int64_t clamp(wide n)
{
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
    if (n < lowest) return lowest;
    if (n > highest) return highest;
    return static_cast<std::int64_t>(n);
}

// All magnitudes with equal probability.
rc::Gen<std::int64_t> numbers()
{
    return rc::gen::map(
        rc::gen::pair(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(0, 64)),
        [](const auto& p) { return static_cast<std::int64_t>(p.first) >> p.second; });
}

template <class Unit>
void converts(std::int64_t n)
{
    using per = typename Unit::period;
    const wide exact = wide{n} * per::num * 1'000'000'000 / per::den;
    RC_ASSERT(duration(Unit(n)).count() == clamp(exact));
    const duration d = duration::nanoseconds(n);
    const wide back = wide{n} * per::den / (wide{per::num} * 1'000'000'000);
    RC_ASSERT(static_cast<Unit>(d).count() == clamp(back));
}

}  // namespace

TEST_CASE("time: sums and differences are exact or saturate")
{
    CHECK(rc::check("sums", [] {
        const std::int64_t a = *numbers(), b = *numbers();
        const duration x = duration::nanoseconds(a), y = duration::nanoseconds(b);
        RC_ASSERT((x + y).count() == clamp(wide{a} + b));
        RC_ASSERT((x - y).count() == clamp(wide{a} - b));
        RC_ASSERT(duration::milliseconds(a).count() == clamp(wide{a} * 1'000'000));
        RC_ASSERT(duration::seconds(a).count() == clamp(wide{a} * 1'000'000'000));
    }));
}

TEST_CASE("time: every unit converts exactly, rounded towards zero, or saturates")
{
    CHECK(rc::check("units", [] {
        const std::int64_t n = *numbers();
        converts<std::chrono::duration<std::int64_t, std::pico>>(n);
        converts<std::chrono::duration<std::int64_t, std::nano>>(n);
        converts<std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>>(n);
        converts<std::chrono::duration<std::int64_t, std::micro>>(n);
        converts<std::chrono::duration<std::int64_t, std::ratio<1, 90'000>>>(n);
        converts<std::chrono::duration<std::int64_t, std::ratio<1'001, 30'000>>>(n);
        converts<std::chrono::duration<std::int64_t, std::milli>>(n);
        converts<std::chrono::duration<std::int64_t>>(n);
        converts<std::chrono::duration<std::int64_t, std::ratio<3'600>>>(n);
        converts<std::chrono::duration<std::int64_t, std::ratio<31'556'952>>>(n);
    }));
}

#endif

}  // namespace time_prop
