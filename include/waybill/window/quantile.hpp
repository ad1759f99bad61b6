// SPDX-License-Identifier: MIT
//
// quantile: the value that a given share of all events does not exceed, exactly.
//
//     std::optional<double> p99 = waybill::quantile(window, 0.99, now);   // of (now - span, now]
//     std::optional<double> median = waybill::quantile(samples, 0.5);     // of a vector of samples
//
// The definition is that of the nearest rank: the lowest value such that it and all lower ones
// have a share of at least q of the weight. So it is always a value that was measured, none in
// between: 0 is the lowest of all, 1 the highest, and a sample that stands for n counts as n
// equal ones. A share is meant as the decimal that it was written as: 0.07 of 100 events are 7,
// although the floating number next to 0.07, times 100, is more than 7.
//
// What holds:
//   1. the answer is exact, and takes at most nine walks over the samples, mostly three or four.
//      The bits of the values are cut into 256 parts, the weights in each are added up, and the
//      part with the rank in it is cut again; so there is neither a copy of the samples nor an
//      unlucky order;
//   2. nothing is allocated and nothing is changed; 6 KiB of stack are used;
//   3. no samples, a share that is not within 0 and 1, or weights that reach 2^64 together: there
//      is no answer, and the optional is empty. Of a container that is no window, values that are
//      not finite and samples without a weight are passed over, as no window would take them.
//
// For windows that are too large to keep, or to walk over, there are sketches: log_histogram.hpp
// is one, slotted_window.hpp lets them slide.

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

/// What tells quantiles of more values than one would keep: it takes values, takes in another one
/// of its kind, and answers. An answer may be found by reordering, so it need not be const.
template <class S>
concept quantile_sketch =
    std::copyable<S> && requires(S& s, const S& other, double value, double q) {
        s.add(value);
        s.merge(other);
        { s.quantile(q) } -> std::convertible_to<std::optional<double>>;
    };

/// One in which a value may stand for many.
template <class S>
concept weighted_sketch = quantile_sketch<S> && requires(S& s, double value, std::uint64_t weight) {
    s.add(value, weight);
};

/// Samples that can be counted through: a window, a vector, an array, a span.
template <class S>
concept sample_sequence = requires(const S& s) {
    { s.size() } -> std::unsigned_integral;
    { weight_of(s[s.size()]) } -> std::unsigned_integral;
    requires measurable<std::remove_cvref_t<decltype(s[s.size()].value)>>;
    requires sizeof(s[s.size()].value) <= sizeof(std::uint64_t);  // no long double: see 1.
};

/// Samples in the order of their times, of which those of the last while count.
template <class W>
concept sample_window = sample_sequence<W> && requires(const W& w, typename W::time_type now) {
    w.options().span;
    { w.clock() } -> std::same_as<std::optional<typename W::time_type>>;
    { w[w.size()].at <= now } -> std::same_as<bool>;
};

/// The value type of a sequence of samples.
template <sample_sequence S>
using sample_value_t = std::remove_cvref_t<decltype(std::declval<const S&>()[0].value)>;

/// How many events, from the lowest on, have to be counted for a share q of so many: 1 at least.
/// As the decimal says, for three digits and up to 2^39 events; else 2^-51 of it off at the most.
/// 0 where there is no answer.
[[nodiscard]] constexpr std::uint64_t quantile_rank(double q, std::uint64_t events) noexcept
{
    if (!(q >= 0 && q <= 1) || events == 0 || events == highest_size) return 0;
    const double all = static_cast<double>(events);
    const double share = q * all;
    if (share >= all) return events;
    auto rank = static_cast<std::uint64_t>(share);
    // A rest this small is the rounding of q and of the product.
    if (share - static_cast<double>(rank) > share * 0x1p-51) ++rank;
    return rank == 0 ? 1 : lesser(rank, events);
}

namespace detail {

/// Numbers without a sign in the order of the values: what is negative is turned around.
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

/// What lies between two numbers, in 256 parts at most: of each its weight, lowest and highest.
class number_parts {
public:
    constexpr number_parts(std::uint64_t low, std::uint64_t high) noexcept
        : from_(low), extent_(high - low)
    {
        while (extent_ >> shift_ > 255) ++shift_;
    }

    constexpr void add(std::uint64_t n, std::uint64_t weight) noexcept
    {
        if (n - from_ > extent_) return;  // below them, too, since it wraps
        const std::uint64_t p = (n - from_) >> shift_;
        if (weights_[p] == 0) low_[p] = high_[p] = n;
        else if (n < low_[p]) low_[p] = n;
        else if (high_[p] < n) high_[p] = n;
        weights_[p] += weight;
    }

    /// Narrows both ends to the part that has the rank in it, and the rank to what is in there.
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

/// Of samples [first, last).
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

/// Of all samples of a container, in whatever order.
template <sample_sequence S>
    requires(!sample_window<S>)
[[nodiscard]] constexpr std::optional<sample_value_t<S>> quantile(const S& samples, double q)
{
    return detail::quantile_of(samples, 0, samples.size(), q);
}

/// Of the samples of a window in (now - span, now]. Where the window was told a later time already,
/// that one counts.
template <sample_window W>
[[nodiscard]] constexpr std::optional<sample_value_t<W>> quantile(const W& window, double q,
                                                                  typename W::time_type now)
{
    using size = decltype(window.size());
    if (const auto clock = window.clock()) now = later(*clock, now);
    const duration span = window.options().span;
    std::uint64_t first = 0;
    std::uint64_t last = window.size();
    while (last != 0 && window[static_cast<size>(last - 1)].at > now) --last;
    if (span != duration::highest()) {
        // Where the difference saturates it is the first time there is, and none is before it.
        const typename W::time_type from = now - (span - duration::nanoseconds(1));
        while (first != last && window[static_cast<size>(first)].at < from) ++first;
    }
    return detail::quantile_of(window, first, last, q);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_QUANTILE_HPP
