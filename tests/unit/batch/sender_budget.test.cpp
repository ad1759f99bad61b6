// SPDX-License-Identifier: MIT
//
// Several senders that take their retries from one budget.

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <support/held.hpp>
#include <support/send_said.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/send_all.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace sender_budget_test {

using namespace waybill;
using send_said::attempt;

namespace {

constexpr steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}

constexpr send_policy one_by_one{
    .limit = {.bytes = 100, .items = 1},
    .retry = {.max_attempts = 99,
              .pauses = {.base = duration::milliseconds(1), .spread = backoff::jitter::none}},
    .budget = {.tokens = 0}};  // which a shared one replaces

struct line_of_items {
    batch_sender s;

    explicit line_of_items(shared_budget b, std::uint64_t items = 9) : s(one_by_one, {}, b)
    {
        for (std::uint64_t i = 0; i != items; ++i) s.on(batch_sender::queued(1), at(0));
        s.on(batch_sender::flushed{}, at(0));
    }

    std::uint64_t start(std::int64_t ms)
    {
        const std::uint64_t n = attempt(s, at(ms));
        CHECK(s.on(batch_sender::started{n}, at(ms)) == event_result::applied);
        return n;
    }

    /// True if a failure led to another try, and not to an end.
    bool retried(std::int64_t ms)
    {
        s.on(batch_sender::failed{.attempt = start(ms)}, at(ms));
        bool over = false;
        while (const auto* x = waybill::get_if<batch_sender::report>(&(said_ = s.next(at(ms))))) {
            over = over || x->outcome == item_outcome::failed;
            s.on(batch_sender::reported{x->items}, at(ms));
        }
        return !over;
    }

    batch_sender::action said_ = idle{};
};

TEST_CASE("sender: two senders share a budget; successes of one pay for retries of the other")
{
    retry_token_bucket tokens{{.tokens = 3, .successes = 2}};
    line_of_items a{tokens}, b{tokens};
    CHECK(a.retried(0));
    CHECK(b.retried(0));
    CHECK(a.retried(60'000));
    CHECK(tokens.left() == 0);
    CHECK_FALSE(b.retried(60'000));  // an item of b is given up because a has spent the tokens
    CHECK_FALSE(a.retried(120'000));
    b.s.on(batch_sender::accepted{b.start(180'000)}, at(180'000));
    a.s.on(batch_sender::accepted{a.start(180'000)}, at(180'000));
    CHECK(tokens.left() == 1);
    for (line_of_items* l : {&a, &b}) {
        while (const auto* x =
                   waybill::get_if<batch_sender::report>(&(l->said_ = l->s.next(at(180'000))))) {
            l->s.on(batch_sender::reported{x->items}, at(180'000));
        }
    }
    CHECK(b.retried(240'000));
    CHECK_FALSE(a.retried(240'000));
}

TEST_CASE("sender: the retry of a batch takes one token, and so does a repetition")
{
    retry_token_bucket tokens{{.tokens = 2, .successes = 9}};
    send_policy p = one_by_one;
    p.limit.items = 4;
    batch_sender s(p, {}, tokens);
    for (int i = 0; i != 4; ++i) s.on(batch_sender::queued(1), at(0));
    s.on(batch_sender::flushed{}, at(0));
    s.on(batch_sender::failed{.attempt = attempt(s, at(0))}, at(0));
    CHECK(tokens.left() == 1);
    s.on(batch_sender::outcome_unknown{attempt(s, at(100))}, at(100));
    CHECK(tokens.left() == 0);
    s.on(batch_sender::outcome_unknown{attempt(s, at(60'000))}, at(60'000));
    const auto said = s.next(at(60'000));
    REQUIRE(waybill::holds_alternative<batch_sender::report>(said));
    CHECK(tests_support::held<batch_sender::report>(said).outcome == item_outcome::in_doubt);
}

TEST_CASE("sender: the retry of an item that may have arrived takes a token")
{
    retry_token_bucket tokens{{.tokens = 2, .successes = 9}};
    send_policy p = one_by_one;
    p.limit.items = 2;
    batch_sender s(p, {}, tokens);
    s.on(batch_sender::queued(1), at(0));
    s.on(batch_sender::queued(1), at(0));
    s.on(batch_sender::flushed{}, at(0));
    s.on(batch_sender::outcome_unknown{attempt(s, at(0))}, at(0));
    CHECK(tokens.left() == 1);
    const std::vector<batch_sender::entry_fault> both{{0, fault_kind::transient},
                                                      {1, fault_kind::transient}};
    batch_sender::partial answer{.attempt = attempt(s, at(100)), .failed = both};
    CHECK(s.on(answer, at(100)) == event_result::applied);
    CHECK(tokens.left() == 0);
    answer.attempt = attempt(s, at(60'000));
    CHECK(s.on(answer, at(60'000)) == event_result::applied);
    const auto said = s.next(at(60'000));
    REQUIRE(waybill::holds_alternative<batch_sender::report>(said));
    CHECK(tests_support::held<batch_sender::report>(said).outcome == item_outcome::in_doubt);
}

TEST_CASE("sender: throttling and refusals for size take no token")
{
    retry_token_bucket tokens{{.tokens = 1, .successes = 9}};
    send_policy p = one_by_one;
    p.limit.items = 4;
    batch_sender s(p, {}, tokens);
    for (int i = 0; i != 4; ++i) s.on(batch_sender::queued(1), at(0));
    s.on(batch_sender::flushed{}, at(0));
    s.on(batch_sender::throttled{attempt(s, at(0))}, at(0));
    s.on(batch_sender::too_large{attempt(s, at(1'000))}, at(1'000));
    CHECK(tokens.left() == 1);
    const std::vector<batch_sender::entry_fault> one{{0, fault_kind::transient}};
    s.on(batch_sender::partial{.attempt = attempt(s, at(1'000)), .failed = one}, at(1'000));
    CHECK(tokens.left() == 0);
}

TEST_CASE("sender: a copy shares the budget of its original, and equals it")
{
    retry_token_bucket tokens{{.tokens = 2, .successes = 9}};
    line_of_items a{tokens};
    line_of_items b = a;
    CHECK(a.s == b.s);
    CHECK(a.retried(0));
    CHECK(tokens.left() == 1);
    CHECK(b.retried(0));
    CHECK(tokens.left() == 0);
    CHECK(a.s == b.s);
    retry_token_bucket others{{.tokens = 2, .successes = 9}};
    CHECK_FALSE(batch_sender(one_by_one, {}, tokens) == batch_sender(one_by_one, {}, others));
    CHECK_FALSE(batch_sender(one_by_one, {}, tokens) == batch_sender(one_by_one));
}

TEST_CASE("sender: a sender without a shared budget has its own")
{
    retry_token_bucket tokens{{.tokens = 9, .successes = 9}};
    send_policy p = one_by_one;
    p.budget = {.tokens = 1, .successes = 9};
    line_of_items own{{}};
    CHECK_FALSE(own.retried(0));
    own.s = batch_sender(p);
    own.s.on(batch_sender::queued(1), at(0));
    own.s.on(batch_sender::flushed{}, at(0));
    CHECK(own.retried(0));
    CHECK_FALSE(own.retried(60'000));
    CHECK(tokens.left() == 9);
}

TEST_CASE("sender: own and shared budgets are refilled over time")
{
    const retry_budget slow{.tokens = 1, .successes = 999, .refill = duration::seconds(10)};
    retry_token_bucket tokens(slow);
    line_of_items shared{tokens};
    send_policy p = one_by_one;
    p.budget = slow;
    line_of_items own{{}};
    own.s = batch_sender(p);
    for (int i = 0; i != 9; ++i) own.s.on(batch_sender::queued(1), at(0));
    own.s.on(batch_sender::flushed{}, at(0));
    for (line_of_items* l : {&shared, &own}) {
        CHECK(l->retried(0));
        CHECK_FALSE(l->retried(9'999));
        CHECK(l->retried(10'000));
        CHECK_FALSE(l->retried(19'999));
        CHECK(l->retried(30'000));
    }
}

TEST_CASE("sender: retry_call takes from the same budget")
{
    retry_token_bucket tokens{{.tokens = 2, .successes = 9}};
    line_of_items a{tokens};
    testing::manual_environment env;
    const auto r = retry_call(
        {.retry = {.max_attempts = 2}}, [] { return fault_kind::transient; }, env, tokens);
    CHECK(r.outcome == retry_loop::retry_outcome::tries);
    CHECK(a.retried(0));
    CHECK_FALSE(a.retried(60'000));
}

TEST_CASE("send_all: two inputs through two senders take no more retries than their shared budget")
{
    retry_token_bucket tokens{{.tokens = 5, .successes = 1'000}};
    batch_sender a(one_by_one, {}, tokens), b(one_by_one, {}, tokens);
    const std::vector<int> items(4, 1);
    std::uint32_t sends = 0;
    std::int64_t ms = 0;
    const auto broken = [&](const auto&) -> send_outcome {
        ++sends;
        return batch_sender::failed{.kind = fault_kind::infrastructure};
    };
    const auto size = [](int) { return 1U; };
    const auto clock = [&] { return at(ms += 60'000); };
    CHECK(send_all(items, size, a, broken, clock).accepted == 0);
    CHECK(send_all(items, size, b, broken, clock).accepted == 0);
    CHECK(sends == 2 * 4 + 5);
    CHECK(tokens.left() == 0);
}

}  // namespace
}  // namespace sender_budget_test
