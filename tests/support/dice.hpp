// SPDX-License-Identifier: MIT
//
// dice: numbers that follow from a seed, the same ones everywhere (splitmix64).

#ifndef WAYBILL_TESTS_SUPPORT_DICE_HPP
#define WAYBILL_TESTS_SUPPORT_DICE_HPP

#include <cstddef>
#include <cstdint>

namespace tests_support {

class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits()
    {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31);
    }
    /// Below n.
    std::uint64_t operator()(std::uint64_t n) { return bits() % n; }
    std::int64_t below(std::int64_t n)
    {
        return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n));
    }
    bool one_in(std::uint64_t n) { return bits() % n == 0; }
    template <class T, std::size_t N>
    T any_of(const T (&all)[N])
    {
        return all[bits() % N];
    }

private:
    std::uint64_t state_;
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_DICE_HPP
