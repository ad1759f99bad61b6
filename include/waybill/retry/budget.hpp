// SPDX-License-Identifier: MIT
//
// budget: retries as a share of what succeeds, so that a broker in trouble is not buried in them.
//
// A number of tries for each message multiplies the load just when there is too much of it. A
// budget is shared by all: each retry takes a token, so many successes give one back, and with none
// left a failure is final (as gRPC's retry throttling and the AWS SDKs do it). Where there may be
// no success for long, time gives tokens back, too (as Finagle's reserve of retries a second does).
//
//     waybill::retry_tokens tokens{{.tokens = 10, .successes = 10, .refill = 1s}};
//     if (tokens.spend(now)) try_again(); else give_up();
//     tokens.succeeded(now);
//
// shared_budget.hpp lets several senders and calls take from one.
// A value without locks: one thread at a time.

#ifndef WAYBILL_RETRY_BUDGET_HPP
#define WAYBILL_RETRY_BUDGET_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/check.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

/// How many retries there may be. By default they are not counted.
struct retry_budget {
    static constexpr std::uint32_t uncounted = ~std::uint32_t{0};

    std::uint32_t tokens = uncounted;  ///< Retries to begin with, and at the most.
    std::uint32_t successes = 10;      ///< So many give one back; 0 reads as 1.
    /// After so long one comes back by itself; by default never.
    duration refill = duration::highest();

    friend bool operator==(const retry_budget&, const retry_budget&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const retry_budget& b) noexcept
{
    if (b.successes == 0) return config_error{"budget.successes", 0, "must be at least", 1};
    if (b.refill <= duration{}) {
        return config_error{"budget.refill", detail::magnitude(b.refill),
                            "nanoseconds must be at least", 1, b.refill < duration{}};
    }
    return std::nullopt;
}

/// The tokens of a budget. O(1). A clock that goes back gives nothing: the latest time counts.
/// Where no time is told, none passes.
class retry_tokens {
public:
    constexpr explicit retry_tokens(const retry_budget& b = {}) noexcept
        : budget_(b), left_(b.tokens)
    {
    }

    /// How many retries there may be now.
    [[nodiscard]] constexpr std::uint32_t left() const noexcept { return left_; }
    [[nodiscard]] constexpr std::uint32_t left(steady_time now) const noexcept
    {
        retry_tokens then = *this;
        then.pass(now);
        return then.left_;
    }

    /// Takes a token. False, and nothing is taken, where there is none.
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

    friend bool operator==(const retry_tokens&, const retry_tokens&) = default;

private:
    /// Gives back what time gives. A full budget saves nothing up.
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
    std::uint32_t towards_ = 0;  // successes that count for the next token
    std::optional<steady_time> since_{};  // when the last one came back by itself, or time began
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_BUDGET_HPP
