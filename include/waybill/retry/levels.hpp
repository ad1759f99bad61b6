// SPDX-License-Identifier: MIT
//
// levels: immediate retries within a delivery, then delayed retries with further deliveries.
//
//     constexpr waybill::retry_levels levels{.immediate = 5, .delayed = 3,
//                                            .pauses = {.base = 10s, .cap = 1h}};
//     static_assert(levels.max_attempts() == 24);
//     waybill::match(waybill::decide(levels, tries, f.kind, dice(), now),
//         [&](retry_now)    { handle_again(); },             // the same delivery
//         [&](wait_until w) { put_back(message, w.time); },  // the next one
//         [&](give_up g)    { write_dead_letter(message, g.reason); });
//
// Immediate retries are for random faults, delayed retries for outages of minutes. A round is a
// first attempt and its immediate retries. Each round after the first one starts after a pause.
//
// A pure function. The caller stores `tries`, the number of attempts over all deliveries. It must
// survive the process, for example as a property of the message, or in a row of a table.

#ifndef WAYBILL_RETRY_LEVELS_HPP
#define WAYBILL_RETRY_LEVELS_HPP

#include <concepts>
#include <cstdint>
#include <optional>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>

namespace waybill::inline v0_2 {

/// The number of immediate retries in each round, the number of delayed rounds, and the pauses
/// before them.
struct retry_levels {
    /// The value of `delayed` for an unlimited number of rounds. Another limit must end the
    /// attempts, such as the broker's maximum of deliveries.
    static constexpr std::uint32_t unlimited = ~std::uint32_t{0};

    std::uint32_t immediate = 5;  ///< Retries in a round, after its first attempt.
    std::uint32_t delayed = 3;    ///< Rounds after the first one, each after a pause.
    backoff pauses{};             ///< The n-th pause precedes the n-th delayed round.

    /// The maximum number of attempts, the first included: (immediate + 1) * (delayed + 1), as in
    /// NServiceBus. 2^64 - 1 if the number of rounds is unlimited. Saturates.
    [[nodiscard]] constexpr std::uint64_t max_attempts() const noexcept
    {
        if (delayed == unlimited) return detail::highest_size;
        return detail::saturating_mul(std::uint64_t{immediate} + 1, std::uint64_t{delayed} + 1);
    }

    friend bool operator==(const retry_levels&, const retry_levels&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const retry_levels& l) noexcept
{
    if (l.immediate == retry_levels::unlimited) {
        return config_error{"levels.immediate", l.immediate,
                            "must be less than unlimited, or no round ever ends",
                            retry_levels::unlimited};
    }
    return validate(l.pauses);
}

namespace detail {

/// The round of the attempt after `tries` attempts: 0 is the first delivery, 1 the first delayed
/// round.
[[nodiscard]] constexpr std::uint64_t round_after(const retry_levels& l,
                                                  std::uint64_t tries) noexcept
{
    return tries / detail::saturating_add(l.immediate, 1);
}

}  // namespace detail

/// The next step after `tries` attempts, the last with the result `kind`. `retry_now` means a retry
/// within the delivery, `wait_until` a redelivery at that time. Returns `give_up` after the maximum
/// of attempts and for the same results as decide() with a retry_policy. `random` is a random
/// number in [0, 1). A positive `hint`, the server's retry-after, ends the delivery early: the rest
/// of the round follows after the pause. The hint is a lower bound of the pause (see `pause`).
template <std::same_as<retry_levels> Levels>  // a braced argument means a retry_policy
[[nodiscard]] constexpr retry_action decide(const Levels& l, std::uint64_t tries, fault_kind kind,
                                            double random, steady_time now,
                                            duration hint = {}) noexcept
{
    if (!detail::is_worth_a_retry(kind) || tries >= l.max_attempts()) return give_up{kind};
    const bool round_is_over = tries != 0 && tries % detail::saturating_add(l.immediate, 1) == 0;
    if (!round_is_over && hint <= duration{}) return retry_now{};
    const std::uint64_t round = detail::round_after(l, tries);
    const std::uint64_t pause_number =
        detail::lesser(round_is_over ? round : round + 1, ~std::uint32_t{0});
    return wait_until{now +
                      pause(l.pauses, static_cast<std::uint32_t>(pause_number), random, hint)};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_LEVELS_HPP
