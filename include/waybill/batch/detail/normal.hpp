// SPDX-License-Identifier: MIT
//
// normal: functions of the normal distribution for a calibration. Of the standard maths functions,
// they use only the square root, so results are the same on every platform. All are constexpr.

#ifndef WAYBILL_BATCH_DETAIL_NORMAL_HPP
#define WAYBILL_BATCH_DETAIL_NORMAL_HPP

#include <bit>
#include <cstdint>
#include <type_traits>

// <cmath> of libstdc++ has 13,000 tokens of special functions. It is needed for std::sqrt alone.
#if !defined(__GNUC__)
#include <cmath>
#endif

namespace waybill::inline v0_2::detail {

inline constexpr std::uint64_t bits_of_one = std::uint64_t{1023} << 52;  // exponent of 1.0
inline constexpr double sqrt_two_pi = 2.50662827;

/// The square root of x >= 0, at run time.
[[nodiscard]] inline double run_time_sqrt(double x) noexcept
{
#if defined(__GNUC__)
    return __builtin_sqrt(x);
#else
    return std::sqrt(x);
#endif
}

/// The square root of x. 0 if x is at most 1e-300 or not a number, 1e150 if x is at least 1e300.
/// Uses Newton's method at compile time.
[[nodiscard]] constexpr double root(double x) noexcept
{
    // One branch for all unusual values: two made the batch sender 3 % slower with g++ 12.
    if (!(x > 1e-300 && x < 1e300)) return x >= 1e300 ? 1e150 : 0;
    if (!std::is_constant_evaluated()) return run_time_sqrt(x);
    // The first guess has half of the exponent.
    const auto bits = (std::bit_cast<std::uint64_t>(x) >> 1) + (bits_of_one >> 1);
    double r = std::bit_cast<double>(bits);
    for (int i = 0; i < 4; ++i) r = (r + x / r) / 2;
    return r;
}

/// The natural logarithm of x in (0, 1], to three digits. -690 if x is at most 1e-300.
[[nodiscard]] constexpr double log_of(double x) noexcept
{
    if (!(x > 1e-300)) return -690;
    constexpr double sqrt_2 = 1.41421356;
    constexpr double ln_2 = 0.69314718;
    const auto bits = std::bit_cast<std::uint64_t>(x);
    double exponent = static_cast<double>(bits >> 52) - 1023;  // stored with a bias of 1023
    double mantissa =
        std::bit_cast<double>((bits & ((std::uint64_t{1} << 52) - 1)) | bits_of_one);  // in [1, 2)
    if (mantissa > sqrt_2) {
        mantissa /= 2;
        exponent += 1;
    }
    const double y = (mantissa - 1) / (mantissa + 1);
    return exponent * ln_2 + 2 * y * (1 + y * y / 3);
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
    constexpr double pi = 3.14159265;
    constexpr double two_pi = 6.28318531;
    const double a = x < 0 ? -x : x;
    const double hazard_of_a = ((pi - 1) * a + root(a * a + two_pi)) / pi;
    if (x >= 0) return hazard_of_a;
    const double density = decay(a * a / 2) / sqrt_two_pi;
    return density / (1 - density / hazard_of_a);
}

/// The best distance d between the mean size of a batch and the limit, in standard deviations.
/// `part` is one standard deviation divided by the limit. A distance d leaves the share d * part of
/// each request unused. A request is refused with the probability of the normal distribution beyond
/// d. The sum of both is lowest where its derivative is 0. There the density of the normal
/// distribution at d, exp(-d * d / 2) / sqrt(2 pi), equals `part`. For `part` outside (0, 1 /
/// sqrt(2 pi)), the result is 0.
[[nodiscard]] constexpr double best_distance(double part) noexcept
{
    const double share_of_peak = part * sqrt_two_pi;  // exp(-d * d / 2)
    return share_of_peak > 0 && share_of_peak < 1 ? root(-2 * log_of(share_of_peak)) : 0;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_NORMAL_HPP
