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

namespace waybill::inline v0_2 {

template <class Measure>
class amortised {
public:
    /// The measure of all samples that are not waiting.
    template <class Ring>
    [[nodiscard]] Measure all(const Ring& r) const
    {
        if (older_ == 0) return newer_;
        return Measure::combine(r.beside(r.first()), newer_);
    }

    /// The newest sample that is measured has come; or one among the newer ones, where order does
    /// not matter.
    template <class Ring, class Sample>
    void came(Ring&, Sample s)
    {
        newer_ = Measure::combine(newer_, Measure::of(s));
    }
    /// The same, and if it is told again, `told_again` will know what there was without it.
    template <class Ring, class Sample>
    void came_first(Ring&, Sample s)
    {
        before_newest_ = newer_;
        newer_ = Measure::combine(newer_, Measure::of(s));
    }
    /// The same for one that is not the newest.
    template <class Ring, class Sample>
    void came_late(Ring& r, Sample s)
    {
        before_newest_ = Measure::combine(before_newest_, Measure::of(s));
        came(r, s);
    }

    /// The newest sample that is measured is another one. Requires: it is one of the newer ones,
    /// and all that came since the measures were made anew have come in these two ways.
    template <class Ring, class Sample>
    void told_again(Ring&, Sample s)
    {
        newer_ = Measure::combine(before_newest_, Measure::of(s));
    }

    /// The n oldest go.
    template <class Ring>
    void forget(Ring& r, std::uint64_t n)
    {
        r.drop(n);
        if (n <= older_) older_ -= n;
        else turn(r, r.measured());
    }

    /// How many samples are not just in the measure of the newer ones.
    [[nodiscard]] std::uint64_t older() const noexcept { return older_; }

    /// The ring has grown, and all samples have other places. No place is kept here.
    void moved(std::uint64_t, std::uint64_t) noexcept {}

    /// Samples have changed: all measures are made again. A quarter stays newer, so that a sample
    /// that comes nearly as late as the last one does not make them all again.
    template <class Ring>
    void start_anew(Ring& r)
    {
        turn(r, r.measured() - r.measured() / 4);
    }

private:
    /// So many are the older ones from now on.
    template <class Ring>
    void turn(Ring& r, std::uint64_t older)
    {
        older_ = older;
        const auto border = r.place_of(older);
        auto p = border;
        Measure sum = Measure::identity();
        Measure before = sum;
        for (std::uint64_t n = older; n != r.measured(); ++n, p = r.after(p)) {
            before = sum;
            sum = Measure::combine(sum, Measure::of(r.at(p)));
        }
        newer_ = sum;
        before_newest_ = before;
        sum = Measure::identity();
        p = border;
        for (std::uint64_t n = older; n != 0; --n) {
            p = r.before(p);
            sum = Measure::combine(Measure::of(r.at(p)), sum);
            r.beside(p) = sum;
        }
    }

    std::uint64_t older_ = 0;
    Measure newer_ = Measure::identity();
    Measure before_newest_ = Measure::identity();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_AMORTISED_HPP
