// SPDX-License-Identifier: MIT
//
// budget: retries as a share of what succeeds, so that a broker in trouble is not buried in them.
//
// A number of tries for each message multiplies the load just when there is too much of it. A budget
// is shared by all: each retry takes a token, so many successes give one back, and with none left a
// failure is final (as gRPC's retry throttling and the AWS SDKs do it).
//
//     waybill::retry_tokens tokens{{.tokens = 10, .successes = 10}};
//     if (tokens.spend()) try_again(); else give_up();
//     tokens.succeeded();

#ifndef WAYBILL_RETRY_BUDGET_HPP
#define WAYBILL_RETRY_BUDGET_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/check.hpp>

namespace waybill::inline v0_1 {

/// How many retries there may be. By default they are not counted.
struct retry_budget {
    static constexpr std::uint32_t uncounted = ~std::uint32_t{0};

    std::uint32_t tokens = uncounted;  ///< Retries to begin with, and at the most.
    std::uint32_t successes = 10;      ///< So many give one back; 0 reads as 1.

    friend bool operator==(const retry_budget&, const retry_budget&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const retry_budget& b) noexcept
{
    if (b.successes == 0) return config_error{"budget.successes", 0, "must be at least", 1};
    return std::nullopt;
}

/// The tokens of a budget. O(1).
class retry_tokens {
public:
    constexpr explicit retry_tokens(const retry_budget& b = {}) noexcept
        : budget_(b), left_(b.tokens)
    {
    }

    /// How many retries there may be now.
    [[nodiscard]] constexpr std::uint32_t left() const noexcept { return left_; }

    /// Takes a token. False, and nothing is taken, where there is none.
    [[nodiscard]] constexpr bool spend() noexcept
    {
        if (left_ == 0) return false;
        if (left_ != retry_budget::uncounted) --left_;
        return true;
    }

    constexpr void succeeded() noexcept
    {
        if (left_ >= budget_.tokens || ++towards_ < budget_.successes) return;
        towards_ = 0;
        ++left_;
    }

    friend bool operator==(const retry_tokens&, const retry_tokens&) = default;

private:
    retry_budget budget_;
    std::uint32_t left_;
    std::uint32_t towards_ = 0;  // successes that count for the next token
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_RETRY_BUDGET_HPP
