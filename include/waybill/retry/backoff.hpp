// SPDX-License-Identifier: MIT
//
// backoff: the pause before a retry.
//
//     waybill::duration d = waybill::pause({.base = 100ms, .cap = 30s}, retry, random());
//     waybill::duration e = waybill::pause({.base = 10s, .factor = 1, .step = 10s}, 2, random());
//
// The pause before retry n is base * factor^(n-1) + step * (n-1), and at most `cap`. It grows
// exponentially. If the factor is 1 and the step is positive, it grows linearly. Jitter spreads the
// retries of callers that failed at the same time. The caller supplies the random number, so a
// pause is a pure function of its arguments.
//
// Ranges: full jitter [0, pause), equal jitter [pause/2, pause), decorrelated jitter
// [base, 3 * previous pause). Source: AWS, "Exponential Backoff and Jitter" (Marc Brooker, 2015).
// `around`: [0.8 * pause, 1.2 * pause), as in the clients of Kafka and gRPC. After a server's hint
// ("retry after"): [hint, hint + pause), so that callers with the same hint do not meet again.
//
// Cost: constant time, at most 32 steps for a power; no allocation.

#ifndef WAYBILL_RETRY_BACKOFF_HPP
#define WAYBILL_RETRY_BACKOFF_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/detail/growth.hpp>

namespace waybill::inline v0_2 {

/// The growth of pauses. With `factor` 1 and no step all pauses are equal.
struct backoff {
    /// The random part of a pause.
    enum class jitter : std::uint8_t {
        none,   ///< The pause is fixed.
        equal,  ///< Half of the pause is fixed, half is random.
        full,   ///< The whole pause is random.
        /// Random from the base to three times the previous pause; factor and step are not used.
        decorrelated,
        /// Random from 80 % to 120 % of the pause, as in the clients of Kafka and gRPC. The range
        /// is moved down if its upper end exceeds the cap.
        around,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(jitter) noexcept
    {
        return "none, equal, full, decorrelated, around";
    }

    duration base = duration::milliseconds(100);  ///< The pause before the first retry.
    duration cap = duration::seconds(30);         ///< Maximum of a pause without a hint.
    double factor = 2.0;                          ///< Growth with each retry; at least 1.
    jitter spread = jitter::full;
    duration step{};  ///< Added with each retry; at least 0.
    /// Maximum of a server's hint; zero to ignore hints.
    duration highest_hint = duration::seconds(3'600);

    friend bool operator==(const backoff&, const backoff&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const backoff& b) noexcept
{
    if (b.base <= duration{}) {
        return config_error{"backoff.base", detail::magnitude(b.base),
                            "nanoseconds must be at least", 1, b.base < duration{}};
    }
    if (b.cap < b.base) {
        return config_error{"backoff.cap", detail::magnitude(b.cap),
                            "nanoseconds must be at least the base", detail::magnitude(b.base),
                            b.cap < duration{}};
    }
    if (!(b.factor >= 1.0)) {
        return detail::ratio_error("backoff.factor", b.factor,
                                   "must be a number of thousandths, and at least", 1'000);
    }
    if (b.step < duration{}) {
        return config_error{.field = "backoff.step",
                            .value = detail::magnitude(b.step),
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    if (b.highest_hint < duration{}) {
        return config_error{.field = "backoff.highest_hint",
                            .value = detail::magnitude(b.highest_hint),
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    return {};
}

/// The pause before retry `n`, counted from 1. Only decorrelated jitter uses `previous`, the pause
/// before retry n-1; less than the base counts as the base. `random` is a random number in [0, 1);
/// other values are clamped, and NaN counts as 0. Without a hint the pause is at most the cap. The
/// server's `hint`, at most `highest_hint`, is a lower bound of the pause; with a jitter, a random
/// part of the pause without a hint is added to it. The pause is never negative, also for invalid
/// options. Constant time.
[[nodiscard]] constexpr duration pause(const backoff& b, std::uint32_t n, duration previous,
                                       double random, duration hint = {}) noexcept
{
    const duration cap = detail::greater(b.cap, duration{});
    double share = 0.0;  // also for NaN
    if (random >= 0.0) share = random < 1.0 ? random : 1.0;
    duration max_pause = detail::lesser(detail::uncapped(b.base, b.factor, b.step, n), cap);
    duration result = max_pause;
    switch (b.spread) {
        case backoff::jitter::none: break;
        case backoff::jitter::equal: result = max_pause * (0.5 + share / 2); break;
        case backoff::jitter::full: result = max_pause * share; break;
        case backoff::jitter::around: {
            // The pause is 80 to 120 % of the middle. Without the factor 1 / 1.2, half of the
            // longest pauses would equal the cap.
            constexpr double lowest_share = 0.8;
            constexpr double width = 0.4;
            constexpr double highest_share = 1.2;
            const duration middle = detail::lesser(max_pause, cap * (1 / highest_share));
            result = middle * (lowest_share + share * width);
            max_pause = detail::lesser(middle * highest_share, cap);
            break;
        }
        case backoff::jitter::decorrelated: {
            const duration base = detail::lesser(detail::greater(b.base, duration{}), cap);
            const duration range_end = detail::times(detail::greater(previous, base), 3);
            result = base + (range_end - base) * share;
            max_pause = detail::lesser(range_end, cap);
            break;
        }
    }
    result = detail::lesser(result, max_pause);  // products may round up
    duration hinted = detail::lesser(hint, b.highest_hint);
    if (hinted > duration{} && b.spread != backoff::jitter::none) hinted += max_pause * share;
    return detail::greater(result, hinted);
}

/// The same if the previous pause is unknown. Decorrelated jitter then assumes a previous pause
/// from random numbers of 0.5, so its range grows by about half with each retry.
[[nodiscard]] constexpr duration pause(const backoff& b, std::uint32_t n, double random,
                                       duration hint = {}) noexcept
{
    if (b.spread != backoff::jitter::decorrelated) return pause(b, n, duration{}, random, hint);
    const duration previous = detail::lesser(detail::assumed_previous_pause(b.base, n), b.cap);
    return pause(b, n, previous, random, hint);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_BACKOFF_HPP
