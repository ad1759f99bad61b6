// SPDX-License-Identifier: MIT
//
// worst_case: maintains the measure of a sliding window in constant time for each operation.
//
// A policy of `sliding_window`. DABA Lite (Tangwongsan, Hirzel and Schneider, "In-order
// sliding-window aggregation in worst-case constant time", VLDB Journal 2021): two stacks in one
// ring. Each insertion and removal converts a part of the newer stack to the older one in advance.
// f is the oldest sample, e the end. Four marks f <= l <= r <= a <= b <= e divide the samples. The
// ring can store a measure with each sample:
//
//     [f, l)  the measure of the samples from this one up to b
//     [l, r)  the measure of the samples from this one up to r
//     [r, a)  none yet
//     [a, b)  the measure of the samples from this one up to b
//     [b, e)  none; newer_ is the measure of all of them, and middle_ that of [r, b)
//
// [l, r) and [r, a) have equal lengths. Each insertion and removal moves l up by one and a down by
// one, until both are empty. Then each of them moves l, r and a up by one through [a, b). When that
// is empty, [b, e) becomes [r, a).
//
// Cost in calls of `Measure::combine`: at most 3 to insert a sample, 2 to remove one, 1 for a
// query.

#ifndef WAYBILL_WINDOW_WORST_CASE_HPP
#define WAYBILL_WINDOW_WORST_CASE_HPP

#include <cstdint>

#include <waybill/core/detail/inlining.hpp>

namespace waybill::inline v0_2 {

template <class Measure>
class worst_case {
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
    /// part.
    template <class Ring, class Sample>
    void add(Ring& r, const Sample& s)
    {
        if (steps_left_ == 0) [[unlikely]]
            return add_between_conversions(r, s);
        newer_ = Measure::combine(newer_, Measure::of(s));
        convert_next(r);
    }
    /// Like `add`, for the newest measured sample. A later `replace_newest` can replace this
    /// sample.
    template <class Ring, class Sample>
    void add_newest(Ring& r, const Sample& s)
    {
        newer_without_newest_ = newer_;
        add(r, s);
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

    /// The number of samples that `forget_oldest` can remove one by one: all.
    [[nodiscard]] static constexpr std::uint64_t forgettable() noexcept
    {
        return ~std::uint64_t{0};
    }

    /// Removes the oldest sample, in constant time. Requires: it is measured.
    template <class Ring>
    void forget_oldest(Ring& r)
    {
        r.drop_oldest();
        if (--older_count_ == 0) {
            if (r.measured() != 0) r.measure_at(r.first()) = newer_;
            return restart(r);
        }
        if (steps_left_ == 0) {
            middle_ = newer_;
            begin_conversion(r);
        }
        convert_next(r);
    }

    /// Removes the n oldest samples, in constant time each. Requires: all of them are measured.
    template <class Ring>
    void forget(Ring& r, std::uint64_t n)
    {
        for (; n != 0; --n) forget_oldest(r);
    }

    /// The number of samples before the newer part: b - f.
    [[nodiscard]] std::uint64_t older_count() const noexcept { return older_count_; }

    /// Called after the ring has grown. `first` is the former place of the oldest sample, and
    /// `room` the former room of the ring.
    void moved(std::uint64_t first, std::uint64_t room) noexcept
    {
        l_place_ = l_place_ < first ? l_place_ + room - first : l_place_ - first;
        a_place_ = a_place_ < first ? a_place_ + room - first : a_place_ - first;
    }

    /// Recomputes all measures after samples have changed. A quarter of the samples stays in the
    /// newer part, so that the next sample that is about as late needs no recomputation.
    template <class Ring>
    void recompute(Ring& r)
    {
        // Invariant: l - f == e - b + 1.
        const std::uint64_t newer = r.measured() / 4;
        older_count_ = r.measured() - newer;
        steps_left_ = older_count_ == 0 ? 0 : older_count_ - newer - 1;
        half_ = steps_left_;
        middle_ = Measure::identity();
        const auto border = r.place_of(older_count_);
        auto p = border;
        Measure sum = Measure::identity();
        Measure before = sum;
        for (std::uint64_t n = 0; n != newer; ++n, p = r.after(p)) {
            before = sum;
            sum = Measure::combine(sum, Measure::of(r.at(p)));
        }
        newer_ = sum;
        newer_without_newest_ = before;
        r.measure_before(border, older_count_);
    }

private:
    // Makes all measured samples the older part: none, or one whose measure is in the ring.
    template <class Ring>
    void restart(Ring& ring)
    {
        older_count_ = ring.measured();
        steps_left_ = 0;
        newer_ = Measure::identity();
    }

    // Makes the older samples [l, r) and the newer ones [r, a), both still to be converted. The
    // caller first sets `middle_` to the measure of the newer samples.
    template <class Ring>
    void begin_conversion(Ring& ring)
    {
        l_place_ = ring.first();
        a_place_ = ring.place_of(ring.measured());
        half_ = older_count_;
        steps_left_ = 2 * older_count_;
        older_count_ = ring.measured();
        newer_ = Measure::identity();
    }

    /// The part of `add` for the first sample, and for one that begins a conversion.
    template <class Ring, class Sample>
    WAYBILL_NOINLINE void add_between_conversions(Ring& r, const Sample& s)
    {
        if (older_count_ == 0) {
            r.measure_at(r.first()) = Measure::of(s);
            return restart(r);
        }
        // Not a copy of `newer_`: it would load a measure that was just stored in pieces of another
        // size. Store forwarding would fail, so the copy would wait.
        middle_ = Measure::combine(newer_, Measure::of(s));
        begin_conversion(r);
        convert_next(r);
    }

    template <class Ring>
    void convert_next(Ring& r)
    {
        const bool first = steps_left_ == 2 * half_;
        if (steps_left_-- <= half_) return;
        Measure& left = r.measure_at(l_place_);
        left = Measure::combine(left, middle_);
        l_place_ = r.after(l_place_);
        const auto after_a = a_place_;
        a_place_ = r.before(a_place_);
        Measure& right = r.measure_at(a_place_);
        if (first) right = Measure::of(r.at(a_place_));
        else right = Measure::combine(Measure::of(r.at(a_place_)), r.measure_at(after_a));
    }

    // A step of the first half of a conversion takes a sample from [l, r) and one from [r, a). A
    // step of the second half takes a sample from [a, b). While steps_left_ > half_, |[l, r)| is
    // steps_left_ - half_; then it is 0.
    std::uint64_t older_count_ = 0;  // |[f, b)|
    std::uint64_t steps_left_ = 0;
    std::uint64_t half_ = 0;     // the number of steps of the second half
    std::uint64_t l_place_ = 0;  // place of l, used only in the first half
    std::uint64_t a_place_ = 0;  // place of a, used only in the first half
    Measure middle_ = Measure::identity();
    Measure newer_ = Measure::identity();
    Measure newer_without_newest_ = Measure::identity();
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_WORST_CASE_HPP
