// SPDX-License-Identifier: MIT
//
// compensated_sum: floating numbers added up, and what rounding has cost.
//
// 1e16 and a hundred times 1 and -1e16 are 100. Added one to the other in 53 bits they are 0, since
// each 1 is less than half of the last digit. Here what is lost in an addition is kept beside the
// sum (Knuth's two-sum, which needs no order of magnitudes), and the two together are as good as a
// sum in twice the digits. So windows of these can be combined in any order.
//
// It takes the arithmetic that IEEE 754 asks for: with -ffast-math a compiler finds that nothing is
// ever lost.

#ifndef WAYBILL_WINDOW_COMPENSATED_SUM_HPP
#define WAYBILL_WINDOW_COMPENSATED_SUM_HPP

#include <cstdint>

#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2 {

/// A sum and its rest.
class compensated_sum {
public:
    constexpr compensated_sum() noexcept = default;

    /// A number, so many times. A product of more than 53 bits is exact, too, unless it or its rest
    /// is near an end of what there are numbers for.
    constexpr compensated_sum(double x, std::uint32_t times) noexcept : sum_(x * times)
    {
        // 16 bits times the upper or lower half of 53 are exact; and so is each difference.
        if (times == 1 || x > largest || x < -largest) return;
        const double wide = x * splitter;
        const double upper = wide - (wide - x);
        const double lower = x - upper;
        const auto most = static_cast<double>(times & 0xFFFF'0000U);
        const auto least = static_cast<double>(times & 0xFFFFU);
        rest_ = ((upper * most - sum_) + upper * least + lower * most) + lower * least;
    }

    [[nodiscard]] friend constexpr compensated_sum operator+(const compensated_sum& a,
                                                             const compensated_sum& b) noexcept
    {
        compensated_sum s;
        s.sum_ = a.sum_ + b.sum_;
        const double from_b = s.sum_ - a.sum_;
        const double lost = (a.sum_ - (s.sum_ - from_b)) + (b.sum_ - from_b);
        s.rest_ = a.rest_ + b.rest_ + lost;
        return s;
    }

    /// The floating number next to it. An infinity where there is none, and then the rest, which is
    /// no number, does not count.
    [[nodiscard]] constexpr double approximately() const noexcept
    {
        return is_finite(sum_) ? sum_ + rest_ : sum_;
    }

    friend constexpr bool operator==(const compensated_sum& a, const compensated_sum& b) noexcept
    {
        return a.sum_ == b.sum_ && (a.rest_ == b.rest_ || !is_finite(a.sum_));
    }

private:
    static constexpr double splitter = 134'217'729;  // 2^27 + 1
    static constexpr double largest = 0x1p990;       // times which there is still a number

    double sum_ = 0;
    double rest_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_COMPENSATED_SUM_HPP
