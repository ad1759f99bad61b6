// SPDX-License-Identifier: MIT
//
// measures: statistics of many samples, composed of parts such as `summed` and `extremes`.
//
//     using backlog_measures = waybill::measures<std::int64_t, waybill::summed, waybill::extremes>;
//     using all_of_them = waybill::stats<double>;            // the usual parts
//     using sampled = waybill::weighted_stats<double>;       // and samples have weights
//
// A measure is a value. The measures of two groups of samples combine into the measure of both. No
// sample is ever subtracted: subtraction from a floating-point sum leaves rounding errors, and a
// NaN would stay for ever (folly and pandas have had this problem). A type of your own has to
// satisfy the concept `measure`.
//
// Guarantees
//   1. `combine` is associative and keeps the order of older and newer samples.
//   2. The measure of no samples is `identity()`. Its statistics are empty optionals, never 0.
//   3. Sums of integers are exact. Floating-point sums are rounded; with `compensated` they have
//      about twice the digits. The variance is numerically stable for large values that are close
//      together (Chan, Golub and LeVeque 1979); it is not a difference of two squares.

#ifndef WAYBILL_WINDOW_MEASURES_HPP
#define WAYBILL_WINDOW_MEASURES_HPP

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/window/detail/compensated_sum.hpp>
#include <waybill/window/detail/wide_sum.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2 {

namespace detail {

template <class M>
inline constexpr bool has_weights = requires { requires M::weighted; };

template <class M, class Time = wall_time>
using sample_for_measure =
    std::conditional_t<has_weights<M>, weighted_sample<typename M::value_type, Time>,
                       sample<typename M::value_type, Time>>;

/// The weight of a measure. A number of samples is less than 2^63. Its conversion from a signed
/// number takes fewer instructions.
template <class M>
[[nodiscard]] constexpr double weight_as_double(const M& m) noexcept
{
    if constexpr (has_weights<M>) return static_cast<double>(m.weight());
    else return static_cast<double>(static_cast<std::int64_t>(m.weight()));
}

}  // namespace detail

/// A measure of samples. `identity()` is the measure of no samples, `of(s)` that of one sample, and
/// `combine(older, newer)` that of two groups. `M::value_type` is the type of the measured values.
/// Optional static members, false by default: `weighted` (samples have weights), `commutative` (a
/// late sample can be combined out of order, without recomputing the measures of the window).
template <class M>
concept measure = std::copyable<M> && detail::measurable<typename M::value_type> &&
                  requires(const M& older, const M& newer, const detail::sample_for_measure<M>& s) {
                      { M::identity() } -> std::same_as<M>;
                      { M::of(s) } -> std::same_as<M>;
                      { M::combine(older, newer) } -> std::same_as<M>;
                  };

/// The number of samples.
template <class V>
struct counted {
    std::uint64_t points = 0;

    template <class S>
    [[nodiscard]] static constexpr counted of(const S&) noexcept
    {
        return {1};
    }
    template <class M>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr counted combine(const M& a,
                                                                         const M& b) noexcept
    {
        return {a.points + b.points};
    }
    friend bool operator==(const counted&, const counted&) = default;
};

/// The number of events that the samples stand for: the sum of their weights. Saturates.
template <class V>
struct weighted_count {
    std::uint64_t weights = 0;

    template <class S>
    [[nodiscard]] static constexpr weighted_count of(const S& s) noexcept
    {
        return {weight_of(s)};
    }
    template <class M>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr weighted_count combine(const M& a,
                                                                                const M& b) noexcept
    {
        return {detail::saturating_add(a.weights, b.weights)};
    }
    friend bool operator==(const weighted_count&, const weighted_count&) = default;
};

/// The sum of the values times their weights, for `sum()` and `mean()`. Exact for integers, rounded
/// otherwise.
template <class V>
struct summed {
    using total_type = std::conditional_t<std::integral<V>, detail::wide_sum, double>;
    total_type total{};

    template <class S>
    [[nodiscard]] static constexpr summed of(const S& s) noexcept
    {
        if constexpr (std::signed_integral<V>) {
            return {detail::wide_sum(static_cast<std::int64_t>(s.value), weight_of(s))};
        } else if constexpr (std::integral<V>) {
            return {detail::wide_sum(static_cast<std::uint64_t>(s.value), weight_of(s))};
        } else {
            return {static_cast<double>(s.value) * weight_of(s)};
        }
    }
    template <class M>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr summed combine(const M& a,
                                                                        const M& b) noexcept
    {
        return {a.total + b.total};
    }
    friend bool operator==(const summed&, const summed&) = default;
};

/// Like `summed`, but rounding errors do not add up: 1e16, a hundred times 1 and -1e16 give 100,
/// not 0. Exact except for the last digit if the sum of the absolute values is less than about 1e15
/// times the sum. Costs 8 bytes and a quarter to 60 % more time (`bench/run window`). `summed` is
/// exact for integers as well.
template <class V>
struct compensated {
    using total_type =
        std::conditional_t<std::integral<V>, detail::wide_sum, detail::compensated_sum>;
    total_type total{};

    template <class S>
    [[nodiscard]] static constexpr compensated of(const S& s) noexcept
    {
        if constexpr (std::integral<V>) return {summed<V>::of(s).total};
        else return {detail::compensated_sum(static_cast<double>(s.value), weight_of(s))};
    }
    template <class M>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr compensated combine(const M& a,
                                                                             const M& b) noexcept
    {
        return {a.total + b.total};
    }
    friend bool operator==(const compensated&, const compensated&) = default;
};

/// The lowest and the highest value.
template <class V>
struct extremes {
    V low = std::numeric_limits<V>::has_infinity ? std::numeric_limits<V>::infinity()
                                                 : (std::numeric_limits<V>::max)();
    V high = std::numeric_limits<V>::has_infinity ? -std::numeric_limits<V>::infinity()
                                                  : std::numeric_limits<V>::lowest();

    template <class S>
    [[nodiscard]] static constexpr extremes of(const S& s) noexcept
    {
        return {s.value, s.value};
    }
    template <class M>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr extremes combine(const M& a,
                                                                          const M& b) noexcept
    {
        return {b.low < a.low ? b.low : a.low, a.high < b.high ? b.high : a.high};
    }
    friend bool operator==(const extremes&, const extremes&) = default;
};

/// The mean and the variance. `combine` has the formulas of Chan, Golub and LeVeque 1979, with the
/// weights wa and wb and the difference d of the means:
///     mean    = mean_a + d * wb / (wa + wb)
///     squares = squares_a + squares_b + d^2 * wa * wb / (wa + wb)
template <class V>
struct moments {
    double centre = 0;   ///< The mean.
    double squares = 0;  ///< The sum of the squared distances from the mean.

    template <class S>
    [[nodiscard]] static constexpr moments of(const S& s) noexcept
    {
        return {.centre = static_cast<double>(s.value), .squares = 0};
    }
    // Inlined for the reason named at `measures::combine`.
    template <class M>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr moments combine(const M& a,
                                                                         const M& b) noexcept
    {
        if (b.weight() == 0) return {a.centre, a.squares};
        if (a.weight() == 0) return {b.centre, b.squares};
        const double wa = detail::weight_as_double(a);
        const double wb = detail::weight_as_double(b);
        const double mean_difference = b.centre - a.centre;
        const double share_of_b = wb / (wa + wb);
        return {a.centre + mean_difference * share_of_b,
                a.squares + b.squares + mean_difference * mean_difference * wa * share_of_b};
    }
    friend bool operator==(const moments&, const moments&) = default;
};

/// The first and the last value by time. Among equal times, the first is that of the older group of
/// `combine`, and the last that of the newer group.
template <class V>
struct ends {
    V first_value{};
    V last_value{};
    duration first_at = duration::highest();  ///< Since the epoch of the samples' clock.
    duration last_at = duration::lowest();

    template <class S>
    [[nodiscard]] static constexpr ends of(const S& s) noexcept
    {
        return {s.value, s.value, s.at.since_epoch(), s.at.since_epoch()};
    }
    template <class M>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr ends combine(const M& a,
                                                                      const M& b) noexcept
    {
        // Without samples, `first_at` is the highest time and `last_at` the lowest, so only the
        // cases of equal times need the number of samples.
        const bool b_is_first = b.first_at < a.first_at || a.points == 0;
        const bool b_is_last = a.last_at <= b.last_at && b.points != 0;
        return {b_is_first ? b.first_value : a.first_value, b_is_last ? b.last_value : a.last_value,
                b_is_first ? b.first_at : a.first_at, b_is_last ? b.last_at : a.last_at};
    }
    friend bool operator==(const ends&, const ends&) = default;
};

namespace detail {

/// Checks that a part occurs once and fits the others. `type` is the part as a base class.
template <class Part, class V, class... All>
struct checked_part {
    static_assert(!std::same_as<Part, counted<V>>,
                  "measures always count their samples: remove `counted`");
    static_assert((0 + ... + int{std::same_as<Part, All>}) == 1,
                  "measures: a part occurs twice: remove one");
    static_assert(!std::same_as<Part, compensated<V>> || (!std::same_as<summed<V>, All> && ...),
                  "measures: `summed` and `compensated` are the same sum: remove one");
    using type = Part;
};

}  // namespace detail

/// Several parts as one measure. The number of samples is always included.
template <detail::measurable V, template <class> class... Parts>
struct measures : counted<V>, detail::checked_part<Parts<V>, V, Parts<V>...>::type... {
    using value_type = V;
    static constexpr bool weighted = (std::same_as<Parts<V>, weighted_count<V>> || ...);
    static constexpr bool commutative = true;  // late samples may be combined last

    [[nodiscard]] static constexpr measures identity() noexcept { return {}; }
    template <class S>
    [[nodiscard]] static constexpr measures of(const S& s) noexcept
    {
        return {counted<V>::of(s), Parts<V>::of(s)...};
    }
    // If this or the `combine` of a part is not inlined, a measure is stored to memory and loaded
    // in pieces of another size. Store forwarding then fails, and each sample waits for the stores.
    // Without the attribute, g++ 12 does not inline it in large files: `stats` takes 15 to 27 %
    // more instructions and more than twice as long (`bench/run window`).
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr measures combine(
        const measures& a, const measures& b) noexcept
    {
        return {counted<V>::combine(a, b), Parts<V>::combine(a, b)...};
    }

    [[nodiscard]] constexpr bool empty() const noexcept { return this->points == 0; }

    /// The number of events that the samples stand for. The number of samples if they have no
    /// weights.
    [[nodiscard]] constexpr std::uint64_t weight() const noexcept
    {
        if constexpr (weighted) return this->weights;
        else return this->points;
    }

    /// The number of samples in percent of the number of events, in (0, 100]. Empty without
    /// samples.
    [[nodiscard]] constexpr std::optional<double> sampling_rate() const noexcept
    {
        if (empty()) return {};
        return 100.0 * static_cast<double>(this->points) / detail::weight_as_double(*this);
    }

    /// The sum of the values times their weights. For integers it is exact, and clamped to the
    /// range of 64 bits; `total` has all 128 bits. Empty without samples, or if a floating-point
    /// sum overflows.
    [[nodiscard]] constexpr auto sum() const noexcept
        requires requires(const measures& m) { m.total; }
    {
        if constexpr (std::signed_integral<V>) {
            return empty() ? std::optional<std::int64_t>() : this->total.clamped();
        } else if constexpr (std::integral<V>) {
            return empty() ? std::optional<std::uint64_t>() : this->total.clamped_unsigned();
        } else {
            return if_finite(floating_sum());
        }
    }

    /// The mean over all events. Empty without samples. If a floating-point sum overflows, the mean
    /// of `moments` is returned; it is empty without that part.
    [[nodiscard]] constexpr std::optional<double> mean() const noexcept
        requires requires(const measures& m) { m.total; } ||
                 requires(const measures& m) { m.centre; }
    {
        if (empty()) return {};
        if constexpr (!requires(const measures& m) { m.total; }) {
            return this->centre;
        } else if constexpr (std::integral<V>) {
            return this->total.approximately() / detail::weight_as_double(*this);
        } else {
            // The mean is finite if and only if the sum is, so both are checked only once.
            const double all = floating_sum();
            if (detail::is_finite(all)) return all / detail::weight_as_double(*this);
            if constexpr (requires(const measures& x) { x.centre; }) return if_finite(this->centre);
            else return {};
        }
    }

    [[nodiscard]] constexpr std::optional<V> lowest() const noexcept
        requires requires(const measures& m) { m.low; }
    {
        return empty() ? std::optional<V>() : this->low;
    }

    /// The highest value of the samples. If `is_sampled()`, an event that was left out may be
    /// higher.
    [[nodiscard]] constexpr std::optional<V> highest() const noexcept
        requires requires(const measures& m) { m.high; }
    {
        return empty() ? std::optional<V>() : this->high;
    }

    /// Returns true if events were left out. Then the lowest value of all events is at most
    /// `lowest()`, and the highest at least `highest()`.
    [[nodiscard]] constexpr bool is_sampled() const noexcept { return this->points < weight(); }

    /// The variance over all events: the mean squared distance from the mean. Empty without
    /// samples, or if it overflows.
    [[nodiscard]] constexpr std::optional<double> variance() const noexcept
        requires requires(const measures& m) { m.squares; }
    {
        if (empty()) return {};
        return if_finite(this->squares / detail::weight_as_double(*this));
    }

    [[nodiscard]] constexpr std::optional<V> first() const noexcept
        requires requires(const measures& m) { m.first_value; }
    {
        return empty() ? std::optional<V>() : this->first_value;
    }
    [[nodiscard]] constexpr std::optional<V> last() const noexcept
        requires requires(const measures& m) { m.last_value; }
    {
        return empty() ? std::optional<V>() : this->last_value;
    }

    friend bool operator==(const measures&, const measures&) = default;

private:
    [[nodiscard]] constexpr double floating_sum() const noexcept
    {
        if constexpr (requires(const measures& m) { m.total.approximately(); }) {
            return this->total.approximately();
        } else {
            return this->total;
        }
    }
    [[nodiscard]] constexpr std::optional<double> if_finite(double x) const noexcept
    {
        return empty() || !detail::is_finite(x) ? std::optional<double>() : x;
    }
};

/// The usual parts, for samples that each stand for one event.
template <detail::measurable V>
using stats = measures<V, summed, extremes, moments, ends>;

/// The usual parts, for samples that may stand for many events.
template <detail::measurable V>
using weighted_stats = measures<V, weighted_count, summed, extremes, moments, ends>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_MEASURES_HPP
