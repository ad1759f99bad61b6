// SPDX-License-Identifier: MIT
//
// pace: the earliest time at which the sender may send again.
//
// Part of the sender. A pause after throttling or a failure holds for new and repeated batches.

#ifndef WAYBILL_BATCH_DETAIL_PACE_HPP
#define WAYBILL_BATCH_DETAIL_PACE_HPP

#include <cstdint>

#include <waybill/core/variant.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/shared_budget.hpp>

namespace waybill::inline v0_2::detail {

class pace {
public:
    /// If `shared` is set, it replaces the budget `b`. `p.max_attempts` is limited to [1, 255].
    pace(const retry_policy& p, const retry_budget& b, shared_budget shared = {})
        : policy_(p), tokens_(b), shared_(shared)
    {
        if (policy_.max_attempts == 0) policy_.max_attempts = 1;
        if (policy_.max_attempts > max_attempt_count) policy_.max_attempts = max_attempt_count;
    }

    [[nodiscard]] static constexpr bool retriable(fault_kind c) { return is_worth_a_retry(c); }

    /// Nothing may be sent before this time.
    [[nodiscard]] steady_time not_before() const noexcept { return not_before_; }

    /// True if `attempts` attempts are fewer than the policy allows.
    [[nodiscard]] bool may_retry(std::uint32_t attempts) const noexcept
    {
        return attempts < policy_.max_attempts;
    }
    /// After these failed attempts, one more is the last. At most 254.
    [[nodiscard]] std::uint32_t most_failed() const noexcept { return policy_.max_attempts - 1; }

    /// The time of the next attempt after `attempts` attempts; `now` if the policy retries at once.
    /// `random` in [0, 1) is the random value for the jitter. `hint` is the pause that the broker
    /// requires, or 0.
    [[nodiscard]] steady_time retry_at(steady_time now, std::uint32_t attempts, double random,
                                       duration hint) const noexcept
    {
        const retry_action a = decide(policy_, attempts, fault_kind::transient, random, now, hint);
        const wait_until* w = get_if<wait_until>(&a);
        return w ? w->time : now;
    }

    /// Takes one retry from the budget. False if the budget is used up.
    [[nodiscard]] bool spend(steady_time now)
    {
        return shared_ ? shared_.spend(now) : tokens_.spend(now);
    }
    void succeeded(steady_time now)
    {
        not_throttled();
        if (shared_) shared_.succeeded(now);
        else tokens_.succeeded(now);
    }

    /// Pauses after a failure. The caller has paid for the retry with `spend`.
    void failed(steady_time now, std::uint32_t attempts, double random, duration hint)
    {
        not_before_ = later(not_before_, retry_at(now, attempts, random, hint));
    }

    /// Pauses after throttling, for at least 1 ns. Without a pause, a driver that follows
    /// `next` could send forever while `now` stays the same.
    void throttled(steady_time now, double random, duration hint)
    {
        if (consecutive_throttles_ != ~std::uint32_t{0}) ++consecutive_throttles_;
        const duration rest = pause(policy_.pauses, consecutive_throttles_, random, hint);
        not_before_ = later(not_before_, now + greater(rest, duration::nanoseconds(1)));
    }

    /// Reports that the broker has processed a batch. The next throttling counts as the first.
    void not_throttled() noexcept { consecutive_throttles_ = 0; }

    friend bool operator==(const pace&, const pace&) = default;

private:
    // send_item::failed_attempts has 8 bits.
    static constexpr std::uint32_t max_attempt_count = 255;

    retry_policy policy_;
    retry_token_bucket tokens_;
    shared_budget shared_;
    std::uint32_t consecutive_throttles_ = 0;
    steady_time not_before_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_PACE_HPP
