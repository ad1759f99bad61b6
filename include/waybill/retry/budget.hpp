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

/// The tokens of a budget. All functions take constant time. If the clock goes back, nothing is
/// refilled until it passes the time of the last refill again. Overloads without `now` do not
/// refill.
class retry_token_bucket {
public:
    constexpr explicit retry_token_bucket(detail::no_options = {}) noexcept
        : retry_token_bucket(retry_budget{})
    {
    }
    constexpr explicit retry_token_bucket(const retry_budget& b) noexcept
        : budget_(b), tokens_(b.tokens)
    {
    }

    /// The number of retries that are possible now; with `now`, refills up to then are included.
    [[nodiscard]] constexpr std::uint32_t left() const noexcept { return tokens_; }
    [[nodiscard]] constexpr std::uint32_t left(steady_time now) const noexcept
    {
        retry_token_bucket then = *this;
        then.refill_until(now);
        return then.tokens_;
    }

    /// Takes a token. If there is none, returns false.
    [[nodiscard]] constexpr bool spend() noexcept
    {
        if (tokens_ == 0) return false;
        if (tokens_ != retry_budget::uncounted) --tokens_;
        return true;
    }
    [[nodiscard]] constexpr bool spend(steady_time now) noexcept
    {
        refill_until(now);
        return spend();
    }

    /// Counts a success towards the next token. Successes at the maximum of tokens do not count.
    constexpr void succeeded() noexcept
    {
        if (tokens_ >= budget_.tokens || ++successes_since_token_ < budget_.successes) return;
        successes_since_token_ = 0;
        ++tokens_;
    }
    constexpr void succeeded(steady_time now) noexcept
    {
        refill_until(now);
        succeeded();
    }

    friend bool operator==(const retry_token_bucket&, const retry_token_bucket&) = default;

private:
    /// Adds the tokens of the refill. At the maximum of tokens, elapsed time is not saved up.
    constexpr void refill_until(steady_time now) noexcept
    {
        const bool refills = duration{} < budget_.refill && budget_.refill < duration::highest();
        if (!refills) return;
        if (!last_refill_) last_refill_ = now;
        if (now <= *last_refill_) return;
        const std::uint32_t missing = budget_.tokens - tokens_;
        const auto elapsed = static_cast<std::uint64_t>((now - *last_refill_).count());
        const std::uint64_t refilled = elapsed / static_cast<std::uint64_t>(budget_.refill.count());
        if (refilled >= missing) {
            last_refill_ = now;
            tokens_ = budget_.tokens;
        } else {
            last_refill_ = *last_refill_ + detail::times(budget_.refill, refilled);
            tokens_ += static_cast<std::uint32_t>(refilled);
        }
    }

    retry_budget budget_;
    std::uint32_t tokens_;
    std::uint32_t successes_since_token_ = 0;   // since the last token that successes returned
    std::optional<steady_time> last_refill_{};  // or the first `now`
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_BUDGET_HPP
