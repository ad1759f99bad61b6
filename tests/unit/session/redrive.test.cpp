// SPDX-License-Identifier: MIT

#include <waybill/session/redrive.hpp>

#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

namespace redrive_test {
namespace {

using namespace std::chrono_literals;
namespace act = waybill::act;
using waybill::fault_class;
using waybill::heard;
using waybill::letters_removed;
using waybill::redrive;
using waybill::redrive_end;
using waybill::redrive_plan;
using waybill::redrive_session;
using waybill::resubmitted;
using waybill::sessions_marked;
using waybill::steady_time;

redrive_plan plan_of(std::initializer_list<std::uint64_t> sizes)
{
    redrive_plan p;
    for (const std::uint64_t n : sizes) {
        redrive_session s;
        s.offset = p.ready;
        s.count = n;
        s.marks_first = n > 1;
        p.ready += n;
        p.sessions.push_back(s);
    }
    return p;
}

TEST_CASE("redrive: rounds of whole sessions")
{
    redrive r(plan_of({2, 1, 3, 7}), {.chunk = 5});
    CHECK(r.next({}) == redrive::action(act::resubmit{0, 3}));
    CHECK(r.on(letters_removed{1}, {}) == heard::late);
    CHECK(r.on(sessions_marked{}, {}) == heard::late);
    CHECK(r.on(resubmitted{4}, {}) == heard::invalid);
    CHECK(r.on(resubmitted{3}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::mark_sent{0, 2}));
    CHECK(r.on(resubmitted{3}, {}) == heard::late);
    CHECK(r.on(sessions_marked{}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::remove_letters{0, 3}));
    CHECK(r.on(letters_removed{4}, {}) == heard::invalid);
    CHECK(r.on(letters_removed{3}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::resubmit{3, 3}));
    CHECK(r.on(resubmitted{3}, {}) == heard::taken);
    CHECK(r.on(sessions_marked{}, {}) == heard::taken);
    CHECK(r.on(letters_removed{3}, {}) == heard::taken);
    // One that is larger than a chunk is sent in several, and then removed in several, from behind.
    CHECK(r.next({}) == redrive::action(act::resubmit{6, 5}));
    CHECK(r.on(resubmitted{5}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::resubmit{11, 2}));
    CHECK(r.on(resubmitted{2}, {}) == heard::taken);
    CHECK(r.on(sessions_marked{}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::remove_letters{8, 5}));
    CHECK(r.on(letters_removed{5}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::remove_letters{6, 2}));
    CHECK(r.on(letters_removed{2}, {}) == heard::taken);
    CHECK(r.end() == redrive_end::finished);
    CHECK(r.next({}) == redrive::action(act::idle{}));
    CHECK(r.sent() == 13);
    CHECK(r.removed() == 13);
    CHECK(r.on(resubmitted{1}, {}) == heard::late);
    CHECK(r.on(sessions_marked{}, {}) == heard::late);
    CHECK(r.on(letters_removed{1}, {}) == heard::late);
    CHECK(redrive(redrive_plan{}).over());
}

TEST_CASE("redrive: what fails is tried again after a pause, and not for ever")
{
    const waybill::redrive_policy policy{.chunk = 10, .retry = {.most = 3, .pauses = {.base = 1s, .spread = waybill::jitter::none}}};
    redrive r(plan_of({4}), policy);
    CHECK(r.on(resubmitted{0, fault_class::infrastructure}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::wait{steady_time::at(1s)}));
    CHECK(r.next(steady_time::at(1s)) == redrive::action(act::resubmit{0, 4}));
    // Some went through, so the counting begins anew.
    CHECK(r.on(resubmitted{1, fault_class::transient}, steady_time::at(1s)) == heard::taken);
    CHECK(r.next(steady_time::at(2s)) == redrive::action(act::resubmit{1, 3}));
    CHECK(r.on(resubmitted{0, fault_class::none}, steady_time::at(2s)) == heard::taken);
    CHECK(r.next(steady_time::at(2s)) == redrive::action(act::wait{steady_time::at(4s)}));
    CHECK(!r.over());
    redrive stopped = r;
    CHECK(stopped.on(resubmitted{0, fault_class::infrastructure}, {}) == heard::taken);
    CHECK(stopped.end() == redrive_end::stopped);
    CHECK(stopped.why() == fault_class::infrastructure);
    CHECK(r.on(resubmitted{1, fault_class::cancelled}, {}) == heard::taken);
    CHECK(r.why() == fault_class::cancelled);
    CHECK(r.sent() == 2);
    CHECK(r.removed() == 0);
}

TEST_CASE("redrive: a message that is never taken stops its session and no other")
{
    redrive r(plan_of({2, 3, 2}), {.chunk = 100});
    CHECK(r.on(resubmitted{3, fault_class::permanent}, {}) == heard::taken);
    CHECK(r.refused() == std::vector<std::uint64_t>{3});
    CHECK(r.next({}) == redrive::action(act::mark_sent{0, 1}));
    CHECK(r.on(sessions_marked{}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::remove_letters{0, 2}));
    CHECK(r.on(letters_removed{2}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::resubmit{5, 2}));
    CHECK(r.on(resubmitted{2}, {}) == heard::taken);
    CHECK(r.on(sessions_marked{}, {}) == heard::taken);
    CHECK(r.on(letters_removed{2}, {}) == heard::taken);
    CHECK(r.end() == redrive_end::finished);

    redrive alone(plan_of({1}));
    CHECK(alone.on(resubmitted{0, fault_class::permanent}, {}) == heard::taken);
    CHECK(alone.end() == redrive_end::finished);
    CHECK(alone.removed() == 0);
}

TEST_CASE("redrive: a mark that is never taken keeps its session and no other")
{
    redrive r(plan_of({2, 1, 3, 2}), {.chunk = 100});
    CHECK(r.on(resubmitted{8}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::mark_sent{0, 4}));
    CHECK(r.on(sessions_marked{fault_class::permanent}, {}) == heard::taken);
    // One by one, those that have no mark left out.
    CHECK(r.next({}) == redrive::action(act::mark_sent{0, 1}));
    CHECK(r.on(sessions_marked{}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::mark_sent{2, 1}));
    CHECK(r.on(sessions_marked{fault_class::transient}, {}) == heard::taken);
    CHECK(r.next(steady_time::highest()) == redrive::action(act::mark_sent{2, 1}));
    CHECK(r.on(sessions_marked{fault_class::permanent}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::mark_sent{3, 1}));
    CHECK(r.on(sessions_marked{}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::remove_letters{6, 2}));
    CHECK(r.on(letters_removed{2}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::remove_letters{0, 3}));
    CHECK(r.on(letters_removed{3}, {}) == heard::taken);
    CHECK(r.end() == redrive_end::finished);
    CHECK(r.refused() == std::vector<std::uint64_t>{3});
    CHECK(r.removed() == 5);

    redrive alone(plan_of({2, 2}), {.chunk = 2});
    CHECK(alone.on(resubmitted{2}, {}) == heard::taken);
    CHECK(alone.on(sessions_marked{fault_class::permanent}, {}) == heard::taken);
    CHECK(alone.next({}) == redrive::action(act::resubmit{2, 2}));
    CHECK(alone.on(resubmitted{2}, {}) == heard::taken);
    CHECK(alone.on(sessions_marked{}, {}) == heard::taken);
    CHECK(alone.on(letters_removed{2}, {}) == heard::taken);
    CHECK(alone.end() == redrive_end::finished);
    CHECK(alone.refused() == std::vector<std::uint64_t>{0});
}

TEST_CASE("redrive: what a table removes at once is removed at once, however small a chunk is")
{
    redrive_plan p = plan_of({5, 2});
    for (redrive_session& s : p.sessions) s.marks_first = false;
    redrive r(p, {.chunk = 2});
    for (const std::uint64_t n : {2U, 2U, 1U}) CHECK(r.on(resubmitted{n}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::remove_letters{0, 5}));
    CHECK(r.on(letters_removed{5}, {}) == heard::taken);
    CHECK(r.next({}) == redrive::action(act::resubmit{5, 2}));
    // Those that failed alone need no mark, and are removed as the chunk says.
    p.sessions[0].marks.alone = true;
    redrive alone(p, {.chunk = 2});
    for (const std::uint64_t n : {2U, 2U, 1U}) CHECK(alone.on(resubmitted{n}, {}) == heard::taken);
    CHECK(alone.next({}) == redrive::action(act::remove_letters{3, 2}));
}

TEST_CASE("redrive: a policy that cannot work")
{
    CHECK(check(waybill::redrive_policy{.chunk = 0})->field == "chunk");
    CHECK(!check(waybill::redrive_policy{}));
    CHECK(redrive(plan_of({2}), {.chunk = 0}).next({}) == redrive::action(act::resubmit{0, 1}));
    for (const auto e : {redrive_end::running, redrive_end::finished, redrive_end::stopped}) CHECK(name(e) != "?");
}

}  // namespace
}  // namespace redrive_test
