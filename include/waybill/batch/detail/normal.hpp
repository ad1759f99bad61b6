// SPDX-License-Identifier: MIT
//
// normal: functions of the normal distribution for a calibration. They use plain arithmetic only,
// so results are the same on every platform. All are constexpr.

#ifndef WAYBILL_BATCH_DETAIL_NORMAL_HPP
#define WAYBILL_BATCH_DETAIL_NORMAL_HPP

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace waybill::inline v0_2::detail {

/// The square root of x. 0 if x is at most 1e-300 or not a number, 1e150 if x is at least 1e300.
/// Uses Newton's method at compile time, std::sqrt at run time.
[[nodiscard]] constexpr double root(double x) noexcept
{
    if (!(x > 1e-300) || !(x < 1e300)) return x < 1e300 ? 0 : x > 0 ? 1e150 : 0;
    if (!std::is_constant_evaluated()) return std::sqrt(x);
    const auto half = (std::bit_cast<std::uint64_t>(x) >> 1) + (std::uint64_t{1023} << 51);
    double r = std::bit_cast<double>(half);
    for (int i = 0; i < 4; ++i) r = (r + x / r) / 2;
    return r;
}

/// The natural logarithm of x in (0, 1], to three digits. -690 if x is at most 1e-300.
[[nodiscard]] constexpr double log_of(double x) noexcept
{
    if (!(x > 1e-300)) return -690;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    double whole = static_cast<double>(bits >> 52) - 1023;
    double part = std::bit_cast<double>((bits & ((std::uint64_t{1} << 52) - 1)) |
                                        (std::uint64_t{1023} << 52));  // in [1, 2)
    if (part > 1.41421356) {
        part /= 2;
        whole += 1;
    }
    const double y = (part - 1) / (part + 1);
    return whole * 0.69314718 + 2 * y * (1 + y * y / 3);
}

/// exp(-x) for x >= 0, to a few digits.
[[nodiscard]] constexpr double decay(double x) noexcept
{
    double base = 1 + x / 1024;
    for (int i = 0; i < 10; ++i) base *= base;
    return 1 / base;
}

/// Density divided by upper tail of the standard normal distribution at x. Source: Boyd 1959, with
/// an error of at most 1.2 %.
[[nodiscard]] constexpr double hazard(double x) noexcept
{
    const double a = x < 0 ? -x : x;
    const double above = (2.14159265 * a + root(a * a + 6.28318531)) / 3.14159265;
    if (x >= 0) return above;
    const double density = decay(a * a / 2) / 2.50662827;
    return density / (1 - density / above);
}

/// The distance from a limit, in standard deviations, at which most bytes pass per send. `part` is
/// one standard deviation divided by the limit. Bytes left out cost their share of a send, a
/// refusal costs a whole send. The optimum is the distance at which the density of refusals equals
/// `part`. 0 if `part` is not in (0, 1 / sqrt(2 pi)).
[[nodiscard]] constexpr double best_distance(double part) noexcept
{
    const double density = part * 2.50662827;
    return density > 0 && density < 1 ? root(-2 * log_of(density)) : 0;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_NORMAL_HPP
