// SPDX-License-Identifier: MIT
//
// A receive_planner gets random events at random times, true or false. It stays within its bounds.
// It requests nothing for unknown work. It completes no pointer whose original may still be
// present.

#include <cstdint>
#include <set>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/core/match.hpp>
#include <waybill/queue/receive_planner.hpp>

namespace intake_properties {
namespace {

using waybill::duration;
using waybill::event_result;
using waybill::fault_kind;
using waybill::receive_planner;
using waybill::steady_time;

receive_planner::settle_result any_answer()
{
    return *rc::gen::element(receive_planner::settle_result::done,
                             receive_planner::settle_result::not_found,
                             receive_planner::settle_result::failed);
}

fault_kind any_class()
{
    return *rc::gen::element(fault_kind::none, fault_kind::none, fault_kind::transient,
                             fault_kind::permanent, fault_kind::infrastructure,
                             fault_kind::cancelled, fault_kind::ownership_lost);
}

void stays_within_bounds()
{
    waybill::receive_planner::config o;
    o.max_in_flight = *rc::gen::inRange<std::uint64_t>(1, 6);
    o.pause = duration::seconds(*rc::gen::inRange(1, 4));
    o.breaker.failure_ratio = 0.5;
    o.breaker.minimum_throughput = *rc::gen::inRange<std::uint64_t>(1, 4);
    o.breaker.timeout = duration::seconds(*rc::gen::inRange(1, 40));
    waybill::receive_planner in(o);
    std::set<std::uint64_t> pairs;
    std::set<std::uint64_t> may_complete;
    std::int64_t now = 0;
    std::uint64_t numbers = 0;
    const auto steps = *rc::gen::inRange(0, 150);
    for (int i = 0; i != steps; ++i) {
        now += *rc::gen::weightedElement<std::int64_t>({{12, 0}, {4, 1}, {1, 7}, {1, 50}, {1, -5}});
        const steady_time at = steady_time::at(duration::seconds(now));
        const auto before = in.in_hand();
        event_result h = event_result::applied;
        if (*rc::gen::inRange(0, 4) != 0) {
            // An answer to its action.
            const auto a = in.next(at);
            RC_ASSERT(a == in.next(at));
            waybill::match(
                a,
                [&](waybill::receive_planner::take_due_pairs t) {
                    RC_ASSERT(t.first == numbers);
                    RC_ASSERT(t.max_pairs >= 1U && t.max_pairs <= o.max_in_flight - before);
                    const auto n = *rc::gen::inRange<std::uint64_t>(0, t.max_pairs + 1);
                    for (std::uint64_t k = 0; k != n; ++k) pairs.insert(t.first + k);
                    numbers += n;
                    h = in.on(waybill::receive_planner::pairs_taken{n}, at);
                },
                [&](waybill::receive_planner::receive r) {
                    RC_ASSERT(r.first == numbers);
                    RC_ASSERT(r.max_messages >= 1U && r.max_messages <= o.max_in_flight - before);
                    const auto n = *rc::gen::inRange<std::uint64_t>(0, r.max_messages + 1);
                    numbers += n;
                    h = in.on(waybill::receive_planner::messages_received{n}, at);
                },
                [&](waybill::receive_planner::receive_deferred r) {
                    RC_ASSERT(pairs.contains(r.work));
                    const auto said = any_answer();
                    const bool again = *rc::gen::arbitrary<bool>();
                    const bool none = said == receive_planner::settle_result::not_found;
                    if (none && again) may_complete.insert(r.work);
                    h = in.on(waybill::receive_planner::original_fetched{r.work, said, again}, at);
                    RC_ASSERT(in.in_hand() == before - (none && !again ? 1 : 0));
                },
                [&](waybill::receive_planner::settle_original s) {
                    RC_ASSERT(pairs.contains(s.work));
                    const auto said = any_answer();
                    const bool over = s.as != waybill::receive_planner::settle_as::give_back &&
                                      said != receive_planner::settle_result::failed;
                    if (over) may_complete.insert(s.work);
                    h = in.on(waybill::receive_planner::original_settled{s.work, said}, at);
                },
                [&](waybill::receive_planner::settle_message s) {
                    const bool completes = s.as != waybill::receive_planner::settle_as::give_back &&
                                           pairs.contains(s.work);
                    RC_ASSERT(!completes || may_complete.contains(s.work));
                    RC_ASSERT(!s.gone || completes);
                    h = in.on(waybill::receive_planner::message_settled{s.work, any_answer()}, at);
                    RC_ASSERT(in.in_hand() + 1 == before);
                },
                [&](waybill::wait_until w) { RC_ASSERT(w.time > at); },
                [&](waybill::idle) { RC_ASSERT(false); });
            RC_ASSERT(h == event_result::applied);
        } else {
            // Any event about current, earlier or unknown work.
            const auto n = *rc::gen::inRange<std::uint64_t>(0, numbers + 2);
            const auto last = numbers > 4 ? numbers - 4 + n % 5 : n;
            switch (*rc::gen::inRange(0, 5)) {
                case 0: {
                    const bool deferred = *rc::gen::inRange(0, 6) == 0;
                    h = in.on(waybill::receive_planner::work_done{last, any_class(), deferred}, at);
                    if (deferred && h == event_result::applied) may_complete.insert(last);
                    break;
                }
                case 1: h = in.on(waybill::receive_planner::work_done{last}, at); break;
                case 2:
                    h = in.on(waybill::receive_planner::messages_received{o.max_in_flight + 1}, at);
                    break;
                case 3:
                    h = in.on(waybill::receive_planner::message_settled{numbers + 1}, at);
                    break;
                default:
                    h = in.on(waybill::receive_planner::pairs_taken{~std::uint64_t{0}}, at);
                    break;
            }
        }
        RC_ASSERT(in.in_hand() <= o.max_in_flight);
        if (h != event_result::applied) RC_ASSERT(in.in_hand() == before);
    }
}

TEST_CASE("receive_planner: stays within its bounds after any events")
{
    CHECK(rc::check("true or false events, in time or late", stays_within_bounds));
}

}  // namespace
}  // namespace intake_properties
