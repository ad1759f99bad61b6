// SPDX-License-Identifier: MIT
//
// decide: whether to retry a failed call, and when.
//
//     waybill::match(waybill::decide(policy, tries, f.kind, dice(), now),
//         [&](retry_now)    { again(); },
//         [&](wait_until w) { later(w.time); },
//         [&](give_up g)    { write_dead_letter(message, g.reason); });
//
// A pure function. The caller stores the number of attempts.

#ifndef WAYBILL_RETRY_DECIDE_HPP
#define WAYBILL_RETRY_DECIDE_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2 {

/// Retry without a pause.
struct retry_now {
    friend bool operator==(const retry_now&, const retry_now&) = default;
};

/// Do not retry.
struct give_up {
    fault_kind reason = fault_kind::none;  ///< The result of the last attempt.
    friend bool operator==(const give_up&, const give_up&) = default;
};

/// The maximum of attempts, the retries without a pause, and the pauses before the others.
struct retry_policy {
    /// Maximum of attempts, the first included; 0 counts as 1. Settings named "max retries" exclude
    /// the first attempt: add 1.
    std::uint32_t max_attempts = 5;
    std::uint32_t immediate = 0;  ///< Number of retries without a pause; they come first.
    backoff pauses{};

    friend bool operator==(const retry_policy&, const retry_policy&) = default;
};

namespace detail {

/// The number of attempts for a first attempt and `retries` retries. Saturates.
[[nodiscard]] constexpr std::uint32_t tries_for_retries(std::uint32_t retries) noexcept
{
    return retries == ~std::uint32_t{0} ? retries : retries + 1;
}

}  // namespace detail

[[nodiscard]] constexpr std::optional<config_error> validate(const retry_policy& p) noexcept
{
    if (p.max_attempts == 0) return config_error{"retry.max_attempts", 0, "must be at least", 1};
    if (p.immediate >= p.max_attempts) {
        return config_error{"retry.immediate", p.immediate, "must be less than max_attempts",
                            p.max_attempts};
    }
    return validate(p.pauses);
}

using retry_action = variant<retry_now, wait_until, give_up>;

namespace detail {

/// True for transient and infrastructure faults. All other faults are final.
[[nodiscard]] constexpr bool is_worth_a_retry(fault_kind kind) noexcept
{
    return kind == fault_kind::transient || kind == fault_kind::infrastructure;
}

/// The next step after `tries` attempts. `pause_of(n)` returns the n-th pause, counted from 1.
template <class F>
[[nodiscard]] constexpr retry_action decided(const retry_policy& p, std::uint32_t tries,
                                             fault_kind kind, steady_time now, duration hint,
                                             F pause_of) noexcept
{
    if (!is_worth_a_retry(kind) || tries >= (p.max_attempts == 0 ? 1 : p.max_attempts))
        return give_up{kind};
    if (tries <= p.immediate && hint <= duration{}) return retry_now{};
    return wait_until{now + pause_of(tries > p.immediate ? tries - p.immediate : 1)};
}

}  // namespace detail

/// The next step after `tries` attempts, the last with the result `kind`. Returns `give_up` after a
/// success, after a final fault, and after the maximum of attempts. `random` is a random number in
/// [0, 1) for the jitter. A positive `hint`, the server's retry-after, is a lower bound of the
/// pause (see `pause`) and replaces an immediate retry by a wait. Constant time.
[[nodiscard]] constexpr retry_action decide(const retry_policy& p, std::uint32_t tries,
                                            fault_kind kind, double random, steady_time now,
                                            duration hint = {}) noexcept
{
    return detail::decided(p, tries, kind, now, hint,
                           [&](std::uint32_t n) { return pause(p.pauses, n, random, hint); });
}

/// The same with the `previous` pause, which decorrelated jitter uses.
[[nodiscard]] constexpr retry_action decide(const retry_policy& p, std::uint32_t tries,
                                            fault_kind kind, duration previous, double random,
                                            steady_time now, duration hint = {}) noexcept
{
    return detail::decided(p, tries, kind, now, hint, [&](std::uint32_t n) {
        return pause(p.pauses, n, previous, random, hint);
    });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_DECIDE_HPP
