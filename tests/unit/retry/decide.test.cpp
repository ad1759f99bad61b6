// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <string_view>
#include <variant>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/retry/decide.hpp>

namespace decide_test {

using waybill::backoff;
using waybill::decide;
using waybill::duration;
using waybill::fault_kind;
using waybill::retry_action;
using waybill::retry_policy;
using waybill::steady_time;
using namespace std::chrono_literals;

constexpr steady_time now = steady_time::at(1h);
constexpr std::uint32_t ever = ~std::uint32_t{0};
constexpr retry_policy policy{.max_attempts = 4,
                              .immediate = 1,
                              .pauses = {.base = 1s, .cap = 1min, .spread = backoff::jitter::none}};

constexpr retry_action after(std::uint32_t tries, fault_kind how = fault_kind::transient,
                             duration hint = {})
{
    return decide(policy, tries, how, 0.0, now, hint);
}

static_assert(after(1) == retry_action(waybill::retry_now{}));
static_assert(after(2) == retry_action(waybill::wait_until{now + duration(1s)}));
static_assert(after(3) == retry_action(waybill::wait_until{now + duration(2s)}));
static_assert(after(4) == retry_action(waybill::give_up{fault_kind::transient}));
static_assert(after(ever) == retry_action(waybill::give_up{fault_kind::transient}));
static_assert(after(1, fault_kind::infrastructure) == retry_action(waybill::retry_now{}));
static_assert(after(4, fault_kind::infrastructure) ==
              retry_action(waybill::give_up{fault_kind::infrastructure}));

// Faults that no retry can change, and success.
static_assert(after(1, fault_kind::permanent) ==
              retry_action(waybill::give_up{fault_kind::permanent}));
static_assert(after(1, fault_kind::ownership_lost) ==
              retry_action(waybill::give_up{fault_kind::ownership_lost}));
static_assert(after(1, fault_kind::cancelled) ==
              retry_action(waybill::give_up{fault_kind::cancelled}));
static_assert(after(1, fault_kind::none) == retry_action(waybill::give_up{fault_kind::none}));

// A server's retry_after counts, even if the policy would retry at once; within its limit.
static_assert(after(1, fault_kind::transient, 5s) ==
              retry_action(waybill::wait_until{now + duration(5s)}));
static_assert(after(1, fault_kind::transient, 2h) ==
              retry_action(waybill::wait_until{now + duration(1h)}));
static_assert(after(1, fault_kind::transient, -5s) == retry_action(waybill::retry_now{}));
static_assert(after(3, fault_kind::transient, 1ms) ==
              retry_action(waybill::wait_until{now + duration(2s)}));

// The limit: 0 counts as 1, and the largest number does not overflow.
constexpr bool gives_up(std::uint32_t most, std::uint32_t tries)
{
    return waybill::holds_alternative<waybill::give_up>(
        decide({.max_attempts = most}, tries, fault_kind::transient, 0.5, now));
}
static_assert(gives_up(0, 1) && gives_up(1, 1) && !gives_up(2, 1));
static_assert(gives_up(0, 0) == gives_up(1, 0));
static_assert(!gives_up(ever, ever - 1) && gives_up(ever, ever));

// At the end of time the wait ends there.
static_assert(decide({.pauses = {.spread = backoff::jitter::none}}, 1, fault_kind::transient, 0.0,
                     steady_time::highest()) ==
              retry_action(waybill::wait_until{steady_time::highest()}));

constexpr std::string_view bad(const retry_policy& p)
{
    const auto error = validate(p);
    return error ? error->field : "";
}
static_assert(bad({}) == "" && bad(policy) == "" && bad({.max_attempts = 1}) == "");
static_assert(bad({.max_attempts = 0}) == "retry.max_attempts");
static_assert(bad({.max_attempts = 3, .immediate = 3}) == "retry.immediate" &&
              bad({.max_attempts = 3, .immediate = 2}) == "");
static_assert(bad({.pauses = {.base = {}}}) == "backoff.base");

TEST_CASE("decide: a loop makes max_attempts tries, and at least one")
{
    for (const std::uint32_t most : {0U, 1U, 2U, 7U}) {
        std::uint32_t tries = 0, waits = 0;
        steady_time at = now;
        for (bool going = true; going;) {
            ++tries;
            waybill::match(
                decide({.max_attempts = most, .immediate = 2}, tries, fault_kind::transient, 1.0,
                       at),
                [](waybill::retry_now) {},
                [&](waybill::wait_until w) {
                    CHECK(w.time > at);
                    at = w.time;
                    ++waits;
                },
                [&](waybill::give_up g) {
                    CHECK(g.reason == fault_kind::transient);
                    going = false;
                });
        }
        CHECK(tries == (most == 0 ? 1 : most));
        CHECK(waits == (tries > 3 ? tries - 3 : 0));
    }
}

}  // namespace decide_test
