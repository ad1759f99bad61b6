// SPDX-License-Identifier: MIT
//
// event_slots: the events from the oldest in flight on, in a ring of positions or a list of events.
//
// Part of the completion tracker. A ring is small and fast for dense positions. For sparse
// positions most of it would be empty, so a list is used:
//
//     ring to list    the ring would have at least 32 positions per event, and more than 4,096
//     list to ring    it would have less than 16 positions per event, or less than 2,048 in all
//
// The change is considered if the next event has no room. In a list of n events it is also
// considered after every n further events, or 64 if n is less. So moving the events costs O(1)
// amortised. An empty value uses the ring. Ring and list keep their memory.

#ifndef WAYBILL_TRACKING_DETAIL_EVENT_SLOTS_HPP
#define WAYBILL_TRACKING_DETAIL_EVENT_SLOTS_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/tracking/detail/dense_slots.hpp>
#include <waybill/tracking/detail/sparse_slots.hpp>

namespace waybill::inline v0_2::detail {

/// Moves all events from `source` to `target`. Requires: `target` is empty and has room for them.
template <class Source, class Target>
void move_events(Source& source, Target& target) noexcept
{
    std::uint64_t at = source.front();
    for (std::uint64_t left = source.size(); left != 0; --left) {
        const slot_event e = *source.first_from(at);
        target.push(e);
        at = e.sequence + 1;
    }
    source.clear();
}

class event_slots {
public:
    [[nodiscard]] bool dense() const noexcept { return sparse_.empty(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::uint64_t in_flight() const noexcept
    {
        return dense_.in_flight() + sparse_.in_flight();
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return dense_.size() + sparse_.size(); }
    /// Requires: not empty.
    [[nodiscard]] std::uint64_t front() const noexcept
    {
        return dense() ? dense_.front() : sparse_.front();
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return dense_.bytes() + sparse_.bytes(); }

    /// Reserves `positions` positions in the ring and `events` events in the list.
    void reserve(std::uint64_t positions, std::uint64_t events)
    {
        dense_.grow(positions);
        sparse_.grow(events);
    }

    /// Makes room for an event at `sequence`, which is after the newest.
    void make_room(std::uint64_t sequence)
    {
        if (dense()) {
            if (!dense_.fits(sequence)) [[unlikely]]
                make_room_dense(sequence);
        } else if (--events_until_check_ == 0 || sparse_.size() == sparse_.capacity()) {
            make_room_sparse(sequence);
        }
    }

    /// Adds an event. Requires: there is room, and the first event is in flight.
    void push(slot_event e) noexcept
    {
        if (dense()) dense_.push(e);
        else sparse_.push(e);
    }

    /// Marks an event as done. `events_since` is the number of events begun from it on, itself
    /// included, or any number if that is not known.
    slot_completion complete(std::uint64_t sequence, std::uint32_t events_since) noexcept
    {
        return dense() ? dense_.complete(sequence) : sparse_.complete(sequence, events_since);
    }

    /// Removes all events before this position, and the done events up to the next one in flight.
    /// Returns the last removed event. Requires: not empty, and the oldest event is before this
    /// position.
    [[nodiscard]] std::uint64_t drop_below(std::uint64_t sequence) noexcept
    {
        return dense() ? dense_.drop_below(sequence) : sparse_.drop_below(sequence);
    }

    void clear() noexcept
    {
        dense_.clear();
        sparse_.clear();
    }

    /// The first event at or after this position.
    [[nodiscard]] std::optional<slot_event> first_from(std::uint64_t sequence) const noexcept
    {
        return dense() ? dense_.first_from(sequence) : sparse_.first_from(sequence);
    }

    /// The first event in flight at or after this position.
    [[nodiscard]] std::optional<std::uint64_t> in_flight_from(std::uint64_t sequence) const noexcept
    {
        return dense() ? dense_.in_flight_from(sequence) : sparse_.in_flight_from(sequence);
    }

    /// Number of events from `first` to `last`, both included.
    [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t last) const noexcept
    {
        return dense() ? dense_.count(first, last) : sparse_.count(first, last);
    }

    [[nodiscard]] std::optional<std::uint64_t> newest_done() const noexcept
    {
        return dense() ? dense_.newest_done() : sparse_.newest_done();
    }

    /// True if the same events are in flight and done.
    friend bool operator==(const event_slots& a, const event_slots& b) noexcept
    {
        if (a.size() != b.size() || a.in_flight() != b.in_flight()) return false;
        std::uint64_t at = a.empty() ? 0 : a.front();
        for (std::uint64_t left = a.size(); left != 0; --left, ++at) {
            const std::optional<slot_event> one = a.first_from(at);
            if (one != b.first_from(at)) return false;
            at = one->sequence;
        }
        return true;
    }

private:
    WAYBILL_NOINLINE void make_room_dense(std::uint64_t sequence)
    {
        if (empty()) return dense_.grow(1);
        const std::uint64_t events = size() + 1;
        const std::uint64_t distance = sequence - front();
        const bool stays_dense =
            distance < min_sparse_span || distance / min_sparse_positions_per_event < events;
        if (stays_dense) return dense_.grow(distance + 1);
        const std::uint64_t until_check = greater(events, min_events_between_checks);
        sparse_.grow(until_check);
        detail::move_events(dense_, sparse_);
        events_until_check_ = until_check;
    }

    WAYBILL_NOINLINE void make_room_sparse(std::uint64_t sequence)
    {
        const std::uint64_t events = size() + 1;
        const std::uint64_t distance = sequence - front();
        events_until_check_ = 1;  // if memory runs out, the next event decides again
        if (distance < min_sparse_span / 2 ||
            distance / (min_sparse_positions_per_event / 2) < events) {
            dense_.grow(distance + 1);
            return detail::move_events(sparse_, dense_);
        }
        sparse_.grow(events);
        events_until_check_ = greater(events, min_events_between_checks);
    }

    // The ring becomes a list at these limits. The list becomes a ring below half of either, so
    // that the events are not moved back and forth.
    static constexpr std::uint64_t min_sparse_positions_per_event = 32;
    /// In positions. The bits of fewer positions take at most one or two kilobytes.
    static constexpr std::uint64_t min_sparse_span = 4'096;
    static constexpr std::uint64_t min_events_between_checks = 64;

    dense_slots dense_;
    sparse_slots sparse_;  // at most one of the two contains events
    std::uint64_t events_until_check_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_EVENT_SLOTS_HPP
