// SPDX-License-Identifier: MIT
//
// quantile: the exact value that a given share of all events does not exceed.
//
//     std::optional<double> p99 = waybill::quantile(window, 0.99, now);   // of (now - span, now]
//     std::optional<double> median = waybill::quantile(samples, 0.5);     // of a vector of samples
//
// Definition (nearest rank): the lowest value such that it and all lower values have at least a
// share q of the weight. The result is always a measured value; q = 0 is the lowest, q = 1 the
// highest. A sample with weight n counts as n equal samples. q means the decimal as written: 0.07
// of 100 events are 7 events, although the double nearest to 0.07, times 100, is more than 7.
//
// Guarantees
//   1. Exact, with at most nine passes over the samples, usually three or four, in any order of the
//      samples. Each pass divides the remaining range of values into at most 256 parts.
//   2. No allocation and no change; 6 KiB of stack.
//   3. Empty optional: no samples, q not in [0, 1], or a total weight of at least 2^64 - 1. In a
//      container that is no window, values that are not finite and weights of 0 are ignored.
//
// For windows too large to store or to scan: log_histogram.hpp and slotted_window.hpp.

#ifndef WAYBILL_WINDOW_QUANTILE_HPP
#define WAYBILL_WINDOW_QUANTILE_HPP

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2 {

/// A sketch: approximate quantiles of more values than can be stored. It adds values, merges
/// another sketch of its type and returns quantiles. `quantile` may reorder the sketch, so it need
/// not be const.
template <class S>
concept quantile_sketch =
    std::copyable<S> && requires(S& s, const S& other, double value, double q) {
        s.add(value);
        s.merge(other);
        { s.quantile(q) } -> std::convertible_to<std::optional<double>>;
    };

/// A sketch whose values may have a weight.
template <class S>
concept weighted_sketch = quantile_sketch<S> && requires(S& s, double value, std::uint64_t weight) {
    s.add(value, weight);
};

namespace detail {

/// A sequence of samples with access by index: a window, a vector, an array or a span.
template <class S>
concept sample_sequence = requires(const S& s) {
    { s.size() } -> std::unsigned_integral;
    { weight_of(s[s.size()]) } -> std::unsigned_integral;
    requires measurable<std::remove_cvref_t<decltype(s[s.size()].value)>>;
    requires sizeof(s[s.size()].value) <= sizeof(std::uint64_t);  // no long double
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

/// The number of events, counted from the lowest, up to the quantile q of `events`: in [1, events].
/// Exact for a decimal q of three digits and up to 2^39 events; else the relative error is at most
/// 2^-51. Returns 0 if there is no quantile: `events` is 0 or 2^64 - 1, or q is not in [0, 1].
[[nodiscard]] constexpr std::uint64_t quantile_rank(double q, std::uint64_t events) noexcept
{
    if (!(q >= 0 && q <= 1) || events == 0 || events == highest_size) return 0;
    const double all = static_cast<double>(events);
    const double share = q * all;
    if (share >= all) return events;
    auto rank = static_cast<std::uint64_t>(share);
    // A fraction this small is the rounding error of q and of the product.
    if (share - static_cast<double>(rank) > share * 0x1p-51) ++rank;
    return rank == 0 ? 1 : lesser(rank, events);
}

/// Maps a value to an unsigned number with the same order. The bits of negative doubles are
/// inverted.
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
        while (extent_ >> shift_ > 255) ++shift_;
    }

    constexpr void add(std::uint64_t n, std::uint64_t weight) noexcept
    {
        if (n - from_ > extent_) return;  // also if n < from_: wraps
        const std::uint64_t p = (n - from_) >> shift_;
        if (weights_[p] == 0) low_[p] = high_[p] = n;
        else if (n < low_[p]) low_[p] = n;
        else if (high_[p] < n) high_[p] = n;
        weights_[p] += weight;
    }

    /// Narrows [low, high] to the part that contains the rank, and makes `rank` relative to that
    /// part.
    constexpr void find(std::uint64_t& rank, std::uint64_t& low, std::uint64_t& high) const noexcept
    {
        std::uint64_t p = 0;
        for (; p != 255 && weights_[p] < rank; ++p) rank -= weights_[p];
        low = low_[p];
        high = high_[p];
    }

private:
    std::uint64_t from_;
    std::uint64_t extent_;
    int shift_ = 0;
    std::uint64_t weights_[256] = {};
    std::uint64_t low_[256];
    std::uint64_t high_[256];
};

/// The quantile of samples [first, last).
template <class S>
[[nodiscard]] constexpr std::optional<sample_value_t<S>> quantile_of(const S& samples,
                                                                     std::uint64_t first,
                                                                     std::uint64_t last, double q)
{
    using size = decltype(samples.size());
    const auto each = [&](auto take) {
        for (std::uint64_t i = first; i != last; ++i) {
            const auto& s = samples[static_cast<size>(i)];
            if (weight_of(s) != 0 && is_finite(s.value)) take(ordered_bits(s.value), weight_of(s));
        }
    };
    std::uint64_t low = highest_size;
    std::uint64_t high = 0;
    std::uint64_t events = 0;
    each([&](std::uint64_t n, std::uint64_t weight) {
        low = lesser(low, n);
        high = high < n ? n : high;
        events = saturating_add(events, weight);
    });
    std::uint64_t rank = quantile_rank(q, events);
    if (rank == 0) return {};
    while (low != high) {
        number_parts parts(low, high);
        each([&](std::uint64_t n, std::uint64_t weight) { parts.add(n, weight); });
        parts.find(rank, low, high);
    }
    return from_ordered_bits<sample_value_t<S>>(low);
}

}  // namespace detail

/// The quantile q in [0, 1] of all samples of a container, in any order. At most nine passes.
template <detail::sample_sequence S>
requires(!detail::sample_window<S>)
    [[nodiscard]] constexpr std::optional<detail::sample_value_t<S>> quantile(const S& samples,
                                                                              double q)
{
    return detail::quantile_of(samples, 0, samples.size(), q);
}

/// The quantile q in [0, 1] of the samples of a window in (now - span, now]. If the window's clock
/// is later than `now`, the clock counts. At most nine passes.
template <detail::sample_window W>
[[nodiscard]] constexpr std::optional<detail::sample_value_t<W>> quantile(const W& window, double q,
                                                                  typename W::time_type now)
{
    using size = decltype(window.size());
    if (const auto clock = window.clock()) now = later(*clock, now);
    const duration span = window.options().span;
    std::uint64_t first = 0;
    std::uint64_t last = window.size();
    while (last != 0 && window[static_cast<size>(last - 1)].at > now) --last;
    if (span != duration::highest()) {
        // If the difference saturates, it is the lowest time, and no sample is before it.
        const typename W::time_type from = now - (span - duration::nanoseconds(1));
        while (first != last && window[static_cast<size>(first)].at < from) ++first;
    }
    return detail::quantile_of(window, first, last, q);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_QUANTILE_HPP
