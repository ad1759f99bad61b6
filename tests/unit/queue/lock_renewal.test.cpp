// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/queue/lock_renewal.hpp>

namespace lock_renewal_test {

using namespace std::chrono_literals;
using namespace waybill;

static_assert(sizeof(lock_renewal({})) != 0, "braces are default options, not a copy");
static_assert(name(lock_renewal::lock_outcome::released) == "released");
static_assert(name(lock_renewal::lock_outcome::lost) == "lost");
static_assert(name(lock_renewal::lock_outcome::expired) == "expired");
static_assert(name(lock_renewal::lock_outcome::too_long) == "too_long");
static_assert(name(static_cast<lock_renewal::lock_outcome>(9)) == "?");

static_assert(!validate(lock_renewal::config{}));
static_assert(validate(lock_renewal::config{.lock = {}})->field == "lock_renewal.lock");
static_assert(validate(lock_renewal::config{.renew_left = 1.5})->field ==
              "lock_renewal.renew_left");
static_assert(validate(lock_renewal::config{.renew_left = 7.5})->value == 7'500);
static_assert(validate(lock_renewal::config{.renew_left = 1.0})->value == 1'000);
static_assert(validate(lock_renewal::config{.renew_left = -0.5})->value == 500);
static_assert(validate(lock_renewal::config{.renew_left = 0.0})->value == 0);
static_assert(validate(lock_renewal::config{.renew_left = -1.0})->negative);
static_assert(validate(lock_renewal::config{.margin = 60s})->field == "lock_renewal.margin");
static_assert(validate(lock_renewal::config{.margin = -1s})->negative);
static_assert(validate(lock_renewal::config{.answer_timeout = -1s})->field ==
              "lock_renewal.answer_timeout");
static_assert(validate(lock_renewal::config{.max_duration = 0s})->field ==
              "lock_renewal.max_duration");
static_assert(validate(lock_renewal::config{.pauses = {.base = 0s}})->field == "backoff.base");

// A lost answer must leave time for another try: 2.5 s here, less a base of pauses.
static_assert(validate(lock_renewal::config{.lock = 5s})->field == "lock_renewal.answer_timeout");
static_assert(validate(lock_renewal::config{.lock = 21s}));
static_assert(!validate(lock_renewal::config{.lock = 22s}));
static_assert(validate(lock_renewal::config{.lock = 5s})->bound == 2'000'000'000);
static_assert(validate(lock_renewal::config{.lock = 5s, .answer_timeout = 2s})->value ==
              2'000'000'000);
static_assert(!validate(lock_renewal::config{.lock = 5s, .answer_timeout = 1999ms}));
static_assert(!validate(lock_renewal::config{.lock = 5s, .margin = 3s, .answer_timeout = 2s}));
static_assert(validate(lock_renewal::config{.lock = 1s})->field == "lock_renewal.pauses.base");

static_assert(std::is_trivially_copyable_v<lock_renewal>);
static_assert(sizeof(lock_renewal) <= 192);

namespace {

constexpr steady_time at(duration d)
{
    return steady_time::at(d);
}

constexpr lock_renewal::config plain{
    .lock = 60s,
    .answer_timeout = 10s,
    .pauses = {.base = 1s, .cap = 8s, .spread = backoff::jitter::none}};

constexpr lock_renewal taken(const lock_renewal::config& o = plain)
{
    lock_renewal m(o);
    m.on(lock_renewal::lock_taken{}, at(0s));
    return m;
}

constexpr lock_renewal asked(duration when, const lock_renewal::config& o = plain)
{
    lock_renewal m = taken(o);
    m.on(lock_renewal::renewal_started{1}, at(when));
    return m;
}

constexpr bool waits(const lock_renewal& m, duration now, duration until)
{
    return m.next(at(now)) == lock_renewal::action(wait_until{at(until)});
}

constexpr bool renews(const lock_renewal& m, duration now, std::uint32_t attempt)
{
    return m.next(at(now)) == lock_renewal::action(lock_renewal::renew{attempt});
}

constexpr bool rests(const lock_renewal& m, duration now)
{
    return waybill::holds_alternative<idle>(m.next(at(now)));
}

// Before there is a lock.
static_assert(rests(lock_renewal(plain), 0s));
static_assert(!lock_renewal(plain).ended(at(1h)));
static_assert(!lock_renewal(plain).expired(at(1h)));
static_assert(lock_renewal(plain).left(at(0s)) == duration{});
static_assert([] {
    lock_renewal m(plain);
    return m.on(lock_renewal::lock_released{}, at(0s)) == event_result::stale &&
           m == lock_renewal(plain);
}());

// Half of the lock, and then a renewal.
static_assert(waits(taken(), 0s, 30s));
static_assert(waits(taken(), 29s, 30s));
static_assert(renews(taken(), 30s, 1));
static_assert(renews(taken(), 59s, 1));
static_assert(rests(taken(), 60s));
static_assert(taken().left(at(20s)) == duration(40s));
static_assert(taken().left(at(70s)) == duration{});
static_assert(taken().ended(at(60s)) == lock_renewal::lock_outcome::expired);
static_assert(taken().expired(at(60s)));
static_assert(!taken().expired(at(59s)));

// An earlier margin counts, but leaves a quarter of a lock that is shorter than expected.
static_assert(waits(taken({.lock = 60s, .margin = 45s}), 0s, 15s));
static_assert(waits(taken({.lock = 60s, .margin = 20s}), 0s, 30s));
static_assert([] {
    lock_renewal m({.lock = 60s, .margin = 45s});
    m.on(lock_renewal::lock_taken{duration(20s)}, at(0s));
    return waits(m, 0s, 5s);
}());

// During a renewal there is no other one. The new lock counts from the request.
static_assert(waits(asked(30s), 30s, 40s));
static_assert([] {
    lock_renewal m = asked(30s);
    const bool early = m.on(lock_renewal::renewal_started{2}, at(31s)) == event_result::invalid;
    const bool again = m.on(lock_renewal::renewal_started{1}, at(31s)) == event_result::stale;
    m.on(lock_renewal::lock_renewed{1}, at(38s));
    return early && again && m.left(at(38s)) == duration(52s) && waits(m, 38s, 60s) &&
           renews(m, 60s, 2) && m.attempts() == 1;
}());
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_renewal::lock_renewed{1, duration(20s)},
         at(31s));  // the broker's word is the last one
    return m.left(at(31s)) == duration(19s) && waits(m, 31s, 40s);
}());

// A lost answer counts as failed after its timeout. Then there is a pause, and another try.
static_assert(waits(asked(30s), 39s, 40s));
static_assert(waits(asked(30s), 40s, 41s));
static_assert(renews(asked(30s), 41s, 2));
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_renewal::renewal_started{2}, at(41s));
    const bool late = m.on(lock_renewal::lock_renewed{1}, at(42s)) == event_result::stale;
    return late && waits(m, 51s, 53s);  // two consecutive failures: twice the pause
}());
static_assert([] {
    lock_renewal m = asked(30s);  // late, and still the latest request
    return m.on(lock_renewal::lock_renewed{1}, at(45s)) == event_result::applied &&
           m.left(at(45s)) == duration(45s);
}());
static_assert([] {
    lock_renewal m = asked(30s);
    const bool once = m.on(lock_renewal::renewal_failed{1}, at(45s)) == event_result::applied;
    return once && m.on(lock_renewal::renewal_failed{1}, at(45s)) == event_result::stale &&
           waits(m, 45s, 46s);
}());

// Failed renewals are repeated, and in time.
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_renewal::renewal_failed{1, fault_kind::infrastructure}, at(31s));
    bool good = waits(m, 31s, 32s) && renews(m, 32s, 2);
    m.on(lock_renewal::renewal_started{2}, at(32s));
    m.on(lock_renewal::renewal_failed{2}, at(32s));
    good = good && waits(m, 32s, 34s);
    m.on(lock_renewal::renewal_started{3}, at(56s));
    m.on(lock_renewal::renewal_failed{3},
         at(56s));  // a pause of four seconds, with four seconds left
    return good && waits(m, 56s, 58s);
}());
static_assert([] {
    lock_renewal m = asked(30s);  // the pause that the server requests is kept, up to the cap
    m.on(lock_renewal::renewal_failed{1, fault_kind::transient, 0.5, 5s}, at(31s));
    bool good = waits(m, 31s, 36s);
    m.on(lock_renewal::renewal_started{2}, at(55s));
    m.on(lock_renewal::renewal_failed{2, fault_kind::transient, 0.5, 1h}, at(55s));
    return good && waits(m, 55s, 60s) && rests(m, 60s);
}());

static_assert([] {
    lock_renewal m = asked(30s);  // after a success the pauses start again
    m.on(lock_renewal::renewal_failed{1}, at(30s));
    m.on(lock_renewal::renewal_started{2}, at(31s));
    m.on(lock_renewal::lock_renewed{2}, at(31s));
    m.on(lock_renewal::renewal_started{3}, at(61s));
    m.on(lock_renewal::renewal_failed{3}, at(61s));
    return waits(m, 61s, 62s);
}());

// An answer without a request, or a second answer, changes nothing.
static_assert([] {
    lock_renewal m = taken();
    bool late = m.on(lock_renewal::lock_renewed{}, at(20s)) == event_result::stale;
    late = late && m.on(lock_renewal::renewal_failed{}, at(20s)) == event_result::stale &&
           m == taken();
    m.on(lock_renewal::renewal_started{1}, at(20s));
    m.on(lock_renewal::lock_renewed{1, duration(20s)}, at(21s));
    late = late && m.on(lock_renewal::lock_renewed{1}, at(21s)) == event_result::stale;
    return late && m.left(at(21s)) == duration(19s);
}());

static_assert([] {
    lock_renewal::config o = plain;  // another limit
    o.pauses.highest_hint = 12s;
    lock_renewal m = asked(30s, o);
    m.on(lock_renewal::renewal_failed{1, fault_kind::transient, 0.5, 1h}, at(31s));
    return waits(m, 31s, 43s);
}());

// A permanent fault: the lock is not renewed any more, and is held until its end.
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_renewal::renewal_failed{1, fault_kind::permanent}, at(31s));
    return waits(m, 31s, 60s) && !m.ended(at(59s)) &&
           m.ended(at(60s)) == lock_renewal::lock_outcome::expired;
}());

// Cancelled is no failure.
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_renewal::renewal_failed{1, fault_kind::cancelled}, at(31s));
    bool good = waits(m, 31s, 32s);
    m.on(lock_renewal::renewal_started{2}, at(32s));
    m.on(lock_renewal::renewal_failed{2}, at(32s));
    return good && waits(m, 32s, 33s);
}());
static_assert([] {
    lock_renewal m = asked(30s);
    return m.on(lock_renewal::renewal_failed{1, fault_kind::none}, at(31s)) ==
               event_result::invalid &&
           m == asked(30s);
}());

// A lost lock ends at once, by any event that reports it.
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_renewal::renewal_failed{1, fault_kind::ownership_lost}, at(31s));
    return m.ended(at(31s)) == lock_renewal::lock_outcome::lost && m.left(at(31s)) == duration{} &&
           rests(m, 31s);
}());
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_lost{}, at(31s));
    return m.ended(at(31s)) == lock_renewal::lock_outcome::lost &&
           m.on(lock_renewal::lock_renewed{1}, at(32s)) == event_result::stale &&
           m.left(at(32s)) == duration{};
}());

// The maximum duration: there is time to release the lock, and it may still be lost in that time.
constexpr lock_renewal::config short_one{.lock = 60s, .max_duration = 40s};
static_assert(waits(asked(35s, short_one), 35s, 40s));
static_assert(rests(taken(short_one), 40s));
static_assert(taken(short_one).ended(at(39s)) == std::nullopt);
static_assert(taken(short_one).ended(at(40s)) == lock_renewal::lock_outcome::too_long);
static_assert(taken(short_one).left(at(40s)) == duration(20s));
static_assert(!taken(short_one).expired(at(40s)));
static_assert(taken({.lock = 60s, .max_duration = 60s}).ended(at(60s)) ==
              lock_renewal::lock_outcome::expired);
static_assert([] {
    lock_renewal m = taken(short_one);
    bool good = m.on(lock_renewal::lock_renewed{1}, at(41s)) == event_result::stale;
    good = good && m.on(lock_lost{}, at(45s)) == event_result::applied;
    return good && m.left(at(45s)) == duration{} &&
           m.ended(at(45s)) == lock_renewal::lock_outcome::too_long &&
           m.on(lock_renewal::lock_released{}, at(46s)) == event_result::stale;
}());

// Without a limit it continues to the end of time.
static_assert([] {
    lock_renewal m({.lock = duration::highest()});
    m.on(lock_renewal::lock_taken{}, at(1h));
    return !m.ended(at(duration::highest() - 1s)) && m.ended(steady_time::highest()).has_value();
}());

// A lock end in the past, by the broker's clock, is an expired lock.
static_assert([] {
    lock_renewal m(plain);
    m.on(lock_renewal::lock_taken{duration(-1s)}, at(0s));
    return m.ended(at(0s)) == lock_renewal::lock_outcome::expired && rests(m, 0s);
}());

// An end is final, by event or by time, also if the clock is set back.
constexpr bool nothing_changes(lock_renewal m, duration now, lock_renewal::lock_outcome how)
{
    bool late = m.on(lock_renewal::lock_taken{}, at(now)) == event_result::stale;
    late = late && m.on(lock_renewal::renewal_started{1}, at(now)) == event_result::stale;
    late = late && m.on(lock_renewal::renewal_started{2}, at(now)) == event_result::stale;
    late = late && m.on(lock_renewal::lock_renewed{1}, at(now)) == event_result::stale;
    late = late && m.on(lock_renewal::renewal_failed{1}, at(now)) == event_result::stale;
    late = late && m.on(lock_renewal::lock_released{}, at(now)) == event_result::stale;
    late = late && m.on(lock_lost{}, at(now)) == event_result::stale;
    return late && rests(m, now) && m.ended(at(now)) == how && m.ended(at(0s)) == how &&
           m.left(at(0s)) == duration{};
}
static_assert(nothing_changes(asked(30s), 60s, lock_renewal::lock_outcome::expired));
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_renewal::lock_released{}, at(31s));
    return nothing_changes(m, 31s, lock_renewal::lock_outcome::released);
}());
static_assert([] {
    lock_renewal m = asked(30s);
    m.on(lock_lost{}, at(31s));
    return nothing_changes(m, 31s, lock_renewal::lock_outcome::lost);
}());

}  // namespace

TEST_CASE("a driver loop keeps a lock for an hour with few renewals")
{
    lock_renewal lock({.lock = 60s, .pauses = {.spread = backoff::jitter::none}});
    duration now{};
    std::uint32_t renewals = 0;
    steady_time really = at(60s);  // at the broker
    lock.on(lock_renewal::lock_taken{}, at(now));
    while (now < duration(1h)) {
        REQUIRE(at(now) < really);
        waybill::match(
            lock.next(at(now)),
            [&](lock_renewal::renew r) {
                lock.on(lock_renewal::renewal_started{r.attempt}, at(now));
                now = now + 2s;
                really = at(now + 60s);
                ++renewals;
                if (renewals % 3 == 0) lock.on(lock_renewal::renewal_failed{r.attempt}, at(now));
                else lock.on(lock_renewal::lock_renewed{r.attempt}, at(now));
            },
            [&](wait_until w) { now = w.time.since_epoch(); },
            [&](idle) { FAIL("nothing to do, with a lock"); });
        CHECK(at(now) + lock.left(at(now)) <= really);
    }
    lock.on(lock_renewal::lock_released{}, at(now));
    CHECK(lock.ended(at(now)) == lock_renewal::lock_outcome::released);
    CHECK(renewals < 190);
}

}  // namespace lock_renewal_test
