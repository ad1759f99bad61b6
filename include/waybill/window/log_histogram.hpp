// SPDX-License-Identifier: MIT
//
// log_histogram: quantiles of any number of values, with a relative error below one percent.
//
//     waybill::log_histogram<> latency;                  // 2^6 buckets for each power of two
//     latency.add(0.0123);
//     latency.add(0.2, 50);                              // one value that stands for 50 events
//     latency.merge(of_another_process);
//     std::optional<double> p99 = latency.quantile(0.99);
//
// Guarantees, for 2^Bits buckets for each power of two (the default is 2^6)
//   1. The error is at most 2^-(Bits + 1) of the exact quantile (see quantile.hpp), for any finite
//      value. Zero, the lowest and the highest value are exact. Integers beyond 2^53 are rounded to
//      double first.
//   2. Merging equals adding all values to one histogram: equal by ==, in any order.
//   3. Memory: 8 bytes a bucket, for all powers of two between the lowest and highest magnitude of
//      each sign. 10 KiB for values from 1 to a million; at most 2,098 powers of two a sign,
//      2 MiB. A value whose power of two is covered allocates nothing.
//   4. Values that are not finite and weights of 0 are not added, but counted. If the total weight
//      reaches 2^64 - 1 it saturates, and there is no quantile.
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_LOG_HISTOGRAM_HPP
#define WAYBILL_WINDOW_LOG_HISTOGRAM_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/window/quantile.hpp>
#include <waybill/window/sample.hpp>

namespace waybill::inline v0_2 {

template <unsigned Bits = 6>
class log_histogram {
    static_assert(Bits <= 16, "a histogram has at most 2^16 buckets for each power of two");

public:
    /// The maximum relative error of a quantile: 2^-(Bits + 1).
    static constexpr double relative_error = 1.0 / static_cast<double>(std::uint64_t{2} << Bits);
    /// The maximum number of buckets: two signs * 2,098 powers of two * 2^Bits. A double has 52
    /// powers of two as denormal and 2,046 as normal number.
    static constexpr std::uint64_t max_buckets = (std::uint64_t{2} * 2098) << Bits;

    constexpr log_histogram() = default;
    constexpr ~log_histogram() = default;
    constexpr log_histogram(const log_histogram&) = default;
    constexpr log_histogram& operator=(const log_histogram&) = default;
    /// After a move construction the source is empty; after a move assignment it has the target's
    /// old value.
    constexpr log_histogram(log_histogram&& o) noexcept { swap(o); }
    constexpr log_histogram& operator=(log_histogram&& o) noexcept
    {
        swap(o);
        return *this;
    }

    /// Adds a value that stands for `weight` events. Returns false if it was not added: the value
    /// is not finite or the weight is 0. The bucket is found in constant time without a logarithm,
    /// and is the same on every platform.
    template <detail::measurable V>
    constexpr bool add(V value, std::uint64_t weight = 1)
    {
        return add_double(static_cast<double>(value), weight);
    }

    /// Adds all values of another histogram. O(buckets of both). If an allocation fails, nothing is
    /// added.
    constexpr void merge(const log_histogram& o)
    {
        positive_.reserve(o.positive_.first, o.positive_.end());
        negative_.add(o.negative_);  // the last call that may fail to allocate
        positive_.add(o.positive_);
        weight_of_zeros_ = detail::saturating_add(weight_of_zeros_, o.weight_of_zeros_);
        if (o.value_count_ != 0) add_totals(o.lowest_, o.highest_, o.value_count_, o.weight_);
        not_finite_ = detail::saturating_add(not_finite_, o.not_finite_);
        no_weight_ = detail::saturating_add(no_weight_, o.no_weight_);
    }

    /// The lowest value such that at least a share q of the weight is at or below it, within the
    /// relative error. Empty without values, if q is not in [0, 1], or if the weight is saturated.
    /// O(buckets).
    [[nodiscard]] constexpr std::optional<double> quantile(double q) const noexcept
    {
        const std::uint64_t rank = detail::quantile_rank(q, weight_);
        if (rank == 0) return {};
        if (rank == 1) return lowest_;
        if (rank == weight_) return highest_;
        std::uint64_t seen = 0;  // cannot overflow, since weight_ has not
        for (std::uint32_t n = negative_.end(); n != negative_.first; --n) {
            seen += negative_[n - 1];
            if (seen >= rank) return clamped(-middle_of(n - 1));
        }
        seen += weight_of_zeros_;
        if (seen >= rank) return 0.0;
        for (std::uint32_t n = positive_.first; n != positive_.end(); ++n) {
            seen += positive_[n];
            if (seen >= rank) return clamped(middle_of(n));
        }
        return highest_;
    }

    [[nodiscard]] constexpr bool empty() const noexcept { return value_count_ == 0; }

    /// The number of values that were added, and their total weight. Both saturate.
    [[nodiscard]] constexpr std::uint64_t points() const noexcept { return value_count_; }
    [[nodiscard]] constexpr std::uint64_t weight() const noexcept { return weight_; }

    /// The exact lowest and highest value. Empty without values.
    [[nodiscard]] constexpr std::optional<double> lowest() const noexcept
    {
        return empty() ? std::optional<double>() : lowest_;
    }
    [[nodiscard]] constexpr std::optional<double> highest() const noexcept
    {
        return empty() ? std::optional<double>() : highest_;
    }

    /// The number of values that were not added: infinite or NaN, and with a weight of 0.
    [[nodiscard]] constexpr std::uint64_t not_finite() const noexcept { return not_finite_; }
    [[nodiscard]] constexpr std::uint64_t no_weight() const noexcept { return no_weight_; }

    /// The number of allocated buckets, 8 bytes each.
    [[nodiscard]] constexpr std::uint64_t buckets() const noexcept
    {
        return positive_.weights.size() + negative_.weights.size();
    }

    friend bool operator==(const log_histogram&, const log_histogram&) = default;

private:
    static constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63U;
    static constexpr std::uint32_t buckets_per_power = std::uint32_t{1} << Bits;
    // Powers of two are numbered from the smallest denormal number. The first 52 are denormal.
    static constexpr std::uint32_t denormal_powers = 52;

    /// The weights of consecutive buckets, ordered by magnitude. Covers whole powers of two.
    struct bucket_run {
        std::uint32_t first = 0;
        std::vector<std::uint64_t> weights;

        [[nodiscard]] constexpr std::uint32_t end() const noexcept
        {
            return first + static_cast<std::uint32_t>(weights.size());
        }
        [[nodiscard]] constexpr std::uint64_t operator[](std::uint32_t bucket) const noexcept
        {
            return weights[bucket - first];
        }

        /// Reserves memory to cover [from, until) as well.
        constexpr void reserve(std::uint32_t from, std::uint32_t until)
        {
            if (from == until) return;
            if (weights.empty()) return weights.reserve(until - from);
            weights.reserve((until < end() ? end() : until) - (first < from ? first : from));
        }

        /// Covers buckets [from, until) in addition. If an allocation fails, nothing changes.
        constexpr void cover(std::uint32_t from, std::uint32_t until)
        {
            if (from == until) return;
            reserve(from, until);
            if (weights.empty()) first = from;
            if (end() < until) weights.resize(until - first, 0);
            if (from < first) {
                weights.insert(weights.begin(), first - from, 0);
                first = from;
            }
        }

        constexpr void add(std::uint32_t bucket, std::uint64_t weight)
        {
            if (bucket - first >= weights.size()) {  // also true below `first`: it wraps
                const std::uint32_t from = bucket & ~(buckets_per_power - 1);
                cover(from, from + buckets_per_power);
            }
            std::uint64_t& w = weights[bucket - first];
            w = detail::saturating_add(w, weight);
        }

        constexpr void add(const bucket_run& o)
        {
            cover(o.first, o.end());
            for (std::uint32_t n = o.first; n != o.end(); ++n) {
                std::uint64_t& w = weights[n - first];
                w = detail::saturating_add(w, o[n]);
            }
        }

        friend bool operator==(const bucket_run&, const bucket_run&) = default;
    };

    constexpr void swap(log_histogram& o) noexcept
    {
        std::swap(positive_.first, o.positive_.first);
        positive_.weights.swap(o.positive_.weights);
        std::swap(negative_.first, o.negative_.first);
        negative_.weights.swap(o.negative_.weights);
        std::swap(weight_of_zeros_, o.weight_of_zeros_);
        std::swap(value_count_, o.value_count_);
        std::swap(weight_, o.weight_);
        std::swap(lowest_, o.lowest_);
        std::swap(highest_, o.highest_);
        std::swap(not_finite_, o.not_finite_);
        std::swap(no_weight_, o.no_weight_);
    }

    constexpr bool add_double(double value, std::uint64_t weight)
    {
        if (!detail::is_finite(value)) {
            ++not_finite_;
            return false;
        }
        if (weight == 0) {
            ++no_weight_;
            return false;
        }
        const auto bits = std::bit_cast<std::uint64_t>(value);
        if (value == 0) {
            value = 0;  // removes the sign of -0
            weight_of_zeros_ = detail::saturating_add(weight_of_zeros_, weight);
        } else {
            (value < 0 ? negative_ : positive_).add(bucket_of(bits & ~sign_bit), weight);
        }
        add_totals(value, value, 1, weight);
        return true;
    }

    constexpr void add_totals(double low, double high, std::uint64_t points,
                              std::uint64_t weight) noexcept
    {
        if (value_count_ == 0 || low < lowest_) lowest_ = low;
        if (value_count_ == 0 || highest_ < high) highest_ = high;
        value_count_ = detail::saturating_add(value_count_, points);
        weight_ = detail::saturating_add(weight_, weight);
    }

    /// The bucket of a positive number, given its bits. `skipped` may wrap below 0; the sum wraps
    /// back.
    [[nodiscard]] static constexpr std::uint32_t bucket_of(std::uint64_t bits) noexcept
    {
        std::uint32_t skipped = denormal_powers - 1;
        if ((bits >> 52U) == 0) {
            // Shifts the highest set bit into the exponent field, which becomes 1.
            const auto shift = static_cast<std::uint32_t>(53 - std::bit_width(bits));
            bits <<= shift;
            skipped -= shift;
        }
        return static_cast<std::uint32_t>(bits >> (52U - Bits)) + skipped * buckets_per_power;
    }

    /// The middle of a bucket. For a bucket with a single denormal number, that number.
    [[nodiscard]] static constexpr double middle_of(std::uint32_t bucket) noexcept
    {
        const std::uint32_t power = bucket / buckets_per_power;
        const std::uint32_t shift = power < denormal_powers ? denormal_powers - power : 0;
        const std::uint64_t upper = bucket - (denormal_powers - 1 - shift) * buckets_per_power;
        const std::uint64_t bits = ((upper * 2 + 1) << (51U - Bits)) >> shift;
        return std::bit_cast<double>(bits);
    }

    /// The value, limited to [lowest_, highest_].
    [[nodiscard]] constexpr double clamped(double value) const noexcept
    {
        if (value < lowest_) return lowest_;
        return highest_ < value ? highest_ : value;
    }

    bucket_run positive_;  // weights of the values above zero
    bucket_run negative_;  // weights of the values below zero, by magnitude
    std::uint64_t weight_of_zeros_ = 0;
    std::uint64_t value_count_ = 0;
    std::uint64_t weight_ = 0;
    double lowest_ = 0;
    double highest_ = 0;
    std::uint64_t not_finite_ = 0;
    std::uint64_t no_weight_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_LOG_HISTOGRAM_HPP
