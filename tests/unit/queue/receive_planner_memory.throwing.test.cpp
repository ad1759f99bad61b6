// SPDX-License-Identifier: MIT
//
// A receive_planner allocates all of its memory in its constructor. After that no message can be
// lost because of memory.

#include <cstdint>
#include <new>
#include <variant>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/core/match.hpp>
#include <waybill/queue/receive_planner.hpp>

namespace intake_memory_test {
namespace {

namespace scarce = tests_support::scarce;
using waybill::event_result;
using waybill::fault_kind;
using waybill::steady_time;

// Pairs and fresh messages in turns; every third fails, every fifth original is gone.
std::uint64_t a_long_life(waybill::receive_planner& in, std::uint64_t rounds)
{
    std::uint64_t ended = 0;
    std::uint64_t held = 0;
    std::uint64_t number = 0;
    std::int64_t ms = 0;
    for (std::uint64_t n = 0; n != rounds; ++n) {
        const steady_time now = steady_time::at(waybill::duration::milliseconds(ms));
        waybill::match(
            in.next(now),
            [&](waybill::receive_planner::take_due_pairs a) {
                const std::uint64_t many = n % 2 == 0 ? a.max_pairs : 0;
                number = a.first;
                held += many;
                (void)in.on(waybill::receive_planner::pairs_taken{many}, now);
            },
            [&](waybill::receive_planner::receive a) {
                number = a.first;
                held += a.max_messages;
                (void)in.on(waybill::receive_planner::messages_received{a.max_messages}, now);
            },
            [&](waybill::receive_planner::receive_deferred a) {
                const auto said = a.work % 5 == 0
                                      ? waybill::receive_planner::settle_result::not_found
                                      : waybill::receive_planner::settle_result::done;
                (void)in.on(waybill::receive_planner::original_fetched{a.work, said, true}, now);
            },
            [&](waybill::receive_planner::settle_original a) {
                (void)in.on(waybill::receive_planner::original_settled{a.work}, now);
            },
            [&](waybill::receive_planner::settle_message a) {
                if (in.on(waybill::receive_planner::message_settled{a.work}, now) ==
                    event_result::applied)
                    ++ended;
            },
            [&](waybill::wait_until) { ms += 100; }, [&](waybill::idle) { ms += 100; });
        for (std::uint64_t w = number < 9 ? 0 : number - 9; w != number + 9; ++w) {
            const auto how = w % 3 == 0 ? fault_kind::infrastructure : fault_kind::none;
            (void)in.on(waybill::receive_planner::work_done{w, how}, now);
        }
    }
    return held - ended == in.in_hand() ? ended : 0;
}

}  // namespace

TEST_CASE("receive_planner memory: events allocate nothing after construction")
{
    waybill::receive_planner in(
        {.max_in_flight = 8,
         .breaker = {.failure_ratio = 0.5,
                     .minimum_throughput = 10,
                     .consecutive_failures = waybill::circuit_breaker::config::never}});
    std::uint64_t ended = 0;
    CHECK(!scarce::fails_after(0, [&] { ended = a_long_life(in, 5'000); }));
    CHECK(ended > 500);
}

TEST_CASE("receive_planner memory: a copy whose allocation fails is unchanged")
{
    const waybill::receive_planner made({.max_in_flight = 8});
    for (std::uint64_t after = 0;; ++after) {
        waybill::receive_planner in = made;
        const bool failed = scarce::fails_after(
            after, [&] { (void)in.on(waybill::receive_planner::pairs_taken{3}, {}); });
        if (!failed) break;
        CHECK(in == made);
    }
    for (std::uint64_t after = 0;; ++after) {
        waybill::receive_planner in = made;
        const bool failed = scarce::fails_after(
            after, [&] { (void)in.on(waybill::receive_planner::messages_received{3}, {}); });
        if (!failed) break;
        CHECK(in == made);
    }
}

TEST_CASE("receive_planner memory: construction allocates less than 100 times")
{
    std::uint64_t after = 0;
    while (scarce::fails_after(
        after, [] { (void)waybill::receive_planner({.max_in_flight = 8}).in_hand(); }))
        ++after;
    CHECK(after < 100);
}

}  // namespace intake_memory_test
