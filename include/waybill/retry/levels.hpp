// SPDX-License-Identifier: MIT
//
// levels: a few tries at once, then again after a pause, as long as a message can wait.
//
// What fails by chance is over at the next try; what is down comes back in minutes. So a message is
// tried some times within one delivery, then put back with a pause, then tried some times again:
//
//     constexpr waybill::retry_levels levels{.immediate = 5, .delayed = 3,
//                                            .pauses = {.base = 10s, .cap = 1h}};
//     static_assert(attempts_in_all(levels) == 24);
//     waybill::match(waybill::decide(levels, tries, f.how, dice(), now),
//         [&](act::retry_now)  { handle_again(); },             // the same delivery
//         [&](act::wait w)     { put_back(message, w.until); },   // the next one
//         [&](act::give_up g)  { park(message, g.why); });
//
// A pure function: `tries` is all that is remembered, over all deliveries. It must outlive the
// process to count (a property of the message that is put back, or a row of its own).

#ifndef WAYBILL_RETRY_LEVELS_HPP
#define WAYBILL_RETRY_LEVELS_HPP

#include <concepts>
#include <cstdint>
#include <optional>

#include <waybill/core/check.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/delivery.hpp>

namespace waybill::inline v0_2 {

/// How many retries at once in each round, how many rounds after the first one, and what is
/// between.
struct retry_levels {
    /// For `delayed`: the levels set no limit. Another limit must end the tries, such as the
    /// broker's maximum of deliveries.
    static constexpr std::uint32_t unlimited = ~std::uint32_t{0};

    std::uint32_t immediate = 5;  ///< Retries within a delivery, beside its first try.
    std::uint32_t delayed = 3;    ///< Rounds after the first one, each after a pause.
    backoff pauses{};             ///< Before the n-th delayed round.

    friend bool operator==(const retry_levels&, const retry_levels&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const retry_levels& l) noexcept
{
    return check(l.pauses);
}

/// Tries in all, the first one counted; `highest_size` if the rounds are unlimited.
[[nodiscard]] constexpr std::uint64_t attempts_in_all(const retry_levels& l) noexcept
{
    if (l.delayed == retry_levels::unlimited) return highest_size;
    return attempts_in_all(l.immediate, l.delayed);
}

/// In which round the next try is after `tries` tries: 0 is the first delivery, 1 the first delayed
/// round.
[[nodiscard]] constexpr std::uint64_t round_after(const retry_levels& l,
                                                  std::uint64_t tries) noexcept
{
    return tries / saturating_add(l.immediate, 1);
}

/// What to do after `tries` tries, the last of which ended in `how`: `retry_now` within the
/// delivery, `wait` to be put back until then, or give up. A server's hint puts the message back at
/// once, and what is left of the round is tried after it. Gives up on what decide() gives up on.
template <std::same_as<retry_levels> Levels>  // so that plain braces still mean a retry_policy
[[nodiscard]] constexpr retry_action decide(const Levels& l, std::uint64_t tries, fault_class how,
                                            double draw, steady_time now,
                                            duration hint = {}) noexcept
{
    if (!is_worth_a_retry(how) || tries >= attempts_in_all(l)) return act::give_up{how};
    const bool round_is_over = tries != 0 && tries % saturating_add(l.immediate, 1) == 0;
    if (!round_is_over && hint <= duration{}) return act::retry_now{};
    const std::uint64_t made = round_after(l, tries);
    const std::uint64_t n = lesser(round_is_over ? made : made + 1, ~std::uint32_t{0});
    return act::wait{now + pause(l.pauses, static_cast<std::uint32_t>(n), draw, hint)};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_LEVELS_HPP
