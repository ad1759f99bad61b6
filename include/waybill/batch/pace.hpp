// SPDX-License-Identifier: MIT
//
// pace: when something may be sent again.
//
// Part of the sender. A broker that asks to be left alone is left alone by all: nothing goes out
// before the pause is over, repeated or new.

#ifndef WAYBILL_BATCH_PACE_HPP
#define WAYBILL_BATCH_PACE_HPP

#include <cstdint>
#include <variant>

#include <waybill/retry/budget.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/shared_budget.hpp>

namespace waybill::inline v0_2 {

class pace {
public:
    /// With a shared budget it has none of its own.
    pace(const retry_policy& p, const retry_budget& b, shared_budget shared = {})
        : policy_(p), tokens_(b), shared_(shared)
    {
        if (policy_.most == 0) policy_.most = 1;
        if (policy_.most > 0xFF) policy_.most = 0xFF;
    }

    [[nodiscard]] static constexpr bool retriable(fault_class c) { return is_worth_a_retry(c); }

    /// Nothing is sent before.
    [[nodiscard]] steady_time not_before() const noexcept { return not_before_; }

    /// Whether so many tries are not enough yet.
    [[nodiscard]] bool again(std::uint32_t tries) const noexcept { return tries < policy_.most; }

    /// When to repeat what has been tried so often; at once where the policy says so.
    [[nodiscard]] steady_time retry_at(steady_time now, std::uint32_t tries, double draw,
                                       duration hint) const noexcept
    {
        const retry_action a = decide(policy_, tries, fault_class::transient, draw, now, hint);
        const act::wait* w = std::get_if<act::wait>(&a);
        return w ? w->until : now;
    }

    /// Pays for a retry. False where there is nothing left.
    [[nodiscard]] bool spend(steady_time now)
    {
        return shared_ ? shared_.spend(now) : tokens_.spend(now);
    }
    void succeeded(steady_time now)
    {
        answered();
        if (shared_) shared_.succeeded(now);
        else tokens_.succeeded(now);
    }

    /// The retry has been paid for.
    void failed(steady_time now, std::uint32_t tries, double draw, duration hint)
    {
        not_before_ = later(not_before_, retry_at(now, tries, draw, hint));
    }

    /// However short the pause is, there is one, or a caller that obeys would never get to rest.
    void throttled(steady_time now, double draw, duration hint)
    {
        if (throttles_ != ~std::uint32_t{0}) ++throttles_;
        const duration rest = pause(policy_.pauses, throttles_, draw, hint);
        not_before_ = later(not_before_, now + greater(rest, duration::nanoseconds(1)));
    }

    /// The broker has looked at a batch, so the next throttling is a first one.
    void answered() noexcept { throttles_ = 0; }

    friend bool operator==(const pace&, const pace&) = default;

private:
    retry_policy policy_;
    retry_tokens tokens_;
    shared_budget shared_;
    std::uint32_t throttles_ = 0;  // answers in a row
    steady_time not_before_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_PACE_HPP
