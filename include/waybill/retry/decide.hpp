// SPDX-License-Identifier: MIT
//
// decide: whether to try again, when, or not at all.
//
//     waybill::match(waybill::decide(policy, tries, f.how, dice(), now),
//         [&](act::retry_now)  { again(); },
//         [&](act::wait w)     { later(w.until); },
//         [&](act::give_up g)  { park(message, g.why); });
//
// A pure function: nothing is remembered but the number of tries, which is the caller's.

#ifndef WAYBILL_RETRY_DECIDE_HPP
#define WAYBILL_RETRY_DECIDE_HPP

#include <cstdint>
#include <optional>
#include <variant>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Try again at once.
struct retry_now {
    friend bool operator==(const retry_now&, const retry_now&) = default;
};

/// Do not try again.
struct give_up {
    fault_class why = fault_class::none;
    friend bool operator==(const give_up&, const give_up&) = default;
};

}  // namespace act

/// How often in all, how many of the retries without a pause, and how the others are spaced.
struct retry_policy {
    /// Tries in all, the first one counted; 0 reads as 1. What others call "max retries" does not
    /// count it: tries_for_retries() turns that into this.
    std::uint32_t most = 5;
    std::uint32_t immediate = 0;  ///< So many retries come at once, before the first pause.
    backoff pauses{};

    friend bool operator==(const retry_policy&, const retry_policy&) = default;
};

/// So many tries make a first one and `retries` more.
[[nodiscard]] constexpr std::uint32_t tries_for_retries(std::uint32_t retries) noexcept
{
    return retries == ~std::uint32_t{0} ? retries : retries + 1;
}

[[nodiscard]] constexpr std::optional<config_error> check(const retry_policy& p) noexcept
{
    if (p.most == 0) return config_error{"retry.most", 0, "must be at least", 1};
    if (p.immediate >= p.most) {
        return config_error{"retry.immediate", p.immediate, "must be less than most", p.most};
    }
    return check(p.pauses);
}

using retry_action = std::variant<act::retry_now, act::wait, act::give_up>;

/// Whether a fault is one that another try may end. All others are final.
[[nodiscard]] constexpr bool is_worth_a_retry(fault_class how) noexcept
{
    return how == fault_class::transient || how == fault_class::infrastructure;
}

namespace detail {

/// `pausing(n)` says how long the n-th pause is.
template <class F>
[[nodiscard]] constexpr retry_action decided(const retry_policy& p, std::uint32_t tries,
                                             fault_class how, steady_time now, duration hint,
                                             F pausing) noexcept
{
    if (!is_worth_a_retry(how) || tries >= (p.most == 0 ? 1 : p.most)) return act::give_up{how};
    if (tries <= p.immediate && hint <= duration{}) return act::retry_now{};
    return act::wait{now + pausing(tries > p.immediate ? tries - p.immediate : 1)};
}

}  // namespace detail

/// What to do after `tries` tries, the last of which ended in `how`. Gives up on success (there is
/// nothing to retry), on what no retry can change, and when the tries are used up.
/// `hint` is a server's own "come back after"; `draw` in [0, 1) spreads the pauses.
[[nodiscard]] constexpr retry_action decide(const retry_policy& p, std::uint32_t tries,
                                            fault_class how, double draw, steady_time now,
                                            duration hint = {}) noexcept
{
    return detail::decided(p, tries, how, now, hint, [&](std::uint32_t n) {
        return pause(p.pauses, n, draw, hint);
    });
}

/// The same for who knows the pause before, which decorrelated jitter goes by.
[[nodiscard]] constexpr retry_action decide(const retry_policy& p, std::uint32_t tries,
                                            fault_class how, duration previous, double draw,
                                            steady_time now, duration hint = {}) noexcept
{
    return detail::decided(p, tries, how, now, hint, [&](std::uint32_t n) {
        return pause(p.pauses, n, previous, draw, hint);
    });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_DECIDE_HPP
