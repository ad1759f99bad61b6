// SPDX-License-Identifier: MIT
//
// shared_budget: one retry budget for several senders and calls.
//
// Ten senders with a budget each allow ten times as many retries as one budget that they share:
//
//     waybill::retry_token_bucket tokens{{.tokens = 100, .successes = 10}};
//     waybill::batch_sender orders(policy, {}, tokens), mails(policy, {}, tokens);
//     auto r = waybill::retry_call(policy, call, env, tokens);
//
// A shared_budget is a reference. The budget must outlive it and must not be moved. Copies refer to
// the same budget, so a copied sender also uses it. Two references are equal if they refer to the
// same budget.
//
// This header does not lock. A retry_token_bucket is sufficient within one thread. For several
// threads, pass an object of your own with the same two functions, which locks and forwards to a
// retry_token_bucket. `spend` checks and takes a retry in one step, so that two threads cannot both
// take the last one.

#ifndef WAYBILL_RETRY_SHARED_BUDGET_HPP
#define WAYBILL_RETRY_SHARED_BUDGET_HPP

#include <concepts>
#include <type_traits>

#include <waybill/core/time.hpp>
#include <waybill/retry/budget.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// A budget of retries. Neither function may throw, because the caller is processing an event.
template <class B>
concept retry_source = requires(B& b, steady_time now) {
    { b.spend(now) } -> std::same_as<bool>;
    b.succeeded(now);
};

}  // namespace detail

/// A reference to a budget of the caller, or to no budget, which means unlimited retries. A const
/// budget is rejected even if its functions are const, because no retry could be taken from it.
class shared_budget {
public:
    constexpr shared_budget() noexcept = default;

    template <detail::retry_source B>
        requires(!std::is_const_v<B> && !std::same_as<std::remove_cv_t<B>, shared_budget>)
    constexpr shared_budget(B& budget) noexcept : budget_(&budget), functions_(&calls<B>)
    {
    }

    /// True if this refers to a budget.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return budget_ != nullptr; }

    /// Takes a retry. If no retry is left, returns false and takes nothing.
    [[nodiscard]] constexpr bool spend(steady_time now) const
    {
        return budget_ == nullptr || functions_->spend(budget_, now);
    }
    /// Reports a success, which may return a retry to the budget.
    constexpr void succeeded(steady_time now) const
    {
        if (budget_ != nullptr) functions_->succeeded(budget_, now);
    }

    friend bool operator==(const shared_budget&, const shared_budget&) = default;

private:
    struct functions {
        bool (*spend)(void*, steady_time);
        void (*succeeded)(void*, steady_time);
    };

    template <class B>
    static constexpr functions calls{
        [](void* b, steady_time now) -> bool { return static_cast<B*>(b)->spend(now); },
        [](void* b, steady_time now) -> void { static_cast<B*>(b)->succeeded(now); }};

    void* budget_ = nullptr;
    const functions* functions_ = nullptr;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_SHARED_BUDGET_HPP
