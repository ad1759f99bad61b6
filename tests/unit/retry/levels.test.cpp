// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/core/match.hpp>
#include <waybill/retry/levels.hpp>

namespace levels_test {

using waybill::backoff;
using waybill::decide;
using waybill::duration;
using waybill::fault_kind;
using waybill::retry_action;
using waybill::retry_levels;
using waybill::steady_time;
using waybill::detail::round_after;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t ever = ~std::uint32_t{0};
constexpr steady_time now = steady_time::at(1h);
constexpr retry_levels two_of_three{
    .immediate = 2,
    .delayed = 1,
    .pauses = {.base = 10s, .cap = 1h, .factor = 1, .spread = backoff::jitter::none, .step = 10s}};

constexpr retry_action after(std::uint64_t tries, fault_kind how = fault_kind::transient,
                             duration hint = {})
{
    return decide(two_of_three, tries, how, 0.5, now, hint);
}
constexpr retry_action at_once = waybill::retry_now{};
constexpr retry_action back_after(duration d)
{
    return waybill::wait_until{now + d};
}
constexpr retry_action over(fault_kind how)
{
    return waybill::give_up{how};
}

static_assert(two_of_three.max_attempts() == 6 && retry_levels{}.max_attempts() == 24);
static_assert(after(1) == at_once && after(2) == at_once && after(3) == back_after(10s));
static_assert(after(4) == at_once && after(5) == at_once);
static_assert(after(6) == over(fault_kind::transient) && after(7) == over(fault_kind::transient));
static_assert(after(0) == at_once);
static_assert(after(~std::uint64_t{0}) == over(fault_kind::transient));
static_assert(round_after(two_of_three, 0) == 0 && round_after(two_of_three, 2) == 0);
static_assert(round_after(two_of_three, 3) == 1 && round_after(two_of_three, 5) == 1);

// A fault that no retry can change ends it within a round, too.
static_assert(after(1, fault_kind::permanent) == over(fault_kind::permanent));
static_assert(after(3, fault_kind::cancelled) == over(fault_kind::cancelled));
static_assert(after(1, fault_kind::ownership_lost) == over(fault_kind::ownership_lost));
static_assert(after(1, fault_kind::none) == over(fault_kind::none));
static_assert(after(3, fault_kind::infrastructure) == back_after(10s));

// A server's retry_after counts: the message is deferred, and the levels continue after it.
static_assert(after(1, fault_kind::transient, 25s) == back_after(25s));
static_assert(after(1, fault_kind::transient, 5s) == back_after(10s));
static_assert(after(2, fault_kind::transient, 2h) == back_after(1h));
static_assert(after(3, fault_kind::transient, 25s) == back_after(25s));
static_assert(after(6, fault_kind::transient, 25s) == over(fault_kind::transient));
static_assert(after(1, fault_kind::transient, -5s) == at_once);

// At the limits: no levels mean one try; the largest numbers do not overflow.
constexpr retry_action after_one(const retry_levels& l)
{
    return decide(l, 1, fault_kind::transient, 0.5, now);
}
static_assert(after_one({.immediate = 0, .delayed = 0}) == over(fault_kind::transient));
static_assert(after_one({.immediate = ever, .delayed = ever}) == at_once);
static_assert(after_one({.immediate = 0,
                         .delayed = ever,
                         .pauses = {.spread = backoff::jitter::none}}) == back_after(100ms));
constexpr retry_levels most{
    .immediate = ever, .delayed = ever, .pauses = {.spread = backoff::jitter::none}};
constexpr std::uint64_t a_round = std::uint64_t{ever} + 1;
static_assert(most.max_attempts() == ~std::uint64_t{0});
static_assert(retry_levels{.immediate = 0, .delayed = retry_levels::unlimited}.max_attempts() ==
              ~std::uint64_t{0});
static_assert(retry_levels{.immediate = 0, .delayed = ever - 1}.max_attempts() == ever);
static_assert(decide(most, a_round* ever, fault_kind::transient, 0.0, now) == back_after(30s));
static_assert(decide(most, a_round* ever + 1, fault_kind::transient, 0.0, now, 1s) ==
              back_after(30s));
static_assert(decide(most, a_round* ever + 1, fault_kind::transient, 0.0, now) == at_once);

static_assert(!validate(retry_levels{}) && !validate(two_of_three));
static_assert(validate(retry_levels{.pauses = {.base = {}}})->field == "backoff.base");

// Plain braces still mean a retry_policy.
static_assert(decide({}, 1, fault_kind::permanent, 0.5, now) == over(fault_kind::permanent));

TEST_CASE("levels: a loop makes max_attempts tries, in rounds with growing pauses")
{
    for (const std::uint32_t immediate : {0U, 1U, 5U}) {
        for (const std::uint32_t delayed : {0U, 1U, 3U, 7U}) {
            const retry_levels l{.immediate = immediate,
                                 .delayed = delayed,
                                 .pauses = {.base = 10s,
                                            .cap = 25s,
                                            .factor = 1,
                                            .spread = backoff::jitter::none,
                                            .step = 10s}};
            std::vector<std::uint64_t> rounds(1, 0);  // tries in each
            std::uint64_t tries = 0;
            for (bool going = true; going;) {
                CHECK(round_after(l, tries) + 1 == rounds.size());
                ++tries;
                ++rounds.back();
                waybill::match(
                    decide(l, tries, fault_kind::transient, 0.5, now), [](waybill::retry_now) {},
                    [&](waybill::wait_until w) {
                        const auto n = static_cast<double>(rounds.size());
                        CHECK(w.time - now == waybill::detail::lesser(duration(10s) * n, 25s));
                        rounds.push_back(0);
                    },
                    [&](waybill::give_up) { going = false; });
            }
            CHECK(tries == l.max_attempts());
            CHECK(rounds == std::vector<std::uint64_t>(delayed + 1, immediate + 1));
        }
    }
}

}  // namespace
}  // namespace levels_test
