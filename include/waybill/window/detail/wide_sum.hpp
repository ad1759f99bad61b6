// SPDX-License-Identifier: MIT
//
// wide_sum: an exact sum of integers in 128 bits.
//
// The sum of 2^32 signed (or 2^31 unsigned) 64-bit values, each with a weight below 2^32, is below
// 2^127. So the sum of up to that many samples is exact. Only a conversion to 64 bits may clamp it.

#ifndef WAYBILL_WINDOW_DETAIL_WIDE_SUM_HPP
#define WAYBILL_WINDOW_DETAIL_WIDE_SUM_HPP

#include <cstdint>

namespace waybill::inline v0_2::detail {

/// A signed 128-bit integer: high * 2^64 + low.
class wide_sum {
public:
    constexpr wide_sum() noexcept = default;

    /// The product n * times, exact.
    constexpr wide_sum(std::int64_t n, std::uint32_t times) noexcept
    {
        // A product of 64 by 32 bits, in two halves. The sign is applied at the end.
        const auto bits = static_cast<std::uint64_t>(n);
        *this = product(n < 0 ? 0 - bits : bits, times);
        if (n < 0) *this = negated();
    }
    constexpr wide_sum(std::uint64_t n, std::uint32_t times) noexcept { *this = product(n, times); }

    [[nodiscard]] friend constexpr wide_sum operator+(wide_sum a, wide_sum b) noexcept
    {
        wide_sum s;
        s.low_ = a.low_ + b.low_;
        s.high_ = a.high_ + b.high_ + (s.low_ < a.low_ ? 1U : 0U);
        return s;
    }

    /// The sum, clamped to the range of std::int64_t.
    [[nodiscard]] constexpr std::int64_t clamped() const noexcept
    {
        const auto n = static_cast<std::int64_t>(low_);
        const std::uint64_t sign = n < 0 ? ~std::uint64_t{0} : 0;
        if (high_ == sign) return n;
        return negative() ? INT64_MIN : INT64_MAX;
    }
    /// The sum, clamped to the range of std::uint64_t.
    [[nodiscard]] constexpr std::uint64_t clamped_unsigned() const noexcept
    {
        if (high_ == 0) return low_;
        return negative() ? 0 : ~std::uint64_t{0};
    }
    /// Returns true if `clamped` is exact.
    [[nodiscard]] constexpr bool fits() const noexcept
    {
        return high_ == (static_cast<std::int64_t>(low_) < 0 ? ~std::uint64_t{0} : 0);
    }

    /// The nearest double, or one next to it.
    [[nodiscard]] constexpr double approximately() const noexcept
    {
        if (!negative()) return magnitude();
        return -negated().magnitude();
    }

    friend bool operator==(const wide_sum&, const wide_sum&) = default;

private:
    [[nodiscard]] static constexpr wide_sum product(std::uint64_t n, std::uint32_t times) noexcept
    {
        const std::uint64_t lower = (n & 0xFFFF'FFFFU) * times;
        const std::uint64_t upper = (n >> 32U) * times + (lower >> 32U);
        wide_sum s;
        s.low_ = (upper << 32U) | (lower & 0xFFFF'FFFFU);
        s.high_ = upper >> 32U;
        return s;
    }
    [[nodiscard]] constexpr wide_sum negated() const noexcept
    {
        wide_sum s;
        s.low_ = 0 - low_;
        s.high_ = ~high_ + (low_ == 0 ? 1U : 0U);
        return s;
    }
    [[nodiscard]] constexpr bool negative() const noexcept { return (high_ >> 63U) != 0; }
    [[nodiscard]] constexpr double magnitude() const noexcept
    {
        constexpr double two_to_64 = 18'446'744'073'709'551'616.0;
        return static_cast<double>(high_) * two_to_64 + static_cast<double>(low_);
    }

    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_WIDE_SUM_HPP
