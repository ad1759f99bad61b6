// SPDX-License-Identifier: MIT
//
// compensated_sum: a sum of floating-point numbers that also records the rounding error.
//
// Example: 1e16, then 1 a hundred times, then -1e16. The exact sum is 100. Added as doubles (53
// bits) it is 0, since each 1 is less than half of the last digit. This class stores the error of
// each addition next to the sum. It uses Knuth's two-sum, which needs no order of magnitudes. The
// result is about as precise as a sum with twice the digits, so the sums of windows can be combined
// in any order.
//
// Requires IEEE 754 arithmetic. With -ffast-math a compiler removes the error terms.

#ifndef WAYBILL_WINDOW_DETAIL_COMPENSATED_SUM_HPP
#define WAYBILL_WINDOW_DETAIL_COMPENSATED_SUM_HPP

#include <cstdint>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::detail {

/// A sum and its accumulated rounding error. The exact sum is about the sum of both.
class compensated_sum {
public:
    constexpr compensated_sum() noexcept = default;

    /// The product x * times. It is exact, also if it has more than 53 bits. Exception: the product
    /// or its rounding error is close to overflow or underflow.
    constexpr compensated_sum(double x, std::uint32_t times) noexcept : sum_(x * times)
    {
        // A half of `x` has at most 27 bits, and a half of `times` 16. So each of the four products
        // is exact, and so is each difference.
        if (times == 1 || x > largest || x < -largest) return;
        const double scaled = x * splitter;
        const double upper = scaled - (scaled - x);
        const double lower = x - upper;
        const auto high_times = static_cast<double>(times & 0xFFFF'0000U);
        const auto low_times = static_cast<double>(times & 0xFFFFU);
        error_ = ((upper * high_times - sum_) + upper * low_times + lower * high_times) +
                 lower * low_times;
    }

    /// The sum of both. Constant time; the error of the addition is kept. Inlined for the reason
    /// named at `measures::combine`.
    [[nodiscard]] WAYBILL_ALWAYS_INLINE friend constexpr compensated_sum operator+(
        const compensated_sum& a, const compensated_sum& b) noexcept
    {
        compensated_sum s;
        s.sum_ = a.sum_ + b.sum_;
        const double from_b = s.sum_ - a.sum_;
        const double rounding_error = (a.sum_ - (s.sum_ - from_b)) + (b.sum_ - from_b);
        s.error_ = a.error_ + b.error_ + rounding_error;
        return s;
    }

    /// The sum rounded to a double. If the sum has overflowed, the result is an infinity, and the
    /// error, which is NaN then, is ignored.
    [[nodiscard]] constexpr double approximately() const noexcept
    {
        return is_finite(sum_) ? sum_ + error_ : sum_;
    }

    friend constexpr bool operator==(const compensated_sum& a, const compensated_sum& b) noexcept
    {
        return a.sum_ == b.sum_ && (a.error_ == b.error_ || !is_finite(a.sum_));
    }

private:
    static constexpr double splitter = 134'217'729;  // 2^27 + 1, splits 53 bits into two halves
    static constexpr double largest = 0x1p990;       // its product with any `times` is finite

    double sum_ = 0;
    double error_ = 0;  // the exact sum minus sum_, rounded
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_COMPENSATED_SUM_HPP
