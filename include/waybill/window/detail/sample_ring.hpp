// SPDX-License-Identifier: MIT
//
// sample_ring: a ring buffer of samples ordered by time, with one measure for each sample.
//
// Part of the sliding window. It has room for exactly as many samples as requested. Places count
// from 0 and wrap around with one comparison. A bit mask would require a power of two, and so up to
// twice the memory.
//
// The newest samples may be waiting: they are stored, and no measure includes them yet.

#ifndef WAYBILL_WINDOW_DETAIL_SAMPLE_RING_HPP
#define WAYBILL_WINDOW_DETAIL_SAMPLE_RING_HPP

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

template <class Sample, class Measure>
class sample_ring {
public:
    /// The position of a sample. Changes when the ring grows.
    using place = std::uint64_t;

    sample_ring() = default;
    ~sample_ring() = default;
    sample_ring(const sample_ring&) = default;
    sample_ring& operator=(const sample_ring&) = default;
    sample_ring(sample_ring&& o) noexcept { swap(o); }
    sample_ring& operator=(sample_ring&& o) noexcept
    {
        swap(o);
        return *this;
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t room() const noexcept { return room_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// The number of newest samples that are waiting, and the number of the other samples.
    [[nodiscard]] std::uint64_t waiting() const noexcept { return waiting_; }
    [[nodiscard]] std::uint64_t measured() const noexcept { return size_ - waiting_; }
    /// Makes exactly the n newest samples wait. Requires: n <= size().
    void set_waiting(std::uint64_t n) noexcept { waiting_ = n; }

    [[nodiscard]] place first() const noexcept { return oldest_; }
    [[nodiscard]] place after(place p) const noexcept { return p + 1 == room_ ? 0 : p + 1; }
    [[nodiscard]] place before(place p) const noexcept { return (p == 0 ? room_ : p) - 1; }

    /// The place of the n-th oldest sample, from 0. Requires: n <= size().
    [[nodiscard]] place place_of(std::uint64_t n) const noexcept
    {
        const place p = oldest_ + n;
        return p < room_ ? p : p - room_;
    }

    [[nodiscard]] const Sample& at(place p) const noexcept { return samples_[p]; }
    [[nodiscard]] const Measure& measure_at(place p) const noexcept { return measures_[p]; }
    [[nodiscard]] Measure& measure_at(place p) noexcept { return measures_[p]; }

    /// The n-th oldest sample, from 0. Requires: n < size().
    [[nodiscard]] Sample& operator[](std::uint64_t n) noexcept { return samples_[place_of(n)]; }
    [[nodiscard]] const Sample& operator[](std::uint64_t n) const noexcept
    {
        return samples_[place_of(n)];
    }
    [[nodiscard]] const Sample& oldest() const noexcept { return samples_[oldest_]; }
    [[nodiscard]] const Sample& newest() const noexcept { return (*this)[size_ - 1]; }

    /// The number of samples at or before `t`. O(log d) for d samples after it.
    template <class Time>
    [[nodiscard]] std::uint64_t count_until(Time t) const noexcept
    {
        std::uint64_t n = size_;
        for (; n != 0 && t < (*this)[n - 1].at; --n) {
            if (size_ - n == few) return search(t, n);
        }
        return n;
    }

    /// The number of samples before `t`. O(result).
    template <class Time>
    [[nodiscard]] std::uint64_t count_before(Time t) const noexcept
    {
        std::uint64_t n = 0;
        for (place p = oldest_; n != size_ && samples_[p].at < t; ++n) p = after(p);
        return n;
    }

    /// Appends a sample as the newest. Requires: size() < room().
    void push(Sample s) { samples_[place_of(size_++)] = s; }
    /// The same; returns the sample. Sets it field by field: a copy of a whole sample would load
    /// fields that were just stored one by one. Store forwarding would fail, so the copy would
    /// wait. With weights, an operation would take up to twice as long (`bench/run window`).
    template <class Time, class Value>
    const Sample& push(Time at, Value value, std::uint32_t weight)
    {
        Sample& s = samples_[place_of(size_++)];
        s.at = at;
        if constexpr (requires { s.weight; }) s.weight = weight;
        s.value = value;
        return s;
    }

    /// Inserts a sample before the n-th oldest and moves all newer ones. Requires: size() < room().
    /// O(size() - n).
    void insert(std::uint64_t n, Sample s)
    {
        const place to = place_of(n);
        place end = place_of(size_);
        if (size_ - n > few) {
            if (end < to) {
                move_up(0, end);
                samples_[0] = samples_[room_ - 1];
                end = room_ - 1;
            }
            move_up(to, end);
        } else {
            while (end != to) {
                const place from = before(end);
                samples_[end] = samples_[from];
                end = from;
            }
        }
        samples_[to] = s;
        ++size_;
    }
    /// Adds n samples after the newest. The caller sets them. Requires: size() + n <= room().
    void extend(std::uint64_t n) noexcept { size_ += n; }

    /// Removes the oldest sample, or the n oldest. Neither changes `waiting()`: a caller that
    /// removes waiting samples has to set it.
    void drop_oldest() noexcept
    {
        oldest_ = after(oldest_);
        --size_;
    }
    void drop(std::uint64_t n) noexcept
    {
        oldest_ = place_of(n);
        size_ -= n;
    }

    /// Sets the measures of the n samples before `p`, from the newest to the oldest: each is the
    /// measure from its sample up to `p`. The ring is passed in two straight parts, which takes
    /// fewer instructions than `before`.
    void measure_before(place p, std::uint64_t n)
    {
        Measure sum = Measure::identity();
        if (n > p) {
            n -= p;
            while (p != 0) {
                --p;
                sum = Measure::combine(Measure::of(samples_[p]), sum);
                measures_[p] = sum;
            }
            p = room_;
        }
        for (const place end = p - n; p != end;) {
            --p;
            sum = Measure::combine(Measure::of(samples_[p]), sum);
            measures_[p] = sum;
        }
    }

    /// Removes the n newest samples. Requires: waiting() == 0.
    void drop_newest(std::uint64_t n) noexcept { size_ -= n; }

    /// Makes room for `new_room` samples, which must exceed size(). The place of each sample
    /// becomes its index.
    void grow(std::uint64_t new_room)
    {
        std::vector<Sample> samples(new_room);
        std::vector<Measure> measures(new_room, Measure::identity());
        place from = oldest_;
        for (std::uint64_t n = 0; n != size_; ++n, from = after(from)) {
            samples[n] = samples_[from];
            measures[n] = measures_[from];
        }
        samples_.swap(samples);
        measures_.swap(measures);
        room_ = new_room;
        oldest_ = 0;
    }

private:
    static constexpr std::uint64_t few = 8;  // a loop is as fast as a search or memmove

    /// The number of samples at or before `t`. Requires: at most n. O(log(n - result)).
    template <class Time>
    [[nodiscard]] WAYBILL_NOINLINE std::uint64_t search(Time t, std::uint64_t n) const noexcept
    {
        std::uint64_t step = 1;
        for (; step <= n && t < (*this)[n - step].at; step *= 2) n -= step;
        std::uint64_t low = step <= n ? n - step + 1 : 0;
        while (low != n) {
            const std::uint64_t middle = low + (n - low) / 2;
            if (t < (*this)[middle].at) n = middle;
            else low = middle + 1;
        }
        return low;
    }

    /// Moves the samples at the places [first, last) up by one.
    void move_up(place first, place last) noexcept
    {
        static_assert(std::is_trivially_copyable_v<Sample>);
        if (first == last) return;
        std::memmove(samples_.data() + first + 1, samples_.data() + first,
                     (last - first) * sizeof(Sample));
    }

    void swap(sample_ring& o) noexcept
    {
        samples_.swap(o.samples_);
        measures_.swap(o.measures_);
        std::swap(room_, o.room_);
        std::swap(oldest_, o.oldest_);
        std::swap(size_, o.size_);
        std::swap(waiting_, o.waiting_);
    }

    std::vector<Sample> samples_;
    std::vector<Measure> measures_;
    std::uint64_t room_ = 0;
    place oldest_ = 0;
    std::uint64_t size_ = 0;
    std::uint64_t waiting_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_SAMPLE_RING_HPP
