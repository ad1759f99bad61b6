// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <variant>

#include <doctest/doctest.h>

#include <waybill/tracking/commit_schedule.hpp>

namespace cadence_test {
namespace {

using commit_confirmed = waybill::commit_schedule::commit_confirmed;
using commit_failed = waybill::commit_schedule::commit_failed;
using waybill::commit_schedule;
using commit_started = waybill::commit_schedule::commit_started;
using waybill::duration;
using waybill::event_result;
using events_done = waybill::commit_schedule::events_done;
using schedule_closed = waybill::commit_schedule::schedule_closed;
using waybill::steady_time;

constexpr duration s(std::int64_t n)
{
    return duration::seconds(n);
}
constexpr steady_time at(std::int64_t n)
{
    return steady_time::at(s(n));
}

static_assert(!waybill::validate(commit_schedule::config{}));
static_assert(waybill::validate(commit_schedule::config{.every = 0})->field == "every");
static_assert(waybill::validate(commit_schedule::config{.interval = s(-1)})->negative);
static_assert(waybill::validate(commit_schedule::config{.idle_refresh = s(0)})->field ==
              "idle_refresh");
static_assert(waybill::validate(commit_schedule::config{.pause = s(-3)})->value == 3'000'000'000);
static_assert(waybill::validate(commit_schedule::config{
                                    .every = 9,
                                    .needs = commit_schedule::config::commit_needs::both})
                  ->field == "interval");
static_assert(waybill::validate(commit_schedule::config{
                                    .interval = s(9),
                                    .needs = commit_schedule::config::commit_needs::both})
                  ->field == "every");
static_assert(name(commit_schedule::commit_reason::idle) == "idle" &&
              name(commit_schedule::config::commit_needs::both) == "both");

// The whole schedule, evaluated at compile time.
constexpr bool counts()
{
    commit_schedule c({.every = 3}, at(0));
    (void)c.on(events_done{2}, at(1));
    if (c.due(at(1'000'000'000))) return false;
    (void)c.on(events_done{1}, at(2));
    return c.due(at(2)) == commit_schedule::commit_reason::count;
}
static_assert(counts());

commit_schedule::action wait_until(std::int64_t n)
{
    return waybill::wait_until{at(n)};
}
commit_schedule::action commit(commit_schedule::commit_reason why)
{
    return commit_schedule::commit_position{why};
}
const commit_schedule::action nothing = waybill::idle{};

void committed(commit_schedule& c, std::int64_t n)
{
    CHECK(c.on(commit_started{}, at(n)) == event_result::applied);
    CHECK(c.on(commit_confirmed{}, at(n)) == event_result::applied);
}

}  // namespace

TEST_CASE("commit_schedule: without options no commit is due")
{
    commit_schedule c(commit_schedule::config{}, at(0));
    CHECK(c.next(steady_time::highest()) == nothing);
    c.on(events_done{1'000'000'000}, at(1));
    CHECK(c.next(steady_time::highest()) == nothing);
    CHECK(c.next(steady_time::lowest()) == nothing);
}

TEST_CASE("commit_schedule: a commit is due after a count or an interval")
{
    commit_schedule c({.every = 10, .interval = s(5)}, at(0));
    CHECK(c.next(at(100)) == nothing);
    c.on(events_done{1}, at(100));
    CHECK(c.next(at(100)) == wait_until(105));
    c.on(events_done{8}, at(104));
    CHECK(c.next(at(104)) == wait_until(105));
    CHECK(c.next(at(105)) == commit(commit_schedule::commit_reason::interval));
    c.on(events_done{1}, at(104));
    CHECK(c.next(at(104)) == commit(commit_schedule::commit_reason::count));
    committed(c, 105);
    CHECK(c.unconfirmed() == 0);
    CHECK(c.next(at(1'000)) == nothing);
}

TEST_CASE("commit_schedule: commit_needs::both requires count and interval")
{
    commit_schedule c(
        {.every = 10, .interval = s(5), .needs = commit_schedule::config::commit_needs::both},
        at(0));
    c.on(events_done{9}, at(1));
    CHECK(c.next(at(2)) == nothing);
    CHECK(c.next(at(9)) == nothing);
    c.on(events_done{1}, at(3));
    CHECK(c.next(at(3)) == wait_until(6));
    CHECK(c.next(at(6)) == commit(commit_schedule::commit_reason::count));
}

TEST_CASE("commit_schedule: only a confirmed commit resets the counters")
{
    commit_schedule c({.every = 10, .interval = s(50), .pause = s(3)}, at(0));
    c.on(events_done{10}, at(1));
    CHECK(c.on(commit_started{}, at(2)) == event_result::applied);
    CHECK(c.on(commit_started{}, at(2)) == event_result::stale);
    CHECK(c.in_progress());
    CHECK(c.next(at(1'000)) == nothing);  // one at a time
    c.on(events_done{4}, at(3));
    CHECK(c.on(commit_failed{}, at(4)) == event_result::applied);
    CHECK(c.unconfirmed() == 14);
    CHECK(c.next(at(4)) == wait_until(7));
    CHECK(c.next(at(7)) == commit(commit_schedule::commit_reason::count));
    c.on(commit_started{}, at(7));
    c.on(events_done{5}, at(8));
    c.on(events_done{1}, at(9));
    CHECK(c.on(commit_confirmed{}, at(10)) == event_result::applied);
    CHECK(c.unconfirmed() == 6);  // those that came after it had begun
    CHECK(c.next(at(10)) == wait_until(58));
    CHECK(c.on(commit_confirmed{}, at(10)) == event_result::stale);
    CHECK(c.on(commit_failed{}, at(10)) == event_result::stale);
    CHECK(c.unconfirmed() == 6);
}

TEST_CASE("commit_schedule: a failed commit keeps the time of the first event")
{
    commit_schedule c({.interval = s(5), .pause = s(0)}, at(0));
    c.on(events_done{1}, at(1));
    c.on(commit_started{}, at(6));
    c.on(events_done{1}, at(100));
    c.on(commit_failed{}, at(101));
    CHECK(c.next(at(101)) == commit(commit_schedule::commit_reason::interval));
    c.on(commit_started{}, at(101));
    c.on(commit_confirmed{}, at(102));
    CHECK(c.next(at(102)) == nothing);
}

TEST_CASE("commit_schedule: idle_refresh commits only an idle position again")
{
    commit_schedule c({.every = 10, .idle_refresh = s(60)}, at(0));
    CHECK(c.next(at(59)) == wait_until(60));
    CHECK(c.next(at(60)) == commit(commit_schedule::commit_reason::idle));
    c.on(commit_started{}, at(60));
    c.on(commit_failed{}, at(61));
    CHECK(c.next(at(61)) == wait_until(62));
    CHECK(c.next(at(62)) == commit(commit_schedule::commit_reason::idle));
    committed(c, 62);
    CHECK(c.next(at(63)) == wait_until(122));
    c.on(events_done{1}, at(100));
    CHECK(c.next(at(1'000)) == nothing);  // it has moved: that is for `every` and `interval`
    c.on(events_done{9}, at(1'000));
    committed(c, 1'001);
    CHECK(c.next(at(1'060)) == wait_until(1'061));
    c.on(schedule_closed{}, at(1'060));
    CHECK(c.next(at(2'000)) == nothing);
}

TEST_CASE("commit_schedule: close commits the rest, unless on_close is false")
{
    commit_schedule c({.every = 10, .pause = s(2)}, at(0));
    c.on(events_done{1}, at(1));
    CHECK(c.on(schedule_closed{}, at(2)) == event_result::applied);
    CHECK(c.on(schedule_closed{}, at(2)) == event_result::stale);
    CHECK(c.next(at(2)) == commit(commit_schedule::commit_reason::close));
    c.on(commit_started{}, at(2));
    c.on(events_done{1}, at(3));  // one that was in flight
    c.on(commit_failed{}, at(3));
    CHECK(c.next(at(3)) == wait_until(5));
    CHECK(c.next(at(5)) == commit(commit_schedule::commit_reason::close));
    committed(c, 5);
    CHECK(c.next(at(6)) == nothing);
    commit_schedule not_then({.every = 10, .on_close = false}, at(0));
    not_then.on(events_done{1}, at(1));
    not_then.on(schedule_closed{}, at(2));
    CHECK(not_then.next(at(2)) == nothing);
}

TEST_CASE("commit_schedule: a clock that goes back does not extend the interval")
{
    commit_schedule c({.interval = s(5), .idle_refresh = s(60)}, at(10'000));
    CHECK(c.next(at(10)) == wait_until(10'060));
    c.on(events_done{1}, at(10));
    CHECK(c.next(at(10)) == wait_until(15));
    CHECK(c.next(at(15)) == commit(commit_schedule::commit_reason::interval));
    c.on(commit_started{}, at(15));
    c.on(commit_failed{}, at(9'000));
    c.on(events_done{1}, at(20));
    CHECK(c.next(at(25)) == commit(commit_schedule::commit_reason::interval));
    committed(c, 30);
    CHECK(c.next(at(31)) == wait_until(90));
}

TEST_CASE("commit_schedule: extreme counts and times do not overflow")
{
    commit_schedule c({.every = ~std::uint64_t{0} - 1, .interval = s(1)}, steady_time::highest());
    c.on(events_done{~std::uint64_t{0}}, steady_time::lowest());
    c.on(events_done{~std::uint64_t{0}}, steady_time::lowest());
    CHECK(c.due(steady_time::lowest()) == commit_schedule::commit_reason::count);
    CHECK(c.on(events_done{0}, steady_time::highest()) == event_result::applied);
    c.on(commit_started{}, steady_time::highest());
    c.on(commit_failed{}, steady_time::highest());
    CHECK(c.due(steady_time::highest()).has_value());
    const commit_schedule copy = c;
    CHECK(copy == c);
}

}  // namespace cadence_test
