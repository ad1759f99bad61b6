// SPDX-License-Identifier: MIT
//
// sparse_slots: which of the events begun are still in flight, where their positions are far apart.
//
// Part of the completion tracker. Events stand in the order in which they were begun, in a ring: a
// sequence number each, and one bit that says whether it is in flight. That is 8.2 bytes an event
// where the ring is full, and 12.2 where it has just grown. Who knows the how-manieth an event was
// finds it without a search.

#ifndef WAYBILL_CONSUME_SPARSE_SLOTS_HPP
#define WAYBILL_CONSUME_SPARSE_SLOTS_HPP

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/consume/dense_slots.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

class sparse_slots {
public:
    constexpr sparse_slots() noexcept = default;
    constexpr ~sparse_slots() = default;
    constexpr sparse_slots(const sparse_slots&) = default;
    constexpr sparse_slots& operator=(const sparse_slots&) = default;
    constexpr sparse_slots(sparse_slots&& o) noexcept { swap(o); }
    constexpr sparse_slots& operator=(sparse_slots&& o) noexcept
    {
        swap(o);
        o.clear();
        return *this;
    }

    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr std::uint64_t open() const noexcept { return open_; }
    /// Events from the oldest in flight on, in flight or done.
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }
    /// Requires: not empty.
    [[nodiscard]] constexpr std::uint64_t front() const noexcept { return sequences_[head_]; }
    [[nodiscard]] constexpr std::uint64_t last() const noexcept { return sequence_at(size_ - 1); }
    [[nodiscard]] constexpr std::uint64_t bytes() const noexcept
    {
        return (sequences_.capacity() + bits_.capacity()) * sizeof(std::uint64_t);
    }
    [[nodiscard]] constexpr std::uint64_t room() const noexcept { return sequences_.size(); }

    /// Room for so many events, at the least. A ring that grows becomes half as large again.
    constexpr void grow(std::uint64_t events)
    {
        if (events <= room()) return;
        const std::uint64_t most = (greater(events, room() + room() / 2) + 63) / 64 * 64;
        std::vector<std::uint64_t> sequences(most, 0);
        std::vector<std::uint64_t> bits(most / 64, 0);
        for (std::uint64_t n = 0; n != size_; ++n) {
            const std::uint64_t place = place_of(n);
            sequences[n] = sequences_[place];
            bits[n / 64] |= (bits_[place / 64] >> place % 64 & 1U) << n % 64;
        }
        sequences_.swap(sequences);
        bits_.swap(bits);
        head_ = 0;
    }

    /// Requires: there is room, and it is behind the newest; the first one is in flight.
    constexpr void push(std::uint64_t sequence, bool in_flight) noexcept
    {
        const std::uint64_t place = place_of(size_);
        sequences_[place] = sequence;
        ++size_;
        if (!in_flight) return;
        bits_[place / 64] |= std::uint64_t{1} << place % 64;
        ++open_;
    }

    /// The event is done, if it is in flight. If it is the oldest, what is done up to the next in
    /// flight is let go. So many were begun from it on, or any number where that is not known.
    constexpr slot_closed close(std::uint64_t sequence, std::uint32_t since) noexcept
    {
        if (open_ == 0) return {};
        std::uint64_t nth = size_ - since;
        if (nth >= size_ || sequence_at(nth) != sequence) {
            nth = before(sequence);
            if (nth == size_ || sequence_at(nth) != sequence) return {};
        }
        const std::uint64_t place = place_of(nth);
        const std::uint64_t bit = std::uint64_t{1} << place % 64;
        if ((bits_[place / 64] & bit) == 0) return {};
        bits_[place / 64] ^= bit;
        --open_;
        if (nth != 0) return {true, false, 0};
        return {true, true, drop_done()};
    }

    /// Nothing was begun.
    constexpr void clear() noexcept
    {
        if (open_ != 0) {
            for (std::uint64_t& b : bits_) b = 0;
        }
        head_ = 0;
        size_ = 0;
        open_ = 0;
    }

    /// The first event from here on.
    [[nodiscard]] constexpr std::optional<tracked_event> from(std::uint64_t sequence) const noexcept
    {
        const std::uint64_t n = before(sequence);
        if (n == size_) return std::nullopt;
        return tracked_event{sequence_at(n), is_open(n)};
    }

    /// The first event from here on that is in flight.
    [[nodiscard]] constexpr std::optional<std::uint64_t> open_from(
        std::uint64_t sequence) const noexcept
    {
        const std::uint64_t n = before(sequence);
        if (open_ == 0 || n == size_) return std::nullopt;
        // Where none is in flight from here on, the next one that is is the oldest.
        const std::uint64_t found = n + distance_to_open(place_of(n));
        if (found >= size_) return std::nullopt;
        return sequence_at(found);
    }

    /// How many events were begun from one position to another, both counted.
    [[nodiscard]] constexpr std::uint64_t count(std::uint64_t first,
                                                std::uint64_t last) const noexcept
    {
        const std::uint64_t end = last == highest_size ? size_ : before(last + 1);
        return saturating_sub(end, before(first));
    }

    /// The newest event that is done, of those behind the oldest in flight.
    [[nodiscard]] constexpr std::optional<std::uint64_t> newest_done() const noexcept
    {
        if (open_ == size_) return std::nullopt;
        std::uint64_t n = size_ - 1;
        while (is_open(n)) --n;
        return sequence_at(n);
    }

    /// All in front of this position goes, in flight or not, and what is done up to the next in
    /// flight. The last event of it. Requires: not empty, and the oldest is in front of it.
    [[nodiscard]] constexpr std::uint64_t drop_below(std::uint64_t sequence) noexcept
    {
        const std::uint64_t gone = before(sequence);
        for (std::uint64_t n = 0; n != gone; ++n) {
            if (!is_open(n)) continue;
            const std::uint64_t place = place_of(n);
            bits_[place / 64] ^= std::uint64_t{1} << place % 64;
            --open_;
        }
        return drop_done();
    }

private:
    /// The oldest event has just been done: what is done up to the next in flight is let go. The
    /// last event of it.
    [[nodiscard]] constexpr std::uint64_t drop_done() noexcept
    {
        if (open_ == 0) {
            const std::uint64_t newest = last();
            clear();
            return newest;
        }
        const std::uint64_t gone = distance_to_open(head_);
        const std::uint64_t newest = sequence_at(gone - 1);
        head_ = place_of(gone);
        size_ -= gone;
        return newest;
    }

    /// How many events stand in front of this position.
    [[nodiscard]] constexpr std::uint64_t before(std::uint64_t sequence) const noexcept
    {
        std::uint64_t first = 0;
        for (std::uint64_t left = size_; left != 0;) {
            const std::uint64_t half = left / 2;
            if (sequence_at(first + half) < sequence) {
                first += half + 1;
                left -= half + 1;
            } else {
                left = half;
            }
        }
        return first;
    }
    [[nodiscard]] constexpr bool is_open(std::uint64_t n) const noexcept
    {
        const std::uint64_t place = place_of(n);
        return (bits_[place / 64] >> place % 64 & 1U) != 0;
    }
    [[nodiscard]] constexpr std::uint64_t place_of(std::uint64_t n) const noexcept
    {
        const std::uint64_t place = head_ + n;
        return place < room() ? place : place - room();
    }
    [[nodiscard]] constexpr std::uint64_t sequence_at(std::uint64_t n) const noexcept
    {
        return sequences_[place_of(n)];
    }

    /// Requires: not empty.
    [[nodiscard]] constexpr std::uint64_t distance_to_open(std::uint64_t place) const noexcept
    {
        std::uint64_t distance = 0;
        for (;;) {
            const std::uint64_t bits = bits_[place / 64] >> place % 64;
            if (bits != 0) return distance + static_cast<unsigned>(std::countr_zero(bits));
            distance += 64 - place % 64;
            place += 64 - place % 64;
            if (place == room()) place = 0;
        }
    }

    constexpr void swap(sparse_slots& o) noexcept
    {
        sequences_.swap(o.sequences_);
        bits_.swap(o.bits_);
        std::swap(head_, o.head_);
        std::swap(size_, o.size_);
        std::swap(open_, o.open_);
    }

    std::vector<std::uint64_t> sequences_;  // a multiple of 64
    std::vector<std::uint64_t> bits_;       // all zero outside of the ring
    std::uint64_t head_ = 0;                // the place of the oldest in flight
    std::uint64_t size_ = 0;
    std::uint64_t open_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_SPARSE_SLOTS_HPP
