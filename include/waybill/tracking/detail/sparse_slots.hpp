// SPDX-License-Identifier: MIT
//
// sparse_slots: which of the begun events are still in flight, for positions that are far apart.
//
// Part of the completion tracker. A ring contains the events in the order in which they were begun:
// a sequence number for each, and one bit that is set while it is in flight. An event is found
// without a search if the number of events begun after it is known.
//
// Memory: 8.2 bytes for each event if the ring is full, and 12.2 if it has just grown.

#ifndef WAYBILL_TRACKING_DETAIL_SPARSE_SLOTS_HPP
#define WAYBILL_TRACKING_DETAIL_SPARSE_SLOTS_HPP

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/tracking/detail/dense_slots.hpp>

namespace waybill::inline v0_2::detail {

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
    /// Number of events from the oldest in flight on, in flight or done.
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }
    /// Requires: not empty.
    [[nodiscard]] constexpr std::uint64_t front() const noexcept { return sequences_[head_]; }
    [[nodiscard]] constexpr std::uint64_t last() const noexcept { return sequence_at(size_ - 1); }
    [[nodiscard]] constexpr std::uint64_t bytes() const noexcept
    {
        return (sequences_.capacity() + bits_.capacity()) * sizeof(std::uint64_t);
    }
    [[nodiscard]] constexpr std::uint64_t room() const noexcept { return sequences_.size(); }

    /// Makes room for at least this number of events. A ring that grows becomes at least 1.5 times
    /// as large, in a multiple of 64.
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

    /// Requires: there is room; `sequence` is after last(); the first event is in flight.
    constexpr void push(std::uint64_t sequence, bool in_flight) noexcept
    {
        const std::uint64_t place = place_of(size_);
        sequences_[place] = sequence;
        ++size_;
        if (!in_flight) return;
        bits_[place / 64] |= std::uint64_t{1} << place % 64;
        ++open_;
    }

    /// Marks the event as done if it is in flight. If it is the oldest, it is removed together with
    /// the done events before the next one in flight. `since` is the number of events begun from
    /// this event on, itself included. If `since` is wrong, the event is found by binary search.
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

    /// Removes all events and keeps the memory.
    constexpr void clear() noexcept
    {
        if (open_ != 0) {
            for (std::uint64_t& b : bits_) b = 0;
        }
        head_ = 0;
        size_ = 0;
        open_ = 0;
    }

    /// The first event at or after this position, in flight or done.
    [[nodiscard]] constexpr std::optional<slot_event> from(std::uint64_t sequence) const noexcept
    {
        const std::uint64_t n = before(sequence);
        if (n == size_) return std::nullopt;
        return slot_event{sequence_at(n), is_open(n)};
    }

    /// The first event in flight at or after this position.
    [[nodiscard]] constexpr std::optional<std::uint64_t> open_from(
        std::uint64_t sequence) const noexcept
    {
        const std::uint64_t n = before(sequence);
        if (open_ == 0 || n == size_) return std::nullopt;
        // If no event from here on is in flight, the search wraps around to the oldest one.
        const std::uint64_t found = n + distance_to_open(place_of(n));
        if (found >= size_) return std::nullopt;
        return sequence_at(found);
    }

    /// Number of events in [first, last], in flight or done.
    [[nodiscard]] constexpr std::uint64_t count(std::uint64_t first,
                                                std::uint64_t last) const noexcept
    {
        const std::uint64_t end = last == highest_size ? size_ : before(last + 1);
        return saturating_sub(end, before(first));
    }

    /// The newest done event after the oldest one in flight. Linear in the newer events in flight.
    [[nodiscard]] constexpr std::optional<std::uint64_t> newest_done() const noexcept
    {
        if (open_ == size_) return std::nullopt;
        std::uint64_t n = size_ - 1;
        while (is_open(n)) --n;
        return sequence_at(n);
    }

    /// Removes all events before this position, and the done events before the next one in flight.
    /// Returns the last event removed. Requires: not empty, and front() is before this position.
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
    /// Removes the done events before the oldest one in flight, or all if no event is in flight.
    /// Returns the last event removed.
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

    /// Number of events before this position. Binary search.
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

    /// Distance in the ring from this place to the next event in flight. Requires: there is one.
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

    std::vector<std::uint64_t> sequences_;  // its size is a multiple of 64
    std::vector<std::uint64_t> bits_;       // bit set: in flight; zero in unused places
    std::uint64_t head_ = 0;                // place of the oldest event in flight
    std::uint64_t size_ = 0;
    std::uint64_t open_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_SPARSE_SLOTS_HPP
