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

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// An event that was begun. `open` means in flight.
struct slot_event {
    std::uint64_t sequence = 0;
    bool open = false;

    friend bool operator==(const slot_event&, const slot_event&) = default;
};

/// The result of marking an event as done.
struct slot_closed {
    bool open = false;         ///< The event was in flight.
    bool front = false;        ///< It was the oldest event in flight.
    std::uint64_t newest = 0;  ///< If `front`: the newest event before the now oldest one.
};

class dense_slots {
public:
    constexpr dense_slots() noexcept = default;
    constexpr ~dense_slots() = default;
    constexpr dense_slots(const dense_slots&) = default;
    constexpr dense_slots& operator=(const dense_slots&) = default;
    constexpr dense_slots(dense_slots&& o) noexcept { swap(o); }
    constexpr dense_slots& operator=(dense_slots&& o) noexcept
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
    [[nodiscard]] constexpr std::uint64_t front() const noexcept { return front_; }
    [[nodiscard]] constexpr std::uint64_t last() const noexcept { return last_; }
    [[nodiscard]] constexpr std::uint64_t bytes() const noexcept
    {
        return words_.capacity() * sizeof(word);
    }

    /// Number of positions that always fit, at any offset of the first one in its word.
    [[nodiscard]] constexpr std::uint64_t room() const noexcept
    {
        return words_.empty() ? 0 : (words_.size() - 1) * 64 + 1;
    }

    /// True if there is room for an event at this position. It must be after the newest event.
    [[nodiscard]] constexpr bool fits(std::uint64_t sequence) const noexcept
    {
        const std::uint64_t from = open_ == 0 ? sequence : front_;
        return (sequence >> 6U) - (from >> 6U) < words_.size();
    }

    /// Number of words for `positions` positions, at any offset of the first one in its word.
    [[nodiscard]] static constexpr std::uint64_t words_for(std::uint64_t positions) noexcept
    {
        return std::bit_ceil((saturating_sub(positions, 2) >> 6U) + 2);
    }

    /// Grows to at least this many positions.
    constexpr void grow(std::uint64_t positions)
    {
        const std::uint64_t count = words_for(positions);
        if (count <= words_.size()) return;
        std::vector<word> wider(count, word{});
        if (open_ != 0) {
            for (std::uint64_t w = front_ >> 6U;; ++w) {
                wider[w & (count - 1)] = at(w);
                if (w == last_ >> 6U) break;
            }
        }
        words_.swap(wider);
    }

    /// Adds an event. Requires: it fits and is after the newest; the first event is in flight.
    constexpr void push(std::uint64_t sequence, bool in_flight) noexcept
    {
        if (open_ == 0) front_ = sequence;
        word& w = at(sequence >> 6U);
        const std::uint64_t bit = std::uint64_t{1} << (sequence & 63U);
        w.begun |= bit;
        if (in_flight) {
            w.open |= bit;
            ++open_;
        }
        last_ = sequence;
        ++size_;
    }

    /// Marks an event as done, if it is in flight. If it is the oldest one, the done events up to
    /// the next one in flight are removed.
    constexpr slot_closed close(std::uint64_t sequence) noexcept
    {
        if (open_ == 0 || sequence - front_ > last_ - front_) return {};
        word& w = at(sequence >> 6U);
        const std::uint64_t bit = std::uint64_t{1} << (sequence & 63U);
        if ((w.open & bit) == 0) return {};
        w.open ^= bit;
        --open_;
        if (sequence != front_) return {true, false, 0};
        if ((w.open & bit << 1U) == 0) [[unlikely]] return {true, true, drop_done()};
        w.begun ^= bit;
        --size_;
        front_ = sequence + 1;
        return {true, true, sequence};
    }
    /// Removes all events.
    constexpr void clear() noexcept
    {
        if (size_ != 0) {
            for (std::uint64_t w = front_ >> 6U;; ++w) {
                at(w) = {};
                if (w == last_ >> 6U) break;
            }
        }
        size_ = 0;
        open_ = 0;
    }

    /// The first event at or after this position.
    [[nodiscard]] constexpr std::optional<slot_event> from(std::uint64_t sequence) const noexcept
    {
        return first(sequence, &word::begun);
    }

    /// The first event in flight at or after this position.
    [[nodiscard]] constexpr std::optional<std::uint64_t> open_from(
        std::uint64_t sequence) const noexcept
    {
        const auto found = first(sequence, &word::open);
        if (!found) return std::nullopt;
        return found->sequence;
    }

    /// Number of events begun from `first` to `last`, both included.
    [[nodiscard]] constexpr std::uint64_t count(std::uint64_t first,
                                                std::uint64_t last) const noexcept
    {
        if (open_ == 0 || first > last_ || last < front_) return 0;
        first = greater(first, front_);
        last = lesser(last, last_);
        std::uint64_t begun = 0;
        for (std::uint64_t w = first >> 6U; w <= last >> 6U; ++w) {
            std::uint64_t bits = at(w).begun;
            if (w == first >> 6U) bits &= ~std::uint64_t{0} << (first & 63U);
            if (w == last >> 6U) bits &= ~std::uint64_t{0} >> (63U - (last & 63U));
            begun += static_cast<unsigned>(std::popcount(bits));
        }
        return begun;
    }

    /// The newest event done, among those after the oldest in flight.
    [[nodiscard]] constexpr std::optional<std::uint64_t> newest_done() const noexcept
    {
        if (open_ == size_) return std::nullopt;
        for (std::uint64_t w = last_ >> 6U;; --w) {
            const std::uint64_t done = at(w).begun & ~at(w).open;
            if (done != 0) return w * 64 + 63 - static_cast<unsigned>(std::countl_zero(done));
        }
    }

    /// Removes all events before this position, in flight or done, and the done events up to the
    /// next one in flight. Returns the last removed event. Requires: not empty, and the oldest
    /// event is before this position.
    [[nodiscard]] constexpr std::uint64_t drop_below(std::uint64_t sequence) noexcept
    {
        for (std::optional<std::uint64_t> o = front_; o && *o < sequence; o = open_from(*o)) {
            at(*o >> 6U).open ^= std::uint64_t{1} << (*o & 63U);
            --open_;
        }
        return drop_done();
    }

private:
    struct word {
        std::uint64_t open = 0;
        std::uint64_t begun = 0;
    };

    [[nodiscard]] constexpr word& at(std::uint64_t w) noexcept
    {
        return words_[w & (words_.size() - 1)];
    }
    [[nodiscard]] constexpr const word& at(std::uint64_t w) const noexcept
    {
        return words_[w & (words_.size() - 1)];
    }

    /// The oldest event is done: removes the done events up to the next one in flight. Returns the
    /// last removed event.
    [[nodiscard, gnu::noinline]] constexpr std::uint64_t drop_done() noexcept
    {
        if (open_ == 0) {
            clear();
            return last_;
        }
        std::uint64_t index = front_ >> 6U;
        std::uint64_t newest = front_;
        unsigned from = static_cast<unsigned>(front_ & 63U);
        while (at(index).open == 0) {
            newest = let_go(index, from, 64, newest);
            from = 0;
            ++index;
        }
        const auto next = static_cast<unsigned>(std::countr_zero(at(index).open));
        newest = let_go(index, from, next, newest);
        front_ = index * 64 + next;
        return newest;
    }

    /// Removes the events in the bits [from, to) of a word. Returns the newest of them, or `newest`
    /// if there is none.
    constexpr std::uint64_t let_go(std::uint64_t index, unsigned from, unsigned to,
                                   std::uint64_t newest) noexcept
    {
        word& w = at(index);
        const std::uint64_t up_to = to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
        const std::uint64_t gone = w.begun & up_to;
        if (gone == 0) return newest;
        w.begun ^= gone;
        // Usually there are no gaps, and no count is needed.
        const std::uint64_t all = up_to & (~std::uint64_t{0} << from);
        size_ -= gone == all ? to - from : static_cast<unsigned>(std::popcount(gone));
        return index * 64 + 63 - static_cast<unsigned>(std::countl_zero(gone));
    }

    [[nodiscard]] constexpr std::optional<slot_event> first(
        std::uint64_t sequence, std::uint64_t word::*bits_of) const noexcept
    {
        if (open_ == 0 || sequence > last_) return std::nullopt;
        sequence = greater(sequence, front_);
        std::uint64_t index = sequence >> 6U;
        std::uint64_t bits = at(index).*bits_of & (~std::uint64_t{0} << (sequence & 63U));
        while (bits == 0) {
            if (index++ == last_ >> 6U) return std::nullopt;
            bits = at(index).*bits_of;
        }
        const auto bit = static_cast<unsigned>(std::countr_zero(bits));
        return slot_event{index * 64 + bit, (at(index).open >> bit & 1U) != 0};
    }

    constexpr void swap(dense_slots& o) noexcept
    {
        words_.swap(o.words_);
        std::swap(front_, o.front_);
        std::swap(last_, o.last_);
        std::swap(size_, o.size_);
        std::swap(open_, o.open_);
    }

    std::vector<word> words_;  // zero outside of [front_, last_]
    std::uint64_t front_ = 0;  // the oldest in flight
    std::uint64_t last_ = 0;   // the newest begun
    std::uint64_t size_ = 0;
    std::uint64_t open_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_DENSE_SLOTS_HPP
