// SPDX-License-Identifier: MIT
//
// send_keys: the keys of open items, and which of them may be sent.
//
// Part of the sender. A key is a number from the caller, usually the hash of a session or
// partition. It has a slot while it has open items or is stopped. So an item stores its key in four
// bytes, and finished keys use no memory. An open-addressing hash table finds the slot. It does not
// allocate after it has grown to the number of keys that are open at the same time.

#ifndef WAYBILL_BATCH_DETAIL_SEND_KEYS_HPP
#define WAYBILL_BATCH_DETAIL_SEND_KEYS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

class send_keys {
public:
    struct slot {
        std::uint64_t key = 0;          ///< The caller's number.
        std::uint64_t stopped_at = 0;   ///< First item that did not arrive; later ones are blocked.
        std::uint64_t blocked_end = 0;  ///< End of the blocked items; `highest_size` if stopped.
        std::uint32_t items = 0;        ///< Number of open items.
        bool in_flight = false;         ///< Items of the key are in an attempt in flight.

        [[nodiscard]] bool stopped() const noexcept { return blocked_end == highest_size; }
        [[nodiscard]] bool blocks(std::uint64_t n) const noexcept
        {
            return stopped_at < n && n < blocked_end;
        }
        friend bool operator==(const slot&, const slot&) = default;
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
            slots_.push_back({});
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

    std::vector<slot> slots_;
    std::vector<std::uint32_t> index_;
    std::uint32_t first_free_ = none;
    std::size_t slot_count_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_KEYS_HPP
