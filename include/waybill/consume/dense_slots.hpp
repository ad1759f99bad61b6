// SPDX-License-Identifier: MIT
//
// dense_slots: which of the events begun are still in flight, at two bits a position.
//
// Part of the completion tracker, for positions that follow each other closely. A position has its
// place by its number alone: one bit says that an event was begun there, so that gaps are told from
// events, and one that it is still in flight. Room is a power of two, and so at most four bits for
// each position between the oldest in flight and the newest begun.

#ifndef WAYBILL_CONSUME_DENSE_SLOTS_HPP
#define WAYBILL_CONSUME_DENSE_SLOTS_HPP

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

/// An event that was begun, and whether it is still in flight.
struct tracked_event {
    std::uint64_t sequence = 0;
    bool open = false;

    friend bool operator==(const tracked_event&, const tracked_event&) = default;
};

/// What became of an event that was told to be done.
struct slot_closed {
    bool open = false;         ///< It was in flight.
    bool front = false;        ///< It was the oldest.
    std::uint64_t newest = 0;  ///< If so: the newest event in front of what is the oldest now.
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

    /// Positions that there is room for, wherever the first of them stands in its word.
    [[nodiscard]] constexpr std::uint64_t room() const noexcept
    {
        return words_.empty() ? 0 : (words_.size() - 1) * 64 + 1;
    }

    /// Whether an event may stand here, behind the newest.
    [[nodiscard]] constexpr bool fits(std::uint64_t sequence) const noexcept
    {
        const std::uint64_t from = open_ == 0 ? sequence : front_;
        return (sequence >> 6U) - (from >> 6U) < words_.size();
    }

    /// Words that hold so many positions, wherever the first of them stands in its word.
    [[nodiscard]] static constexpr std::uint64_t words_for(std::uint64_t positions) noexcept
    {
        return std::bit_ceil((saturating_sub(positions, 2) >> 6U) + 2);
    }

    /// Room for so many positions, at the least.
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

    /// Requires: it fits, and is behind the newest; the first one is in flight.
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

    /// The event here is done, if one is in flight. If it is the oldest, what is done up to the
    /// next in flight is let go.
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
    /// Nothing was begun.
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

    /// The first event from here on.
    [[nodiscard]] constexpr std::optional<tracked_event> from(std::uint64_t sequence) const noexcept
    {
        return first(sequence, &word::begun);
    }

    /// The first event from here on that is in flight.
    [[nodiscard]] constexpr std::optional<std::uint64_t> open_from(
        std::uint64_t sequence) const noexcept
    {
        const auto found = first(sequence, &word::open);
        if (!found) return std::nullopt;
        return found->sequence;
    }

    /// How many events were begun from one position to another, both counted.
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

    /// The newest event that is done, of those behind the oldest in flight.
    [[nodiscard]] constexpr std::optional<std::uint64_t> newest_done() const noexcept
    {
        if (open_ == size_) return std::nullopt;
        for (std::uint64_t w = last_ >> 6U;; --w) {
            const std::uint64_t done = at(w).begun & ~at(w).open;
            if (done != 0) return w * 64 + 63 - static_cast<unsigned>(std::countl_zero(done));
        }
    }

    /// All in front of this position goes, in flight or not, and what is done up to the next in
    /// flight. The last event of it. Requires: not empty, and the oldest is in front of it.
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

    /// The oldest event has just been done: what is done up to the next in flight is let go. The
    /// last event of it.
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

    /// The events of a word from one bit up to another go. The newest of them, if there is any.
    constexpr std::uint64_t let_go(std::uint64_t index, unsigned from, unsigned to,
                                   std::uint64_t newest) noexcept
    {
        word& w = at(index);
        const std::uint64_t up_to = to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
        const std::uint64_t gone = w.begun & up_to;
        if (gone == 0) return newest;
        w.begun ^= gone;
        // Without gaps, as a rule, and then there is nothing to count.
        const std::uint64_t all = up_to & (~std::uint64_t{0} << from);
        size_ -= gone == all ? to - from : static_cast<unsigned>(std::popcount(gone));
        return index * 64 + 63 - static_cast<unsigned>(std::countl_zero(gone));
    }

    [[nodiscard]] constexpr std::optional<tracked_event> first(
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
        return tracked_event{index * 64 + bit, (at(index).open >> bit & 1U) != 0};
    }

    constexpr void swap(dense_slots& o) noexcept
    {
        words_.swap(o.words_);
        std::swap(front_, o.front_);
        std::swap(last_, o.last_);
        std::swap(size_, o.size_);
        std::swap(open_, o.open_);
    }

    std::vector<word> words_;  // all zero outside of [front, last]
    std::uint64_t front_ = 0;  // the oldest in flight
    std::uint64_t last_ = 0;   // the newest begun
    std::uint64_t size_ = 0;
    std::uint64_t open_ = 0;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_DENSE_SLOTS_HPP
