// SPDX-License-Identifier: MIT
//
// settled_delivery: the settlement of a delivery after each kind of fault.

#ifndef WAYBILL_QUEUE_DETAIL_SETTLED_DELIVERY_HPP
#define WAYBILL_QUEUE_DETAIL_SETTLED_DELIVERY_HPP

#include <cstdint>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/queue/settle_policy.hpp>
#include <waybill/queue/settlement.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/levels.hpp>

namespace waybill::inline v0_2::detail {

class settled_delivery {
public:
    constexpr settled_delivery(const settle_policy& p, const queue_delivery& d,
                               fault_kind kind) noexcept
        : policy_(p),
          kind_(kind),
          count_(greater(d.count, 1)),
          tries_(greater(saturating_sub(d.tries == 0 ? count_ : d.tries, d.outage_deliveries), 1)),
          is_last_delivery_(p.max_deliveries != highest_size &&
                            count_ >= greater(p.max_deliveries, 1))
    {
    }

    [[nodiscard]] constexpr settlement permanent() const noexcept
    {
        return dead_letter_message{.reason = dead_letter_message::cause::permanent,
                                   .kind = kind_,
                                   .used = tries_,
                                   .max_attempts = tries_};  // no limit was reached
    }

    [[nodiscard]] constexpr settlement transient(double random, duration hint) const noexcept
    {
        // decide() needs a steady time, but only the length of its pause is used.
        const retry_action next =
            decide(policy_.levels, tries_, kind_, random, steady_time{}, hint);
        if (holds_alternative<give_up>(next)) {
            return dead_letter_message{dead_letter_message::cause::exhausted, kind_, tries_,
                                       policy_.levels.max_attempts()};
        }
        const auto* const wait = get_if<wait_until>(&next);
        if (wait != nullptr && policy_.can_defer) return defer_by(wait->time - steady_time{});
        if (is_last_delivery_) return dead_letter_last_delivery();
        if (wait != nullptr) return let_lock_expire{let_lock_expire::cause::pause};
        return abandon{.failed = true};
    }

    [[nodiscard]] constexpr settlement infrastructure(double random, duration hint) const noexcept
    {
        const bool last_and_counted = is_last_delivery_ && policy_.release_counts;
        const settle_policy::when_down on_outage = policy_.on_outage;
        if (on_outage == settle_policy::when_down::abandon && !last_and_counted)
            return abandon{.failed = false};
        const bool defers =
            is_last_delivery_ ? policy_.defer_renews : on_outage == settle_policy::when_down::defer;
        if (defers && policy_.can_defer) {
            const auto n = static_cast<std::uint32_t>(lesser(count_, UINT32_MAX));
            return defer_by(pause(policy_.levels.pauses, n, random, hint));
        }
        if (last_and_counted) return dead_letter_last_delivery();
        if (is_last_delivery_) return abandon{.failed = false};
        return let_lock_expire{let_lock_expire::cause::outage};
    }

    [[nodiscard]] constexpr settlement cancelled() const noexcept
    {
        if (!is_last_delivery_ || !policy_.release_counts) return abandon{.failed = false};
        if (policy_.can_defer) return defer_by({});
        return dead_letter_last_delivery();
    }

private:
    [[nodiscard]] constexpr settlement dead_letter_last_delivery() const noexcept
    {
        return dead_letter_message{dead_letter_message::cause::last_delivery, kind_, count_,
                                   policy_.max_deliveries};
    }

    [[nodiscard]] constexpr settlement defer_by(duration delay) const noexcept
    {
        if (is_last_delivery_ && !policy_.defer_renews) return dead_letter_last_delivery();
        return defer{lesser(greater(delay, duration{}), policy_.longest_defer)};
    }

    const settle_policy& policy_;
    fault_kind kind_;
    std::uint64_t count_;
    std::uint64_t tries_;
    bool is_last_delivery_;  // the broker would dead-letter the message next, without a reason
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_SETTLED_DELIVERY_HPP
