// SPDX-License-Identifier: MIT
//
// sparse_slots: the events in flight, for positions that are far apart.
//
// Part of the completion tracker: the list of event_slots.hpp. It is stored as a ring buffer of the
// events in the order in which they were begun. Each event has a sequence number, and one bit that
// is set while it is in flight. If the number of events begun after an event is known, the event is
// found without a search.
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
    sparse_slots() noexcept = default;
    ~sparse_slots() = default;
    sparse_slots(const sparse_slots&) = default;
    sparse_slots& operator=(const sparse_slots&) = default;
    sparse_slots(sparse_slots&& o) noexcept { swap(o); }
    sparse_slots& operator=(sparse_slots&& o) noexcept
    {
        swap(o);
        o.clear();
        return *this;
    }

    [[nodiscard]] bool empty() const noexcept { return event_count_ == 0; }
    [[nodiscard]] std::uint64_t in_flight() const noexcept { return in_flight_count_; }
    /// Number of events from the oldest in flight on, in flight or done.
    [[nodiscard]] std::uint64_t size() const noexcept { return event_count_; }
    /// Requires: not empty.
    [[nodiscard]] std::uint64_t front() const noexcept { return sequences_[oldest_index_]; }
    [[nodiscard]] std::uint64_t last() const noexcept { return sequence_at(event_count_ - 1); }
    [[nodiscard]] std::uint64_t bytes() const noexcept
    {
        return (sequences_.capacity() + in_flight_bits_.capacity()) * sizeof(std::uint64_t);
    }
    [[nodiscard]] std::uint64_t capacity() const noexcept { return sequences_.size(); }

    /// Makes room for at least this number of events. A ring that grows becomes at least 1.5 times
    /// as large, in a multiple of 64.
    void grow(std::uint64_t events)
    {
        if (events <= capacity()) return;
        const std::uint64_t wanted = greater(events, capacity() + capacity() / 2);
        const std::uint64_t new_capacity = (wanted + 63) / 64 * 64;
        std::vector<std::uint64_t> sequences(new_capacity, 0);
        std::vector<std::uint64_t> bits(new_capacity / 64, 0);
        for (std::uint64_t n = 0; n != event_count_; ++n) {
            const std::uint64_t ring_index = ring_index_of(n);
            sequences[n] = sequences_[ring_index];
            bits[n / 64] |= (in_flight_bits_[ring_index / 64] >> ring_index % 64 & 1U) << n % 64;
        }
        sequences_.swap(sequences);
        in_flight_bits_.swap(bits);
        oldest_index_ = 0;
    }

    /// Requires: there is room; the event is after last(); the first event is in flight.
    void push(slot_event e) noexcept
    {
        const std::uint64_t ring_index = ring_index_of(event_count_);
        sequences_[ring_index] = e.sequence;
        ++event_count_;
        if (!e.in_flight) return;
        in_flight_bits_[ring_index / 64] |= std::uint64_t{1} << ring_index % 64;
        ++in_flight_count_;
    }

    /// Marks the event as done if it is in flight. If it is the oldest, it is removed together with
    /// the done events before the next one in flight. `events_since` is the number of events begun
    /// from this one on, itself included. If that is wrong, the event is found by binary search.
    slot_completion complete(std::uint64_t sequence, std::uint32_t events_since) noexcept
    {
        if (in_flight_count_ == 0) return {};
        std::uint64_t index = event_count_ - events_since;
        if (index >= event_count_ || sequence_at(index) != sequence) {
            index = count_before(sequence);
            if (index == event_count_ || sequence_at(index) != sequence) return {};
        }
        const std::uint64_t ring_index = ring_index_of(index);
        const std::uint64_t bit = std::uint64_t{1} << ring_index % 64;
        if ((in_flight_bits_[ring_index / 64] & bit) == 0) return {};
        in_flight_bits_[ring_index / 64] ^= bit;
        --in_flight_count_;
        if (index != 0) return {.was_in_flight = true};
        return {.was_in_flight = true, .was_oldest = true, .removed = drop_done()};
    }

    /// Removes all events and keeps the memory.
    void clear() noexcept
    {
        if (in_flight_count_ != 0) {
            for (std::uint64_t& b : in_flight_bits_) b = 0;
        }
        oldest_index_ = 0;
        event_count_ = 0;
        in_flight_count_ = 0;
    }

    /// The first event at or after this position, in flight or done.
    [[nodiscard]] std::optional<slot_event> first_from(std::uint64_t sequence) const noexcept
    {
        const std::uint64_t n = count_before(sequence);
        if (n == event_count_) return std::nullopt;
        return slot_event{.sequence = sequence_at(n), .in_flight = is_in_flight(n)};
    }

    /// The first event in flight at or after this position.
    [[nodiscard]] std::optional<std::uint64_t> in_flight_from(std::uint64_t sequence) const noexcept
    {
        const std::uint64_t n = count_before(sequence);
        if (in_flight_count_ == 0 || n == event_count_) return std::nullopt;
        // If no event from here on is in flight, the search wraps around to the oldest one.
        const std::uint64_t found = n + distance_to_in_flight(ring_index_of(n));
        if (found >= event_count_) return std::nullopt;
        return sequence_at(found);
    }

    /// Number of events in [first, last], in flight or done.
    [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t last) const noexcept
    {
        const std::uint64_t end = last == highest_size ? event_count_ : count_before(last + 1);
        return saturating_sub(end, count_before(first));
    }

    /// The newest done event after the oldest one in flight. Linear in the newer events in flight.
    [[nodiscard]] std::optional<std::uint64_t> newest_done() const noexcept
    {
        if (in_flight_count_ == event_count_) return std::nullopt;
        std::uint64_t n = event_count_ - 1;
        while (is_in_flight(n)) --n;
        return sequence_at(n);
    }

    /// Removes all events before this position, and the done events before the next one in flight.
    /// Returns the last event removed. Requires: not empty, and front() is before this position.
    [[nodiscard]] std::uint64_t drop_below(std::uint64_t sequence) noexcept
    {
        const std::uint64_t removed_count = count_before(sequence);
        for (std::uint64_t n = 0; n != removed_count; ++n) {
            if (!is_in_flight(n)) continue;
            const std::uint64_t ring_index = ring_index_of(n);
            in_flight_bits_[ring_index / 64] ^= std::uint64_t{1} << ring_index % 64;
            --in_flight_count_;
        }
        return drop_done();
    }

private:
    /// Removes the done events before the oldest one in flight, or all if no event is in flight.
    /// Returns the last event removed.
    [[nodiscard]] std::uint64_t drop_done() noexcept
    {
        if (in_flight_count_ == 0) {
            const std::uint64_t newest = last();
            clear();
            return newest;
        }
        const std::uint64_t removed_count = distance_to_in_flight(oldest_index_);
        const std::uint64_t newest = sequence_at(removed_count - 1);
        oldest_index_ = ring_index_of(removed_count);
        event_count_ -= removed_count;
        return newest;
    }

    /// Number of events before this position. Binary search.
    [[nodiscard]] std::uint64_t count_before(std::uint64_t sequence) const noexcept
    {
        std::uint64_t first = 0;
        for (std::uint64_t left = event_count_; left != 0;) {
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
    [[nodiscard]] bool is_in_flight(std::uint64_t n) const noexcept
    {
        const std::uint64_t ring_index = ring_index_of(n);
        return (in_flight_bits_[ring_index / 64] >> ring_index % 64 & 1U) != 0;
    }
    [[nodiscard]] std::uint64_t ring_index_of(std::uint64_t n) const noexcept
    {
        const std::uint64_t ring_index = oldest_index_ + n;
        return ring_index < capacity() ? ring_index : ring_index - capacity();
    }
    [[nodiscard]] std::uint64_t sequence_at(std::uint64_t n) const noexcept
    {
        return sequences_[ring_index_of(n)];
    }

    /// Distance in the ring from this index to the next event in flight. Requires: there is one.
    [[nodiscard]] std::uint64_t distance_to_in_flight(std::uint64_t ring_index) const noexcept
    {
        std::uint64_t distance = 0;
        for (;;) {
            const std::uint64_t bits = in_flight_bits_[ring_index / 64] >> ring_index % 64;
            if (bits != 0) return distance + static_cast<unsigned>(std::countr_zero(bits));
            distance += 64 - ring_index % 64;
            ring_index += 64 - ring_index % 64;
            if (ring_index == capacity()) ring_index = 0;
        }
    }

    void swap(sparse_slots& o) noexcept
    {
        sequences_.swap(o.sequences_);
        in_flight_bits_.swap(o.in_flight_bits_);
        std::swap(oldest_index_, o.oldest_index_);
        std::swap(event_count_, o.event_count_);
        std::swap(in_flight_count_, o.in_flight_count_);
    }

    std::vector<std::uint64_t> sequences_;       // its size is a multiple of 64
    std::vector<std::uint64_t> in_flight_bits_;  // 0 for done events and unused ring indexes
    std::uint64_t oldest_index_ = 0;             // ring index of the oldest event in flight
    std::uint64_t event_count_ = 0;              // events from the oldest on, in flight or done
    std::uint64_t in_flight_count_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_SPARSE_SLOTS_HPP
