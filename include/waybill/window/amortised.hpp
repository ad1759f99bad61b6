// SPDX-License-Identifier: MIT
//
// amortised: the measure of a window in constant time on the average.
//
// Part of the sliding window. Two stacks in one ring (the textbook's queue of two stacks, without
// the copies): beside each sample of the older part stands the measure of all from it to the end of
// that part, so that forgetting the oldest one is forgetting its measure; the newer part has one
// measure in all. When the older part is used up, the newer one becomes it, from its end to its
// front.
//
//     older:  Σ[0,4) Σ[1,4) Σ[2,4) Σ[3,4)  |  newer:  x4 x5 x6,  newer_ = Σ[4,7)
//
// Combines: one for a sample that comes, one on the average for one that goes, one for an answer.
// The sample that empties the older part pays for all of the newer one.

#ifndef WAYBILL_WINDOW_AMORTISED_HPP
#define WAYBILL_WINDOW_AMORTISED_HPP

#include <cstdint>

namespace waybill::inline v0_1 {

template <class Measure>
class amortised {
public:
    /// The measure of all samples.
    template <class Ring>
    [[nodiscard]] Measure all(const Ring& r) const
    {
        if (r.begin() == border_) return newer_;
        return Measure::combine(r.beside(r.begin()), newer_);
    }

    /// The newest sample has come; or one among those behind the border, where order does not
    /// matter.
    template <class Ring, class Sample>
    void came(Ring&, Sample s)
    {
        newer_ = Measure::combine(newer_, Measure::of(s));
    }

    /// All in front of sample `n` go.
    template <class Ring>
    void forget_until(Ring& r, std::uint64_t n)
    {
        r.drop_until(n);
        if (n > border_) turn(r, r.end());
    }

    /// The first sample that is in no measure but the newest part's.
    [[nodiscard]] std::uint64_t border() const noexcept { return border_; }

    /// Samples have changed: all measures are made again. A quarter stays newer, so that a sample
    /// that comes nearly as late as the last one does not make them all again.
    template <class Ring>
    void start_anew(Ring& r)
    {
        turn(r, r.end() - r.size() / 4);
    }

private:
    /// The older part ends at `border` from now on.
    template <class Ring>
    void turn(Ring& r, std::uint64_t border)
    {
        border_ = border;
        newer_ = Measure::identity();
        for (std::uint64_t n = border; n != r.end(); ++n) {
            newer_ = Measure::combine(newer_, Measure::of(r[n]));
        }
        Measure sum = Measure::identity();
        for (std::uint64_t n = border; n != r.begin(); --n) {
            sum = Measure::combine(Measure::of(r[n - 1]), sum);
            r.beside(n - 1) = sum;
        }
    }

    std::uint64_t border_ = 0;
    Measure newer_ = Measure::identity();
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_WINDOW_AMORTISED_HPP
