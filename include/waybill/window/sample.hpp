// SPDX-License-Identifier: MIT
//
// sample: a measured value and its time, with or without a weight.
//
// Sampled telemetry records only one of several events. The weight of a sample is the number of
// events that it stands for. A sum that ignores the weights is too low.

#ifndef WAYBILL_WINDOW_SAMPLE_HPP
#define WAYBILL_WINDOW_SAMPLE_HPP

#include <concepts>
#include <cstdint>
#include <limits>

#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// A value at a time.
template <class V, class Time = wall_time>
struct sample {
    Time at{};
    V value{};

    friend bool operator==(const sample&, const sample&) = default;
    /// The number of events that it stands for.
    [[nodiscard]] friend constexpr std::uint32_t weight_of(const sample&) noexcept { return 1; }
};

/// A value at a time, which stands for `weight` events. The weight is 1 if no events were left out.
template <class V, class Time = wall_time>
struct weighted_sample {
    Time at{};
    V value{};
    std::uint32_t weight = 1;

    friend bool operator==(const weighted_sample&, const weighted_sample&) = default;
    [[nodiscard]] friend constexpr std::uint32_t weight_of(const weighted_sample& s) noexcept
    {
        return s.weight;
    }
};

namespace detail {

/// The weight, or 0 if it does not fit into 32 bits. A weight of 0 is refused; a truncated weight
/// would be counted.
[[nodiscard]] constexpr std::uint32_t weight_or_zero(std::uint64_t weight) noexcept
{
    return weight > UINT32_MAX ? 0 : static_cast<std::uint32_t>(weight);
}

/// The types of measured values: integers of up to 64 bits (not bool) and floating-point numbers.
template <class V>
concept measurable =
    (std::integral<V> && !std::same_as<V, bool> && sizeof(V) <= 8) || std::floating_point<V>;

/// Returns true if the value is neither an infinity nor NaN. Either would stay in a sum for ever.
template <detail::measurable V>
[[nodiscard]] constexpr bool is_finite(V v) noexcept
{
    if constexpr (std::floating_point<V>) {
        return std::numeric_limits<V>::lowest() <= v && v <= (std::numeric_limits<V>::max)();
    } else {
        return true;
    }
}

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SAMPLE_HPP
