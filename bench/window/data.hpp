// SPDX-License-Identifier: MIT
//
// data: the samples and the result of an operation, the same for all peers.
//
// Sample i has the time i steps, and a window of n samples spans n steps. Values are whole numbers,
// so that each order of additions has the same sum and results can be compared.

#ifndef WAYBILL_BENCH_WINDOW_DATA_HPP
#define WAYBILL_BENCH_WINDOW_DATA_HPP

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace window_bench {

inline constexpr std::int64_t step = 1'000;

enum class shape { random, sawtooth, monotone, cyclic };

inline constexpr shape shapes[] = {shape::random, shape::sawtooth, shape::monotone, shape::cyclic};

inline const char* name(shape s)
{
    constexpr const char* names[] = {"random", "sawtooth", "monotone", "cyclic"};
    return names[static_cast<std::size_t>(s)];
}

/// The values of the samples: a table that fits into the second-level cache, repeated. If `rise_` is
/// not 0, each repetition is higher by it.
class series {
public:
    explicit series(shape s) : values_(size)
    {
        std::mt19937 dice(20'261'122);
        std::uniform_int_distribution<int> any(-1'000'000, 1'000'000);
        for (std::size_t i = 0; i != size; ++i) {
            switch (s) {
                case shape::random: values_[i] = any(dice); break;
                case shape::sawtooth: values_[i] = 777.0 - static_cast<double>(i % 777); break;
                case shape::monotone: values_[i] = static_cast<double>(i); break;
                case shape::cyclic: values_[i] = 1 + static_cast<double>(i % 101); break;
            }
        }
        if (s == shape::monotone) rise_ = size;
    }

    double operator[](std::uint64_t i) const
    {
        return values_[i & (size - 1)] + rise_ * static_cast<double>(i / size);
    }

private:
    static constexpr std::size_t size = 1U << 15U;
    std::vector<double> values_;
    double rise_ = 0;
};

/// The result of one operation. A peer without extremes leaves them 0.
struct answer {
    std::uint64_t count = 0;
    double sum = 0;
    double mean = 0;
    double lowest = 0;
    double highest = 0;
};

}  // namespace window_bench

#endif  // WAYBILL_BENCH_WINDOW_DATA_HPP
