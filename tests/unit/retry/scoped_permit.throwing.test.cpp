// SPDX-License-Identifier: MIT
//
// A permit whose call is left by an exception, an early return or a dropped callback.

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <waybill/retry/scoped_permit.hpp>
#include <waybill/retry/valve.hpp>

namespace scoped_permit_test {
namespace {

using waybill::duration;
using waybill::fault_class;
using waybill::heard;
using waybill::scoped_permit;
using waybill::steady_time;
using waybill::valve_state;

using small_valve = waybill::valve_of<8>;

constexpr steady_time s(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

// Shut at 0, and probing from 5 on. A permit times out after 60 s.
small_valve probing()
{
    small_valve v({.min_calls = 1});
    v.report(*v.try_pass(s(0)), fault_class::infrastructure, s(0));
    return v;
}

struct clock_at {
    std::int64_t now;
    steady_time operator()() const { return s(now); }
};
using small_permit = scoped_permit<small_valve, clock_at>;
static_assert(!std::is_copy_constructible_v<small_permit> && std::is_move_constructible_v<small_permit>);

TEST_CASE("scoped_permit: a probe that throws shuts the valve at once")
{
    small_valve v = probing();
    CHECK(v.state(s(5)) == valve_state::probing);
    try {
        const scoped_permit pass(v, clock_at{5});
        REQUIRE(pass);
        throw std::runtime_error("out of order");
    } catch (const std::runtime_error&) {
    }
    CHECK(v.state(s(5)) == valve_state::shut);
    CHECK(v.next_change(s(5)) == s(15));  // the second pause
    CHECK(v.room(s(15)) == 1);
}

// For comparison: the same with a bare permit.
TEST_CASE("scoped_permit: a bare permit that is lost keeps the valve probing until its timeout")
{
    small_valve v = probing();
    CHECK(v.try_pass(s(5)));
    CHECK(v.state(s(64)) == valve_state::probing);
    CHECK(v.room(s(64)) == 0);
    CHECK(v.state(s(65)) == valve_state::shut);
}

TEST_CASE("scoped_permit: a permit that is dropped counts as failed, a reported one as reported")
{
    for (const bool reports : {true, false}) {
        small_valve v({.trip_at = 0.5, .min_calls = 3});
        for (int n = 0; n != 3; ++n) {
            scoped_permit pass(v, [] { return s(1); });
            if (reports) CHECK(pass.report(fault_class::none) == heard::taken);
            CHECK(static_cast<bool>(pass) != reports);
        }
        CHECK(v.state(s(1)) == (reports ? valve_state::flowing : valve_state::shut));
    }
}

TEST_CASE("scoped_permit: reports once, and only where it has a permit")
{
    small_valve v = probing();
    scoped_permit none(v, clock_at{1});
    CHECK(!none);
    CHECK(none.report(fault_class::none) == heard::late);
    const small_valve before = v;
    {
        scoped_permit pass(v, clock_at{5});
        CHECK(pass.report(fault_class::cancelled) == heard::taken);
        CHECK(pass.report(fault_class::infrastructure) == heard::late);
    }
    CHECK(v.state(s(5)) == valve_state::probing);
    CHECK(v.room(s(5)) == 1);
    CHECK(before.state(s(5)) == valve_state::probing);
}

TEST_CASE("scoped_permit: a callback takes it along, and what is dropped with it is reported once")
{
    small_valve v = probing();
    std::optional<small_permit> later;
    {
        small_permit pass(v, clock_at{5});
        later.emplace(std::move(pass));
        CHECK(!pass);
    }
    CHECK(v.state(s(5)) == valve_state::probing);
    CHECK(v.room(s(5)) == 0);
    later.reset();
    CHECK(v.state(s(5)) == valve_state::shut);
    CHECK(v.next_change(s(5)) == s(15));
}

TEST_CASE("scoped_permit: one that is dropped after its timeout changes nothing")
{
    small_valve v = probing();
    {
        std::int64_t now = 5;
        const scoped_permit pass(v, [&now] { return s(now); });
        REQUIRE(pass);
        now = 100;
    }
    CHECK(v.state(s(100)) == valve_state::probing);  // shut at 65 by the timeout, for 10 s
    CHECK(v.room(s(100)) == 1);
}

}  // namespace
}  // namespace scoped_permit_test
