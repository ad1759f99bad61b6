// SPDX-License-Identifier: MIT
//
// window_samples: all samples of a sliding window: a ring, and a tree of the very late ones.
//
// Part of the sliding window. A sample is very late if its insertion into the ring would move more
// than 1,024 samples or recompute all measures. Such samples are in the tree, `late()`. They are
// older than the newest sample of the ring. Of samples with equal times, those of the ring are
// first.

#ifndef WAYBILL_WINDOW_DETAIL_WINDOW_SAMPLES_HPP
#define WAYBILL_WINDOW_DETAIL_WINDOW_SAMPLES_HPP

#include <cstdint>

#include <waybill/window/detail/late_samples.hpp>
#include <waybill/window/detail/sample_iterator.hpp>
#include <waybill/window/detail/sample_ring.hpp>
#include <waybill/window/detail/stored_measure.hpp>

namespace waybill::inline v0_2::detail {

template <class M>
inline constexpr bool is_commutative = requires { requires M::commutative; };

/// `size()` and `[n]` are those of the ring alone. The ring has stored measures, `late()` whole
/// ones.
template <class Sample, class Measure>
class window_samples : public sample_ring<Sample, stored_measure<Measure>> {
    using place = typename late_samples<Sample, Measure>::place;

public:
    using sample_type = Sample;
    using iterator = sample_iterator<window_samples>;
    using late_place = place;

    [[nodiscard]] const late_samples<Sample, Measure>& late() const noexcept { return late_; }
    [[nodiscard]] late_samples<Sample, Measure>& late() noexcept { return late_; }

    /// The number of all samples.
    [[nodiscard]] std::uint64_t count() const noexcept { return this->size() + late_.size(); }

    [[nodiscard]] bool oldest_is_late() const noexcept
    {
        return !late_.empty() && late_.oldest().at < this->oldest().at;
    }
    [[nodiscard]] const Sample& oldest_of_all() const noexcept
    {
        return oldest_is_late() ? late_.oldest() : this->oldest();
    }

    [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {*this, count()}; }

    /// The most samples in `late()`. Always 0 in a small window, where a recomputation is cheap.
    [[nodiscard]] std::uint64_t max_late() const noexcept
    {
        constexpr std::uint64_t share = 16;
        return is_commutative<Measure> && this->room() >= 4 * share ? this->room() / share : 0;
    }

    /// Makes room for `max_count` samples in the ring, and for the most of `late()`.
    void reserve(std::uint64_t max_count)
    {
        this->grow(max_count);
        if (max_late() != 0) late_.reserve(max_late());
    }

    /// Returns true if a sample of the time `at` is very late. Requires: n samples of the ring are
    /// not after it, and the first `older` ones are the older part of the policy.
    [[nodiscard]] bool is_very_late(std::uint64_t n, decltype(Sample::at) at,
                                    std::uint64_t older) const noexcept
    {
        // 1,024 samples of 16 bytes move in the time of an insertion into the tree (compare the
        // late samples in `bench/run window`).
        constexpr std::uint64_t max_moves = 1'024;
        if (max_late() == 0) return false;
        // After a recomputation the newest quarter is in the newer part of the policy.
        const std::uint64_t newer = this->size() - n;
        return newer > max_moves || (n < older && newer >= this->measured() / 4) ||
               late_.contains(at);
    }

    /// Moves all samples of `late()` into the ring. Its measures have to be recomputed. Requires:
    /// the ring has room for them.
    void move_late_into_ring() noexcept
    {
        std::uint64_t from = this->size();
        this->extend(late_.size());
        std::uint64_t to = this->size();
        late_.for_each_from_newest([&](const Sample& s) {
            while (from != 0 && s.at < (*this)[from - 1].at) (*this)[--to] = (*this)[--from];
            (*this)[--to] = s;
        });
        late_.clear();
    }

    /// The place in `late()` of the first sample that is the n-th oldest of all, or newer.
    [[nodiscard]] place late_from(std::uint64_t n) const
    {
        return late_.first_not([&](const Sample& s, std::uint64_t rank) {
            return rank + this->count_until(s.at) < n;
        });
    }
    /// The n-th oldest of all samples, if `late` is `late_from(n)`.
    [[nodiscard]] const Sample& sample(std::uint64_t n, place late) const noexcept
    {
        return is_late(n, late) ? late_.at(late.at) : (*this)[n - late.rank];
    }
    /// Moves `late` from `late_from(n)` to `late_from(n + 1)`.
    void step(std::uint64_t n, place& late) const noexcept
    {
        if (is_late(n, late)) late = {.at = late_.after(late.at), .rank = late.rank + 1};
    }

private:
    [[nodiscard]] bool is_late(std::uint64_t n, place late) const noexcept
    {
        if (late.at == late_.none) return false;
        const std::uint64_t in_ring = n - late.rank;
        return in_ring == this->size() || late_.at(late.at).at < (*this)[in_ring].at;
    }

    late_samples<Sample, Measure> late_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_WINDOW_SAMPLES_HPP
