// SPDX-License-Identifier: MIT
//
// Calls with one shared budget, in any order and on any clock, against the documented limits.

#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/retry/retry_loop.hpp>

namespace attempts_prop {

using namespace waybill;

namespace {

constexpr fault_kind classes[] = {fault_kind::none,           fault_kind::transient,
                                  fault_kind::transient,      fault_kind::permanent,
                                  fault_kind::infrastructure, fault_kind::infrastructure,
                                  fault_kind::ownership_lost, fault_kind::cancelled};

call_policy any_policy()
{
    call_policy p;
    p.retry.max_attempts = *rc::gen::inRange(0U, 7U);
    p.retry.immediate = *rc::gen::inRange(0U, 3U);
    p.retry.pauses.base = duration::milliseconds(*rc::gen::inRange(1, 2'000));
    p.retry.pauses.cap = duration::milliseconds(*rc::gen::inRange(1, 9'000));
    p.retry.pauses.spread = static_cast<backoff::jitter>(*rc::gen::inRange(0, 5));
    if (*rc::gen::inRange(0, 2) == 0) {
        p.time_limit = duration::milliseconds(*rc::gen::inRange(1, 20'000));
    }
    return p;
}

/// One call: the machine, and the values that a caller can observe.
struct caller {
    retry_loop tries;
    steady_time began{};
    std::uint32_t made = 0;
    steady_time not_before = steady_time::lowest();
    bool waited = false;  // for more than zero
    bool over = false;
};

TEST_CASE("retry_loop: attempts, pauses, time and retries are within their limits; an end is final")
{
    CHECK(rc::check([] {
        const call_policy p = any_policy();
        const retry_budget b{.tokens = *rc::gen::inRange(0U, 12U),
                             .successes = *rc::gen::inRange(1U, 4U),
                             .refill = *rc::gen::inRange(0, 2) == 0
                                           ? duration::highest()
                                           : duration::milliseconds(*rc::gen::inRange(1, 5'000))};
        retry_token_bucket tokens(b);
        steady_time now = steady_time::at(duration::seconds(*rc::gen::inRange(-5, 5)));
        steady_time latest = now;
        const steady_time began = now;
        std::vector<caller> all;
        for (int i = 0; i != 4; ++i) all.push_back({retry_loop(p, now, tokens), now});
        std::uint64_t retries = 0, successes = 0;
        for (int step = 0; step != 120; ++step) {
            now = now + duration::milliseconds(*rc::gen::inRange(-500, 3'000));
            latest = later(latest, now);
            caller& c = all[*rc::gen::inRange<std::size_t>(0, all.size())];
            const auto said = c.tries.next(now);
            RC_ASSERT(said == c.tries.next(now));
            const retry_loop::attempted event{classes[*rc::gen::inRange(0, 8)],
                                              static_cast<double>(*rc::gen::inRange(0, 101)) / 100,
                                              duration::milliseconds(*rc::gen::inRange(-100, 400))};
            if (c.over) {
                const retry_loop before = c.tries;
                RC_ASSERT(!waybill::holds_alternative<retry_loop::call>(said));
                RC_ASSERT(!waybill::holds_alternative<wait_until>(said));
                RC_ASSERT(c.tries.on(event, now) == event_result::stale);
                RC_ASSERT(c.tries == before);
                continue;
            }
            steady_time begins = now;
            if (p.time_limit < duration::highest() && now - c.began >= p.time_limit) {
                const auto how = c.made == 0 ? fault_kind::cancelled : c.tries.kind();
                RC_ASSERT(said == retry_loop::action(give_up{how}));
                RC_ASSERT(c.tries.outcome(now) == retry_loop::retry_outcome::time_limit);
                if (*rc::gen::inRange(0, 2) == 0) continue;
                begins = later(c.began, c.not_before);  // the call started in time and ends now
            } else if (const auto* w = waybill::get_if<wait_until>(&said)) {
                RC_ASSERT(w->time > now);
                RC_ASSERT(w->time == c.not_before);
                if (*rc::gen::inRange(0, 2) == 0) continue;
                begins = now = w->time;
                latest = later(latest, now);
            }
            RC_ASSERT(waybill::holds_alternative<retry_loop::call>(c.tries.next(begins)));
            if (c.waited) RC_ASSERT(begins >= c.not_before);
            ++c.made;
            RC_ASSERT(c.made <= (p.retry.max_attempts == 0 ? 1 : p.retry.max_attempts));
            const std::uint32_t left = tokens.left(now);
            RC_ASSERT(c.tries.on(event, now) == event_result::applied);
            RC_ASSERT(c.tries.attempts() == c.made);
            const auto then = c.tries.next(now);
            c.over = c.tries.outcome() != retry_loop::retry_outcome::open;
            successes += event.kind == fault_kind::none;
            RC_ASSERT(waybill::holds_alternative<retry_loop::done>(then) ==
                      (event.kind == fault_kind::none));
            if (const auto* g = waybill::get_if<give_up>(&then)) RC_ASSERT(g->reason == event.kind);
            if (!detail::is_worth_a_retry(event.kind)) RC_ASSERT(c.over);
            if (!c.over) {
                ++retries;
                RC_ASSERT(tokens.left() + 1 == left);
                const auto* w = waybill::get_if<wait_until>(&then);
                c.not_before = w != nullptr ? w->time : now;  // also if the clock goes back
                c.waited = w != nullptr;
                const duration after = c.not_before - c.began;
                if (p.time_limit < duration::highest()) RC_ASSERT(after < p.time_limit);
                if (w != nullptr) {
                    const duration highest = p.retry.pauses.highest_hint;
                    const duration hinted =
                        detail::greater(detail::lesser(event.retry_after, highest), duration{});
                    RC_ASSERT(w->time - now <= hinted + p.retry.pauses.cap);
                    RC_ASSERT(w->time - now >= hinted);
                }
            }
            if (c.tries.outcome() == retry_loop::retry_outcome::budget) RC_ASSERT(left == 0);
        }
        // The retries are at most the initial tokens plus those that successes and time returned.
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
