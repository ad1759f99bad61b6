// SPDX-License-Identifier: MIT
//
// Calls that take from one budget, against what is promised: in any order, on any clock.

#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/retry/attempts.hpp>

namespace attempts_prop {

using namespace waybill;

namespace {

constexpr fault_class classes[] = {fault_class::none,           fault_class::transient,
                                   fault_class::transient,      fault_class::permanent,
                                   fault_class::infrastructure, fault_class::infrastructure,
                                   fault_class::ownership_lost, fault_class::cancelled};

call_policy any_policy()
{
    call_policy p;
    p.retry.most = *rc::gen::inRange(0U, 7U);
    p.retry.immediate = *rc::gen::inRange(0U, 3U);
    p.retry.pauses.base = duration::milliseconds(*rc::gen::inRange(1, 2'000));
    p.retry.pauses.cap = duration::milliseconds(*rc::gen::inRange(1, 9'000));
    p.retry.pauses.spread = static_cast<jitter>(*rc::gen::inRange(0, 5));
    if (*rc::gen::inRange(0, 2) == 0) {
        p.time_limit = duration::milliseconds(*rc::gen::inRange(1, 20'000));
    }
    return p;
}

/// One call: the machine, and what may be seen of it from outside.
struct caller {
    attempts tries;
    steady_time began{};
    std::uint32_t made = 0;
    steady_time not_before = steady_time::lowest();
    bool waited = false;  // for longer than nothing
    bool over = false;
};

TEST_CASE("attempts: never too often, too early or too late, and the end is the end")
{
    CHECK(rc::check([] {
        const call_policy p = any_policy();
        const retry_budget b{.tokens = *rc::gen::inRange(0U, 12U),
                             .successes = *rc::gen::inRange(1U, 4U),
                             .refill = *rc::gen::inRange(0, 2) == 0
                                           ? duration::highest()
                                           : duration::milliseconds(*rc::gen::inRange(1, 5'000))};
        retry_tokens tokens(b);
        steady_time now = steady_time::at(duration::seconds(*rc::gen::inRange(-5, 5)));
        steady_time latest = now;
        const steady_time began = now;
        std::vector<caller> all;
        for (int i = 0; i != 4; ++i) all.push_back({attempts(p, now, tokens), now});
        std::uint64_t retries = 0, successes = 0;
        for (int step = 0; step != 120; ++step) {
            now = now + duration::milliseconds(*rc::gen::inRange(-500, 3'000));
            latest = later(latest, now);
            caller& c = all[*rc::gen::inRange<std::size_t>(0, all.size())];
            const auto said = c.tries.next(now);
            RC_ASSERT(said == c.tries.next(now));
            const attempted event{classes[*rc::gen::inRange(0, 8)],
                                  static_cast<double>(*rc::gen::inRange(0, 101)) / 100,
                                  duration::milliseconds(*rc::gen::inRange(-100, 400))};
            if (c.over) {
                const attempts before = c.tries;
                RC_ASSERT(!std::holds_alternative<act::go>(said));
                RC_ASSERT(!std::holds_alternative<act::wait>(said));
                RC_ASSERT(c.tries.on(event, now) == heard::late);
                RC_ASSERT(c.tries == before);
                continue;
            }
            steady_time begins = now;
            if (p.time_limit < duration::highest() && now - c.began >= p.time_limit) {
                const auto how = c.made == 0 ? fault_class::cancelled : c.tries.how();
                RC_ASSERT(said == attempts::action(act::give_up{how}));
                RC_ASSERT(c.tries.end(now) == attempts_end::time_limit);
                if (*rc::gen::inRange(0, 2) == 0) continue;
                begins = later(c.began, c.not_before);  // in time, and it ends now
            } else if (const auto* w = std::get_if<act::wait>(&said)) {
                RC_ASSERT(w->until > now);
                RC_ASSERT(w->until == c.not_before);
                if (*rc::gen::inRange(0, 2) == 0) continue;
                begins = now = w->until;
                latest = later(latest, now);
            }
            RC_ASSERT(std::holds_alternative<act::go>(c.tries.next(begins)));
            if (c.waited) RC_ASSERT(begins >= c.not_before);
            ++c.made;
            RC_ASSERT(c.made <= (p.retry.most == 0 ? 1 : p.retry.most));
            const std::uint32_t left = tokens.left(now);
            RC_ASSERT(c.tries.on(event, now) == heard::taken);
            RC_ASSERT(c.tries.tries() == c.made);
            const auto then = c.tries.next(now);
            c.over = c.tries.end() != attempts_end::open;
            successes += event.how == fault_class::none;
            RC_ASSERT(std::holds_alternative<act::done>(then) == (event.how == fault_class::none));
            if (const auto* g = std::get_if<act::give_up>(&then)) RC_ASSERT(g->why == event.how);
            if (!is_worth_a_retry(event.how)) RC_ASSERT(c.over);
            if (!c.over) {
                ++retries;
                RC_ASSERT(tokens.left() + 1 == left);
                const auto* w = std::get_if<act::wait>(&then);
                c.not_before = w != nullptr ? w->until : now;  // also if the clock goes back
                c.waited = w != nullptr;
                const duration after = c.not_before - c.began;
                if (p.time_limit < duration::highest()) RC_ASSERT(after < p.time_limit);
                if (w != nullptr) {
                    const duration most = greater(p.retry.pauses.cap, p.retry.pauses.highest_hint);
                    RC_ASSERT(w->until - now <= most);
                    RC_ASSERT(w->until - now >= lesser(event.retry_after, most));
                }
            }
            if (c.tries.end() == attempts_end::budget) RC_ASSERT(left == 0);
        }
        // No more retries than the budget began with, and what successes and time gave back.
        std::uint64_t most = b.tokens + successes / b.successes;
        if (b.refill < duration::highest()) {
            most += static_cast<std::uint64_t>((latest - began).count() / b.refill.count());
        }
        if (b.tokens == 0) most = 0;
        RC_ASSERT(retries <= most);
    }));
}

}  // namespace
}  // namespace attempts_prop
