// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/retry/budget.hpp>

namespace budget_test {

using namespace waybill;

static_assert(!check(retry_budget{}));
static_assert(check(retry_budget{.tokens = 3, .successes = 0})->field == "budget.successes");
static_assert(!check(retry_budget{.tokens = 0}));

static_assert([] {  // by default nothing is counted
    retry_tokens t;
    for (int i = 0; i != 100; ++i) {
        if (!t.spend()) return false;
        t.succeeded();
    }
    return t == retry_tokens() && t.left() == retry_budget::uncounted;
}());

static_assert([] {  // so many, and one back for so many successes
    retry_tokens t{{.tokens = 2, .successes = 3}};
    const bool both = t.spend() && t.spend();
    const bool third = t.spend();
    t.succeeded();
    t.succeeded();
    const bool early = t.spend();
    t.succeeded();
    return both && !third && !early && t.left() == 1 && t.spend() && !t.spend();
}());

static_assert([] {  // never more than there were, and successes are not saved up for later
    retry_tokens t{{.tokens = 1, .successes = 2}};
    for (int i = 0; i != 9; ++i) t.succeeded();
    const bool full = t.left() == 1 && t.spend() && t.left() == 0;
    t.succeeded();
    return full && t.left() == 0;
}());

static_assert([] {  // none at all is none for ever
    retry_tokens t{{.tokens = 0, .successes = 1}};
    t.succeeded();
    return t.left() == 0 && !t.spend();
}());

static_assert([] {  // every one, and 0 reads as that
    retry_tokens t{{.tokens = 5, .successes = 0}};
    bool spent = t.spend() && t.spend();
    t.succeeded();
    return spent && t.left() == 4;
}());

TEST_CASE("budget: there are never more retries than tokens and what successes gave back")
{
    std::uint64_t seed = 3;
    const auto dice = [&](std::uint32_t n) {
        return static_cast<std::uint32_t>(
            (seed = seed * 6'364'136'223'846'793'005U + 1) / 65'536 % n);
    };
    for (int round = 0; round != 1'000; ++round) {
        const retry_budget b{.tokens = dice(20), .successes = 1 + dice(5)};
        retry_tokens t(b);
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
