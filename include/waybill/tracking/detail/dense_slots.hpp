// SPDX-License-Identifier: MIT
//
// dense_slots: the events in flight, with two bits per position.
//
// Part of the completion tracker, for dense positions. The position alone determines the place of
// its two bits. One bit marks a begun event, which distinguishes it from a gap; the other an event
// in flight. The capacity is a power of two: at most four bits per position between the oldest
// event in flight and the newest begun one.

#ifndef WAYBILL_TRACKING_DETAIL_DENSE_SLOTS_HPP
#define WAYBILL_TRACKING_DETAIL_DENSE_SLOTS_HPP

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/core/detail/inlining.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// An event that was begun: in flight, or done.
struct slot_event {
    std::uint64_t sequence = 0;
    bool in_flight = false;

    friend bool operator==(const slot_event&, const slot_event&) = default;
};

/// The result of marking an event as done.
struct slot_completion {
    bool was_in_flight = false;
    bool was_oldest = false;    ///< It was the oldest event in flight.
    std::uint64_t removed = 0;  ///< If `was_oldest`: the newest of the events removed with it.
};

class dense_slots {
public:
    dense_slots() noexcept = default;
    ~dense_slots() = default;
    dense_slots(const dense_slots&) = default;
    dense_slots& operator=(const dense_slots&) = default;
    dense_slots(dense_slots&& o) noexcept { swap(o); }
    dense_slots& operator=(dense_slots&& o) noexcept
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
    [[nodiscard]] std::uint64_t front() const noexcept { return oldest_; }
    [[nodiscard]] std::uint64_t last() const noexcept { return newest_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return words_.capacity() * sizeof(word); }

    /// Number of positions that always fit, at any offset of the first one in its word.
    [[nodiscard]] std::uint64_t room() const noexcept
    {
        return words_.empty() ? 0 : (words_.size() - 1) * 64 + 1;
    }

    /// True if there is room for an event at this position. It must be after the newest event.
    [[nodiscard]] bool fits(std::uint64_t sequence) const noexcept
    {
        const std::uint64_t from = in_flight_count_ == 0 ? sequence : oldest_;
        return (sequence >> 6U) - (from >> 6U) < words_.size();
    }

    /// Number of words for `positions` positions, at any offset of the first one in its word. At
    /// least 2, and a power of two, so that word_at() needs no division.
    [[nodiscard]] static constexpr std::uint64_t words_for(std::uint64_t positions) noexcept
    {
        return std::bit_ceil((saturating_sub(positions, 2) >> 6U) + 2);
    }

    /// Grows to at least this many positions.
    void grow(std::uint64_t positions)
    {
        const std::uint64_t count = words_for(positions);
        if (count <= words_.size()) return;
        std::vector<word> wider(count, word{});
        if (in_flight_count_ != 0) {
            for (std::uint64_t w = oldest_ >> 6U;; ++w) {
                wider[w & (count - 1)] = word_at(w);
                if (w == newest_ >> 6U) break;
            }
        }
        words_.swap(wider);
    }

    /// Adds an event. Requires: it fits and is after the newest; the first event is in flight.
    void push(slot_event e) noexcept
    {
        if (in_flight_count_ == 0) oldest_ = e.sequence;
        word& w = word_at(e.sequence >> 6U);
        const std::uint64_t bit = std::uint64_t{1} << (e.sequence & 63U);
        w.begun |= bit;
        if (e.in_flight) {
            w.in_flight |= bit;
            ++in_flight_count_;
        }
        newest_ = e.sequence;
        ++event_count_;
    }

    /// Marks an event as done if it is in flight. If it is the oldest one, it is removed together
    /// with the done events before the next one in flight.
    slot_completion complete(std::uint64_t sequence) noexcept
    {
        if (in_flight_count_ == 0 || sequence - oldest_ > newest_ - oldest_) return {};
        word& w = word_at(sequence >> 6U);
        const std::uint64_t bit = std::uint64_t{1} << (sequence & 63U);
        if ((w.in_flight & bit) == 0) return {};
        w.in_flight ^= bit;
        --in_flight_count_;
        if (sequence != oldest_) return {.was_in_flight = true};
        // Fast path: the next position is in the same word and in flight.
        if ((w.in_flight & bit << 1U) == 0) [[unlikely]]
            return {.was_in_flight = true, .was_oldest = true, .removed = drop_done()};
        w.begun ^= bit;
        --event_count_;
        oldest_ = sequence + 1;
        return {.was_in_flight = true, .was_oldest = true, .removed = sequence};
    }

    /// Removes all events.
    void clear() noexcept
    {
        if (event_count_ != 0) {
            for (std::uint64_t w = oldest_ >> 6U;; ++w) {
                word_at(w) = {};
                if (w == newest_ >> 6U) break;
            }
        }
        event_count_ = 0;
        in_flight_count_ = 0;
    }

    /// The first event at or after this position.
    [[nodiscard]] std::optional<slot_event> first_from(std::uint64_t sequence) const noexcept
    {
        return first(sequence, &word::begun);
    }

    /// The first event in flight at or after this position.
    [[nodiscard]] std::optional<std::uint64_t> in_flight_from(std::uint64_t sequence) const noexcept
    {
        const auto found = first(sequence, &word::in_flight);
        if (!found) return std::nullopt;
        return found->sequence;
    }

    /// Number of events begun from `first` to `last`, both included.
    [[nodiscard]] std::uint64_t count(std::uint64_t first, std::uint64_t last) const noexcept
    {
        if (in_flight_count_ == 0 || first > newest_ || last < oldest_) return 0;
        first = greater(first, oldest_);
        last = lesser(last, newest_);
        std::uint64_t begun = 0;
        for (std::uint64_t w = first >> 6U; w <= last >> 6U; ++w) {
            std::uint64_t bits = word_at(w).begun;
            if (w == first >> 6U) bits &= ~std::uint64_t{0} << (first & 63U);
            if (w == last >> 6U) bits &= ~std::uint64_t{0} >> (63U - (last & 63U));
            begun += static_cast<unsigned>(std::popcount(bits));
        }
        return begun;
    }

    /// The newest event done, among those after the oldest in flight.
    [[nodiscard]] std::optional<std::uint64_t> newest_done() const noexcept
    {
        if (in_flight_count_ == event_count_) return std::nullopt;
        for (std::uint64_t w = newest_ >> 6U;; --w) {
            const std::uint64_t done = word_at(w).begun & ~word_at(w).in_flight;
            if (done != 0) return w * 64 + 63 - static_cast<unsigned>(std::countl_zero(done));
        }
    }

    /// Removes all events before this position, in flight or done, and the done events up to the
    /// next one in flight. Returns the last removed event. Requires: not empty, and the oldest
    /// event is before this position.
    [[nodiscard]] std::uint64_t drop_below(std::uint64_t sequence) noexcept
    {
        for (std::optional<std::uint64_t> o = oldest_; o && *o < sequence; o = in_flight_from(*o)) {
            word_at(*o >> 6U).in_flight ^= std::uint64_t{1} << (*o & 63U);
            --in_flight_count_;
        }
        return drop_done();
    }

private:
    /// The bits of 64 positions.
    struct word {
        std::uint64_t in_flight = 0;
        std::uint64_t begun = 0;
    };

    [[nodiscard]] word& word_at(std::uint64_t w) noexcept
    {
        return words_[w & (words_.size() - 1)];
    }
    [[nodiscard]] const word& word_at(std::uint64_t w) const noexcept
    {
        return words_[w & (words_.size() - 1)];
    }

    /// The oldest event is done: removes the done events up to the next one in flight. Returns the
    /// last removed event.
    [[nodiscard]] WAYBILL_NOINLINE std::uint64_t drop_done() noexcept
    {
        if (in_flight_count_ == 0) {
            clear();
            return newest_;
        }
        std::uint64_t index = oldest_ >> 6U;
        std::uint64_t newest = oldest_;
        unsigned from = static_cast<unsigned>(oldest_ & 63U);
        while (word_at(index).in_flight == 0) {
            newest = remove_events(index, from, 64, newest);
            from = 0;
            ++index;
        }
        const auto next = static_cast<unsigned>(std::countr_zero(word_at(index).in_flight));
        newest = remove_events(index, from, next, newest);
        oldest_ = index * 64 + next;
        return newest;
    }

    /// Removes the events in the bits [from, to) of a word. Returns the newest of them, or `newest`
    /// if there is none.
    std::uint64_t remove_events(std::uint64_t index, unsigned from, unsigned to,
                                std::uint64_t newest) noexcept
    {
        word& w = word_at(index);
        const std::uint64_t up_to = to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
        const std::uint64_t removed = w.begun & up_to;
        if (removed == 0) return newest;
        w.begun ^= removed;
        // Usually there are no gaps, and no count is needed.
        const std::uint64_t all = up_to & (~std::uint64_t{0} << from);
        event_count_ -= removed == all ? to - from : static_cast<unsigned>(std::popcount(removed));
        return index * 64 + 63 - static_cast<unsigned>(std::countl_zero(removed));
    }

    /// The first event at or after `sequence` whose bit in `bits_member` is set.
    [[nodiscard]] std::optional<slot_event> first(std::uint64_t sequence,
                                                  std::uint64_t word::* bits_member) const noexcept
    {
        if (in_flight_count_ == 0 || sequence > newest_) return std::nullopt;
        sequence = greater(sequence, oldest_);
        std::uint64_t index = sequence >> 6U;
        std::uint64_t bits = word_at(index).*bits_member & (~std::uint64_t{0} << (sequence & 63U));
        while (bits == 0) {
            if (index++ == newest_ >> 6U) return std::nullopt;
            bits = word_at(index).*bits_member;
        }
        const auto bit = static_cast<unsigned>(std::countr_zero(bits));
        return slot_event{.sequence = index * 64 + bit,
                          .in_flight = (word_at(index).in_flight >> bit & 1U) != 0};
    }

    void swap(dense_slots& o) noexcept
    {
        words_.swap(o.words_);
        std::swap(oldest_, o.oldest_);
        std::swap(newest_, o.newest_);
        std::swap(event_count_, o.event_count_);
        std::swap(in_flight_count_, o.in_flight_count_);
    }

    std::vector<word> words_;        // zero outside of [oldest_, newest_]
    std::uint64_t oldest_ = 0;       // position of the oldest event in flight
    std::uint64_t newest_ = 0;       // position of the newest event begun
    std::uint64_t event_count_ = 0;  // events from the oldest on, in flight or done
    std::uint64_t in_flight_count_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_DENSE_SLOTS_HPP
