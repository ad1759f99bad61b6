// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/retry/delivery.hpp>

namespace delivery_test {

using namespace std::chrono_literals;
using waybill::delivery_terms;
using waybill::duration;
using waybill::time_until_dead_letter;

constexpr std::uint64_t ever = ~std::uint64_t{0};

static_assert(name(delivery_terms::lifetime::delivery_limit::deliveries) == "deliveries");
static_assert(name(delivery_terms::lifetime::delivery_limit::time_to_live) == "time_to_live");
static_assert(name(static_cast<delivery_terms::lifetime::delivery_limit>(9)) == "?");

// The article's numbers: a lock of 90 seconds, and a day of retries.
static_assert(delivery_terms::deliveries_for(24h, 90s) == 960);
static_assert(time_until_dead_letter({.lock = 90s, .max_deliveries = 960}) ==
              delivery_terms::lifetime{24h});
static_assert(time_until_dead_letter({.lock = 90s, .max_deliveries = 959}).lasts < duration(24h));
static_assert(delivery_terms::hold_for(24h, 960) == duration(90s));

// By default a Service Bus queue gives up after ten minutes.
static_assert(time_until_dead_letter({}) == delivery_terms::lifetime{10min});

// The time to live may end before that, and not where it ends at the same time.
constexpr delivery_terms::lifetime by_time{10min,
                                           delivery_terms::lifetime::delivery_limit::time_to_live};
static_assert(time_until_dead_letter({.lock = 90s, .max_deliveries = 960, .time_to_live = 10min}) ==
              by_time);
static_assert(time_until_dead_letter({.lock = 60s, .time_to_live = 10min}) ==
              delivery_terms::lifetime{10min});

// An earlier return shortens the time. A message kept longer than its lock loses the lock.
static_assert(time_until_dead_letter({.lock = 90s, .max_deliveries = 10}, 1s) ==
              delivery_terms::lifetime{10s});
static_assert(time_until_dead_letter({.lock = 90s, .max_deliveries = 10}, {}) ==
              delivery_terms::lifetime{});
static_assert(time_until_dead_letter({.lock = 90s, .max_deliveries = 10}, -1s) ==
              delivery_terms::lifetime{});
static_assert(time_until_dead_letter({.lock = 90s, .max_deliveries = 10}, 1h) ==
              delivery_terms::lifetime{900s});

// No overflow.
static_assert(time_until_dead_letter({.lock = 5min, .max_deliveries = ever}).lasts ==
              duration::highest());
static_assert(time_until_dead_letter({.lock = duration::highest(), .max_deliveries = 2}).lasts ==
              duration::highest());
static_assert(time_until_dead_letter({.lock = duration::lowest(), .max_deliveries = ever}) ==
              delivery_terms::lifetime{});
static_assert(time_until_dead_letter({.time_to_live = duration::lowest()}).lasts == duration{});
static_assert(time_until_dead_letter({.max_deliveries = 0}) == delivery_terms::lifetime{});

// The reverse: the smallest number, rounded up.
static_assert(delivery_terms::deliveries_for(91s, 90s) == 2 &&
              delivery_terms::deliveries_for(90s, 90s) == 1);
static_assert(delivery_terms::deliveries_for(89s, 90s) == 1 &&
              delivery_terms::deliveries_for({}, 90s) == 1);
static_assert(delivery_terms::deliveries_for(-1s, 90s) == 1 &&
              delivery_terms::deliveries_for({}, {}) == 1);
static_assert(!delivery_terms::deliveries_for(1ns, {}) && !delivery_terms::deliveries_for(1h, -1s));
static_assert(delivery_terms::deliveries_for(duration::highest(), 1ns) ==
              static_cast<std::uint64_t>(INT64_MAX));
static_assert(delivery_terms::hold_for(1s, 3) == duration::nanoseconds(333'333'334));
static_assert(!delivery_terms::hold_for(1s, 0) && delivery_terms::hold_for({}, 3) == duration{} &&
              delivery_terms::hold_for(-1s, 3) == duration{});
static_assert(delivery_terms::hold_for(1s, ever) == duration(1ns));
static_assert(delivery_terms::hold_for(duration::highest(), 1) == duration::highest());

constexpr std::string_view bad(const delivery_terms& t)
{
    const auto error = validate(t);
    return error ? error->field : "";
}
static_assert(bad({}) == "" && bad({.lock = 5min}) == "");
static_assert(bad({.lock = {}}) == "delivery.lock" && bad({.lock = -1s}) == "delivery.lock");
static_assert(bad({.lock = 301s}) == "delivery.lock");
static_assert(bad({.lock = 301s, .highest_lock = 12h}) == "");
static_assert(bad({.max_deliveries = 0}) == "delivery.max_deliveries");
static_assert(bad({.time_to_live = {}}) == "delivery.time_to_live");
static_assert(validate(delivery_terms{.lock = 301s})->bound == 300'000'000'000U);
static_assert(validate(delivery_terms{.lock = -1s})->negative);

TEST_CASE("delivery: deliveries_for and hold_for return the least values that last the wanted time")
{
    std::uint64_t seed = 5;
    const auto dice = [&](std::uint64_t n) {
        return (seed = seed * 6'364'136'223'846'793'005U + 1) / 65'536 % n;
    };
    for (int i = 0; i != 100'000; ++i) {
        const auto lock = duration::nanoseconds(static_cast<std::int64_t>(1 + dice(300'000)));
        const auto wanted = duration::nanoseconds(static_cast<std::int64_t>(1 + dice(1U << 30U)));
        const std::uint64_t n = *delivery_terms::deliveries_for(wanted, lock);
        const delivery_terms t{.lock = lock, .max_deliveries = n};
        CHECK(time_until_dead_letter(t).lasts >= wanted);
        if (n > 1)
            CHECK(time_until_dead_letter({.lock = lock, .max_deliveries = n - 1}).lasts < wanted);
        const duration hold = *delivery_terms::hold_for(wanted, n);
        CHECK(hold <= lock);
        CHECK(time_until_dead_letter(t, hold).lasts >= wanted);
        const duration less = hold - duration::nanoseconds(1);
        CHECK(time_until_dead_letter(t, less).lasts < wanted);
    }
}

}  // namespace delivery_test
