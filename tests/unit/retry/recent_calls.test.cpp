// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>

#include <doctest/doctest.h>

#include <waybill/retry/detail/recent_calls.hpp>

namespace recent_calls_test {
namespace {

using namespace std::chrono_literals;
using waybill::duration;
using waybill::steady_time;
using waybill::detail::recent_calls;

constexpr steady_time s(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

// True if it has these counts at this time.
constexpr bool holds(recent_calls r, steady_time at, std::uint64_t calls, std::uint64_t failed)
{
    r.advance_to(at);
    return r.calls() == calls && r.failed() == failed;
}

// A tenth of the period counts until ten more have begun.
static_assert([] {
    recent_calls r(10s);
    r.record(true, s(0));
    r.record(false, s(0) + 999ms);
    r.record(true, s(1));
    return holds(r, s(1), 3, 2) && holds(r, s(9), 3, 2) && holds(r, s(10), 1, 1) &&
           holds(r, s(11), 0, 0) && holds(r, s(1'000'000), 0, 0) &&
           holds(r, steady_time::highest(), 0, 0);
}());

// The grid is that of the clock, also before its zero. Intermediate times do not change it.
static_assert([] {
    recent_calls r(10s);
    r.record(true, s(-3) - 1ns);
    r.record(true, s(-3));
    recent_calls often = r;
    for (int at = -3; at != 6; ++at) often.advance_to(s(at));
    return holds(r, s(5), 2, 2) && holds(r, s(6), 1, 1) && holds(r, s(7), 0, 0) &&
           holds(often, s(6), 1, 1) && holds(often, s(7), 0, 0);
}());

// A time from the past counts as the latest.
static_assert([] {
    recent_calls r(10s);
    r.record(false, s(100));
    r.record(true, s(0));
    return holds(r, s(109), 2, 1) && holds(r, s(110), 0, 0);
}());

static_assert([] {
    for (const duration d : {duration::lowest(), duration{}, duration(1ns), duration::highest()}) {
        recent_calls r(d);
        for (const steady_time at : {steady_time::lowest(), s(0), steady_time::highest()}) {
            r.record(true, at);
            r.record(false, at);
            if (r.calls() < 2 || r.failed() == 0) return false;
        }
        r.clear();
        if (r.calls() != 0 || r.failed() != 0) return false;
    }
    return true;
}());

TEST_CASE("recent_calls: copies are equal until one of them records a call")
{
    recent_calls r(1s);
    recent_calls other = r;
    CHECK(r == other);
    r.record(true, s(1));
    CHECK(r != other);
}

}  // namespace
}  // namespace recent_calls_test
