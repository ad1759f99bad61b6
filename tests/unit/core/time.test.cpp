// SPDX-License-Identifier: MIT

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ostream>
#include <ratio>
#include <type_traits>

#include <doctest/doctest.h>

#include <waybill/core/time.hpp>

namespace time_test {

using waybill::duration;
using waybill::steady_time;
using waybill::wall_time;
namespace chrono = std::chrono;
using namespace std::chrono_literals;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

// Every unit of chrono's.
static_assert(duration(7ns).count() == 7);
static_assert(duration(7us).count() == 7'000);
static_assert(duration(7ms).count() == 7'000'000);
static_assert(duration(7s).count() == 7'000'000'000);
static_assert(duration(7min).count() == 420'000'000'000);
static_assert(duration(7h).count() == 25'200'000'000'000);
static_assert(duration(chrono::days(1)).count() == 86'400'000'000'000);
static_assert(duration(chrono::weeks(1)) == duration(chrono::days(7)));
static_assert(duration(chrono::years(1)).count() == 31'556'952'000'000'000);
static_assert(duration(chrono::duration<int, std::ratio<1, 3>>(2)).count() == 666'666'666);
static_assert(duration(chrono::duration<std::int64_t, std::ratio<1, 90'000>>(90'000)) ==
              duration(1s));
static_assert(duration(-7ms).count() == -7'000'000);

// Finer than a nanosecond: towards zero.
using picoseconds = chrono::duration<std::int64_t, std::pico>;
static_assert(duration(picoseconds(1'999)).count() == 1);
static_assert(duration(picoseconds(-1'999)).count() == -1);
static_assert(duration(picoseconds(highest)).count() == highest / 1'000);
static_assert(static_cast<picoseconds>(duration(3ns)).count() == 3'000);
static_assert(static_cast<picoseconds>(duration::highest()).count() == highest);
static_assert(static_cast<picoseconds>(duration::lowest()).count() == lowest);

// Unsigned counts, up to their maximum: exact if nanoseconds can express them.
static_assert(duration(chrono::duration<std::uint64_t, std::nano>(~0ULL)) == duration::highest());
static_assert(duration(chrono::duration<std::uint64_t, std::pico>(~0ULL)).count() ==
              18'446'744'073'709'551);
static_assert(duration(chrono::duration<std::uint64_t>(~0ULL)) == duration::highest());
static_assert(duration(chrono::duration<unsigned char>(255)) == duration(255s));
static_assert(duration(chrono::duration<std::uint32_t, std::milli>(~0U)).count() ==
              4'294'967'295'000'000);

// Too long for 64-bit nanoseconds: the limit, never an overflow.
static_assert(duration(chrono::hours(highest)) == duration::highest());
static_assert(duration(chrono::hours(lowest)) == duration::lowest());
static_assert(duration(chrono::years(1'000)) == duration::highest());
static_assert(duration(chrono::years(-1'000)) == duration::lowest());
static_assert(duration(chrono::microseconds::max()) == duration::highest());
static_assert(duration(chrono::microseconds::min()) == duration::lowest());
static_assert(duration(chrono::duration<std::int64_t, std::exa>(1)) == duration::highest());
static_assert(duration(chrono::duration<std::int64_t, std::exa>(-1)) == duration::lowest());
static_assert(duration(chrono::duration<std::int64_t, std::exa>(0)) == duration{});
static_assert(duration(chrono::duration<int, std::ratio<1'000'000'000'000'000'000, 7>>(3)) ==
              duration::highest());

// Floating counts: truncated and clamped.
using seconds_double = chrono::duration<double>;
using seconds_float = chrono::duration<float>;
static_assert(duration(seconds_double(1.5)) == duration(1'500ms));
static_assert(duration(seconds_float(-0.5F)) == duration(-500ms));
static_assert(duration(chrono::duration<double, std::nano>(1.999)).count() == 1);
static_assert(duration(chrono::duration<double, std::nano>(-1.999)).count() == -1);
static_assert(duration(seconds_double(1e30)) == duration::highest());
static_assert(duration(seconds_double(-1e30)) == duration::lowest());
static_assert(duration(seconds_double(std::numeric_limits<double>::infinity())) ==
              duration::highest());
static_assert(duration(seconds_float(-std::numeric_limits<float>::infinity())) ==
              duration::lowest());
static_assert(duration(chrono::duration<double, std::nano>(9223372036854775807.0)) ==
              duration::highest());
static_assert(static_cast<seconds_double>(duration(1'500ms)).count() == 1.5);

// The reverse: towards zero if the unit is coarser, clamped if the count is narrower.
static_assert(static_cast<chrono::seconds>(duration(1'999ms)) == 1s);
static_assert(static_cast<chrono::seconds>(duration(-1'999ms)) == -1s);
static_assert(static_cast<chrono::nanoseconds>(duration::highest()).count() == highest);
static_assert(static_cast<chrono::duration<std::int8_t>>(duration(1h)).count() == 127);
static_assert(static_cast<chrono::duration<std::int8_t>>(duration(-1h)).count() == -128);
static_assert(static_cast<chrono::duration<std::int32_t>>(duration::highest()).count() ==
              2'147'483'647);
static_assert(static_cast<chrono::duration<std::uint8_t>>(duration(-1s)).count() == 0);
static_assert(static_cast<chrono::duration<std::uint16_t>>(duration(24h)).count() == 65'535);
static_assert(static_cast<chrono::duration<std::uint64_t>>(duration(-1s)).count() == 0);

// Named makers saturate.
static_assert(duration::seconds(highest) == duration::highest());
static_assert(duration::seconds(lowest) == duration::lowest());
static_assert(duration::milliseconds(9'223'372'036'855) == duration::highest());
static_assert(duration::milliseconds(9'223'372'036'854).count() == 9'223'372'036'854'000'000);
static_assert(duration{}.count() == 0);

// Sums and differences, at both ends.
constexpr duration one = duration::nanoseconds(1);
static_assert(duration::highest() + one == duration::highest());
static_assert(duration::lowest() - one == duration::lowest());
static_assert(duration::lowest() + duration::nanoseconds(-1) == duration::lowest());
static_assert(duration::highest() - duration::lowest() == duration::highest());
static_assert(duration::lowest() - duration::highest() == duration::lowest());
static_assert((duration{} - duration::lowest()) == duration::highest());
static_assert((duration::nanoseconds(-1) - duration::lowest()).count() == highest);
static_assert((duration::highest() + duration::lowest()).count() == -1);
static_assert(duration::highest() * 2.0 == duration::highest());
static_assert(duration::highest() * -2.0 == duration::lowest());
static_assert(duration::lowest() * 2.0 == duration::lowest());
static_assert(duration(3s) * 0.5 == duration(1'500ms));
static_assert(duration(-1s) < duration{} && duration{} < one && one <= one);

// An integer multiplies and divides exactly, from either side and at both ends.
static_assert(duration::nanoseconds(highest / 3) * 3 ==
              duration::nanoseconds(highest - highest % 3));
static_assert(2 * duration(3s) == duration(6s) && duration(3s) * 2U == duration(6s));
static_assert(0.5 * duration(3s) == duration(1'500ms));
static_assert(-3 * duration::nanoseconds(7) == duration::nanoseconds(-21));
static_assert(duration::nanoseconds(-7) * -3 == duration::nanoseconds(21));
static_assert(duration::highest() * 2 == duration::highest());
static_assert(duration::highest() * -1 == duration::nanoseconds(-highest));
static_assert(duration::highest() * -2 == duration::lowest());
static_assert(duration::lowest() * 1 == duration::lowest());
static_assert(duration::lowest() * -1 == duration::highest());
static_assert(one * ~0ULL == duration::highest() && -one * ~0ULL == duration::lowest());
static_assert(-one * (1ULL << 63) == duration::lowest());
static_assert(duration{} * ~0ULL == duration{} && duration::lowest() * 0 == duration{});
static_assert(one * lowest == duration::lowest());
static_assert(duration(7s) / 2 == duration(3'500ms) && duration::nanoseconds(-7) / 2 == -one * 3);
static_assert(duration(7s) / -7 == duration(-1s) && duration(-7s) / 7ULL == duration(-1s));
static_assert(duration::lowest() / -1 == duration::highest());
static_assert(duration::lowest() / lowest == one && duration::highest() / lowest == duration{});
static_assert(duration(1s) / 0 == duration::highest() && duration(-1s) / 0 == duration::lowest());
static_assert(duration{} / 0 == duration{} && duration{} / 0.0 == duration{});
static_assert(duration(1s) / 0.0 == duration::highest() &&
              duration(-1s) / 0.0 == duration::lowest());
static_assert(duration(1s) / 0.25 == duration(4s) && duration(1s) / -0.5 == duration(-2s));
static_assert(duration(1s) / 1e-30 == duration::highest());
static_assert(duration(1s) / std::numeric_limits<double>::infinity() == duration{});
static_assert(-duration::lowest() == duration::highest() && -duration(1s) == duration(-1s));
static_assert(-duration::highest() == duration::nanoseconds(-highest) && -duration{} == duration{});

constexpr duration added(duration d, duration more)
{
    d += more;
    d -= one;
    return d;
}
static_assert(added(1s, 2s) == duration(3s) - one);
static_assert(added(duration::highest(), 1s) == duration::highest() - one);

constexpr steady_time moved(steady_time t, duration by)
{
    t += by;
    t -= one;
    return t;
}
static_assert(moved(steady_time::at(1s), 2s) == steady_time::at(duration(3s) - one));
static_assert(moved(steady_time::lowest(), -one) == steady_time::lowest());

// Equal times have equal hashes, and neighbours differ in both halves.
static_assert(std::hash<duration>()(1s) == std::hash<duration>()(1'000ms));
static_assert(std::hash<duration>()(1s) != std::hash<duration>()(2s));
static_assert(std::hash<steady_time>()(steady_time::at(1s)) == std::hash<duration>()(1s));
static_assert(std::hash<wall_time>()(wall_time::at(1s)) != std::hash<wall_time>()(wall_time{}));

// Points: the same ends, and only differences within one clock.
static_assert(steady_time::highest() + one == steady_time::highest());
static_assert(steady_time::lowest() - one == steady_time::lowest());
static_assert(steady_time::highest() - steady_time::lowest() == duration::highest());
static_assert(steady_time::lowest() - steady_time::highest() == duration::lowest());
static_assert(steady_time::at(5s) - steady_time::at(2s) == duration(3s));
static_assert(steady_time{} == steady_time::at({}) && steady_time{} < steady_time::at(one));
static_assert(steady_time::at(2s).since_epoch() == duration(2s));
static_assert(waybill::detail::earlier(steady_time::at(1s), steady_time::at(2s)) ==
              steady_time::at(1s));
static_assert(waybill::detail::later(steady_time::at(1s), steady_time::at(2s)) ==
              steady_time::at(2s));
static_assert(waybill::detail::earlier(wall_time::at(2s), wall_time::at(1s)) == wall_time::at(1s));
static_assert(waybill::detail::later(wall_time::at(2s), wall_time::at(1s)) == wall_time::at(2s));
static_assert(waybill::detail::lesser(duration(2s), duration(1s)) == duration(1s));
static_assert(waybill::detail::greater(duration(2s), duration(1s)) == duration(2s));

template <class A, class B>
concept subtracts = requires(A a, B b) { a - b; };
template <class A, class B>
concept adds = requires(A a, B b) { a + b; };
template <class A, class B>
concept compares = requires(A a, B b) { a == b; };

template <class T>
concept prints = requires(std::ostream& out, const T& t) { out << t; };

// A duration has no obvious unit, so it is not printed; tests can check that: compile_fail/.
static_assert(prints<int> && !prints<duration> && !prints<wall_time> && !prints<steady_time>);

// Different types do not mix.
static_assert(!std::convertible_to<int, duration> && !std::constructible_from<duration, int>);
static_assert(!std::constructible_from<duration, std::int64_t> &&
              !std::constructible_from<duration, double>);
static_assert(!std::constructible_from<steady_time, int> &&
              !std::constructible_from<wall_time, int>);
static_assert(!std::constructible_from<steady_time, duration>);
static_assert(!std::constructible_from<steady_time, wall_time> &&
              !std::constructible_from<wall_time, steady_time>);
static_assert(!subtracts<steady_time, wall_time> && !compares<steady_time, wall_time>);
static_assert(!adds<steady_time, steady_time> && subtracts<steady_time, steady_time>);
static_assert(std::convertible_to<chrono::steady_clock::time_point, steady_time>);
static_assert(!std::constructible_from<steady_time, chrono::system_clock::time_point>);
static_assert(std::convertible_to<chrono::system_clock::time_point, wall_time>);
static_assert(!std::constructible_from<wall_time, chrono::steady_clock::time_point>);
static_assert(!std::convertible_to<duration, chrono::seconds> &&
              std::constructible_from<chrono::seconds, duration>);
static_assert(!std::constructible_from<chrono::system_clock::time_point, steady_time>);
static_assert(std::convertible_to<chrono::sys_days, wall_time>);

#ifdef __GLIBCXX__
// Here the epoch of files is in the year 2174, and must not be taken for that of Unix.
static_assert(!std::constructible_from<wall_time, chrono::file_clock::time_point>);
static_assert(!std::constructible_from<steady_time, chrono::file_clock::time_point>);
#endif

#ifdef __SIZEOF_INT128__
// Counts of 128 bits, as libc++'s clock of files has.
__extension__ using int128 = __int128;
using wide = chrono::duration<int128, std::pico>;
static_assert(duration(wide(int128{highest} * 1'000 + 999)).count() == highest);
static_assert(duration(wide(int128{highest} * 1'001)) == duration::highest());
static_assert(duration(wide(int128{lowest} * 1'001)) == duration::lowest());
static_assert(duration(wide(-1'999)).count() == -1);
#endif

TEST_CASE("time: converts from std::chrono clocks and back")
{
    const auto s = chrono::steady_clock::now();
    CHECK(chrono::steady_clock::time_point(steady_time(s)) == s);
    const auto w = chrono::system_clock::now();
    CHECK(chrono::system_clock::time_point(wall_time(w)) == w);
    CHECK(wall_time(chrono::system_clock::from_time_t(86'400)) == wall_time::at(24h));
    CHECK(wall_time(chrono::sys_days(chrono::days(1))) == wall_time::at(24h));
}

// Not in a constant expression: clang permits no NaN there.
TEST_CASE("time: NaN becomes zero for float, double and factors")
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(duration(seconds_double(nan)) == duration{});
    CHECK(duration(seconds_float(static_cast<float>(nan))) == duration{});
    CHECK(duration(3s) * nan == duration{});
}

TEST_CASE("time: a saturated sum or difference keeps the order")
{
    const std::int64_t some[] = {lowest, lowest + 1, -1'000, -1, 0, 1, 1'000, highest - 1, highest};
    for (const std::int64_t a : some) {
        for (const std::int64_t b : some) {
            const duration x = duration::nanoseconds(a), y = duration::nanoseconds(b);
            CHECK(x + y == y + x);
            CHECK(((x + y >= x) == (b >= 0) || b == 0 || x + y == x));
            CHECK((b < 0 || x + y >= x));
            CHECK((b > 0 || x + y <= x));
            CHECK((b < 0 || x - y <= x));
            CHECK((b > 0 || x - y >= x));
            CHECK((x > y) == (x - y > duration{}));
        }
    }
}

}  // namespace time_test
