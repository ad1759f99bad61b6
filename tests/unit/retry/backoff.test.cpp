// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include <doctest/doctest.h>

#include <waybill/retry/backoff.hpp>

namespace backoff_test {

using waybill::backoff;
using waybill::duration;
using waybill::pause;
using namespace std::chrono_literals;

constexpr std::uint32_t ever = ~std::uint32_t{0};
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

static_assert(name(backoff::jitter::none) == "none" && name(backoff::jitter::equal) == "equal");
static_assert(name(backoff::jitter::full) == "full" &&
              name(static_cast<backoff::jitter>(9)) == "?");
static_assert(name(backoff::jitter::decorrelated) == "decorrelated" &&
              name(backoff::jitter::around) == "around");

constexpr backoff plain{.base = 100ms, .cap = 30s, .spread = backoff::jitter::none};
static_assert(pause(plain, 1, 0.0) == duration(100ms));
static_assert(pause(plain, 2, 0.0) == duration(200ms));
static_assert(pause(plain, 9, 0.0) == duration(25'600ms));
static_assert(pause(plain, 10, 0.0) == duration(30s));
static_assert(pause(plain, ever, 0.0) == duration(30s));
static_assert(pause(plain, 0, 0.0) == duration(100ms));  // as the first

// Jitter: [0, pause) or [pause/2, pause).
constexpr backoff full{.base = 1s, .cap = 30s};
static_assert(pause(full, 1, 0.0) == duration{} && pause(full, 1, 0.25) == duration(250ms));
static_assert(pause(full, 3, 0.5) == duration(2s) && pause(full, 3, 1.0) == duration(4s));
constexpr backoff equal{.base = 1s, .cap = 30s, .spread = backoff::jitter::equal};
static_assert(pause(equal, 1, 0.0) == duration(500ms) && pause(equal, 1, 1.0) == duration(1s));
static_assert(pause(equal, 2, 0.5) == duration(1'500ms));

// An invalid random number is clamped.
static_assert(pause(full, 1, -1.0) == duration{} && pause(full, 1, 7.0) == duration(1s));
static_assert(pause(full, 1, not_a_number) == duration{} &&
              pause(full, 1, infinite) == duration(1s));
static_assert(pause(equal, 1, not_a_number) == duration(500ms));

// A hint is a lower bound, also above the cap. Callers with the same hint do not meet after it.
static_assert(pause(plain, 1, 0.0, 3s) == duration(3s));
static_assert(pause(plain, 1, 0.9, 3s) == duration(3s));
static_assert(pause(plain, 9, 0.0, 3s) == duration(25'600ms));
static_assert(pause(plain, 1, 0.0, 2min) == duration(2min));
static_assert(pause(full, 1, 0.0, 2min) == duration(2min));
static_assert(pause(full, 1, 0.5, 2min) == duration(120'500ms));
static_assert(pause(equal, 2, 0.5, 2min) == duration(121s));
static_assert(pause(full, 6, 1.0, 2min) == duration(150s));  // the hint and the cap
static_assert(pause(full, 6, 1.0, 2h) == duration(1h + 30s));
static_assert(pause(full, 1, 0.0, -5s) == duration{});
static_assert(pause(full, 1, 0.5, duration::lowest()) == duration(500ms));

// The limit for hints. The library's own pauses stay within the cap.
constexpr backoff patient{
    .base = 1s, .cap = 30s, .spread = backoff::jitter::none, .highest_hint = 10min};
static_assert(pause(patient, 1, 0.0, 5min) == duration(5min));
static_assert(pause(patient, 1, 0.0, 1h) == duration(10min));
static_assert(pause(patient, ever, 0.0) == duration(30s));
static_assert(pause({.cap = 30s, .highest_hint = 1s}, 1, 0.0, 1h) == duration(1s));
static_assert(pause({.cap = 30s, .highest_hint = {}}, 1, 0.0, 1h) == duration{});
static_assert(pause({.cap = 30s, .highest_hint = -1s}, 1, 0.0, 1h) == duration{});
static_assert(pause({.base = 1s, .highest_hint = duration::highest()}, 1, 1.0,
                    duration::highest()) == duration::highest());

// Linear: a factor of 1 and a step. Both together add up.
constexpr backoff linear{
    .base = 10s, .cap = 1h, .factor = 1.0, .spread = backoff::jitter::none, .step = 10s};
static_assert(pause(linear, 1, 0.0) == duration(10s) && pause(linear, 2, 0.0) == duration(20s));
static_assert(pause(linear, 3, 0.0) == duration(30s) && pause(linear, 0, 0.0) == duration(10s));
static_assert(pause(linear, 360, 0.0) == duration(1h) && pause(linear, 361, 0.0) == duration(1h));
static_assert(pause(linear, ever, 0.0) == duration(1h));
static_assert(pause({.base = 1s, .cap = 1h, .spread = backoff::jitter::none, .step = 5s}, 4, 0.0) ==
              duration(23s));
static_assert(pause({.base = 1s,
                     .cap = duration::highest(),
                     .factor = 1.0,
                     .spread = backoff::jitter::none,
                     .step = duration::highest()},
                    3, 0.0) == duration::highest());
static_assert(pause({.base = 1s,
                     .factor = 1.0,
                     .spread = backoff::jitter::none,
                     .step = duration::nanoseconds(std::int64_t{1} << 62)},
                    5, 0.0) == duration(30s));  // four of these are 2^64
static_assert(pause({.base = 1s, .factor = 1.0, .spread = backoff::jitter::none, .step = -1s}, 9,
                    0.0) == duration(1s));
static_assert(pause({.base = 1s,
                     .cap = duration::highest(),
                     .factor = 1.0,
                     .spread = backoff::jitter::none,
                     .step = duration::nanoseconds(1)},
                    ever, 0.0) == duration(1s) + duration::nanoseconds(0xFFFF'FFFE));

// Decorrelated: from the base to three times the pause before, and not over the cap.
constexpr backoff apart{.base = 1s, .cap = 30s, .spread = backoff::jitter::decorrelated};
static_assert(pause(apart, 1, {}, 0.0) == duration(1s) && pause(apart, 1, {}, 1.0) == duration(3s));
static_assert(pause(apart, 2, 3s, 0.0) == duration(1s) && pause(apart, 2, 3s, 0.5) == duration(5s));
static_assert(pause(apart, 2, 3s, 1.0) == duration(9s));
static_assert(pause(apart, 9, 30s, 1.0) == duration(30s));
static_assert(pause(apart, 2, 10ms, 1.0) == duration(3s));  // less than the base reads as the base
static_assert(pause(apart, 2, -5s, 1.0) == duration(3s));
static_assert(pause(apart, 2, duration::lowest(), 0.5) == duration(2s));
static_assert(pause(apart, 2, duration::highest(), 0.0) == duration(1s));
static_assert(pause(apart, 2, duration::highest(), 1.0) == duration(30s));
static_assert(pause(apart, 2, 3s, 0.0, 4s) == duration(4s));
static_assert(pause(apart, 2, 3s, not_a_number) == duration(1s));
static_assert(pause({.base = 2s, .cap = 1s, .spread = backoff::jitter::decorrelated}, 2, 9s, 0.5) ==
              duration(1s));
static_assert(pause({.base = -2s, .cap = 1s, .spread = backoff::jitter::decorrelated}, 2, {},
                    0.5) == duration{});
// Without the previous pause, the one of median random numbers is used.
static_assert(pause(apart, 0, 0.5) == duration(2s) && pause(apart, 1, 0.5) == duration(2s));
static_assert(pause(apart, 2, 0.5) == pause(apart, 2, 2s, 0.5));
static_assert(pause(apart, 3, 0.5) == pause(apart, 3, pause(apart, 2, 2s, 0.5), 0.5));
static_assert(pause(apart, 3, 0.0) == duration(1s) && pause(apart, 3, 1.0) == duration(10'500ms));
static_assert(pause(apart, ever, 0.0) == duration(1s) && pause(apart, ever, 1.0) == duration(30s));
// The other kinds do not use it.
static_assert(pause(linear, 2, 1h, 0.0) == duration(20s));

// Around: four fifths to six fifths, and spread below the cap, too.
constexpr backoff near_by{.base = 1s, .cap = 12s, .spread = backoff::jitter::around};
static_assert(pause(near_by, 1, 0.0) == duration(800ms));
static_assert(pause(near_by, 1, 0.5) == duration(1s));
static_assert(pause(near_by, 2, 1.0) > duration(2'399ms));
static_assert(pause(near_by, 2, 1.0) <= duration(2'400ms));
static_assert(pause(near_by, ever, 0.0) > duration(7'999ms));
static_assert(pause(near_by, ever, 0.0) <= duration(8s));
static_assert(pause(near_by, ever, 1.0) > duration(11'999ms));
static_assert(pause(near_by, ever, 1.0) <= duration(12s));

// Factors at the limit, and above it.
static_assert(pause({.base = 1s, .factor = 1.0, .spread = backoff::jitter::none}, ever, 0.0) ==
              duration(1s));
static_assert(pause({.base = 1s, .factor = 0.5, .spread = backoff::jitter::none}, 9, 0.0) ==
              duration(1s));
static_assert(pause({.base = 1s, .factor = -2.0, .spread = backoff::jitter::none}, 9, 0.0) ==
              duration(1s));
static_assert(pause({.base = 1s, .factor = not_a_number, .spread = backoff::jitter::none}, 9,
                    0.0) == duration(1s));
static_assert(pause({.base = 1s, .factor = infinite, .spread = backoff::jitter::none}, 1, 0.0) ==
              duration(1s));
static_assert(pause({.base = 1s, .factor = infinite, .spread = backoff::jitter::none}, 2, 0.0) ==
              duration(30s));
static_assert(pause({.base = 1s, .factor = 1e300, .spread = backoff::jitter::none}, 3, 0.0) ==
              duration(30s));
// A factor just above one still reaches the cap, and soon.
static_assert(pause({.base = 1s, .factor = 1.0000001, .spread = backoff::jitter::none}, ever,
                    0.0) == duration(30s));
static_assert(pause({.base = 1s, .factor = 1.0 + 1e-12, .spread = backoff::jitter::none}, ever,
                    0.0) > duration(1s));
static_assert(
    pause({.base = duration::nanoseconds(1), .factor = 1.5, .spread = backoff::jitter::none}, 3,
          0.0)
        .count() == 2);
static_assert(pause({.base = 8s, .cap = 1h, .factor = 1.5, .spread = backoff::jitter::none}, 4,
                    0.0) == duration(27s));

// An invalid base or cap.
static_assert(pause({.base = {}}, ever, 1.0) == duration{});
static_assert(pause({.base = {}, .factor = infinite}, ever, 1.0) == duration{});
static_assert(pause({.base = -1s}, 3, 1.0) == duration{});
static_assert(pause({.base = 1s, .cap = {}}, 3, 1.0) == duration{});
static_assert(pause({.base = 1s, .cap = -1s}, 3, 1.0) == duration{});
static_assert(pause({.base = 2s, .cap = 1s}, 1, 1.0) == duration(1s));
static_assert(pause({.base = 1s, .cap = duration::highest()}, ever, 1.0) == duration::highest());
static_assert(pause({.base = duration::highest(), .cap = duration::highest()}, 1, 1.0) ==
              duration::highest());

constexpr std::string_view bad(const backoff& b)
{
    const auto error = validate(b);
    return error ? error->field : "";
}
static_assert(bad({}) == "" && bad(plain) == "" &&
              bad({.base = 1s, .cap = 1s, .factor = 1.0}) == "");
static_assert(validate(backoff{.factor = -3})->value == 3'000);
static_assert(validate(backoff{.factor = -3})->negative);
static_assert(validate(backoff{.factor = 0.5})->value == 500);
static_assert(!validate(backoff{.factor = 0.5})->negative);
static_assert(validate(backoff{.factor = 0.99999})->value == 999);  // never the bound itself
static_assert(validate(backoff{.factor = not_a_number})->value == ~std::uint64_t{0});
static_assert(bad({.base = {}}) == "backoff.base" && bad({.base = -1s}) == "backoff.base");
static_assert(bad({.base = 2s, .cap = 1s}) == "backoff.cap");
static_assert(bad({.factor = 0.99}) == "backoff.factor" &&
              bad({.factor = not_a_number}) == "backoff.factor");
static_assert(bad({.factor = -infinite}) == "backoff.factor");
static_assert(bad(linear) == "" && bad(apart) == "" && bad(patient) == "");
static_assert(bad({.step = -1s}) == "backoff.step");
static_assert(bad({.highest_hint = -1s}) == "backoff.highest_hint");
static_assert(validate(backoff{.step = -1s})->negative);
static_assert(validate(backoff{.step = -1s})->value == 1'000'000'000U);

TEST_CASE("backoff: pauses are in [0, cap] and never shorter for a later retry")
{
    const std::int64_t odd = (std::int64_t{1} << 53) + 3;  // a double cannot represent it
    for (const duration base :
         {duration(1ns), duration(1ms), duration::nanoseconds(odd), duration::highest()}) {
        for (const duration cap :
             {duration(1ns), duration(30s), duration::nanoseconds(odd), duration::highest()}) {
            for (const double factor : {1.0, 1.0000001, 1.5, 2.0, 10.0, 1e18, 1e300}) {
                for (const backoff::jitter spread :
                     {backoff::jitter::none, backoff::jitter::equal, backoff::jitter::full,
                      backoff::jitter::decorrelated, backoff::jitter::around}) {
                    for (const double draw : {0.0, 0.3, 0.9999999999999999, 1.0}) {
                        const backoff b{base, cap, factor, spread};
                        duration last{};
                        for (const std::uint32_t n :
                             {1U, 2U, 3U, 10U, 31U, 32U, 33U, 1'000U, ever}) {
                            const duration p = pause(b, n, draw);
                            CHECK(p >= last);
                            CHECK(p <= cap);
                            if (spread == backoff::jitter::equal)
                                CHECK(p.count() >= pause(b, n, 1.0).count() / 2 - 1'024);
                            last = p;
                        }
                    }
                }
            }
        }
    }
}

}  // namespace backoff_test
