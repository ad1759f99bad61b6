// SPDX-License-Identifier: MIT

#include <cstdint>

#include <doctest/doctest.h>

#include <waybill/retry/shared_budget.hpp>

namespace shared_budget_test {

using namespace waybill;

namespace {

constexpr steady_time at(std::int64_t s)
{
    return steady_time::at(duration::seconds(s));
}

/// As one that takes a lock would be.
struct guarded {
    retry_token_bucket tokens{{.tokens = 2, .successes = 1}};
    int locked = 0;

    bool spend(steady_time now)
    {
        ++locked;
        return tokens.spend(now);
    }
    void succeeded(steady_time now)
    {
        ++locked;
        tokens.succeeded(now);
    }
};

static_assert(detail::retry_source<retry_token_bucket> && detail::retry_source<guarded>);
static_assert(!detail::retry_source<const retry_token_bucket> && !detail::retry_source<int>);
static_assert(
    !std::is_constructible_v<shared_budget, retry_token_bucket>);  // it would be gone at once
static_assert(!std::is_constructible_v<shared_budget, const retry_token_bucket&>);
static_assert(std::is_trivially_copyable_v<shared_budget>);

// A budget with a const `spend`.
struct constant {
    bool spend(steady_time) const { return true; }
    void succeeded(steady_time) const {}
};
static_assert(std::is_constructible_v<shared_budget, constant&>);
static_assert(!std::is_constructible_v<shared_budget, const constant&>);
static_assert(!std::is_constructible_v<shared_budget, constant>);

static_assert([] {  // none never runs out
    const shared_budget none;
    none.succeeded(at(0));
    return !none && none.spend(at(0)) && none.spend(at(0)) && none == shared_budget();
}());

TEST_CASE("shared_budget: all references and their copies take from one token bucket")
{
    retry_token_bucket tokens{{.tokens = 3, .successes = 1}};
    shared_budget a = tokens;
    const shared_budget b = tokens;
    const shared_budget c = a;
    CHECK(static_cast<bool>(a));
    CHECK(a.spend(at(0)));
    CHECK(b.spend(at(0)));
    CHECK(c.spend(at(0)));
    CHECK_FALSE(a.spend(at(0)));
    CHECK(tokens.left() == 0);
    c.succeeded(at(0));
    CHECK(tokens.left() == 1);
    CHECK(b.spend(at(0)));
    CHECK(a == b);
    CHECK(a == c);
    retry_token_bucket others{{.tokens = 3, .successes = 1}};
    CHECK_FALSE(a == shared_budget(others));
    a = others;
    CHECK(a.spend(at(0)));
    CHECK(others.left() == 2);
}

TEST_CASE("shared_budget: takes from a token source of the caller")
{
    guarded g;
    const shared_budget a = g;
    CHECK(a.spend(at(0)));
    CHECK(a.spend(at(0)));
    CHECK_FALSE(a.spend(at(0)));
    a.succeeded(at(0));
    CHECK(a.spend(at(0)));
    CHECK(g.locked == 5);
    CHECK(g.tokens.left() == 0);
}

TEST_CASE("shared_budget: refills once for all references")
{
    retry_token_bucket tokens{{.tokens = 1, .successes = 9, .refill = duration::seconds(10)}};
    const shared_budget a = tokens, b = tokens;
    CHECK(a.spend(at(0)));
    CHECK_FALSE(b.spend(at(9)));
    CHECK(b.spend(at(10)));
    CHECK_FALSE(a.spend(at(5)));
}

}  // namespace
}  // namespace shared_budget_test
