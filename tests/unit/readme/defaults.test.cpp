// SPDX-License-Identifier: MIT
//
// The numbers of the tables "Defaults" in the guides, and the contradictions that validate rejects.

#include <cstdint>

#include <doctest/doctest.h>

#include <waybill/waybill.hpp>

namespace defaults_test {
namespace {

using namespace waybill;

constexpr duration seconds(std::int64_t n)
{
    return duration::seconds(n);
}
constexpr duration ms(std::int64_t n)
{
    return duration::milliseconds(n);
}

/// The sum of the first `n` pauses, each as long as it can be.
constexpr duration longest_pauses(const backoff& b, std::uint32_t n)
{
    duration sum{};
    for (std::uint32_t i = 1; i <= n; ++i) sum += pause(b, i, 1.0);
    return sum;
}

TEST_CASE("each value-initialised policy is valid")
{
    CHECK(!validate(backoff{}));
    CHECK(!validate(retry_policy{}));
    CHECK(!validate(call_policy{}));
    CHECK(!validate(retry_levels{}));
    CHECK(!validate(retry_budget{}));
    CHECK(!validate(circuit_breaker::config{}));
    CHECK(!validate(delivery_terms{}));
    CHECK(!validate(batch_limits{}));
    CHECK(!validate(send_policy{}));
    CHECK(!validate(settle_policy{}));
    CHECK(!validate(settle_batches::config{}));
    CHECK(!validate(lock_renewal::config{}));
    CHECK(!validate(receive_planner::config{}));
    CHECK(!validate(deferral_options{}));
    CHECK(!validate(batch_policy{}));
    CHECK(!validate(at_least_once_policy{}));
    CHECK(!validate(prune_policy{}));
    CHECK(!validate(idempotency_keys::options{}));
    CHECK(!validate(commit_schedule::config{}));
    CHECK(!validate(tracker_options{}));
    CHECK(!validate(tracker_budget{}));
    CHECK(!validate(lease_options{}));
    CHECK(!validate(partition_lifecycle::config{}));
    CHECK(!validate(pipeline_policy{}));
    CHECK(!validate(redrive_policy{}));
    CHECK(!validate(redrive_plan::options{}));
    CHECK(!validate(redrive_plan::filter{}));
    CHECK(!validate(state_budget{}));
    CHECK(!validate(sweep_policy{}));
}

TEST_CASE("retry and batch")
{
    const retry_policy r;
    CHECK(r.max_attempts == 5);
    CHECK(longest_pauses(r.pauses, r.max_attempts - 1) == ms(1'500));
    CHECK(pause(r.pauses, 9, 1.0) < seconds(30));
    CHECK(pause(r.pauses, 10, 1.0) == seconds(30));
    CHECK(pause(r.pauses, 1, 0.0, seconds(7'200)) == seconds(3'600));
    CHECK(retry_levels{}.max_attempts() == 24);
    CHECK(send_policy{}.retry == r);
    CHECK(send_policy{}.in_flight == 1);
    CHECK(call_policy{}.time_limit == duration::highest());
    CHECK(retry_token_bucket{}.left() == retry_budget::uncounted);

    const circuit_breaker::config b;
    CHECK(pause(b.break_duration, 3, 0.5) == seconds(20));
    CHECK(pause(b.break_duration, 20, 0.5) == seconds(300));
    CHECK((1U << b.half_open_steps) - 1 == 1 + 2 + 4 + 8);
    const delivery_terms t;
    CHECK(time_until_dead_letter(t).lasts == seconds(600));
    CHECK(open_limits{}.open == 16);
}

TEST_CASE("queue, consume and tracking")
{
    const settle_policy p;
    CHECK(seconds(90) * static_cast<std::int64_t>(p.max_deliveries - 1) == seconds(24 * 3'600));
    CHECK(pause(p.levels.pauses, 20, 0.0) >= seconds(100));
    CHECK(pause(p.levels.pauses, 20, 1.0) == seconds(150));
    const settle_batches::config batches;
    CHECK(batches.items == 10);
    CHECK(longest_pauses(batches.pauses, batches.tries - 1) == ms(300));
    lock_renewal lock{lock_renewal::config{}};
    lock.on(lock_renewal::lock_taken{}, steady_time{});
    CHECK(lock.next(steady_time{}) ==
          lock_renewal::action(wait_until{steady_time{} + seconds(30)}));
    CHECK(batch_policy{}.tries == 3);
    CHECK(batch_policy{}.deaths == 3);
    CHECK(at_least_once_policy{}.commit_every == unlimited);
    CHECK(tracker_budget{}.max_bytes / 3 * 4 == 4'096);
}

TEST_CASE("lease and session")
{
    const lease_options o;
    CHECK(o.expiry.count() / o.interval.count() == 6);
    const partition_lifecycle::config l;
    CHECK(longest_pauses(l.pause, l.save_tries - 1) == seconds(3));
    const pipeline_policy p;
    CHECK(p.retry == retry_policy{});
    CHECK(p.max_deliveries == 7);
    CHECK(longest_pauses(redrive_policy{}.retry.pauses, 4) == ms(15'000));
    CHECK(sweep_policy{}.messages_live == seconds(14 * 86'400));
    CHECK(sweep_policy{}.keep_failed == seconds(30 * 86'400));
}

TEST_CASE("contradictions between fields")
{
    // The time limit ends before the first pause: no retry would ever happen.
    const backoff fixed{.base = seconds(1), .spread = backoff::jitter::none};
    const auto call = [&](duration limit) {
        return call_policy{.retry = {.pauses = fixed}, .time_limit = limit};
    };
    REQUIRE(validate(call(seconds(1))));
    CHECK(validate(call(seconds(1)))->field == "call.time_limit");
    CHECK(!validate(call(seconds(1) + ms(1))));
    call_policy once = call(ms(1));
    once.retry.max_attempts = 1;
    CHECK(!validate(once));
    call_policy immediate = call(ms(1));
    immediate.retry.immediate = 1;
    CHECK(!validate(immediate));
    CHECK(!validate(call_policy{.time_limit = ms(1)}));  // a random pause may be shorter

    CHECK(validate(retry_levels{.immediate = retry_levels::unlimited})->field ==
          "levels.immediate");
    CHECK(validate(commit_schedule::config{.on_close = false})->field == "on_close");
    CHECK(!validate(commit_schedule::config{.interval = seconds(5), .on_close = false}));
    CHECK(!validate(commit_schedule::config{.every = 10, .on_close = false}));
    CHECK(!validate(commit_schedule::config{.on_close = false, .idle_refresh = seconds(5)}));

    CHECK(validate(redrive_plan::filter{.from_step = 5, .to_step = 4})->field == "filter.to_step");
    CHECK(!validate(redrive_plan::filter{.from_step = 4, .to_step = 4}));
    const wall_time now = wall_time::at(seconds(10));
    CHECK(validate(redrive_plan::filter{.dead_lettered_from = now, .dead_lettered_to = now - ms(1)})
              ->field == "filter.dead_lettered_to");
    CHECK(!validate(redrive_plan::filter{.dead_lettered_from = now, .dead_lettered_to = now}));
}

}  // namespace
}  // namespace defaults_test
