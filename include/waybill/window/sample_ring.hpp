// SPDX-License-Identifier: MIT
//
// sample_ring: samples in the order of their times, in one block, with room for a measure beside
// each.
//
// Part of the sliding window. A sample keeps its number from when it comes until it goes; the
// number finds it with one mask, since the room is a power of two.

#ifndef WAYBILL_WINDOW_SAMPLE_RING_HPP
#define WAYBILL_WINDOW_SAMPLE_RING_HPP

#include <cstdint>
#include <utility>
#include <vector>

namespace waybill::inline v0_1 {

template <class Sample, class Measure>
class sample_ring {
public:
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

    /// The number of the oldest sample, and one behind that of the newest.
    [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return end_ - begin_; }
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

    [[nodiscard]] Sample& operator[](std::uint64_t n) noexcept { return samples_[at(n)]; }
    [[nodiscard]] const Sample& operator[](std::uint64_t n) const noexcept
    {
        return samples_[at(n)];
    }
    [[nodiscard]] const Measure& beside(std::uint64_t n) const noexcept { return measures_[at(n)]; }
    [[nodiscard]] Measure& beside(std::uint64_t n) noexcept { return measures_[at(n)]; }

    [[nodiscard]] const Sample& oldest() const noexcept { return (*this)[begin_]; }
    [[nodiscard]] const Sample& newest() const noexcept { return (*this)[end_ - 1]; }

    /// Room for so many samples. Numbers stay.
    void reserve(std::uint64_t n)
    {
        if (n > samples_.size()) grow(n);
    }

    void push(Sample s)
    {
        if (size() == samples_.size()) grow(size() + 1);
        samples_[at(end_)] = s;
        ++end_;
    }

    /// In front of sample `n`; those from there on move up by one number.
    void insert(std::uint64_t n, Sample s)
    {
        push(s);
        for (std::uint64_t i = end_ - 1; i != n; --i) samples_[at(i)] = samples_[at(i - 1)];
        samples_[at(n)] = s;
    }

    /// Forgets sample `n` and all behind it.
    void drop_from(std::uint64_t n) noexcept { end_ = n; }

    /// Forgets all in front of sample `n`.
    void drop_until(std::uint64_t n) noexcept { begin_ = n; }

private:
    [[nodiscard]] std::uint64_t at(std::uint64_t n) const noexcept { return n & mask_; }

    void grow(std::uint64_t n)
    {
        std::uint64_t room = 16;
        while (room < n && room <= ~room) room *= 2;  // beyond that the allocator says no
        std::vector<Sample> samples(room);
        std::vector<Measure> measures(room, Measure::identity());
        for (std::uint64_t i = begin_; i != end_; ++i) {
            const std::uint64_t there = i & (room - 1);
            samples[there] = samples_[at(i)];
            measures[there] = measures_[at(i)];
        }
        samples_.swap(samples);
        measures_.swap(measures);
        mask_ = room - 1;
    }

    void swap(sample_ring& o) noexcept
    {
        samples_.swap(o.samples_);
        measures_.swap(o.measures_);
        std::swap(mask_, o.mask_);
        std::swap(begin_, o.begin_);
        std::swap(end_, o.end_);
    }

    std::vector<Sample> samples_;
    std::vector<Measure> measures_;
    std::uint64_t mask_ = 0;
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_WINDOW_SAMPLE_RING_HPP
