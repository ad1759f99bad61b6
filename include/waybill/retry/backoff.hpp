// SPDX-License-Identifier: MIT
//
// backoff: how long to pause before trying again.
//
// The pause before retry n grows as base * factor^(n-1) up to a cap. Jitter spreads callers who
// failed together; the dice are the caller's, so a pause is a pure function of its arguments:
//
//     waybill::duration d = waybill::pause({.base = 100ms, .cap = 30s}, retry, draw);
//
// Formulas: full jitter draws from [0, pause), equal jitter from [pause/2, pause), as in AWS's
// "Exponential Backoff and Jitter" (Marc Brooker, 2015).

#ifndef WAYBILL_RETRY_BACKOFF_HPP
#define WAYBILL_RETRY_BACKOFF_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_1 {

/// How much of a pause is drawn.
enum class jitter : std::uint8_t {
    none,   ///< All of it is certain.
    equal,  ///< Half is certain, half is drawn.
    full,   ///< All of it is drawn.
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
    }
    return "?";
}

/// How pauses grow. `factor` 1 keeps them fixed.
struct backoff {
    duration base = duration::milliseconds(100);  ///< Before the first retry.
    duration cap = duration::seconds(30);         ///< No pause is longer.
    double factor = 2.0;
    jitter spread = jitter::full;

    friend bool operator==(const backoff&, const backoff&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const backoff& b) noexcept
{
    const auto size = [](duration d) {
        const auto n = static_cast<std::uint64_t>(d.count());
        return d < duration{} ? 0 - n : n;
    };
    if (b.base <= duration{}) {
        return config_error{"backoff.base", size(b.base), "nanoseconds must be at least", 1,
                            b.base < duration{}};
    }
    if (b.cap < b.base) {
        return config_error{"backoff.cap", size(b.cap), "nanoseconds must be at least the base",
                            size(b.base), b.cap < duration{}};
    }
    if (!(b.factor >= 1.0)) {
        return config_error{"backoff.factor",
                            static_cast<std::uint64_t>(b.factor > 0 ? b.factor : 0),
                            "must be at least", 1};
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

}  // namespace detail

/// The pause before retry `n`, the first being 1; `draw` in [0, 1), anything else is clamped.
/// A server's hint, if there is one, is a lower bound, and is itself bound by the cap.
/// Never negative, never over the cap, whatever the arguments are.
[[nodiscard]] constexpr duration pause(const backoff& b, std::uint32_t n, double draw,
                                       duration hint = {}) noexcept
{
    const duration cap = greater(b.cap, duration{});
    duration widest = greater(b.base, duration{});
    if (n > 1 && b.factor > 1.0) widest = widest * detail::growth(b.factor, n - 1);
    widest = lesser(widest, cap);
    const double share = draw >= 0.0 ? (draw < 1.0 ? draw : 1.0) : 0.0;
    duration drawn = widest;
    if (b.spread == jitter::full) drawn = widest * share;
    if (b.spread == jitter::equal) drawn = widest * (0.5 + share / 2);
    return greater(lesser(drawn, widest), lesser(hint, cap));  // a product may round up
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_RETRY_BACKOFF_HPP
