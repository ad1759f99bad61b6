// SPDX-License-Identifier: MIT
//
// shared_budget: one budget of retries for several senders and calls.
//
// A budget for each of ten senders lets ten times as many retries through. So they may all take
// from one that the caller keeps:
//
//     waybill::retry_tokens tokens{{.tokens = 100, .successes = 10}};
//     waybill::sender orders(policy, {}, tokens), mails(policy, {}, tokens);
//     auto r = waybill::retry_call(policy, call, clock, sleep_until, draw, tokens);
//
// It is a reference, and owns nothing: the budget has to stay where it is for as long as somebody
// refers to it. Copies refer to the same budget, so a copied sender takes from it, too; two are
// equal if they refer to the same one.
//
// Nothing here locks. Within one thread a retry_tokens is enough; for several, hand in an object of
// your own with the same two functions, which takes a lock and asks the tokens inside it. A retry
// is asked for and taken in one step, so that no two threads take the last one.

#ifndef WAYBILL_RETRY_SHARED_BUDGET_HPP
#define WAYBILL_RETRY_SHARED_BUDGET_HPP

#include <concepts>
#include <type_traits>

#include <waybill/core/time.hpp>
#include <waybill/retry/budget.hpp>

namespace waybill::inline v0_2 {

/// What retries are taken from. Neither function may throw: who asks is in the middle of an event.
template <class B>
concept retry_source = requires(B& b, steady_time now) {
    { b.spend(now) } -> std::same_as<bool>;
    b.succeeded(now);
};

/// Refers to a budget that somebody else keeps, or to none, which never runs out. What is const is
/// no budget, whatever its functions say: nothing could be taken from it.
class shared_budget {
public:
    constexpr shared_budget() noexcept = default;

    template <retry_source B>
        requires(!std::is_const_v<B> && !std::same_as<std::remove_cv_t<B>, shared_budget>)
    constexpr shared_budget(B& budget) noexcept : budget_(&budget), does_(&calls<B>)
    {
    }

    /// Whether there is a budget.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return budget_ != nullptr; }

    /// Takes a retry. False, and nothing is taken, where there is none.
    [[nodiscard]] constexpr bool spend(steady_time now) const
    {
        return budget_ == nullptr || does_->spend(budget_, now);
    }
    constexpr void succeeded(steady_time now) const
    {
        if (budget_ != nullptr) does_->succeeded(budget_, now);
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
    const functions* does_ = nullptr;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_SHARED_BUDGET_HPP
