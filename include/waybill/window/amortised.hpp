// SPDX-License-Identifier: MIT
//
// amortised: maintains the measure of a sliding window in amortised constant time.
//
// A policy of `sliding_window`, and its default. It is the textbook queue of two stacks, in one
// ring and without copies:
//   - The older part stores a suffix measure with each sample: the measure from it to the end of
//     the older part. Removing the oldest sample removes its suffix measure.
//   - The newer part has one measure in total, `newer_`.
//   - If more samples are removed than the older part contains, all remaining samples become the
//     older part. Their suffix measures are computed from the newest to the oldest.
//
//     older:  m[0,4) m[1,4) m[2,4) m[3,4)  |  newer:  x4 x5 x6,  newer_ = m[4,7)
//
// Cost in calls of `Measure::combine`: 1 to insert a sample, 1 on average to remove one, 1 for a
// query. A removal that exceeds the older part combines all samples of the newer part.

#ifndef WAYBILL_WINDOW_AMORTISED_HPP
#define WAYBILL_WINDOW_AMORTISED_HPP

#include <cstdint>

#include <waybill/core/detail/inlining.hpp>

namespace waybill::inline v0_2 {

template <class Measure>
class amortised {
public:
    /// The measure of all samples of the ring, without its waiting samples. At most one call of
    /// `combine`. Always inlined: otherwise the query would wait for a result in memory.
    template <class Ring>
    [[nodiscard]] WAYBILL_ALWAYS_INLINE Measure all(const Ring& r) const
    {
        // Not a copy of `newer_`: g++ 12 would then keep both results in memory.
        if (older_count_ == 0) [[unlikely]]
            return Measure::combine(Measure::identity(), newer_);
        return Measure::combine(r.measure_at(r.first()), newer_);
    }

    /// Adds a sample: the newest measured one, or for a commutative measure any sample of the newer
    /// part. Always inlined: g++ 12 would call it with all parts of `stats` (`bench/run window`).
    template <class Ring, class Sample>
    WAYBILL_ALWAYS_INLINE void add(Ring&, const Sample& s)
    {
        newer_ = Measure::combine(newer_, Measure::of(s));
    }
    /// Like `add`, for the newest measured sample. A later `replace_newest` can replace this
    /// sample.
    template <class Ring, class Sample>
    void add_newest(Ring&, const Sample& s)
    {
        newer_without_newest_ = newer_;
        newer_ = Measure::combine(newer_, Measure::of(s));
    }
    /// Like `add`, for a sample of the newer part that is not the newest. `replace_newest` stays
    /// possible.
    template <class Ring, class Sample>
    void add_late(Ring& r, const Sample& s)
    {
        newer_without_newest_ = Measure::combine(newer_without_newest_, Measure::of(s));
        add(r, s);
    }

    /// Replaces the newest measured sample by `s`. Requires: that sample is in the newer part, and
    /// all samples since the last `recompute` were added by `add_newest` or `add_late`.
    template <class Ring, class Sample>
    void replace_newest(Ring&, const Sample& s)
    {
        newer_ = Measure::combine(newer_without_newest_, Measure::of(s));
    }

    /// The number of samples that `forget_oldest` can remove one by one. To remove more, all are
    /// passed to `forget` at once.
    [[nodiscard]] std::uint64_t forgettable() const noexcept { return older_count_; }

    /// Removes the oldest sample. Requires: `forgettable()` is not 0.
    template <class Ring>
    void forget_oldest(Ring& r)
    {
        r.drop_oldest();
        --older_count_;
    }

    /// Removes the n oldest samples. Requires: all of them are measured.
    template <class Ring>
    void forget(Ring& r, std::uint64_t n)
    {
        r.drop(n);
        if (n <= older_count_) older_count_ -= n;
        else rebuild(r, r.measured());
    }

    /// The number of samples in the older part.
    [[nodiscard]] std::uint64_t older_count() const noexcept { return older_count_; }

    /// Called after the ring has grown and its samples have moved. Does nothing, since this class
    /// stores no places.
    void moved(std::uint64_t, std::uint64_t) noexcept {}

    /// Recomputes all measures after samples have changed. A quarter of the samples stays in the
    /// newer part, so that the next sample that is about as late needs no recomputation.
    template <class Ring>
    void recompute(Ring& r)
    {
        rebuild(r, r.measured() - r.measured() / 4);
    }

private:
    /// Recomputes all measures with the `older` oldest measured samples as the older part.
    template <class Ring>
    WAYBILL_NOINLINE void rebuild(Ring& r, std::uint64_t older)
    {
        older_count_ = older;
        const auto border = r.place_of(older);
        auto p = border;
        Measure sum = Measure::identity();
        Measure before = sum;
        for (std::uint64_t n = older; n != r.measured(); ++n, p = r.after(p)) {
            before = sum;
            sum = Measure::combine(sum, Measure::of(r.at(p)));
        }
        newer_ = sum;
        newer_without_newest_ = before;
        r.measure_before(border, older);
    }

    std::uint64_t older_count_ = 0;
    Measure newer_ = Measure::identity();
    Measure newer_without_newest_ = Measure::identity();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_AMORTISED_HPP
