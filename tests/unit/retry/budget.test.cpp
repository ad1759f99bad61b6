// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/retry/budget.hpp>

namespace budget_test {

using namespace waybill;

static_assert(sizeof(retry_token_bucket({})) != 0, "braces are default options, not a copy");
static_assert(!validate(retry_budget{}));
static_assert(validate(retry_budget{.tokens = 3, .successes = 0})->field == "budget.successes");
static_assert(!validate(retry_budget{.tokens = 0}));

static_assert([] {  // by default nothing is counted
    retry_token_bucket t;
    for (int i = 0; i != 100; ++i) {
        if (!t.spend()) return false;
        t.succeeded();
    }
    return t == retry_token_bucket() && t.left() == retry_budget::uncounted;
}());

static_assert([] {  // all tokens, and one back for each group of successes
    retry_token_bucket t{{.tokens = 2, .successes = 3}};
    const bool both = t.spend() && t.spend();
    const bool third = t.spend();
    t.succeeded();
    t.succeeded();
    const bool early = t.spend();
    t.succeeded();
    return both && !third && !early && t.left() == 1 && t.spend() && !t.spend();
}());

static_assert([] {  // never more than there were, and successes are not saved up for later
    retry_token_bucket t{{.tokens = 1, .successes = 2}};
    for (int i = 0; i != 9; ++i) t.succeeded();
    const bool full = t.left() == 1 && t.spend() && t.left() == 0;
    t.succeeded();
    return full && t.left() == 0;
}());

static_assert([] {  // no tokens: none at any time
    retry_token_bucket t{{.tokens = 0, .successes = 1}};
    t.succeeded();
    return t.left() == 0 && !t.spend();
}());

static_assert([] {  // every one, and 0 reads as that
    retry_token_bucket t{{.tokens = 5, .successes = 0}};
    bool spent = t.spend() && t.spend();
    t.succeeded();
    return spent && t.left() == 4;
}());

// Time gives tokens back, too.
constexpr steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}
constexpr retry_budget by_time{
    .tokens = 3, .successes = 1'000, .refill = duration::milliseconds(100)};

static_assert(!validate(by_time));
static_assert(validate(retry_budget{.refill = {}})->field == "budget.refill");
static_assert(validate(retry_budget{.refill = duration::seconds(-1)})->negative);

static_assert([] {
    retry_token_bucket t{by_time};
    bool spent = t.spend(at(1'000)) && t.spend(at(1'000)) && t.spend(at(1'000));
    spent = spent && !t.spend(at(1'000)) && !t.spend(at(1'099)) && t.left(at(1'099)) == 0;
    const bool seen = t.left(at(1'100)) == 1 && t.left(at(1'250)) == 2 && t.left(at(9'999)) == 3;
    spent = spent && t.spend(at(1'150)) && !t.spend(at(1'199)) && t.spend(at(1'200));
    return spent && seen && t.left() == 0;
}());

static_assert([] {  // a full bucket saves nothing, and the first time adds nothing
    retry_token_bucket t{by_time};
    const bool all = t.spend() && t.spend() && t.spend() && t.left(at(5'000)) == 0;
    t.succeeded(at(5'000));
    const bool later = !t.spend(at(5'099)) && t.spend(at(5'100));
    retry_token_bucket full{by_time};
    const bool one = full.spend(at(0)) && full.left(at(60'000)) == 3 && full.spend(at(60'000));
    return all && later && one && full.left(at(60'099)) == 2 && full.left(at(60'100)) == 3;
}());

static_assert([] {  // a clock that jumps back, or to and fro, adds nothing
    retry_token_bucket t{by_time};
    bool ok = t.spend(at(1'000)) && t.spend(at(1'000)) && t.spend(at(1'000));
    for (int i = 0; i != 50; ++i) ok = ok && !t.spend(at(0)) && !t.spend(at(1'050));
    ok = ok && !t.spend(steady_time::lowest()) && t.left(steady_time::lowest()) == 0;
    return ok && t.left(steady_time::highest()) == 3 && t.left(at(1'100)) == 1;
}());

static_assert([] {  // the smallest and the largest numbers
    retry_token_bucket t{{.tokens = 2, .refill = duration::nanoseconds(1)}};
    bool ok = t.spend(steady_time::highest()) && t.spend(steady_time::highest());
    ok = ok && !t.spend(steady_time::highest());
    retry_token_bucket from_the_start{{.tokens = 2, .refill = duration::nanoseconds(1)}};
    ok = ok && from_the_start.spend(at(-1)) && from_the_start.left(at(0)) == 2;
    retry_token_bucket wrong{{.tokens = 2, .refill = duration::seconds(-1)}};  // reads as never
    ok = ok && wrong.spend(at(0)) && wrong.left(at(99'999)) == 1;
    retry_token_bucket most{
        {.tokens = retry_budget::uncounted - 1, .refill = duration::nanoseconds(1)}};
    ok = ok && most.spend(at(0)) && most.left(steady_time::highest()) == ~std::uint32_t{0} - 1;
    return ok;
}());

static_assert([] {  // the lowest time is one like any other
    retry_token_bucket t{by_time};
    const bool ok = t.spend(steady_time::lowest()) && t.spend(steady_time::lowest());
    return ok && t.left(steady_time::lowest() + duration::milliseconds(100)) == 2;
}());

static_assert([] {  // uncounted tokens, and those that time does not give, do not change with it
    retry_token_bucket t;
    const bool ok = t.spend(at(5)) && t == retry_token_bucket();
    retry_token_bucket plain{{.tokens = 2}};
    plain.succeeded(at(99));
    return ok && plain == retry_token_bucket{{.tokens = 2}};
}());

TEST_CASE("budget: retries never exceed the tokens plus those returned by successes")
{
    std::uint64_t seed = 3;
    const auto dice = [&](std::uint32_t n) {
        return static_cast<std::uint32_t>((seed = seed * 6'364'136'223'846'793'005U + 1) / 65'536 %
                                          n);
    };
    for (int round = 0; round != 1'000; ++round) {
        const retry_budget b{.tokens = dice(20), .successes = 1 + dice(5)};
        retry_token_bucket t(b);
        std::uint64_t retries = 0, successes = 0, refused = 0;
        for (int step = 0; step != 500; ++step) {
            if (dice(3) == 0) {
                const bool had = t.left() != 0;
                const bool paid = t.spend();
                CHECK(paid == had);
                ++(paid ? retries : refused);
            } else {
                t.succeeded();
                ++successes;
            }
            CHECK(t.left() <= b.tokens);
            CHECK(retries <= b.tokens + successes / b.successes);
        }
        if (b.tokens == 0) CHECK(retries == 0);
        CHECK(retries + refused != 0);
    }
}

}  // namespace budget_test
