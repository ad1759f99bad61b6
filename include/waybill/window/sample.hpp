// SPDX-License-Identifier: MIT
//
// sample: one measurement, and when it was taken.
//
// Telemetry that is thinned out sends one event for many and says for how many it stands. Where
// such numbers are summed up without that weight, a chart shows fewer events than there were.

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
};

/// The same, standing for so many: 1 where nothing was left out.
template <class V, class Time = wall_time>
struct weighted_sample {
    Time at{};
    V value{};
    std::uint32_t weight = 1;

    friend bool operator==(const weighted_sample&, const weighted_sample&) = default;
};

template <class V, class Time>
[[nodiscard]] constexpr std::uint32_t weight_of(const sample<V, Time>&) noexcept
{
    return 1;
}
template <class V, class Time>
[[nodiscard]] constexpr std::uint32_t weight_of(const weighted_sample<V, Time>& s) noexcept
{
    return s.weight;
}

namespace detail {

/// The weight in 32 bits. A larger one is invalid, and returned as 0 instead of truncated.
[[nodiscard]] constexpr std::uint32_t known_weight(std::uint64_t weight) noexcept
{
    return weight > UINT32_MAX ? 0 : static_cast<std::uint32_t>(weight);
}

}  // namespace detail

/// What can be measured: whole numbers of up to 64 bits, or floating ones.
template <class V>
concept measurable = (std::integral<V> && !std::same_as<V, bool> && sizeof(V) <= 8) ||
                     std::floating_point<V>;

/// Whether it is a number. Infinities and NaN are answers to another question, and would stay in a
/// sum for good.
template <measurable V>
[[nodiscard]] constexpr bool is_finite(V v) noexcept
{
    if constexpr (std::floating_point<V>) {
        return std::numeric_limits<V>::lowest() <= v && v <= (std::numeric_limits<V>::max)();
    } else {
        return true;
    }
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SAMPLE_HPP
