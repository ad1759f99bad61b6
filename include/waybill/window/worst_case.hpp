// SPDX-License-Identifier: MIT
//
// worst_case: the measure of a window in constant time, each single time.
//
// Part of the sliding window. This is DABA Lite (Tangwongsan, Hirzel and Schneider, "In-order
// sliding-window aggregation in worst-case constant time", VLDB Journal 2021): two stacks in one
// ring again, but the newer one becomes the older one a little with every sample, before it is
// needed. Between the oldest sample f and the end e stand four marks, l <= r <= a <= b:
//
//     [f, l)  beside each: the measure from it to b
//     [l, r)  beside each: the measure from it to r
//     [r, a)  nothing as yet
//     [a, b)  beside each: the measure from it to b
//     [b, e)  nothing; newer_ is the measure of all of it, and middle_ that of [r, b)
//
// With every sample that comes or goes l moves up by one and a down by one, until [l, r) and [r, a)
// are used up together; then all three move up over [a, b), and when that is used up, too, [b, e)
// becomes [r, a). Combines: at most three for a sample that comes, two for one that goes, one for
// an answer.
//
// What is kept is how far the marks are apart, and the places of l and a while they are between
// others: [l, r) and [r, a) are equally long.

#ifndef WAYBILL_WINDOW_WORST_CASE_HPP
#define WAYBILL_WINDOW_WORST_CASE_HPP

#include <cstdint>

namespace waybill::inline v0_2 {

template <class Measure>
class worst_case {
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
    void came(Ring& r, Sample s)
    {
        // Each time combined to where it is wanted: copied from where it was written to just before
        // in other pieces, it would be waited for.
        if (older_ == 0) {
            r.beside(r.first()) = Measure::of(s);
            return begin(r);
        }
        if (between_ + done_ == 0) {
            middle_ = Measure::combine(newer_, Measure::of(s));
            turn(r);
        } else {
            newer_ = Measure::combine(newer_, Measure::of(s));
        }
        step(r);
    }
    /// The same, and if it is told again, `told_again` will know what there was without it.
    template <class Ring, class Sample>
    void came_first(Ring& r, Sample s)
    {
        before_newest_ = newer_;
        came(r, s);
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

    /// The n oldest go, one by one.
    template <class Ring>
    void forget(Ring& r, std::uint64_t n)
    {
        for (; n != 0; --n) {
            r.drop(1);
            if (--older_ == 0) {
                if (r.measured() != 0) r.beside(r.first()) = newer_;
                begin(r);
                continue;
            }
            if (between_ + done_ == 0) {
                middle_ = newer_;
                turn(r);
            }
            step(r);
        }
    }

    /// How many samples are not just in the measure of the newer ones.
    [[nodiscard]] std::uint64_t older() const noexcept { return older_; }

    /// The ring has grown, and all samples have other places. The oldest one had `first`, and there
    /// were so many.
    void moved(std::uint64_t first, std::uint64_t room) noexcept
    {
        l_ = l_ < first ? l_ + room - first : l_ - first;
        a_ = a_ < first ? a_ + room - first : a_ - first;
    }

    /// Samples have changed: all measures are made again. A quarter stays newer, so that a sample
    /// that comes nearly as late as the last one does not make them all again.
    template <class Ring>
    void start_anew(Ring& r)
    {
        // l is always one farther from f than e is from b.
        const std::uint64_t newer = r.measured() / 4;
        older_ = r.measured() - newer;
        between_ = 0;
        done_ = older_ == 0 ? 0 : older_ - newer - 1;
        middle_ = Measure::identity();
        const auto border = r.place_of(older_);
        auto p = border;
        Measure sum = Measure::identity();
        Measure before = sum;
        for (std::uint64_t n = 0; n != newer; ++n, p = r.after(p)) {
            before = sum;
            sum = Measure::combine(sum, Measure::of(r.at(p)));
        }
        newer_ = sum;
        before_newest_ = before;
        sum = Measure::identity();
        p = border;
        for (std::uint64_t n = older_; n != 0; --n) {
            p = r.before(p);
            sum = Measure::combine(Measure::of(r.at(p)), sum);
            r.beside(p) = sum;
        }
    }

private:
    // There is one sample at most, and its measure stands beside it.
    template <class Ring>
    void begin(Ring& r)
    {
        older_ = r.measured();
        between_ = done_ = 0;
        newer_ = Measure::identity();
    }

    // The newer ones have become the middle ones.
    template <class Ring>
    void turn(Ring& r)
    {
        l_ = r.first();
        a_ = r.place_of(r.measured());
        between_ = older_;
        older_ = r.measured();
        newer_ = Measure::identity();
    }

    template <class Ring>
    [[gnu::always_inline]] void step(Ring& r)
    {
        if (between_ == 0) {
            --done_;
            return;
        }
        Measure& left = r.beside(l_);
        left = Measure::combine(left, middle_);
        l_ = r.after(l_);
        const auto behind = a_;
        a_ = r.before(a_);
        const Measure one = Measure::of(r.at(a_));
        r.beside(a_) = done_ == 0 ? one : Measure::combine(one, r.beside(behind));
        --between_;
        ++done_;
    }

    std::uint64_t older_ = 0;    // b - f
    std::uint64_t between_ = 0;  // r - l, and a - r
    std::uint64_t done_ = 0;     // b - a
    std::uint64_t l_ = 0;
    std::uint64_t a_ = 0;
    Measure middle_ = Measure::identity();
    Measure newer_ = Measure::identity();
    Measure before_newest_ = Measure::identity();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_WORST_CASE_HPP
