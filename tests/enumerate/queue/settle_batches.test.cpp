// SPDX-License-Identifier: MIT
//
// Settles three messages in all combinations of kinds, locks, durations of the calls and outcomes
// of each message. settle_audit compares every step with a naive model. This test also checks that
// it ends, and that mutants with one mistake each are caught.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <variant>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>
#include <support/settle_audit.hpp>

#include <waybill/queue/settle_batches.hpp>
#include <waybill/testing/choices.hpp>

namespace settle_batch_enumeration {
namespace {

using waybill::duration;
using waybill::fault_kind;
using waybill::settle_batches;
using waybill::steady_time;
using waybill::testing::choices;

// Machines with one mistake each.

struct partial_is_done : settle_batches {
    using settle_batches::on;
    using settle_batches::settle_batches;
    waybill::event_result on(const waybill::settle_batches::batch_settled& received,
                             steady_time now)
    {
        waybill::settle_batches::batch_settled s = received;
        s.failed.clear();
        return settle_batches::on(s, now);
    }
};

struct partial_is_failed : settle_batches {
    using settle_batches::on;
    using settle_batches::settle_batches;
    waybill::event_result on(const waybill::settle_batches::batch_settled& received,
                             steady_time now)
    {
        waybill::settle_batches::batch_settled s = received;
        if (s.kind == fault_kind::none && !s.failed.empty()) s.kind = s.failed[0].kind;
        return settle_batches::on(s, now);
    }
};

struct lost_is_tried_again : settle_batches {
    using settle_batches::on;
    using settle_batches::settle_batches;
    waybill::event_result on(const waybill::settle_batches::batch_settled& received,
                             steady_time now)
    {
        waybill::settle_batches::batch_settled s = received;
        if (s.kind == fault_kind::ownership_lost) s.kind = fault_kind::transient;
        for (auto& f : s.failed) {
            if (f.kind == fault_kind::ownership_lost) f.kind = fault_kind::transient;
        }
        return settle_batches::on(s, now);
    }
};

struct past_the_lock : settle_batches {
    using settle_batches::on;
    using settle_batches::settle_batches;
    waybill::event_result on(const waybill::settle_batches::decided& received, steady_time now)
    {
        waybill::settle_batches::decided d = received;
        d.lock_left = d.lock_left + duration::seconds(2);
        return settle_batches::on(d, now);
    }
};

struct over_the_limit : settle_batches {
    explicit over_the_limit(waybill::settle_batches::config p) : settle_batches(wrong(p)) {}
    static waybill::settle_batches::config wrong(waybill::settle_batches::config p)
    {
        ++p.items;
        return p;
    }
};

struct lingers_too_long : settle_batches {
    explicit lingers_too_long(waybill::settle_batches::config p) : settle_batches(wrong(p)) {}
    static waybill::settle_batches::config wrong(waybill::settle_batches::config p)
    {
        p.linger = p.linger + duration::nanoseconds(1);
        return p;
    }
};

struct tries_too_often : settle_batches {
    explicit tries_too_often(waybill::settle_batches::config p) : settle_batches(wrong(p)) {}
    static waybill::settle_batches::config wrong(waybill::settle_batches::config p)
    {
        ++p.tries;
        return p;
    }
};

// A mutant: settles in the order of the decisions and ignores the locks.
struct first_decided_first : settle_batches {
    explicit first_decided_first(waybill::settle_batches::config p)
        : settle_batches(all(p)), most(p.items)
    {
    }
    static waybill::settle_batches::config all(waybill::settle_batches::config p)
    {
        p.items = waybill::detail::highest_size;
        return p;
    }
    action next(steady_time now) const
    {
        action a = settle_batches::next(now);
        auto* const b = waybill::get_if<settle_batches::settle_batch>(&a);
        if (b != nullptr && b->items.size() > most) b->items.resize(most);
        return a;
    }
    friend bool operator==(const first_decided_first&, const first_decided_first&) = default;
    std::uint64_t most;
};

// A mutant: takes a repeated answer as the answer to the next call.
struct repeats_count : settle_batches {
    using settle_batches::on;
    using settle_batches::settle_batches;
    waybill::event_result on(const waybill::settle_batches::batch_settled& received,
                             steady_time now)
    {
        waybill::settle_batches::batch_settled s = received;
        const waybill::event_result h = settle_batches::on(s, now);
        if (h != waybill::event_result::stale) return h;
        ++s.call;
        return settle_batches::on(s, now);
    }
};

constexpr fault_kind answers[] = {fault_kind::none, fault_kind::transient,
                                  fault_kind::ownership_lost, fault_kind::permanent};

template <class Machine>
std::string run(choices& c, std::uint32_t messages)
{
    waybill::settle_batches::config p;
    p.items = 2;
    p.tries = 2;
    p.linger = duration::seconds(c.pick(2) == 0 ? 0 : 2);
    p.pauses = {.base = duration::seconds(1),
                .cap = duration::seconds(1),
                .spread = waybill::backoff::jitter::none};
    tests_support::settle_audit_of<Machine> audit(p);
    steady_time now = steady_time::at(duration::seconds(100));
    const bool at_once = c.pick(2) == 0;
    const auto decide = [&] {
        const settle_batches::settle_kind kind = c.pick(2) == 0
                                                     ? settle_batches::settle_kind::complete
                                                     : settle_batches::settle_kind::abandon;
        audit.decide(kind, duration::seconds(c.pick(2) == 0 ? 9 : 2), now);
    };
    std::uint32_t decided = 0;
    for (; at_once && decided != messages; ++decided) decide();
    for (int step = 0; step != 60; ++step) {
        if (decided != messages) {
            decide();
            ++decided;
        }
        const auto a = audit.next(now);
        if (const auto* b = waybill::get_if<settle_batches::settle_batch>(&a)) {
            waybill::settle_batches::batch_settled s{b->call, b->items};
            if (c.pick(2) != 0) now = now + duration::seconds(3);
            for (std::size_t i = 0; i != b->items.size(); ++i) {
                const fault_kind how =
                    answers[c.pick(static_cast<std::uint32_t>(std::size(answers)))];
                if (how != fault_kind::none) s.failed.push_back({i, how});
            }
            audit.answer(s, now);
        }
        if (const auto* w = waybill::get_if<waybill::wait_until>(&a))
            now = decided == messages ? w->time : now + duration::seconds(1);
        if (!audit.broken().empty()) return audit.broken();
        if (waybill::holds_alternative<waybill::idle>(a) && decided == messages) {
            return audit.unreported() == 0 ? "" : "idle, and not all are reported";
        }
    }
    return "the run does not end";
}

template <class Machine>
std::string enumerate(const char* what, std::uint32_t messages)
{
    return tests_support::every_schedule("settle_batches", what,
                                         [&](choices& c) { return run<Machine>(c, messages); })
        .rule;
}

TEST_CASE("settle_batches: every answer to every call for three messages agrees with the model")
{
    CHECK(enumerate<settle_batches>("three messages", tests_support::brief ? 2 : 3) == "");
}

TEST_CASE("settle_batches: mutants are caught")
{
    CHECK(enumerate<partial_is_done>("a partial failure is taken for none", 2) != "");
    CHECK(enumerate<partial_is_failed>("a partial failure is taken for all", 2) != "");
    CHECK(enumerate<lost_is_tried_again>("what is lost is tried again", 2) != "");
    CHECK(enumerate<past_the_lock>("tried past the lock", 2) != "");
    CHECK(enumerate<lingers_too_long>("lingers too long", 2) != "");
    CHECK(enumerate<tries_too_often>("tries too often", 2) != "");
    CHECK(enumerate<over_the_limit>("more than the limit", 3) != "");
    CHECK(enumerate<first_decided_first>("the first and not the most urgent", 3) != "");
    CHECK(enumerate<repeats_count>("an answer counts twice", 2) != "");
}

}  // namespace
}  // namespace settle_batch_enumeration
