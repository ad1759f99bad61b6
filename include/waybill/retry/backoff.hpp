// SPDX-License-Identifier: MIT
//
// backoff: how long to pause before trying again.
//
// The pause before retry n grows as base * factor^(n-1) + step * (n-1) up to a cap: exponentially,
// or linearly where the factor is 1 and there is a step. Jitter spreads callers who failed
// together; the dice are the caller's, so a pause is a pure function of its arguments:
//
//     waybill::duration d = waybill::pause({.base = 100ms, .cap = 30s}, retry, draw);
//     waybill::duration e = waybill::pause({.base = 10s, .factor = 1, .step = 10s}, 2, draw);
//
// Formulas: full jitter draws from [0, pause), equal jitter from [pause/2, pause), decorrelated
// jitter from [base, 3 * the pause before), as in AWS's "Exponential Backoff and Jitter" (Marc
// Brooker, 2015).

#ifndef WAYBILL_RETRY_BACKOFF_HPP
#define WAYBILL_RETRY_BACKOFF_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

/// How much of a pause is drawn.
enum class jitter : std::uint8_t {
    none,   ///< All of it is certain.
    equal,  ///< Half is certain, half is drawn.
    full,   ///< All of it is drawn.
    /// Drawn from the base to three times the pause before; factor and step are not used.
    decorrelated,
    /// A fifth less to a fifth more, as Kafka's and gRPC's clients have it; at most the cap.
    around,
};

[[nodiscard]] constexpr std::string_view name(jitter j) noexcept
{
    switch (j) {
        case jitter::none:
            return "none";
        case jitter::equal:
            return "equal";
        case jitter::full:
            return "full";
        case jitter::decorrelated:
            return "decorrelated";
        case jitter::around:
            return "around";
    }
    return "?";
}

/// How pauses grow. `factor` 1 and no step keep them fixed.
struct backoff {
    duration base = duration::milliseconds(100);  ///< Before the first retry.
    duration cap = duration::seconds(30);         ///< No pause of our own is longer.
    double factor = 2.0;
    jitter spread = jitter::full;
    duration step{};          ///< Each retry pauses so much longer than the one before.
    duration highest_hint{};  ///< A server's hint counts up to the cap, or this if that is more.

    friend bool operator==(const backoff&, const backoff&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const backoff& b) noexcept
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
        return detail::wrong_share("backoff.factor", b.factor,
                                   "must be a number of thousandths, and at least", 1'000);
    }
    if (b.step < duration{}) {
        return config_error{"backoff.step", detail::magnitude(b.step),
                            "nanoseconds must be at least", 0, true};
    }
    if (b.highest_hint < duration{}) {
        return config_error{"backoff.highest_hint", detail::magnitude(b.highest_hint),
                            "nanoseconds must be at least", 0, true};
    }
    return {};
}

namespace detail {

/// factor to the power of n, up to what is longer than any duration. Takes 32 steps at most.
[[nodiscard]] constexpr double growth(double factor, std::uint32_t n) noexcept
{
    constexpr double enough = 1e19;
    double grown = 1.0;
    for (double square = factor; n != 0; n /= 2, square *= square) {
        if (!(square < enough)) return enough;
        if (n % 2 != 0) grown *= square;
        if (!(grown < enough)) return enough;
    }
    return grown;
}

/// Before the cap: base * factor^(n-1) + step * (n-1).
[[nodiscard]] constexpr duration uncapped(const backoff& b, std::uint32_t n) noexcept
{
    const std::uint32_t before = n > 1 ? n - 1 : 0;
    duration grown = greater(b.base, duration{});
    if (before != 0 && b.factor > 1.0) grown = grown * growth(b.factor, before);
    return grown + times(b.step, before);
}

/// The pause before retry n-1, had all draws of decorrelated jitter been in the middle: what begins
/// with the base and goes on as (base + 3 * pause) / 2 is base * (2 * 1.5^(n-1) - 1).
[[nodiscard]] constexpr duration middle_before(const backoff& b, std::uint32_t n) noexcept
{
    if (n <= 1) return b.base;
    return greater(b.base, duration{}) * (2.0 * growth(1.5, n - 1) - 1.0);
}

}  // namespace detail

/// The pause before retry `n`, the first being 1; `previous` is the pause before retry n-1, and is
/// used by decorrelated jitter only (nothing reads as the base). `draw` in [0, 1), anything else is
/// clamped. A server's hint, if there is one, is a lower bound, and is itself bound by the cap or
/// `highest_hint`, whichever is more. Without one it is never over the cap; it is never negative,
/// whatever the arguments are.
[[nodiscard]] constexpr duration pause(const backoff& b, std::uint32_t n, duration previous,
                                       double draw, duration hint = {}) noexcept
{
    const duration cap = greater(b.cap, duration{});
    const double share = draw >= 0.0 ? (draw < 1.0 ? draw : 1.0) : 0.0;
    duration widest = lesser(detail::uncapped(b, n), cap);
    duration drawn = widest;
    switch (b.spread) {
        case jitter::none: break;
        case jitter::equal: drawn = widest * (0.5 + share / 2); break;
        case jitter::full: drawn = widest * share; break;
        case jitter::around: {
            const duration middle = lesser(widest, cap * (1 / 1.2));  // or half would be the cap
            drawn = middle * (0.8 + share * 0.4);
            widest = cap;
            break;
        }
        case jitter::decorrelated: {
            const duration base = lesser(greater(b.base, duration{}), cap);
            const duration thrice = detail::times(greater(previous, base), 3);
            drawn = base + (thrice - base) * share;
            widest = lesser(thrice, cap);
            break;
        }
    }
    drawn = lesser(drawn, widest);  // a product may round up
    return greater(drawn, lesser(hint, greater(cap, b.highest_hint)));
}

/// The same where the pause before is not known. Decorrelated jitter takes it to be what draws in
/// the middle would have made it, so its range grows by half with each retry.
[[nodiscard]] constexpr duration pause(const backoff& b, std::uint32_t n, double draw,
                                       duration hint = {}) noexcept
{
    if (b.spread != jitter::decorrelated) return pause(b, n, duration{}, draw, hint);
    return pause(b, n, lesser(detail::middle_before(b, n), b.cap), draw, hint);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_BACKOFF_HPP
