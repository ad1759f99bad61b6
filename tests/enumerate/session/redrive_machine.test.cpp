// SPDX-License-Identifier: MIT
//
// The machine of a redrive over all small plans, with all answers: the letters that it sends, marks
// and removes, and their order. redrive.test.cpp shows why this order matters.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/core/match.hpp>
#include <waybill/session/redrive.hpp>
#include <waybill/testing/choices.hpp>

namespace redrive_machine_test {
namespace {

using dead_letters_removed = waybill::redrive::dead_letters_removed;
using waybill::event_result;
using waybill::fault_kind;
using waybill::redrive;
using waybill::redrive_plan;
using resubmitted = waybill::redrive::resubmitted;
using sessions_marked = waybill::redrive::sessions_marked;
using waybill::steady_time;
using waybill::testing::choices;

// Up to three sessions of up to three letters. Each was sent or not, marked or not, kept or not.
// The answers are complete, partial, empty or missing.
std::string run(choices& c)
{
    redrive_plan plan;
    for (std::uint32_t n = c.pick(3) + 1; n != 0; --n) {
        redrive_plan::planned_session s;
        s.offset = plan.ready;
        s.count = c.pick(3) + 1;
        s.first_sent = c.pick(2) == 1;
        s.keeps_first = c.pick(2) == 1;
        s.mark_before_removal = s.keeps_first || s.count > 1;
        plan.ready += s.count;
        plan.sessions.push_back(s);
    }
    redrive r(plan, {.chunk = c.pick(3) + 1});
    std::vector<bool> sent(plan.ready);
    std::vector<bool> marked(plan.sessions.size());
    std::vector<bool> removed(plan.ready);
    std::uint32_t injected_faults = tests_support::brief ? 1 : 2;
    std::string broken;
    const auto answer = [&](std::uint64_t count) {
        const std::uint32_t how = injected_faults == 0 ? 0 : c.pick(4);
        if (how != 0) --injected_faults;
        if (how == 2) count /= 2;
        if (how == 3) count = 0;
        return std::pair(how == 1 ? 0 : count, how == 0   ? fault_kind::none
                                               : how == 3 ? fault_kind::permanent
                                                          : fault_kind::transient);
    };
    for (std::uint32_t calls = 0; !r.over(); ++calls) {
        if (calls == 100) return "the machine does not end";
        if (r.next(steady_time::highest()) != r.next(steady_time::highest()))
            return "next differs when called again";
        waybill::match(
            r.next(steady_time::highest()),
            [&](const redrive::resubmit& a) {
                if (a.count == 0) broken = "nothing is sent";
                const auto [n, how] = answer(a.count);
                for (std::uint64_t i = a.offset; i != a.offset + n; ++i) {
                    const redrive_plan::planned_session& s = plan.session_of(i);
                    if (i != s.offset && !sent[i - 1] && !(i - 1 == s.offset && s.first_sent))
                        broken = "one is left out";
                    if (i == s.offset && s.first_sent) broken = "one is sent that was sent before";
                    if (sent[i]) broken = "one is sent twice";
                    sent[i] = true;
                }
                if (r.on(resubmitted{n, how}, {}) != event_result::applied)
                    broken = "an answer is not taken";
            },
            [&](const redrive::mark_sent& a) {
                const auto [n, how] = answer(a.count);
                for (std::uint64_t s = a.session; s != a.session + n; ++s) {
                    for (std::uint64_t i = 0; i != plan.sessions[s].count; ++i) {
                        const std::uint64_t l = plan.sessions[s].offset + i;
                        if (!sent[l] && !(i == 0 && plan.sessions[s].first_sent))
                            broken = "one is marked and was not sent";
                    }
                    marked[s] = true;
                }
                const fault_kind why = how == fault_kind::permanent ? fault_kind::transient : how;
                if (r.on(sessions_marked{n == a.count ? fault_kind::none : why}, {}) !=
                    event_result::applied)
                    broken = "an answer is not taken";
            },
            [&](const redrive::remove_dead_letters& a) {
                if (a.count == 0) broken = "nothing is removed";
                const auto [n, how] = answer(a.count);
                for (std::uint64_t i = a.offset + a.count; i-- != a.offset + a.count - n;) {
                    const redrive_plan::planned_session& s = plan.session_of(i);
                    const bool first = i == s.offset;
                    if (!sent[i] && !(first && s.first_sent))
                        broken = "one is removed and was not sent";
                    if (first && s.keeps_first) broken = "one is removed that is to stay";
                    if (s.mark_before_removal &&
                        !marked[static_cast<std::size_t>(&s - plan.sessions.data())])
                        broken = "one is removed before the mark";
                    if (i + 1 != s.end() && !removed[i + 1])
                        broken = "a letter is removed before the later ones";
                    if (removed[i]) broken = "one is removed twice";
                    removed[i] = true;
                }
                const fault_kind why = how == fault_kind::permanent ? fault_kind::transient : how;
                if (r.on(dead_letters_removed{n, why}, {}) != event_result::applied)
                    broken = "an answer is not taken";
            },
            [](const waybill::wait_until&) {}, [](waybill::idle) {});
        if (!broken.empty()) return broken;
    }
    if (r.outcome() != redrive::redrive_outcome::finished) return "it has stopped";
    for (std::uint64_t i = 0; i != plan.ready; ++i) {
        const redrive_plan::planned_session& s = plan.session_of(i);
        bool refused = false;
        for (const std::uint64_t l : r.refused()) refused = refused || &plan.session_of(l) == &s;
        const bool stays = refused || (i == s.offset && s.keeps_first);
        if (removed[i] == stays) return "at the end a letter is left, or too few are";
    }
    return {};
}

TEST_CASE("redrive machine: every answer in every small plan: all invariants hold")
{
    const auto v = tests_support::every_schedule("redrive machine", "small plans", run);
    CHECK(v.rule == "");
    if (!tests_support::brief) CHECK(v.schedules > 2'300'000);
}

}  // namespace
}  // namespace redrive_machine_test
