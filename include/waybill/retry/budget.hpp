// SPDX-License-Identifier: MIT
//
// budget: limits retries to a share of successes, so that they cannot overload a failing broker.
//
//     waybill::retry_token_bucket tokens{{.tokens = 10, .successes = 10, .refill = 1s}};
//     if (tokens.spend(now)) try_again(); else give_up();
//     tokens.succeeded(now);
//
// A maximum of attempts per message multiplies the load while the broker is overloaded. A budget is
// shared by all calls:
//   1. Each retry takes a token. If no token is left, a failure is final.
//   2. Every `successes` successes return one token (gRPC's retry throttling, the AWS SDKs).
//   3. Every `refill` returns one token, for periods without successes (Finagle's reserve of
//      retries per second).
//
// shared_budget.hpp lets several senders and calls use one budget. Cost: constant time.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_BUDGET_HPP
#define WAYBILL_RETRY_BUDGET_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// The limit of retries. By default retries are unlimited.
struct retry_budget {
    /// For `tokens`: retries are unlimited.
    static constexpr std::uint32_t uncounted = ~std::uint32_t{0};

    std::uint32_t tokens = uncounted;  ///< Tokens at the start; also the maximum.
    std::uint32_t successes = 10;      ///< Successes for one token; 0 counts as 1.
    /// The time after which one token is returned; by default never.
    duration refill = duration::highest();

    friend bool operator==(const retry_budget&, const retry_budget&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const retry_budget& b) noexcept
{
    if (b.successes == 0) return config_error{"budget.successes", 0, "must be at least", 1};
    if (b.refill <= duration{}) {
        return config_error{"budget.refill", detail::magnitude(b.refill),
                            "nanoseconds must be at least", 1, b.refill < duration{}};
    }
    return std::nullopt;
}

/// The tokens of a budget. All functions take constant time. If the clock goes back, no token is
/// returned until it passes the time of the last refill again. Overloads without `now` do not
/// refill.
class retry_token_bucket {
public:
    constexpr explicit retry_token_bucket(const retry_budget& b = {}) noexcept
        : budget_(b), left_(b.tokens)
    {
    }

    /// The number of retries that are possible now; with `now`, refills up to then are included.
    [[nodiscard]] constexpr std::uint32_t left() const noexcept { return left_; }
    [[nodiscard]] constexpr std::uint32_t left(steady_time now) const noexcept
    {
        retry_token_bucket then = *this;
        then.pass(now);
        return then.left_;
    }

    /// Takes a token. If there is none, returns false.
    [[nodiscard]] constexpr bool spend() noexcept
    {
        if (left_ == 0) return false;
        if (left_ != retry_budget::uncounted) --left_;
        return true;
    }
    [[nodiscard]] constexpr bool spend(steady_time now) noexcept
    {
        pass(now);
        return spend();
    }

    /// Counts a success towards the next token. Successes at the maximum of tokens do not count.
    constexpr void succeeded() noexcept
    {
        if (left_ >= budget_.tokens || ++towards_ < budget_.successes) return;
        towards_ = 0;
        ++left_;
    }
    constexpr void succeeded(steady_time now) noexcept
    {
        pass(now);
        succeeded();
    }

    friend bool operator==(const retry_token_bucket&, const retry_token_bucket&) = default;

private:
    /// Adds the tokens of the refill. At the maximum of tokens, elapsed time is not saved up.
    constexpr void pass(steady_time now) noexcept
    {
        const bool refills = duration{} < budget_.refill && budget_.refill < duration::highest();
        if (!refills) return;
        if (!since_) since_ = now;
        if (now <= *since_) return;
        const std::uint32_t missing = budget_.tokens - left_;
        const auto gone = static_cast<std::uint64_t>((now - *since_).count());
        const std::uint64_t back = gone / static_cast<std::uint64_t>(budget_.refill.count());
        if (back >= missing) {
            since_ = now;
            left_ = budget_.tokens;
        } else {
            since_ = *since_ + detail::times(budget_.refill, back);
            left_ += static_cast<std::uint32_t>(back);
        }
    }

    retry_budget budget_;
    std::uint32_t left_;
    std::uint32_t towards_ = 0;           // successes since the last token from successes
    std::optional<steady_time> since_{};  // the last refill, or the first `now`
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_BUDGET_HPP
