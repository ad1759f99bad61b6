// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/session/redrive.hpp>

namespace redrive_test {
namespace {

using namespace std::chrono_literals;
using dead_letters_removed = waybill::redrive::dead_letters_removed;
using waybill::event_result;
using waybill::fault_kind;
using waybill::redrive;
using waybill::redrive_plan;
using resubmitted = waybill::redrive::resubmitted;
using sessions_marked = waybill::redrive::sessions_marked;
using waybill::steady_time;

redrive_plan plan_of(std::initializer_list<std::uint64_t> sizes)
{
    redrive_plan p;
    for (const std::uint64_t n : sizes) {
        redrive_plan::planned_session s;
        s.offset = p.ready;
        s.count = n;
        s.mark_before_removal = n > 1;
        p.ready += n;
        p.sessions.push_back(s);
    }
    return p;
}

TEST_CASE("redrive: whole sessions are sent, marked and removed in rounds")
{
    redrive r(plan_of({2, 1, 3, 7}), {.chunk = 5});
    CHECK(r.next({}) == redrive::action(redrive::resubmit{0, 3}));
    CHECK(r.on(dead_letters_removed{1}, {}) == event_result::stale);
    CHECK(r.on(sessions_marked{}, {}) == event_result::stale);
    CHECK(r.on(resubmitted{4}, {}) == event_result::invalid);
    CHECK(r.on(resubmitted{3}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::mark_sent{0, 2}));
    CHECK(r.on(resubmitted{3}, {}) == event_result::stale);
    CHECK(r.on(sessions_marked{}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::remove_dead_letters{0, 3}));
    CHECK(r.on(dead_letters_removed{4}, {}) == event_result::invalid);
    CHECK(r.on(dead_letters_removed{3}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::resubmit{3, 3}));
    CHECK(r.on(resubmitted{3}, {}) == event_result::applied);
    CHECK(r.on(sessions_marked{}, {}) == event_result::applied);
    CHECK(r.on(dead_letters_removed{3}, {}) == event_result::applied);
    // A session larger than a chunk is sent in several pieces, and then removed in several, from
    // the end.
    CHECK(r.next({}) == redrive::action(redrive::resubmit{6, 5}));
    CHECK(r.on(resubmitted{5}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::resubmit{11, 2}));
    CHECK(r.on(resubmitted{2}, {}) == event_result::applied);
    CHECK(r.on(sessions_marked{}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::remove_dead_letters{8, 5}));
    CHECK(r.on(dead_letters_removed{5}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::remove_dead_letters{6, 2}));
    CHECK(r.on(dead_letters_removed{2}, {}) == event_result::applied);
    CHECK(r.outcome() == redrive::redrive_outcome::finished);
    CHECK(r.next({}) == redrive::action(waybill::idle{}));
    CHECK(r.sent() == 13);
    CHECK(r.removed() == 13);
    CHECK(r.on(resubmitted{1}, {}) == event_result::stale);
    CHECK(r.on(sessions_marked{}, {}) == event_result::stale);
    CHECK(r.on(dead_letters_removed{1}, {}) == event_result::stale);
    CHECK(redrive(redrive_plan{}).over());
}

TEST_CASE("redrive: failed calls are retried after a pause, up to max_attempts")
{
    const waybill::redrive_policy policy{
        .chunk = 10,
        .retry = {.max_attempts = 3,
                  .pauses = {.base = 1s, .spread = waybill::backoff::jitter::none}}};
    redrive r(plan_of({4}), policy);
    CHECK(r.on(resubmitted{0, fault_kind::infrastructure}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(waybill::wait_until{steady_time::at(1s)}));
    CHECK(r.next(steady_time::at(1s)) == redrive::action(redrive::resubmit{0, 4}));
    // Some were accepted, so the count starts again.
    CHECK(r.on(resubmitted{1, fault_kind::transient}, steady_time::at(1s)) ==
          event_result::applied);
    CHECK(r.next(steady_time::at(2s)) == redrive::action(redrive::resubmit{1, 3}));
    CHECK(r.on(resubmitted{0, fault_kind::none}, steady_time::at(2s)) == event_result::applied);
    CHECK(r.next(steady_time::at(2s)) == redrive::action(waybill::wait_until{steady_time::at(4s)}));
    CHECK(!r.over());
    redrive stopped = r;
    CHECK(stopped.on(resubmitted{0, fault_kind::infrastructure}, {}) == event_result::applied);
    CHECK(stopped.outcome() == redrive::redrive_outcome::stopped);
    CHECK(stopped.reason() == fault_kind::infrastructure);
    CHECK(r.on(resubmitted{1, fault_kind::cancelled}, {}) == event_result::applied);
    CHECK(r.reason() == fault_kind::cancelled);
    CHECK(r.sent() == 2);
    CHECK(r.removed() == 0);
}

TEST_CASE("redrive: a permanently refused message stops only its session")
{
    redrive r(plan_of({2, 3, 2}), {.chunk = 100});
    CHECK(r.on(resubmitted{3, fault_kind::permanent}, {}) == event_result::applied);
    CHECK(r.refused() == std::vector<std::uint64_t>{3});
    CHECK(r.next({}) == redrive::action(redrive::mark_sent{0, 1}));
    CHECK(r.on(sessions_marked{}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::remove_dead_letters{0, 2}));
    CHECK(r.on(dead_letters_removed{2}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::resubmit{5, 2}));
    CHECK(r.on(resubmitted{2}, {}) == event_result::applied);
    CHECK(r.on(sessions_marked{}, {}) == event_result::applied);
    CHECK(r.on(dead_letters_removed{2}, {}) == event_result::applied);
    CHECK(r.outcome() == redrive::redrive_outcome::finished);

    redrive alone(plan_of({1}));
    CHECK(alone.on(resubmitted{0, fault_kind::permanent}, {}) == event_result::applied);
    CHECK(alone.outcome() == redrive::redrive_outcome::finished);
    CHECK(alone.removed() == 0);
}

TEST_CASE("redrive: a permanently refused mark keeps only its session")
{
    redrive r(plan_of({2, 1, 3, 2}), {.chunk = 100});
    CHECK(r.on(resubmitted{8}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::mark_sent{0, 4}));
    CHECK(r.on(sessions_marked{fault_kind::permanent}, {}) == event_result::applied);
    // One by one, without those that have no mark.
    CHECK(r.next({}) == redrive::action(redrive::mark_sent{0, 1}));
    CHECK(r.on(sessions_marked{}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::mark_sent{2, 1}));
    CHECK(r.on(sessions_marked{fault_kind::transient}, {}) == event_result::applied);
    CHECK(r.next(steady_time::highest()) == redrive::action(redrive::mark_sent{2, 1}));
    CHECK(r.on(sessions_marked{fault_kind::permanent}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::mark_sent{3, 1}));
    CHECK(r.on(sessions_marked{}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::remove_dead_letters{6, 2}));
    CHECK(r.on(dead_letters_removed{2}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::remove_dead_letters{0, 3}));
    CHECK(r.on(dead_letters_removed{3}, {}) == event_result::applied);
    CHECK(r.outcome() == redrive::redrive_outcome::finished);
    CHECK(r.refused() == std::vector<std::uint64_t>{3});
    CHECK(r.removed() == 5);

    redrive alone(plan_of({2, 2}), {.chunk = 2});
    CHECK(alone.on(resubmitted{2}, {}) == event_result::applied);
    CHECK(alone.on(sessions_marked{fault_kind::permanent}, {}) == event_result::applied);
    CHECK(alone.next({}) == redrive::action(redrive::resubmit{2, 2}));
    CHECK(alone.on(resubmitted{2}, {}) == event_result::applied);
    CHECK(alone.on(sessions_marked{}, {}) == event_result::applied);
    CHECK(alone.on(dead_letters_removed{2}, {}) == event_result::applied);
    CHECK(alone.outcome() == redrive::redrive_outcome::finished);
    CHECK(alone.refused() == std::vector<std::uint64_t>{0});
}

TEST_CASE("redrive: without a mark, a session is removed at once, also above the chunk size")
{
    redrive_plan p = plan_of({5, 2});
    for (redrive_plan::planned_session& s : p.sessions) s.mark_before_removal = false;
    redrive r(p, {.chunk = 2});
    for (const std::uint64_t n : {2U, 2U, 1U})
        CHECK(r.on(resubmitted{n}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::remove_dead_letters{0, 5}));
    CHECK(r.on(dead_letters_removed{5}, {}) == event_result::applied);
    CHECK(r.next({}) == redrive::action(redrive::resubmit{5, 2}));
    // Independent failures need no mark, and are removed in chunks.
    p.sessions[0].marks.independent = true;
    redrive alone(p, {.chunk = 2});
    for (const std::uint64_t n : {2U, 2U, 1U})
        CHECK(alone.on(resubmitted{n}, {}) == event_result::applied);
    CHECK(alone.next({}) == redrive::action(redrive::remove_dead_letters{3, 2}));
}

TEST_CASE("redrive: a chunk of zero is refused, and counts as one")
{
    CHECK(validate(waybill::redrive_policy{.chunk = 0})->field == "chunk");
    CHECK(!validate(waybill::redrive_policy{}));
    CHECK(redrive(plan_of({2}), {.chunk = 0}).next({}) == redrive::action(redrive::resubmit{0, 1}));
    for (const auto e : {redrive::redrive_outcome::running, redrive::redrive_outcome::finished,
                         redrive::redrive_outcome::stopped})
        CHECK(name(e) != "?");
}

}  // namespace
}  // namespace redrive_test
