// SPDX-License-Identifier: MIT
//
// send_keys: the keys of open items, and which of them may be sent.
//
// Part of the sender. A key is a number from the caller, usually the hash of a session or
// partition. It has a slot while it has open items or is stopped. So an item stores its key in four
// bytes, and finished keys use no memory. An open-addressing hash table finds the slot. It does not
// allocate after it has grown to the number of keys that are open at the same time.
//
// An item that cannot be sent yet is parked in the queue of its key. A heap has the keys that may be
// sent and have parked items, by their first item. So an item that waits for its key costs no time
// until the key is free.

#ifndef WAYBILL_BATCH_DETAIL_SEND_KEYS_HPP
#define WAYBILL_BATCH_DETAIL_SEND_KEYS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <waybill/batch/detail/send_items.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

class send_keys {
public:
    struct slot {
        std::uint64_t key = 0;          ///< The caller's number.
        std::uint64_t stopped_at = 0;   ///< First item that did not arrive; later ones are blocked.
        std::uint64_t blocked_end = 0;  ///< End of the blocked items; `highest_size` if stopped.
        std::uint64_t first_parked = 0;  ///< Set if `parked` is not 0.
        std::uint64_t last_parked = 0;   ///< The same.
        std::uint32_t items = 0;         ///< Number of open items.
        std::uint32_t parked = 0;        ///< Number of parked items.
        std::uint32_t heap_index = 0;    ///< Index in the heap plus 1; 0 if it is not there.
        bool in_flight = false;          ///< Items of the key are in an attempt in flight.
        bool drafted = false;            ///< Its only item that may be sent now is in the draft.
        bool refused = false;            ///< In the result that is examined: an item was refused.
        bool overtaken = false;          ///< The same: a later item of the key has arrived.

        [[nodiscard]] bool busy() const noexcept { return in_flight || drafted; }
        [[nodiscard]] bool stopped() const noexcept { return blocked_end == highest_size; }
        [[nodiscard]] bool blocks(std::uint64_t n) const noexcept
        {
            return stopped_at < n && n < blocked_end;
        }
        /// The parked items are not compared: the states of the items determine them.
        friend bool operator==(const slot& a, const slot& b)
        {
            return a.key == b.key && a.stopped_at == b.stopped_at &&
                   a.blocked_end == b.blocked_end && a.items == b.items &&
                   a.in_flight == b.in_flight && a.drafted == b.drafted;
        }
    };

    static constexpr std::uint32_t none = ~std::uint32_t{0};

    [[nodiscard]] slot& operator[](std::uint32_t s) { return slots_[s]; }
    [[nodiscard]] const slot& operator[](std::uint32_t s) const { return slots_[s]; }

    /// The slot of a key, for one more item.
    [[nodiscard]] std::uint32_t enter(std::uint64_t key)
    {
        std::uint32_t s = find(key);
        if (s == none) s = add(key);
        ++slots_[s].items;
        return s;
    }

    /// An item of this slot has ended. A stopped key keeps its slot until it is resumed.
    void leave(std::uint32_t s)
    {
        slot& k = slots_[s];
        if (--k.items == 0 && !k.stopped()) remove(s);
    }

    /// An item did not arrive. Earlier items of the key may still be sent, and may still fail.
    void stop(std::uint32_t s, std::uint64_t item)
    {
        slot& k = slots_[s];
        if (!k.stopped() || item < k.stopped_at) k.stopped_at = item;
        k.blocked_end = highest_size;
    }

    /// Lets a stopped key continue with items from number `next` on. False if it was not stopped.
    bool resume(std::uint64_t key, std::uint64_t next)
    {
        const std::uint32_t s = find(key);
        if (s == none || !slots_[s].stopped()) return false;
        slots_[s].blocked_end = next;
        if (slots_[s].items == 0) remove(s);
        return true;
    }

    /// The first parked item of all keys that may be sent; `highest_size` if there is none.
    [[nodiscard]] std::uint64_t first_ready() const noexcept
    {
        return heap_.empty() ? highest_size : slots_[heap_.front()].first_parked;
    }
    /// The number of parked items.
    [[nodiscard]] std::uint64_t parked() const noexcept { return parked_; }
    /// True if a key in flight has parked items.
    [[nodiscard]] bool any_waits_for_flight() const noexcept { return parked_in_flight_ != 0; }

    /// Parks item `n` of the slot. Requires: it is before or after all its other parked items.
    void park(send_items& items, std::uint32_t s, std::uint64_t n)
    {
        slot& k = slots_[s];
        if (k.parked == 0) {
            k.first_parked = k.last_parked = n;
        } else if (n < k.first_parked) {
            items.link(n, k.first_parked);
            k.first_parked = n;
        } else {
            items.link(k.last_parked, n);
            k.last_parked = n;
        }
        count_parked(k, 1);
        update_heap(s);
    }
    /// Takes item `n` out of the queue of its key. O(1) if it is the first, as usual.
    void unpark(send_items& items, std::uint32_t s, std::uint64_t n)
    {
        slot& k = slots_[s];
        if (k.first_parked == n) {
            if (k.parked != 1) k.first_parked = items.linked_to(n);
        } else {
            std::uint64_t before = k.first_parked;
            while (items.linked_to(before) != n) before = items.linked_to(before);
            if (k.last_parked == n) k.last_parked = before;
            else items.link(before, items.linked_to(n));
        }
        count_parked(k, -1);
        update_heap(s);
    }
    /// Empties the queues of all keys.
    void unpark_all()
    {
        for (slot& k : slots_) k.parked = k.heap_index = 0;
        heap_.clear();
        parked_ = parked_in_flight_ = 0;
    }

    void set_in_flight(std::uint32_t s, bool in_flight)
    {
        slot& k = slots_[s];
        if (k.in_flight != in_flight) {
            k.in_flight = in_flight;
            if (in_flight) parked_in_flight_ += k.parked;
            else parked_in_flight_ -= k.parked;
        }
        k.drafted = false;
        update_heap(s);
    }
    void set_drafted(std::uint32_t s, bool drafted)
    {
        slots_[s].drafted = drafted;
        update_heap(s);
    }

    /// The keys and their states are the value, not the positions of the slots.
    friend bool operator==(const send_keys& a, const send_keys& b)
    {
        if (a.slot_count_ != b.slot_count_) return false;
        for (const std::uint32_t s : a.index_) {
            if (s == none) continue;
            const std::uint32_t other = b.find(a.slots_[s].key);
            if (other == none || !(a.slots_[s] == b.slots_[other])) return false;
        }
        return true;
    }

private:
    [[nodiscard]] std::size_t hash_index(std::uint64_t key) const
    {
        constexpr std::uint64_t odd_factor = 0x9E37'79B9'7F4A'7C15U;  // 2^64 / golden ratio
        std::uint64_t h = key * odd_factor;
        h ^= h >> 32;
        return h & (index_.size() - 1);
    }

    [[nodiscard]] std::uint32_t find(std::uint64_t key) const
    {
        if (index_.empty()) return none;
        for (std::size_t i = hash_index(key); index_[i] != none;
             i = (i + 1) & (index_.size() - 1)) {
            if (slots_[index_[i]].key == key) return index_[i];
        }
        return none;
    }

    std::uint32_t add(std::uint64_t key)
    {
        if ((slot_count_ + 1) * 2 > index_.size()) grow();
        std::uint32_t s = first_free_;
        if (s == none) {
            const slot unused;
            slots_.push_back(unused);
            s = static_cast<std::uint32_t>(slots_.size() - 1);
        } else {
            first_free_ = slots_[s].items;
        }
        slots_[s] = {.key = key};
        insert(s);
        ++slot_count_;
        return s;
    }

    void insert(std::uint32_t s)
    {
        std::size_t i = hash_index(slots_[s].key);
        while (index_[i] != none) i = (i + 1) & (index_.size() - 1);
        index_[i] = s;
    }

    void grow()
    {
        constexpr std::size_t min_index_size = 16;  // a power of two, as hash_index() requires
        std::vector<std::uint32_t> old(index_.empty() ? min_index_size : index_.size() * 2, none);
        slots_.reserve(old.size() / 2);
        heap_.reserve(old.size() / 2);
        old.swap(index_);
        for (const std::uint32_t s : old) {
            if (s != none) insert(s);
        }
    }

    // Later entries of the probe sequence move up, so that no search ends too early.
    void remove(std::uint32_t s)
    {
        const std::size_t mask = index_.size() - 1;
        std::size_t hole = hash_index(slots_[s].key);
        while (index_[hole] != s) hole = (hole + 1) & mask;
        for (std::size_t i = (hole + 1) & mask; index_[i] != none; i = (i + 1) & mask) {
            const std::size_t home = hash_index(slots_[index_[i]].key);
            if (((i - home) & mask) < ((i - hole) & mask)) continue;
            index_[hole] = index_[i];
            hole = i;
        }
        index_[hole] = none;
        slots_[s].items = first_free_;  // links the free slots
        first_free_ = s;
        --slot_count_;
    }

    void count_parked(slot& k, int change) noexcept
    {
        const auto n = static_cast<std::uint32_t>(change);
        k.parked += n;
        parked_ += static_cast<std::uint64_t>(static_cast<std::int64_t>(change));
        if (k.in_flight)
            parked_in_flight_ += static_cast<std::uint64_t>(static_cast<std::int64_t>(change));
    }

    /// Adds the slot to the heap, moves it to its place there, or removes it.
    void update_heap(std::uint32_t s)
    {
        slot& k = slots_[s];
        const bool ready = k.parked != 0 && !k.busy();
        if (ready && k.heap_index == 0) {
            heap_.push_back(s);
            sift_up(heap_.size() - 1, s);
        } else if (ready) {
            sift_down(sift_up(k.heap_index - 1U, s), s);
        } else if (k.heap_index != 0) {
            const std::size_t hole = k.heap_index - 1U;
            k.heap_index = 0;
            const std::uint32_t last = heap_.back();
            heap_.pop_back();
            if (last != s) sift_down(sift_up(hole, last), last);
        }
    }
    std::size_t place(std::size_t i, std::uint32_t s)
    {
        heap_[i] = s;
        slots_[s].heap_index = static_cast<std::uint32_t>(i) + 1;
        return i;
    }
    std::size_t sift_up(std::size_t i, std::uint32_t s)
    {
        const std::uint64_t item = slots_[s].first_parked;
        for (; i != 0; i = (i - 1) / 2) {
            const std::uint32_t parent = heap_[(i - 1) / 2];
            if (slots_[parent].first_parked <= item) break;
            place(i, parent);
        }
        return place(i, s);
    }
    void sift_down(std::size_t i, std::uint32_t s)
    {
        const std::uint64_t item = slots_[s].first_parked;
        for (std::size_t child = 2 * i + 1; child < heap_.size(); child = 2 * i + 1) {
            if (child + 1 < heap_.size() &&
                slots_[heap_[child + 1]].first_parked < slots_[heap_[child]].first_parked)
                ++child;
            if (item <= slots_[heap_[child]].first_parked) break;
            place(i, heap_[child]);
            i = child;
        }
        place(i, s);
    }

    std::vector<slot> slots_;
    std::vector<std::uint32_t> index_;
    std::vector<std::uint32_t> heap_;  // slots that may be sent and have parked items
    std::uint32_t first_free_ = none;
    std::size_t slot_count_ = 0;
    std::uint64_t parked_ = 0;            // in all keys
    std::uint64_t parked_in_flight_ = 0;  // in keys in flight
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_KEYS_HPP
