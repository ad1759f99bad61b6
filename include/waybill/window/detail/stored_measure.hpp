// SPDX-License-Identifier: MIT
//
// stored_measure: the part of a measure that a sliding window stores and combines.
//
// The ring of a window is ordered by time. So the number of its samples, the first and the last are
// known without combinations. `counted` and `ends` are left out of the measures that are stored
// with each sample, and added to the result of a query. This saves 8 to 40 bytes a sample, and with
// all parts of `stats` a quarter of the instructions (`bench/run window`). Exception: `moments`
// without weights has to combine the numbers of samples.

#ifndef WAYBILL_WINDOW_DETAIL_STORED_MEASURE_HPP
#define WAYBILL_WINDOW_DETAIL_STORED_MEASURE_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/window/measures.hpp>

namespace waybill::inline v0_2::detail {

/// Several parts as one measure, without the number of samples.
template <measurable V, class... Parts>
struct combined_parts : Parts... {
    using value_type = V;
    static constexpr bool weighted = (std::same_as<Parts, weighted_count<V>> || ...);
    static constexpr bool commutative = true;

    [[nodiscard]] static constexpr combined_parts identity() noexcept { return {}; }
    template <class S>
    [[nodiscard]] static constexpr combined_parts of(const S& s) noexcept
    {
        return {Parts::of(s)...};
    }
    /// Inlined for the reason named at `measures::combine`.
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static constexpr combined_parts combine(
        const combined_parts& a, const combined_parts& b) noexcept
    {
        return {Parts::combine(a, b)...};
    }

    /// For `moments`.
    [[nodiscard]] constexpr std::uint64_t weight() const noexcept
    {
        if constexpr (weighted) return this->weights;
        else return this->points;
    }
};

/// Appends the types `Parts` to a `combined_parts`, without `ends`.
template <class Combined, class... Parts>
struct append_parts {
    using type = Combined;
};
template <class V, class... Done, class Part, class... Rest>
struct append_parts<combined_parts<V, Done...>, Part, Rest...>
    : append_parts<combined_parts<V, Done..., Part>, Rest...> {};
template <class V, class... Done, class... Rest>
struct append_parts<combined_parts<V, Done...>, ends<V>, Rest...>
    : append_parts<combined_parts<V, Done...>, Rest...> {};

/// False for a part of the caller's own: it may read every member of the measure.
template <class Part, class V>
inline constexpr bool is_known_part =
    std::same_as<Part, weighted_count<V>> || std::same_as<Part, summed<V>> ||
    std::same_as<Part, compensated<V>> || std::same_as<Part, extremes<V>> ||
    std::same_as<Part, moments<V>> || std::same_as<Part, ends<V>>;

/// `type` is the measure that a window stores with each sample of its ring. `completed` adds the
/// other parts of `Measure`. A measure of another class is stored as it is.
template <class Measure>
struct stored {
    using type = Measure;

    template <class Ring>
    [[nodiscard]] static const Measure& completed(const Measure& m, const Ring&) noexcept
    {
        return m;
    }
};

template <measurable V, template <class> class... Parts>
    requires(is_known_part<Parts<V>, V> && ...)
struct stored<measures<V, Parts...>> {
    static constexpr bool needs_count =
        (std::same_as<Parts<V>, moments<V>> || ...) && !measures<V, Parts...>::weighted;
    using start = std::conditional_t<needs_count, combined_parts<V, counted<V>>, combined_parts<V>>;
    using type = typename append_parts<start, Parts<V>...>::type;

    /// The whole measure. Requires: `m` is that of all measured samples of the ring.
    template <class Ring>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static measures<V, Parts...> completed(const type& m,
                                                                               const Ring& r)
    {
        return {counted<V>{r.measured()}, part<Parts<V>>(m, r)...};
    }

private:
    template <class Part, class Ring>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE static Part part(const type& m, const Ring& r)
    {
        if constexpr (!std::same_as<Part, ends<V>>) {
            return m;
        } else {
            if (r.measured() == 0) return {};
            const auto& first = r.oldest();
            const auto& last = r[r.measured() - 1];
            return {first.value, last.value, first.at.since_epoch(), last.at.since_epoch()};
        }
    }
};

template <class Measure>
using stored_measure = typename stored<Measure>::type;

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_STORED_MEASURE_HPP
