// SPDX-License-Identifier: MIT
//
// worst_case: the measure of a window in constant time, each single time.
//
// Part of the sliding window. This is DABA Lite (Tangwongsan, Hirzel and Schneider, "In-order
// sliding- window aggregation in worst-case constant time", VLDB Journal 2021): two stacks in one
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

#ifndef WAYBILL_WINDOW_WORST_CASE_HPP
#define WAYBILL_WINDOW_WORST_CASE_HPP

#include <cstdint>

namespace waybill::inline v0_1 {

template <class Measure>
class worst_case {
public:
    /// The measure of all samples.
    template <class Ring>
    [[nodiscard]] Measure all(const Ring& r) const
    {
        if (r.begin() == b_) return newer_;
        return Measure::combine(r.beside(r.begin()), newer_);
    }

    /// The newest sample has come; or one among those behind the border, where order does not
    /// matter.
    template <class Ring, class Sample>
    void came(Ring& r, Sample s)
    {
        newer_ = Measure::combine(newer_, Measure::of(s));
        step(r);
    }

    /// All in front of sample `n` go, one by one.
    template <class Ring>
    void forget_until(Ring& r, std::uint64_t n)
    {
        while (r.begin() != n) {
            r.drop_until(r.begin() + 1);
            step(r);
        }
    }

    /// The first sample that is in no measure but the newest part's.
    [[nodiscard]] std::uint64_t border() const noexcept { return b_; }

    /// Samples have changed: all measures are made again. A quarter stays newer, so that a sample
    /// that comes nearly as late as the last one does not make them all again.
    template <class Ring>
    void start_anew(Ring& r)
    {
        // l is always one farther from f than e is from b.
        const std::uint64_t newer = r.size() / 4;
        b_ = r.end() - newer;
        l_ = r_ = a_ = r.begin() + (r.empty() ? 0 : newer + 1);
        middle_ = newer_ = Measure::identity();
        for (std::uint64_t n = b_; n != r.end(); ++n) {
            newer_ = Measure::combine(newer_, Measure::of(r[n]));
        }
        Measure sum = Measure::identity();
        for (std::uint64_t n = b_; n != r.begin(); --n) {
            sum = Measure::combine(Measure::of(r[n - 1]), sum);
            r.beside(n - 1) = sum;
        }
    }

private:
    template <class Ring>
    void step(Ring& r)
    {
        if (r.begin() == b_) {
            // Nothing older is left, and then there is one newer sample at most.
            for (std::uint64_t n = b_; n != r.end(); ++n) r.beside(n) = newer_;
            l_ = r_ = a_ = b_ = r.end();
            newer_ = middle_ = Measure::identity();
            return;
        }
        if (l_ == b_) {
            l_ = r.begin();
            r_ = b_;
            a_ = b_ = r.end();
            middle_ = newer_;
            newer_ = Measure::identity();
        }
        if (l_ == r_) {
            ++l_;
            ++r_;
            ++a_;
            return;
        }
        r.beside(l_) = Measure::combine(r.beside(l_), middle_);
        ++l_;
        --a_;
        const Measure one = Measure::of(r[a_]);
        r.beside(a_) = a_ + 1 == b_ ? one : Measure::combine(one, r.beside(a_ + 1));
    }

    std::uint64_t l_ = 0;
    std::uint64_t r_ = 0;
    std::uint64_t a_ = 0;
    std::uint64_t b_ = 0;
    Measure middle_ = Measure::identity();
    Measure newer_ = Measure::identity();
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_WINDOW_WORST_CASE_HPP
