// SPDX-License-Identifier: MIT
//
// A permit in a scope that ends by an exception, an early return or a dropped callback.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/retry/scoped_permit.hpp>

namespace scoped_permit_test {
namespace {

using waybill::circuit_breaker;
using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using waybill::scoped_permit;
using waybill::steady_time;

using small_breaker = waybill::circuit_breaker_of<8>;

constexpr steady_time s(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

// Shut at 0, and probing from 5 on. A permit times out after 60 s.
small_breaker probing()
{
    small_breaker v({.minimum_throughput = 1});
    v.record(*v.try_acquire(s(0)), fault_kind::infrastructure, s(0));
    return v;
}

struct clock_at {
    std::int64_t now;
    steady_time operator()() const { return s(now); }
};
using small_permit = scoped_permit<small_breaker, clock_at>;
static_assert(!std::is_copy_constructible_v<small_permit> &&
              std::is_move_constructible_v<small_permit>);

TEST_CASE("scoped_permit: a probe that throws opens the circuit breaker at once")
{
    small_breaker v = probing();
    CHECK(v.state(s(5)) == circuit_breaker::circuit_state::half_open);
    try {
        const scoped_permit pass(v, clock_at{5});
        REQUIRE(pass);
        throw std::runtime_error("out of order");
    } catch (const std::runtime_error&) {
    }
    CHECK(v.state(s(5)) == circuit_breaker::circuit_state::open);
    CHECK(v.next_change(s(5)) == s(15));  // the second pause
    CHECK(v.room(s(15)) == 1);
}

// For comparison: the same with a bare permit.
TEST_CASE("scoped_permit: a lost bare permit keeps the circuit breaker half open until its timeout")
{
    small_breaker v = probing();
    CHECK(v.try_acquire(s(5)));
    CHECK(v.state(s(64)) == circuit_breaker::circuit_state::half_open);
    CHECK(v.room(s(64)) == 0);
    CHECK(v.state(s(65)) == circuit_breaker::circuit_state::open);
}

TEST_CASE("scoped_permit: a dropped permit counts as failed, a recorded one as recorded")
{
    for (const bool reports : {true, false}) {
        small_breaker v({.failure_ratio = 0.5, .minimum_throughput = 3});
        for (int n = 0; n != 3; ++n) {
            scoped_permit pass(v, [] { return s(1); });
            if (reports) CHECK(pass.record(fault_kind::none) == event_result::applied);
            CHECK(static_cast<bool>(pass) != reports);
        }
        CHECK(v.state(s(1)) == (reports ? circuit_breaker::circuit_state::closed
                                        : circuit_breaker::circuit_state::open));
    }
}

TEST_CASE("scoped_permit: records one result, and none without a permit")
{
    small_breaker v = probing();
    scoped_permit none(v, clock_at{1});
    CHECK(!none);
    CHECK(none.record(fault_kind::none) == event_result::stale);
    const small_breaker before = v;
    {
        scoped_permit pass(v, clock_at{5});
        CHECK(pass.record(fault_kind::cancelled) == event_result::applied);
        CHECK(pass.record(fault_kind::infrastructure) == event_result::stale);
    }
    CHECK(v.state(s(5)) == circuit_breaker::circuit_state::half_open);
    CHECK(v.room(s(5)) == 1);
    CHECK(before.state(s(5)) == circuit_breaker::circuit_state::half_open);
}

TEST_CASE("scoped_permit: a moved permit is recorded when its new owner is destroyed")
{
    small_breaker v = probing();
    std::optional<small_permit> later;
    {
        small_permit pass(v, clock_at{5});
        later.emplace(std::move(pass));
        CHECK(!pass);
    }
    CHECK(v.state(s(5)) == circuit_breaker::circuit_state::half_open);
    CHECK(v.room(s(5)) == 0);
    later.reset();
    CHECK(v.state(s(5)) == circuit_breaker::circuit_state::open);
    CHECK(v.next_change(s(5)) == s(15));
}

TEST_CASE("scoped_permit: a permit dropped after its timeout changes nothing")
{
    small_breaker v = probing();
    {
        std::int64_t now = 5;
        const scoped_permit pass(v, [&now]() noexcept { return s(now); });
        REQUIRE(pass);
        now = 100;
    }
    CHECK(v.state(s(100)) ==
          circuit_breaker::circuit_state::half_open);  // shut at 65 by the timeout, for 10 s
    CHECK(v.room(s(100)) == 1);
}

TEST_CASE("scoped_permit: a clock that throws during another exception does not end the process")
{
    small_breaker v = probing();
    bool broken = false;
    const auto clock = [&broken]() {
        if (broken) throw std::runtime_error("no clock");
        return s(5);
    };
    try {
        const scoped_permit pass(v, clock);
        broken = true;
        throw std::logic_error("out of order");
    } catch (const std::logic_error&) {
    }
    CHECK(v.state(s(5)) == circuit_breaker::circuit_state::open);  // since the permit, at 5
    CHECK(v.next_change(s(5)) == s(15));
}

TEST_CASE("scoped_permit: a clock that throws in record keeps the permit, which counts as failed")
{
    small_breaker v = probing();
    bool broken = false;
    {
        scoped_permit pass(v, [&broken]() {
            if (broken) throw std::runtime_error("no clock");
            return s(5);
        });
        broken = true;
        CHECK_THROWS_AS((void)pass.record(fault_kind::none), std::runtime_error);
        CHECK(pass);
    }
    CHECK(v.state(s(5)) == circuit_breaker::circuit_state::open);
}

TEST_CASE("scoped_permit: with a clock that is noexcept, a failure has the time of its end")
{
    small_breaker v = probing();
    std::int64_t now = 5;
    {
        const scoped_permit pass(v, [&now]() noexcept { return s(now); });
        now = 20;
    }
    CHECK(v.next_change(s(20)) == s(30));
}

}  // namespace
}  // namespace scoped_permit_test
