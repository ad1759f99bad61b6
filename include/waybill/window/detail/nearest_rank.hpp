// SPDX-License-Identifier: MIT
//
// nearest_rank: finds the exact quantile of samples in any order, without sorting them.
//
// Part of `quantile`.

#ifndef WAYBILL_WINDOW_DETAIL_NEAREST_RANK_HPP
#define WAYBILL_WINDOW_DETAIL_NEAREST_RANK_HPP

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2::detail {

/// A sequence of samples with access by index: a window, a vector, an array or a span.
template <class S>
concept sample_sequence = requires(const S& s, std::size_t n) {
    { s.size() } -> std::unsigned_integral;
    { weight_of(s[n]) } -> std::unsigned_integral;
    requires measurable<std::remove_cvref_t<decltype(s[n].value)>>;
    requires sizeof(s[n].value) <= sizeof(std::uint64_t);  // no long double
};

/// A sequence of samples ordered by time, with a span and a clock.
template <class W>
concept sample_window = sample_sequence<W> && requires(const W& w, typename W::time_type now) {
    w.options().span;
    { w.clock() } -> std::same_as<std::optional<typename W::time_type>>;
    { w[w.size()].at <= now } -> std::same_as<bool>;
};

/// The type of the values in a sequence of samples.
template <sample_sequence S>
using sample_value_t = std::remove_cvref_t<decltype(std::declval<const S&>()[0].value)>;

/// The rank of the quantile q among `events` events: its position from the lowest, in [1, events].
/// Exact for a decimal q of three digits and up to 2^39 events; else the relative error is at most
/// 2^-51. Returns 0 if there is no quantile: `events` is 0 or 2^64 - 1, or q is not in [0, 1].
[[nodiscard]] constexpr std::uint64_t quantile_rank(double q, std::uint64_t events) noexcept
{
    if (!(q >= 0 && q <= 1) || events == 0 || events == highest_size) return 0;
    const double all = static_cast<double>(events);
    const double exact_rank = q * all;
    if (exact_rank >= all) return events;
    auto rank = static_cast<std::uint64_t>(exact_rank);
    // Rounded up, unless the fraction is only the rounding error of q and of the product.
    if (exact_rank - static_cast<double>(rank) > exact_rank * 0x1p-51) ++rank;
    return rank == 0 ? 1 : lesser(rank, events);
}

/// Maps values to unsigned numbers with the same order. For positive doubles the sign bit is set;
/// for negative doubles all bits are inverted.
template <class V>
[[nodiscard]] constexpr std::uint64_t ordered_bits(V v) noexcept
{
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    if constexpr (std::floating_point<V>) {
        const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(v));
        return (bits & sign) != 0 ? ~bits : bits | sign;
    } else {
        return static_cast<std::uint64_t>(v) ^ (std::signed_integral<V> ? sign : 0);
    }
}

/// The value that `ordered_bits` maps to n.
template <class V>
[[nodiscard]] constexpr V from_ordered_bits(std::uint64_t n) noexcept
{
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    if constexpr (std::floating_point<V>) {
        return static_cast<V>(std::bit_cast<double>((n & sign) != 0 ? n ^ sign : ~n));
    } else {
        return static_cast<V>(n ^ (std::signed_integral<V> ? sign : 0));
    }
}

/// Divides a range of numbers into at most 256 parts, with the weight, lowest and highest of each.
class number_parts {
public:
    constexpr number_parts(std::uint64_t low, std::uint64_t high) noexcept
        : from_(low), extent_(high - low)
    {
        while (extent_ >> shift_ >= max_parts) ++shift_;
    }

    constexpr void add(std::uint64_t n, std::uint64_t weight) noexcept
    {
        if (n - from_ > extent_) return;  // also true if n < from_: it wraps
        const std::uint64_t p = (n - from_) >> shift_;
        if (weights_[p] == 0) low_[p] = high_[p] = n;
        else if (n < low_[p]) low_[p] = n;
        else if (high_[p] < n) high_[p] = n;
        weights_[p] += weight;
    }

    /// Sets `low` and `high` to the lowest and highest number in the part that contains the rank,
    /// and makes `rank` relative to that part.
    constexpr void find(std::uint64_t& rank, std::uint64_t& low, std::uint64_t& high) const noexcept
    {
        std::uint64_t p = 0;
        for (; p != max_parts - 1 && weights_[p] < rank; ++p) rank -= weights_[p];
        low = low_[p];
        high = high_[p];
    }

private:
    static constexpr std::uint64_t max_parts = 256;

    std::uint64_t from_;
    std::uint64_t extent_;
    int shift_ = 0;  // a part has 2^shift_ numbers
    std::uint64_t weights_[max_parts] = {};
    std::uint64_t low_[max_parts];  // only set where the weight is not 0, like high_
    std::uint64_t high_[max_parts];
};

/// Calls f for each sample with an index in [first, last).
template <class S, class F>
constexpr void for_each_between(const S& samples, std::uint64_t first, std::uint64_t last, F f)
{
    if constexpr (requires(std::ptrdiff_t n) { samples.begin() + n; }) {
        auto next = samples.begin() + static_cast<std::ptrdiff_t>(first);
        for (std::uint64_t i = first; i != last; ++i, ++next) f(*next);
    } else {
        using size = decltype(samples.size());
        for (std::uint64_t i = first; i != last; ++i) f(samples[static_cast<size>(i)]);
    }
}

/// The quantile q of the samples with the indices [first, last).
template <class S>
[[nodiscard]] constexpr std::optional<sample_value_t<S>> quantile_of(const S& samples,
                                                                     std::uint64_t first,
                                                                     std::uint64_t last, double q)
{
    const auto for_each_value = [&](auto f) {
        for_each_between(samples, first, last, [&f](const auto& s) {
            if (weight_of(s) != 0 && is_finite(s.value)) f(ordered_bits(s.value), weight_of(s));
        });
    };
    std::uint64_t low = highest_size;
    std::uint64_t high = 0;
    std::uint64_t events = 0;
    for_each_value([&](std::uint64_t n, std::uint64_t weight) {
        low = lesser(low, n);
        high = high < n ? n : high;
        events = saturating_add(events, weight);
    });
    std::uint64_t rank = quantile_rank(q, events);
    if (rank == 0) return {};
    while (low != high) {
        number_parts parts(low, high);
        for_each_value([&](std::uint64_t n, std::uint64_t weight) { parts.add(n, weight); });
        parts.find(rank, low, high);
    }
    return from_ordered_bits<sample_value_t<S>>(low);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_NEAREST_RANK_HPP
