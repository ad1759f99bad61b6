// SPDX-License-Identifier: MIT
//
// Random decisions, answers and times, with many concurrent calls, against the naive record of
// settle_audit. Every message is reported once, with the outcome of its answers.

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/settle_audit.hpp>

#include <waybill/queue/settle_batches.hpp>

namespace settle_batch_properties {
namespace {

using tests_support::settle_audit;
using waybill::duration;
using waybill::fault_kind;
using waybill::settle_batches;
using waybill::steady_time;

waybill::settle_batches::config any_policy()
{
    waybill::settle_batches::config p;
    p.items = *rc::gen::inRange<std::uint64_t>(0, 12);
    p.linger = duration::seconds(*rc::gen::element<std::int64_t>(0, 0, 1, 5, 60));
    p.to_settle = duration::seconds(*rc::gen::element<std::int64_t>(0, 1, 1, 10));
    p.tries = *rc::gen::inRange<std::uint32_t>(0, 5);
    p.pauses = {.base = duration::seconds(1), .cap = duration::seconds(8)};
    return p;
}

fault_kind any_fault()
{
    return *rc::gen::element(fault_kind::none, fault_kind::none, fault_kind::transient,
                             fault_kind::transient, fault_kind::infrastructure,
                             fault_kind::permanent, fault_kind::ownership_lost,
                             fault_kind::cancelled);
}

waybill::settle_batches::batch_settled any_answer(const waybill::settle_batches::settle_batch& call)
{
    const std::vector<std::uint64_t>& items = call.items;
    waybill::settle_batches::batch_settled s;
    s.call = call.call;
    s.items = items;
    s.kind =
        *rc::gen::weightedElement<fault_kind>({{4, fault_kind::none}, {1, fault_kind::transient}});
    if (s.kind != fault_kind::none) s.kind = any_fault();
    for (std::size_t i = 0; i != items.size(); ++i) {
        if (*rc::gen::inRange(0, 3) == 0) {
            const fault_kind how = any_fault();
            s.failed.push_back({i, how == fault_kind::none ? fault_kind::transient : how});
        }
    }
    s.random = *rc::gen::element(0.0, 0.5, 0.999);
    return s;
}

void settles()
{
    settle_audit audit(any_policy());
    steady_time now = steady_time::at(duration::seconds(100));
    std::vector<waybill::settle_batches::settle_batch> under_way;
    auto left = *rc::gen::inRange(0, 40);
    for (int step = 0;; ++step) {
        RC_ASSERT(step < 5'000);
        if (left != 0 && *rc::gen::inRange(0, 3) == 0) {
            --left;
            const auto lock =
                *rc::gen::element<std::int64_t>(-1, 0, 1, 2, 5, 20, 300, 1'000'000'000'000);
            audit.decide(*rc::gen::elementOf(std::vector<settle_batches::settle_kind>(
                             std::begin(waybill::settle_batches::settle_kinds),
                             std::end(waybill::settle_batches::settle_kinds))),
                         duration::seconds(lock), now);
            if (*rc::gen::inRange(0, 6) == 0) audit.no_more(now);
        }
        if (!under_way.empty() && *rc::gen::inRange(0, 2) == 0) {
            const auto which = *rc::gen::inRange<std::size_t>(0, under_way.size());
            audit.answer(any_answer(under_way[which]), now);
            under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
        }
        const auto a = audit.next(now);
        if (const auto* b = waybill::get_if<waybill::settle_batches::settle_batch>(&a)) {
            if (*rc::gen::inRange(0, 2) == 0) {
                audit.started(*b, now);
                under_way.push_back(*b);
            } else {
                now = now + duration::seconds(*rc::gen::inRange<std::int64_t>(0, 4));
                audit.answer(any_answer(*b), now);
            }
        }
        if (const auto* w = waybill::get_if<waybill::wait_until>(&a)) {
            if (left == 0 || *rc::gen::inRange(0, 2) == 0) now = w->time;
        } else if (*rc::gen::inRange(0, 4) == 0) {
            now = now + duration::seconds(*rc::gen::inRange<std::int64_t>(0, 10));
        }
        RC_ASSERT(audit.broken() == "");
        if (left == 0 && under_way.empty() && waybill::holds_alternative<waybill::idle>(a)) break;
    }
    RC_ASSERT(audit.unreported() == 0U);
    RC_ASSERT(audit.machine().empty());
    RC_ASSERT(audit.machine() == audit.machine());
}

TEST_CASE("settle_batches: each message is reported once, with the outcome of its answers")
{
    CHECK(rc::check("settle_batches against a naive record", [] { settles(); }));
}

TEST_CASE("settle_batches: invalid and unknown answers change nothing")
{
    CHECK(rc::check("an index past the end, unknown or repeated messages, another call", [] {
        waybill::settle_batches m(any_policy());
        const steady_time now = steady_time::at(duration::seconds(1));
        const auto n = *rc::gen::inRange<std::size_t>(0, 5);
        std::vector<std::uint64_t> items;
        for (std::size_t i = 0; i != n; ++i) {
            m.on(waybill::settle_batches::decided{}, now);
            items.push_back(i);
        }
        const auto before = m;
        const auto past = *rc::gen::arbitrary<std::uint64_t>();
        RC_ASSERT(m.on(
                      waybill::settle_batches::batch_settled{
                          0, items, {}, {{n + past % 1'000, fault_kind::transient}}},
                      now) == waybill::event_result::invalid);
        const auto call = 1 + *rc::gen::arbitrary<std::uint64_t>() % 1'000;
        RC_ASSERT(m.on(waybill::settle_batches::batch_settled{call, items}, now) ==
                  waybill::event_result::stale);
        if (n != 0) {
            auto twice = items;
            twice.push_back(*rc::gen::elementOf(items));
            RC_ASSERT(m.on(waybill::settle_batches::batch_settled{0, twice}, now) ==
                      waybill::event_result::invalid);
        }
        RC_ASSERT(m.on(waybill::settle_batches::batch_settled{0, {n + past % 1'000}}, now) ==
                  waybill::event_result::stale);
        RC_ASSERT(m.on(waybill::settle_batches::batch_started{0, {n + past % 1'000}}, now) ==
                  waybill::event_result::stale);
        RC_ASSERT(m.on(waybill::settle_batches::reported{n + past % 1'000}, now) ==
                  waybill::event_result::stale);
        RC_ASSERT(m == before);
    }));
}

}  // namespace
}  // namespace settle_batch_properties
