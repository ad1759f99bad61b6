// SPDX-License-Identifier: MIT
//
// An intake that is told anything at any time, true or not: it stays within its bounds, asks for
// nothing that it has not, and completes no pointer whose original may still be there.

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <set>

#include <waybill/core/match.hpp>
#include <waybill/retry/intake.hpp>

namespace intake_properties {
namespace {

using waybill::broker_said;
using waybill::duration;
using waybill::fault_class;
using waybill::heard;
using waybill::steady_time;
namespace act = waybill::act;

broker_said any_answer() { return *rc::gen::element(broker_said::done, broker_said::gone, broker_said::failed); }

fault_class any_class()
{
    return *rc::gen::element(fault_class::none, fault_class::none, fault_class::transient, fault_class::permanent,
                             fault_class::infrastructure, fault_class::cancelled, fault_class::ownership_lost);
}

void told_anything()
{
    waybill::intake_options o;
    o.at_once = *rc::gen::inRange<std::uint64_t>(1, 6);
    o.pause = duration::seconds(*rc::gen::inRange(1, 4));
    o.guard.trip_at = 0.5;
    o.guard.min_calls = *rc::gen::inRange<std::uint64_t>(1, 4);
    o.guard.timeout = duration::seconds(*rc::gen::inRange(1, 40));
    waybill::intake in(o);
    std::set<std::uint64_t> pairs;
    std::set<std::uint64_t> may_complete;
    std::int64_t now = 0;
    std::uint64_t numbers = 0;
    const auto steps = *rc::gen::inRange(0, 150);
    for (int i = 0; i != steps; ++i) {
        now += *rc::gen::weightedElement<std::int64_t>({{12, 0}, {4, 1}, {1, 7}, {1, 50}, {1, -5}});
        const steady_time at = steady_time::at(duration::seconds(now));
        const auto before = in.in_hand();
        heard h = heard::taken;
        if (*rc::gen::inRange(0, 4) != 0) {
            // What it asked for.
            const auto a = in.next(at);
            RC_ASSERT(a == in.next(at));
            waybill::match(
                a,
                [&](act::take_due t) {
                    RC_ASSERT(t.first == numbers);
                    RC_ASSERT(t.most >= 1U && t.most <= o.at_once - before);
                    const auto n = *rc::gen::inRange<std::uint64_t>(0, t.most + 1);
                    for (std::uint64_t k = 0; k != n; ++k) pairs.insert(t.first + k);
                    numbers += n;
                    h = in.on(waybill::pairs_taken{n}, at);
                },
                [&](act::receive r) {
                    RC_ASSERT(r.first == numbers);
                    RC_ASSERT(r.most >= 1U && r.most <= o.at_once - before);
                    const auto n = *rc::gen::inRange<std::uint64_t>(0, r.most + 1);
                    numbers += n;
                    h = in.on(waybill::messages_received{n}, at);
                },
                [&](act::receive_deferred r) {
                    RC_ASSERT(pairs.contains(r.work));
                    const auto said = any_answer();
                    if (said == broker_said::gone) may_complete.insert(r.work);
                    h = in.on(waybill::original_fetched{r.work, said}, at);
                },
                [&](act::settle_original s) {
                    RC_ASSERT(pairs.contains(s.work));
                    const auto said = any_answer();
                    const bool over = s.how != waybill::settle_as::give_back && said != broker_said::failed;
                    if (over) may_complete.insert(s.work);
                    h = in.on(waybill::original_settled{s.work, said}, at);
                },
                [&](act::settle_message s) {
                    const bool completes = s.how != waybill::settle_as::give_back && pairs.contains(s.work);
                    RC_ASSERT(!completes || may_complete.contains(s.work));
                    RC_ASSERT(!s.gone || completes);
                    h = in.on(waybill::message_settled{s.work, any_answer()}, at);
                    RC_ASSERT(in.in_hand() + 1 == before);
                },
                [&](act::wait w) { RC_ASSERT(w.until > at); }, [&](act::idle) { RC_ASSERT(false); });
            RC_ASSERT(h == heard::taken);
        } else {
            // Anything, about work that is there, was there, or never was.
            const auto n = *rc::gen::inRange<std::uint64_t>(0, numbers + 2);
            const auto last = numbers > 4 ? numbers - 4 + n % 5 : n;
            switch (*rc::gen::inRange(0, 5)) {
                case 0: {
                    const bool deferred = *rc::gen::inRange(0, 6) == 0;
                    h = in.on(waybill::work_done{last, any_class(), deferred}, at);
                    if (deferred && h == heard::taken) may_complete.insert(last);
                    break;
                }
                case 1: h = in.on(waybill::work_done{last}, at); break;
                case 2: h = in.on(waybill::messages_received{o.at_once + 1}, at); break;
                case 3: h = in.on(waybill::message_settled{numbers + 1}, at); break;
                default: h = in.on(waybill::pairs_taken{~std::uint64_t{0}}, at); break;
            }
        }
        RC_ASSERT(in.in_hand() <= o.at_once);
        if (h != heard::taken) RC_ASSERT(in.in_hand() == before);
    }
}

TEST_CASE("intake: stays within its bounds whatever it is told")
{
    CHECK(rc::check("true or not, in time or late", told_anything));
}

}  // namespace
}  // namespace intake_properties
