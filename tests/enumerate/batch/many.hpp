// SPDX-License-Identifier: MIT
//
// many: a number of schedules. It can be larger than 64 bits.

#ifndef WAYBILL_TESTS_ENUMERATE_BATCH_MANY_HPP
#define WAYBILL_TESTS_ENUMERATE_BATCH_MANY_HPP

#include <cstdint>
#include <string>

namespace send_schedules {

class many {
public:
    many() = default;
    explicit many(std::uint64_t n) : low_(n % whole), high_(n / whole) {}

    many& operator+=(const many& m)
    {
        low_ += m.low_;
        high_ += m.high_ + low_ / whole;
        low_ %= whole;
        return *this;
    }
    friend bool operator==(const many&, const many&) = default;
    [[nodiscard]] bool at_least(std::uint64_t n) const { return high_ != 0 || low_ >= n; }
    [[nodiscard]] std::string text() const
    {
        if (high_ == 0) return std::to_string(low_);
        const std::string low = std::to_string(low_);
        return std::to_string(high_) + std::string(18 - low.size(), '0') + low;
    }

private:
    static constexpr std::uint64_t whole = 1'000'000'000'000'000'000;
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
};

}  // namespace send_schedules

#endif  // WAYBILL_TESTS_ENUMERATE_BATCH_MANY_HPP
