// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <type_traits>
#include <variant>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace attempts_test {

using namespace waybill;
using namespace std::chrono_literals;

namespace {

using action = retry_loop::action;

constexpr steady_time at(duration d)
{
    return steady_time::at(d);
}
constexpr action wait_until(duration d)
{
    return waybill::wait_until{at(d)};
}
constexpr action go = retry_loop::call{};
constexpr call_policy three{
    .retry = {.max_attempts = 3,
              .pauses = {.base = 1s, .cap = 1min, .spread = backoff::jitter::none}}};
constexpr retry_loop::attempted failing{.kind = fault_kind::transient};

static_assert(name(retry_loop::retry_outcome::open) == "open" &&
              name(retry_loop::retry_outcome::budget) == "budget");
static_assert(name(retry_loop::retry_outcome::succeeded) == "succeeded");
static_assert(name(retry_loop::retry_outcome::not_retriable) == "not_retriable");
static_assert(name(retry_loop::retry_outcome::tries) == "tries");
static_assert(name(retry_loop::retry_outcome::time_limit) == "time_limit");
static_assert(name(static_cast<retry_loop::retry_outcome>(9)) == "?");

static_assert(std::is_trivially_copyable_v<retry_loop>);  // nothing is allocated

static_assert([] {  // it calls, waits, calls, and gives up
    retry_loop a(three, at(0s));
    bool ok = a.next(at(0s)) == go && a.next(at(0s)) == go;
    ok = ok && a.on(failing, at(0s)) == event_result::applied && a.attempts() == 1;
    ok = ok && a.next(at(0s)) == wait_until(1s) && a.next(at(999ms)) == wait_until(1s);
    ok = ok && a.next(at(1s)) == go && a.outcome() == retry_loop::retry_outcome::open;
    a.on(failing, at(1s));
    ok = ok && a.next(at(2s)) == wait_until(3s) && a.next(at(3s)) == go;
    a.on({.kind = fault_kind::infrastructure}, at(3s));
    ok = ok && a.next(at(3s)) == action(give_up{fault_kind::infrastructure});
    ok = ok && a.attempts() == 3 && a.outcome() == retry_loop::retry_outcome::tries;
    return ok && a.elapsed(at(9s)) == duration(9s);
}());

static_assert([] {  // success is final
    retry_loop a(three, at(0s));
    a.on(failing, at(0s));
    a.on({}, at(5s));
    const retry_loop then = a;
    const bool done = a.next(at(0s)) == action(retry_loop::done{}) &&
                      a.outcome() == retry_loop::retry_outcome::succeeded;
    const bool late =
        a.on(failing, at(6s)) == event_result::stale && a.on({}, at(6s)) == event_result::stale;
    return done && late && a == then && a.attempts() == 2 && a.kind() == fault_kind::none;
}());

static_assert([] {  // a fault that no retry can change; no event changes that
    bool ok = true;
    for (const fault_kind how :
         {fault_kind::permanent, fault_kind::ownership_lost, fault_kind::cancelled}) {
        retry_loop a(three, at(0s));
        a.on({.kind = how}, at(0s));
        const retry_loop then = a;
        ok =
            ok && a.next(at(0s)) == action(give_up{how}) && a.on({}, at(1s)) == event_result::stale;
        ok = ok && a.outcome() == retry_loop::retry_outcome::not_retriable && a == then;
    }
    return ok;
}());

static_assert([] {  // one try is one, and so is none
    for (const std::uint32_t most : {0U, 1U}) {
        retry_loop a({.retry = {.max_attempts = most}}, at(0s));
        if (!(a.next(at(0s)) == go)) return false;
        a.on(failing, at(0s));
        if (a.outcome() != retry_loop::retry_outcome::tries) return false;
    }
    return true;
}());

static_assert([] {  // immediate retries do not wait, even if the clock goes back
    retry_loop a({.retry = {.max_attempts = 3, .immediate = 1, .pauses = three.retry.pauses}},
                 at(1h));
    a.on(failing, at(1h));
    const bool once = a.next(at(0s)) == go;
    a.on(failing, at(1h));
    return once && a.next(at(1h)) == wait_until(3601s);
}());

// The limit: no try begins after it, and no wait would end after it.
static_assert([] {
    call_policy p = three;
    p.retry.max_attempts = 99;
    p.time_limit = 7s;  // pauses of 1, 2, 4 s
    retry_loop a(p, at(100s));
    a.on(failing, at(100s));
    a.on(failing, at(101s));
    bool ok =
        a.outcome() == retry_loop::retry_outcome::open && a.next(at(101s)) == wait_until(103s);
    a.on(failing, at(103s));  // the next would begin at 107 s, which is 7 s after
    ok = ok && a.next(at(103s)) == action(give_up{fault_kind::transient});
    return ok && a.outcome() == retry_loop::retry_outcome::time_limit && a.attempts() == 3;
}());

static_assert([] {  // one more nanosecond, and it would have been in time
    call_policy p = three;
    p.time_limit = duration(1s) + duration::nanoseconds(1);
    retry_loop a(p, at(0s));
    a.on(failing, at(0s));
    p.time_limit = 1s;
    retry_loop b(p, at(0s));
    b.on(failing, at(0s));
    return a.outcome() == retry_loop::retry_outcome::open &&
           b.outcome() == retry_loop::retry_outcome::time_limit;
}());

static_assert([] {  // a slow call uses the time, too; but a success counts
    call_policy p = three;
    p.retry.immediate = 2;
    p.time_limit = 1s;
    retry_loop a(p, at(0s));
    retry_loop b = a;
    const bool goes = a.next(at(0s)) == go;
    a.on(failing, at(5s));
    b.on({}, at(5s));
    const bool works =
        b.next(at(5s)) == action(retry_loop::done{}) && b.outcome(at(9s)) == b.outcome();
    return goes && works && a.outcome() == retry_loop::retry_outcome::time_limit;
}());

static_assert([] {  // after the time limit has passed in a sleep, there is no further try
    call_policy p = three;
    p.retry.pauses.base = 10s;
    p.time_limit = 1min;
    retry_loop a(p, at(0s));
    a.on(failing, at(45s));
    bool ok = a.next(at(45s)) == wait_until(55s) && a.next(at(59s)) == go;
    ok = ok && a.outcome(at(59s)) == retry_loop::retry_outcome::open;
    ok = ok && a.outcome(at(60s)) == retry_loop::retry_outcome::time_limit &&
         a.outcome() == retry_loop::retry_outcome::open;
    ok = ok && a.next(at(60s)) == action(give_up{fault_kind::transient});
    ok = ok && a.next(at(2h)) == action(give_up{fault_kind::transient});
    a.on(failing, at(2h));  // one that had begun in time
    return ok && a.outcome() == retry_loop::retry_outcome::time_limit && a.attempts() == 2;
}());

static_assert([] {  // not even the first try begins too late, and that is not a fault of the call
    call_policy p = three;
    p.time_limit = 1min;
    const retry_loop a(p, at(0s));
    bool ok = a.next(at(59s)) == go && a.next(at(60s)) == a.next(at(2h));
    ok = ok && a.next(at(2h)) == action(give_up{fault_kind::cancelled});
    ok = ok && a.outcome(at(2h)) == retry_loop::retry_outcome::time_limit && a.attempts() == 0;
    const retry_loop endless(three, steady_time::lowest());
    return ok && endless.next(steady_time::highest()) == go;
}());

// a clock that jumps back does not end it, and the end of time does not overflow
static_assert([] {
    call_policy p = three;
    p.time_limit = 1h;
    retry_loop a(p, at(0s));
    a.on(failing, steady_time::lowest());
    const bool none = a.elapsed(steady_time::lowest()) == duration{};
    const bool open = a.outcome() == retry_loop::retry_outcome::open && none;
    retry_loop b(three, steady_time::lowest());
    b.on(failing, steady_time::highest());
    const bool waits = b.next(at(0s)) == action(waybill::wait_until{steady_time::highest()});
    retry_loop c(p, steady_time::lowest());
    c.on(failing, steady_time::highest());
    return open && waits && c.outcome() == retry_loop::retry_outcome::time_limit;
}());

static_assert([] {  // a server's hint, within bounds
    retry_loop a(three, at(0s));
    a.on({.kind = fault_kind::transient, .retry_after = 20s}, at(0s));
    const bool obeyed = a.next(at(0s)) == wait_until(20s);
    a.on({.kind = fault_kind::transient, .retry_after = 2h}, at(20s));
    return obeyed && a.next(at(20s)) == wait_until(20s + 1h);
}());

static_assert([] {  // decorrelated jitter uses the previous pause
    retry_loop a(
        {.retry = {.max_attempts = 9,
                   .pauses = {.base = 1s, .cap = 1min, .spread = backoff::jitter::decorrelated}}},
        at(0s));
    a.on({.kind = fault_kind::transient, .random = 1.0}, at(0s));
    bool ok = a.next(at(0s)) == wait_until(3s);
    a.on({.kind = fault_kind::transient, .random = 1.0}, at(3s));
    ok = ok && a.next(at(3s)) == wait_until(12s);
    a.on({.kind = fault_kind::transient, .random = 0.0}, at(12s));
    ok = ok && a.next(at(12s)) == wait_until(13s);
    a.on({.kind = fault_kind::transient, .random = 1.0}, at(13s));
    return ok && a.next(at(13s)) == wait_until(16s);
}());

static_assert(!validate(call_policy{}) && !validate(three));
static_assert(validate(call_policy{.time_limit = {}})->field == "call.time_limit");
static_assert(validate(call_policy{.time_limit = -1s})->negative);
static_assert(validate(call_policy{.retry = {.max_attempts = 0}})->field == "retry.max_attempts");

// "Max retries" of other libraries does not count the first try.
static_assert(detail::tries_for_retries(0) == 1 && detail::tries_for_retries(3) == 4);
static_assert(detail::tries_for_retries(~std::uint32_t{0}) == ~std::uint32_t{0});

// A loop begins at a time, so its creation takes one.
TEST_CASE("retry_loop: make accepts valid policies only")
{
    CHECK(*make<retry_loop>(three, at(5s)) == retry_loop(three, at(5s)));
    CHECK(make<retry_loop>(call_policy{.time_limit = {}}, at(0s)).error().field ==
          "call.time_limit");
    retry_token_bucket tokens;
    CHECK(*make<retry_loop>(three, at(5s), tokens) == retry_loop(three, at(5s), tokens));
}

TEST_CASE("retry_loop: the loop of the head comment makes five calls and four pauses")
{
    steady_time now = at(0s);
    std::uint32_t calls = 0, waits = 0;
    fault_kind parked = fault_kind::none;
    const auto dice = [] { return 0.5; };
    const auto call = [&] { return ++calls == 9 ? fault{} : transient("no"); };
    retry_loop tries({.retry = {.max_attempts = 5}, .time_limit = 1min}, now);
    for (bool open = true; open;) {
        match(
            tries.next(now),
            [&](retry_loop::call) { tries.on(retry_loop::attempted{call().kind, dice()}, now); },
            [&](waybill::wait_until w) {
                now = w.time;
                ++waits;
            },
            [&](retry_loop::done) { open = false; },
            [&](give_up g) {
                parked = g.reason;
                open = false;
            });
    }
    CHECK(calls == 5);
    CHECK(waits == 4);
    CHECK(parked == fault_kind::transient);
    CHECK(now == at(750ms));  // half of 100, 200, 400 and 800 ms
}

TEST_CASE("retry_loop: copies are independent")
{
    retry_loop a(three, at(0s));
    retry_loop b = a;
    CHECK(a == b);
    a.on(failing, at(0s));
    CHECK_FALSE(a == b);
    CHECK(b.next(at(0s)) == go);
    b.on(failing, at(0s));
    CHECK(a == b);
    CHECK(a.policy() == three);
}

TEST_CASE("retry_loop: retries take tokens from a budget, and an empty budget ends the loop")
{
    retry_token_bucket tokens{{.tokens = 3, .successes = 1}};
    retry_loop a(three, at(0s), tokens), b(three, at(0s), tokens);
    a.on(failing, at(0s));
    b.on(failing, at(0s));
    CHECK(tokens.left() == 1);
    a.on(failing, at(1s));
    CHECK(tokens.left() == 0);
    b.on(failing, at(1s));
    CHECK(b.outcome() == retry_loop::retry_outcome::budget);
    CHECK(b.next(at(9s)) == action(give_up{fault_kind::transient}));
    a.on(retry_loop::attempted{}, at(3s));
    CHECK(a.outcome() == retry_loop::retry_outcome::succeeded);
    CHECK(tokens.left() == 1);
    // Permanent faults and ended loops take no token.
    retry_loop c(three, at(0s), tokens);
    c.on({.kind = fault_kind::permanent}, at(0s));
    retry_loop d({.retry = {.max_attempts = 1}}, at(0s), tokens);
    d.on(failing, at(0s));
    retry_loop e({.retry = three.retry, .time_limit = 1s}, at(0s), tokens);
    e.on(failing, at(0s));
    CHECK(e.outcome() == retry_loop::retry_outcome::time_limit);
    CHECK(d.outcome() == retry_loop::retry_outcome::tries);
    CHECK(tokens.left() == 1);
    CHECK_FALSE(retry_loop(three, at(0s), tokens) == retry_loop(three, at(0s)));
}

}  // namespace
}  // namespace attempts_test
