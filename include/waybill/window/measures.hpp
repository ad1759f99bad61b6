// SPDX-License-Identifier: MIT
//
// measures: what is asked of many samples, put together from parts.
//
//     using backlog_measures = waybill::measures<std::int64_t, waybill::summed, waybill::extremes>;
//     using all_of_them = waybill::stats<double>;            // every part there is
//     using sampled = waybill::weighted_stats<double>;       // and one sample stands for many
//
// A measure of some samples is a value; two of them combine into that of both. That is all that a
// window needs, and it never takes a sample out of a value again: what was subtracted from a
// floating sum leaves its rounding behind, and a NaN for ever (folly, pandas and others have been
// there).
//   1. combining is associative, and the order of older and newer is kept;
//   2. the measure of nothing is `identity()`, and its answers are empty optionals, never a 0 that
//      could be a measurement;
//   3. whole numbers are summed exactly, floating ones as they are rounded, or with `compensated`
//      in twice the digits. The variance of numbers that are large and close together is theirs
//      (Chan, Golub and LeVeque 1979), not the difference of two squares.
//
// A type of your own joins by the concept `measure`.

#ifndef WAYBILL_WINDOW_MEASURES_HPP
#define WAYBILL_WINDOW_MEASURES_HPP

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include <waybill/core/saturating.hpp>
#include <waybill/window/compensated_sum.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/wide_sum.hpp>

namespace waybill::inline v0_2 {

namespace detail {

template <class M>
inline constexpr bool has_weights = requires { requires M::weighted; };

template <class M, class Time = wall_time>
using sample_for_measure =
    std::conditional_t<has_weights<M>, weighted_sample<typename M::value_type, Time>,
                       sample<typename M::value_type, Time>>;

}  // namespace detail

/// What a window keeps of its samples: of nothing, of one, and of two parts, the older one first.
/// `M::value_type` is what is measured. Optional: `weighted` (samples have weights), `commutative`
/// (a sample that comes late is counted in without starting anew). Both are false if not said.
template <class M>
concept measure =
    std::copyable<M> && measurable<typename M::value_type> &&
    requires(const M& older, const M& newer, const detail::sample_for_measure<M>& s) {
        { M::identity() } -> std::same_as<M>;
        { M::of(s) } -> std::same_as<M>;
        { M::combine(older, newer) } -> std::same_as<M>;
    };

/// How many samples there were.
template <class V>
struct counted {
    std::uint64_t points = 0;

    template <class S>
    [[nodiscard]] static constexpr counted of(const S&) noexcept
    {
        return {1};
    }
    template <class M>
    [[nodiscard]] static constexpr counted combine(const M& a, const M& b) noexcept
    {
        return {a.points + b.points};
    }
    friend bool operator==(const counted&, const counted&) = default;
};

/// How many they stood for.
template <class V>
struct weighed {
    std::uint64_t weights = 0;

    template <class S>
    [[nodiscard]] static constexpr weighed of(const S& s) noexcept
    {
        return {weight_of(s)};
    }
    template <class M>
    [[nodiscard]] static constexpr weighed combine(const M& a, const M& b) noexcept
    {
        return {saturating_add(a.weights, b.weights)};
    }
    friend bool operator==(const weighed&, const weighed&) = default;
};

/// Their sum, and with it their mean.
template <class V>
struct summed {
    using total_type = std::conditional_t<std::integral<V>, wide_sum, double>;
    total_type total{};

    template <class S>
    [[nodiscard]] static constexpr summed of(const S& s) noexcept
    {
        if constexpr (std::signed_integral<V>) {
            return {wide_sum(static_cast<std::int64_t>(s.value), weight_of(s))};
        } else if constexpr (std::integral<V>) {
            return {wide_sum(static_cast<std::uint64_t>(s.value), weight_of(s))};
        } else {
            return {static_cast<double>(s.value) * weight_of(s)};
        }
    }
    template <class M>
    [[nodiscard]] static constexpr summed combine(const M& a, const M& b) noexcept
    {
        return {a.total + b.total};
    }
    friend bool operator==(const summed&, const summed&) = default;
};

/// The same where rounding must not add up: 1e16, a hundred times 1 and -1e16 are 100, and not 0.
/// Exact but for the last digit, as long as what was added up, all without their signs, is less
/// than some 1e15 times the sum. It takes 8 bytes and about a third more time (see bench/); whole
/// numbers are exact anyway.
template <class V>
struct compensated {
    using total_type = std::conditional_t<std::integral<V>, wide_sum, compensated_sum>;
    total_type total{};

    template <class S>
    [[nodiscard]] static constexpr compensated of(const S& s) noexcept
    {
        if constexpr (std::integral<V>) return {summed<V>::of(s).total};
        else return {compensated_sum(static_cast<double>(s.value), weight_of(s))};
    }
    template <class M>
    [[nodiscard]] static constexpr compensated combine(const M& a, const M& b) noexcept
    {
        return {a.total + b.total};
    }
    friend bool operator==(const compensated&, const compensated&) = default;
};

/// The lowest and the highest of them.
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
    [[nodiscard]] static constexpr extremes combine(const M& a, const M& b) noexcept
    {
        return {b.low < a.low ? b.low : a.low, a.high < b.high ? b.high : a.high};
    }
    friend bool operator==(const extremes&, const extremes&) = default;
};

/// Their mean and how far they are from it.
template <class V>
struct moments {
    double centre = 0;
    double squares = 0;  ///< Sum of the squared distances from it.

    template <class S>
    [[nodiscard]] static constexpr moments of(const S& s) noexcept
    {
        return {static_cast<double>(s.value), 0};
    }
    template <class M>
    [[nodiscard]] static constexpr moments combine(const M& a, const M& b) noexcept
    {
        if (b.weight() == 0) return {a.centre, a.squares};
        if (a.weight() == 0) return {b.centre, b.squares};
        const double wa = static_cast<double>(a.weight());
        const double wb = static_cast<double>(b.weight());
        const double apart = b.centre - a.centre;
        const double part = wb / (wa + wb);
        return {a.centre + apart * part, a.squares + b.squares + apart * apart * wa * part};
    }
    friend bool operator==(const moments&, const moments&) = default;
};

/// The first and the last of them. Of several at one time, the first is the one that came first.
template <class V>
struct ends {
    V first_value{};
    V last_value{};
    duration first_at = duration::highest();  ///< Since the epoch of their clock.
    duration last_at = duration::lowest();

    template <class S>
    [[nodiscard]] static constexpr ends of(const S& s) noexcept
    {
        return {s.value, s.value, s.at.since_epoch(), s.at.since_epoch()};
    }
    template <class M>
    [[nodiscard]] static constexpr ends combine(const M& a, const M& b) noexcept
    {
        ends e{a.first_value, a.last_value, a.first_at, a.last_at};
        if (a.points == 0 || (b.points != 0 && b.first_at < a.first_at)) {
            e.first_value = b.first_value;
            e.first_at = b.first_at;
        }
        if (a.points == 0 || (b.points != 0 && !(b.last_at < a.last_at))) {
            e.last_value = b.last_value;
            e.last_at = b.last_at;
        }
        return e;
    }
    friend bool operator==(const ends&, const ends&) = default;
};

namespace detail {

/// A part, if it is there once.
template <class Part, class V, class... All>
struct single_part {
    static_assert(!std::same_as<Part, counted<V>>,
                  "measures count their samples in any case: leave `counted` out");
    static_assert((0 + ... + int{std::same_as<Part, All>}) == 1,
                  "measures have each part once");
    static_assert(!std::same_as<Part, compensated<V>> || (!std::same_as<summed<V>, All> && ...),
                  "a sum is `summed` or `compensated`, not both");
    using type = Part;
};

}  // namespace detail

/// Parts together, as one measure. The number of samples is always among them.
template <measurable V, template <class> class... Parts>
struct measures : counted<V>, detail::single_part<Parts<V>, V, Parts<V>...>::type... {
    using value_type = V;
    static constexpr bool weighted = (std::same_as<Parts<V>, weighed<V>> || ...);
    static constexpr bool commutative = true;

    [[nodiscard]] static constexpr measures identity() noexcept { return {}; }
    // Out of line, a measure goes through memory in other pieces than it is read in, and each
    // sample waits for that; g++ 12 chooses so in large files.
    template <class S>
    [[nodiscard, gnu::always_inline]] static constexpr measures of(const S& s) noexcept
    {
        return {counted<V>::of(s), Parts<V>::of(s)...};
    }
    [[nodiscard, gnu::always_inline]] static constexpr measures combine(const measures& a,
                                                                        const measures& b) noexcept
    {
        return {counted<V>::combine(a, b), Parts<V>::combine(a, b)...};
    }

    [[nodiscard]] constexpr bool empty() const noexcept { return this->points == 0; }

    /// How many events the samples stand for; as many as there are, where they have no weights.
    [[nodiscard]] constexpr std::uint64_t weight() const noexcept
    {
        if constexpr (weighted) return this->weights;
        else return this->points;
    }

    /// Percent of the events that were sampled.
    [[nodiscard]] constexpr std::optional<double> sampling_rate() const noexcept
    {
        if (empty()) return {};
        return 100.0 * static_cast<double>(this->points) / static_cast<double>(weight());
    }

    /// The sum of the values, each as often as its weight says. Exact for whole numbers; one beyond
    /// 64 bits stays at the end that it lies beyond, and `total` has it all. Empty, too, where
    /// floating ones come to more than there are numbers for; so are mean and variance.
    [[nodiscard]] constexpr auto sum() const noexcept
        requires requires(const measures& m) { m.total; }
    {
        if constexpr (std::signed_integral<V>) {
            return empty() ? std::optional<std::int64_t>() : this->total.clamped();
        } else if constexpr (std::integral<V>) {
            return empty() ? std::optional<std::uint64_t>() : this->total.clamped_unsigned();
        } else {
            return number(floating());
        }
    }

    /// The mean of the events.
    [[nodiscard]] constexpr std::optional<double> mean() const noexcept
        requires requires(const measures& m) { m.total; } ||
                 requires(const measures& m) { m.centre; }
    {
        if (empty()) return {};
        if constexpr (!requires(const measures& m) { m.total; }) {
            return this->centre;
        } else if constexpr (std::integral<V>) {
            return this->total.approximately() / static_cast<double>(weight());
        } else {
            const std::optional<double> m = number(floating() / static_cast<double>(weight()));
            if constexpr (requires(const measures& x) { x.centre; }) {
                return m ? m : number(this->centre);
            }
            return m;
        }
    }

    [[nodiscard]] constexpr std::optional<V> lowest() const noexcept
        requires requires(const measures& m) { m.low; }
    {
        return empty() ? std::optional<V>() : this->low;
    }

    /// The highest sample. Where events were left out, one of them may have been higher:
    /// `is_sampled()` says so.
    [[nodiscard]] constexpr std::optional<V> highest() const noexcept
        requires requires(const measures& m) { m.high; }
    {
        return empty() ? std::optional<V>() : this->high;
    }

    /// Whether events were left out, so that the lowest is at most as low as it says, and the
    /// highest at least as high.
    [[nodiscard]] constexpr bool is_sampled() const noexcept { return this->points < weight(); }

    /// The mean of the squared distances from the mean, over all events.
    [[nodiscard]] constexpr std::optional<double> variance() const noexcept
        requires requires(const measures& m) { m.squares; }
    {
        if (empty()) return {};
        return number(this->squares / static_cast<double>(weight()));
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
    [[nodiscard]] constexpr double floating() const noexcept
    {
        if constexpr (requires(const measures& m) { m.total.approximately(); }) {
            return this->total.approximately();
        } else {
            return this->total;
        }
    }
    [[nodiscard]] constexpr std::optional<double> number(double x) const noexcept
    {
        return empty() || !is_finite(x) ? std::optional<double>() : x;
    }
};

/// Every part, for samples that all stand for themselves.
template <measurable V>
using stats = measures<V, summed, extremes, moments, ends>;

/// The same for samples that stand for many.
template <measurable V>
using weighted_stats = measures<V, weighed, summed, extremes, moments, ends>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_MEASURES_HPP
