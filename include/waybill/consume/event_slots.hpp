// SPDX-License-Identifier: MIT
//
// event_slots: the events from the oldest in flight on, by position or one by one.
//
// Part of the completion tracker. Where positions are dense, a ring of them is small and quick;
// where they are not, it would be mostly empty, and a list of the events takes its place. Which of
// the two it is is decided when there is no room for the next event, and in the list once in as
// many events as it holds; so the events that have to move have been paid for by those that came.
//
//     to a list    the ring would have 32 positions for each event, and more than 4,096 of them
//     to a ring    it would have less than 16, or less than 2,048 in all
//
// What is empty is a ring. The room of either is kept.

#ifndef WAYBILL_CONSUME_EVENT_SLOTS_HPP
#define WAYBILL_CONSUME_EVENT_SLOTS_HPP

#include <cstdint>
#include <optional>

#include <waybill/consume/dense_slots.hpp>
#include <waybill/consume/sparse_slots.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// All events of one go to the other, which is empty and has room for them.
template <class From, class To>
constexpr void move_events(From& from, To& to) noexcept
{
    std::uint64_t at = from.front();
    for (std::uint64_t left = from.size(); left != 0; --left) {
        const tracked_event e = *from.from(at);
        to.push(e.sequence, e.open);
        at = e.sequence + 1;
    }
    from.clear();
}

}  // namespace detail

class event_slots {
public:
    [[nodiscard]] constexpr bool dense() const noexcept { return sparse_.empty(); }
    [[nodiscard]] constexpr bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] constexpr std::uint64_t open() const noexcept
    {
        return dense_.open() + sparse_.open();
    }
    [[nodiscard]] constexpr std::uint64_t size() const noexcept
    {
        return dense_.size() + sparse_.size();
    }
    /// Requires: not empty.
    [[nodiscard]] constexpr std::uint64_t front() const noexcept
    {
        return dense() ? dense_.front() : sparse_.front();
    }
    [[nodiscard]] constexpr std::uint64_t bytes() const noexcept
    {
        return dense_.bytes() + sparse_.bytes();
    }

    /// Room for so many positions in the ring, and so many events in the list.
    constexpr void reserve(std::uint64_t positions, std::uint64_t events)
    {
        dense_.grow(positions);
        sparse_.grow(events);
    }

    /// For an event that stands here, behind the newest.
    constexpr void make_room(std::uint64_t sequence)
    {
        if (dense()) {
            if (!dense_.fits(sequence)) [[unlikely]] widen(sequence);
        } else if (--decide_in_ == 0 || sparse_.size() == sparse_.room()) {
            lengthen(sequence);
        }
    }

    /// Requires: there is room, and the first one is in flight.
    constexpr void push(std::uint64_t sequence, bool in_flight) noexcept
    {
        if (dense()) dense_.push(sequence, in_flight);
        else sparse_.push(sequence, in_flight);
    }

    /// The event is done. So many were begun from it on, or any number where that is not known.
    constexpr slot_closed close(std::uint64_t sequence, std::uint32_t since) noexcept
    {
        return dense() ? dense_.close(sequence) : sparse_.close(sequence, since);
    }

    /// All in front of this position goes. The newest event in front of what is the oldest then.
    /// Requires: not empty, and the oldest is in front of it.
    [[nodiscard]] constexpr std::uint64_t drop_below(std::uint64_t sequence) noexcept
    {
        return dense() ? dense_.drop_below(sequence) : sparse_.drop_below(sequence);
    }

    constexpr void clear() noexcept
    {
        dense_.clear();
        sparse_.clear();
    }

    /// The first event from here on.
    [[nodiscard]] constexpr std::optional<tracked_event> from(std::uint64_t sequence) const noexcept
    {
        return dense() ? dense_.from(sequence) : sparse_.from(sequence);
    }

    /// The first event from here on that is in flight.
    [[nodiscard]] constexpr std::optional<std::uint64_t> open_from(
        std::uint64_t sequence) const noexcept
    {
        return dense() ? dense_.open_from(sequence) : sparse_.open_from(sequence);
    }

    /// How many events there are from one position to another, both counted.
    [[nodiscard]] constexpr std::uint64_t count(std::uint64_t first,
                                                std::uint64_t last) const noexcept
    {
        return dense() ? dense_.count(first, last) : sparse_.count(first, last);
    }

    [[nodiscard]] constexpr std::optional<std::uint64_t> newest_done() const noexcept
    {
        return dense() ? dense_.newest_done() : sparse_.newest_done();
    }

    /// Whether they are the same events, in flight and done.
    friend constexpr bool operator==(const event_slots& a, const event_slots& b) noexcept
    {
        if (a.size() != b.size() || a.open() != b.open()) return false;
        std::uint64_t at = a.empty() ? 0 : a.front();
        for (std::uint64_t left = a.size(); left != 0; --left, ++at) {
            const std::optional<tracked_event> one = a.from(at);
            if (one != b.from(at)) return false;
            at = one->sequence;
        }
        return true;
    }

private:
    [[gnu::noinline]] constexpr void widen(std::uint64_t sequence)
    {
        if (empty()) return dense_.grow(1);
        const std::uint64_t events = size() + 1;
        const std::uint64_t distance = sequence - front();
        if (distance < always_dense || distance / 32 < events) return dense_.grow(distance + 1);
        sparse_.grow(greater(events, 64));
        detail::move_events(dense_, sparse_);
        decide_in_ = greater(events, 64);
    }

    [[gnu::noinline]] constexpr void lengthen(std::uint64_t sequence)
    {
        const std::uint64_t events = size() + 1;
        const std::uint64_t distance = sequence - front();
        decide_in_ = 1;  // where memory runs out, the next one asks again
        if (distance < always_dense / 2 || distance / 16 < events) {
            dense_.grow(distance + 1);
            return detail::move_events(sparse_, dense_);
        }
        sparse_.grow(events);
        decide_in_ = greater(events, 64);
    }

    static constexpr std::uint64_t always_dense = 4'096;  // positions: a kilobyte, or two

    dense_slots dense_;
    sparse_slots sparse_;  // where there are any in it, there are none in the other
    std::uint64_t decide_in_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_EVENT_SLOTS_HPP
