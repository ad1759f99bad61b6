// SPDX-License-Identifier: MIT
//
// send_items: all open items by number, in 16 bytes each, and 4 more if they are linked.
//
// Part of the sender. An item is stored until it and all items before it have ended. Links lead from
// an item to a later one; send_keys builds the queues of keys with them.

#ifndef WAYBILL_BATCH_DETAIL_SEND_ITEMS_HPP
#define WAYBILL_BATCH_DETAIL_SEND_ITEMS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/batch/sending.hpp>

namespace waybill::inline v0_2::detail {

enum class item_state : std::uint8_t {
    waiting,    ///< To be sent.
    oversized,  ///< Too large; the caller is to replace it.
    in_flight,  ///< In a batch in flight; set only if a draft begins before the item.
    ended,      ///< Accepted or settled otherwise.
};

/// The meaning of an item's bytes.
enum class size_basis : std::uint8_t {
    body,      ///< The body; the overhead is estimated.
    reported,  ///< The whole size as the broker reported it. It may be wrong.
    exact,     ///< The whole size.
};

struct send_item {
    std::uint64_t bytes = 0;               ///< Size in bytes; `basis` defines its meaning.
    std::uint32_t key : 29 = 0;            ///< Key slot, if keys are used.
    std::uint32_t maybe_arrived : 1 = 0;   ///< 1: a batch with it may have arrived.
    std::uint32_t sent_again : 1 = 0;      ///< 1: it was sent again after that.
    std::uint32_t maybe_overtook : 1 = 0;  ///< 1: it may have arrived before one of its key.
    std::uint16_t max_items = no_maximum;  ///< Maximum items in a batch that begins with this one.
    std::uint8_t failed_attempts = 0;      ///< Refusals for size and throttling do not count.
    item_state state : 2 = item_state::waiting;
    size_basis basis : 2 = size_basis::body;
    std::uint8_t replace_handled : 1 = 0;  ///< 1: a replace request for it has ended.
    std::uint8_t on_trial : 1 = 0;         ///< 1: sent although it exceeds a reported limit.

    static constexpr std::uint16_t no_maximum = 0xFFFF;

    friend bool operator==(const send_item&, const send_item&) = default;
};
static_assert(sizeof(send_item) == 16, "an unsettled item takes 16 bytes");

class send_items {
public:
    explicit send_items(bool linked) : linked_(linked) {}
    ~send_items() = default;
    /// A copy contains the items, without unused memory.
    send_items(const send_items& o)
        : items_(o.items_.data() + o.head_, o.items_.data() + o.tail_),
          linked_(o.linked_),
          tail_(items_.size()),
          capacity_(items_.size()),
          head_number_(o.head_number_)
    {
        for (std::size_t i = o.head_; linked_ && i != o.tail_; ++i) links_.push_back(o.links_[i]);
    }
    send_items(send_items&& o) noexcept { swap(o); }
    send_items& operator=(send_items o) noexcept
    {
        swap(o);
        return *this;
    }

    /// The number of the first item that has not ended; `end()` if all have.
    [[nodiscard]] std::uint64_t begin() const noexcept { return head_number_; }
    /// The number of the next item to be queued.
    [[nodiscard]] std::uint64_t end() const noexcept { return head_number_ + (tail_ - head_); }
    [[nodiscard]] send_item& operator[](std::uint64_t n)
    {
        return items_[head_ + (n - head_number_)];
    }

    /// Links item `from` to the later item `to`. Needs `linked`.
    void link(std::uint64_t from, std::uint64_t to) noexcept
    {
        links_[head_ + (from - head_number_)] = static_cast<std::uint32_t>(to - from);
    }
    /// The item that `from` was linked to last.
    [[nodiscard]] std::uint64_t linked_to(std::uint64_t from) const noexcept
    {
        return from + links_[head_ + (from - head_number_)];
    }

    /// Adds a copy of `prototype` with `bytes` bytes. One 16-byte copy is faster than two 8-byte
    /// copies.
    send_item& push(const send_item& prototype, std::uint64_t bytes)
    {
        make_room();
        push_announced(prototype, bytes);
        return items_[tail_ - 1];
    }

    /// Announces up to `count` calls of `push_announced`, limited to the allocated memory.
    void announce(std::uint64_t count) noexcept
    {
        announced_end_ = tail_ + lesser(count, capacity_ - tail_);
    }
    /// True if `push_announced` may be called.
    [[nodiscard]] bool has_announced() const noexcept { return tail_ < announced_end_; }
    void push_announced(const send_item& prototype, std::uint64_t bytes)
    {
        send_item& added = items_[tail_++];
        added = prototype;
        added.bytes = bytes;
    }

    /// Allocates, so that the next `push` cannot fail.
    void make_room()
    {
        if (tail_ == capacity_) grow();
    }

    template <class F>
    void for_each(const std::vector<item_range>& runs, F&& f)
    {
        for (const item_range& r : runs) {
            send_item* i = &(*this)[r.first];
            for (send_item* const end = i + r.count; i != end; ++i) f(*i);
        }
    }

    /// Sets the state of all items in `runs`.
    void set_state(const std::vector<item_range>& runs, item_state s)
    {
        for_each(runs, [s](send_item& i) { i.state = s; });
    }

    /// Ends all items in `runs`. Usually they are the head of the list and are removed at once.
    void end_items(const std::vector<item_range>& runs)
    {
        if (runs.size() != 1 || runs.front().first != head_number_) {
            return set_state(runs, item_state::ended);
        }
        head_ += static_cast<std::size_t>(runs.front().count);
        head_number_ += runs.front().count;
    }

    /// The sum over the items whose overhead was estimated. `reported_sizes` contains the reported
    /// size of each item of the batch, in batch order, or is empty.
    [[nodiscard]] item_sum sum_of(const std::vector<item_range>& runs,
                                  std::span<const std::uint64_t> reported_sizes)
    {
        item_sum result;
        if (reported_sizes.empty()) return result;
        const std::uint64_t* reported = reported_sizes.data();
        for_each(runs, [&](const send_item& i) {
            if (i.basis == size_basis::body)
                result.add(i.bytes, reported_or_min_size(i.bytes, *reported));
            ++reported;
        });
        return result;
    }

    /// After a refused batch of `items` items, its first item stores a maximum for the items of a
    /// batch that begins with it: fewer than now. So the next batch is smaller, whatever was learnt.
    /// From the second refusal on, the maximum is half of `items`, or at most 7/8 if the size of the
    /// batch is known. `reported_sizes` contains the whole size of each item, or is empty.
    void learn_refusal(const std::vector<item_range>& runs, std::uint64_t items,
                       std::span<const std::uint64_t> reported_sizes, bool size_known)
    {
        send_item& first = (*this)[runs.front().first];
        std::uint64_t max_items = lesser(items - 1, send_item::no_maximum - 1U);
        if (first.max_items != send_item::no_maximum)
            max_items = size_known ? lesser(max_items, items - items / 8) : items / 2;
        first.max_items = static_cast<std::uint16_t>(max_items);
        if (reported_sizes.empty()) return;
        const std::uint64_t* reported = reported_sizes.data();
        for_each(runs, [&](send_item& i) {
            i.bytes = reported_or_min_size(i.bytes, *reported++);
            i.basis = size_basis::reported;
        });
    }

    /// Forgets all items.
    void clear() noexcept
    {
        head_number_ = end();
        head_ = tail_ = announced_end_ = 0;
    }

    /// Removes ended items at the head. Moves the open items to the start of the buffer if more
    /// than half of it is unused.
    void trim()
    {
        while (head_ != tail_ && items_[head_].state == item_state::ended) {
            ++head_;
            ++head_number_;
        }
        if (head_ <= tail_ / 2) return;
        announced_end_ = announced_end_ < head_ ? 0 : announced_end_ - head_;
        tail_ -= head_;
        for (std::size_t i = 0; i != tail_; ++i) items_[i] = items_[head_ + i];
        for (std::size_t i = 0; linked_ && i != tail_; ++i) links_[i] = links_[head_ + i];
        head_ = 0;
    }

    /// Ended items at the head and the state `in_flight` are not part of the value.
    friend bool operator==(const send_items& a, const send_items& b)
    {
        if (a.head_number_ != b.head_number_ || a.end() != b.end()) return false;
        for (std::size_t i = a.head_, j = b.head_; i != a.tail_; ++i, ++j) {
            if (!(without_in_flight(a.items_[i]) == without_in_flight(b.items_[j]))) return false;
        }
        return true;
    }

private:
    /// The reported size of an item, but at least a 64th of its body (`max_compression`).
    [[nodiscard]] static std::uint64_t reported_or_min_size(std::uint64_t body,
                                                            std::uint64_t reported) noexcept
    {
        const std::uint64_t remainder = body % max_compression;
        return greater(reported, body / max_compression + (remainder != 0 ? 1 : 0));
    }

    void swap(send_items& o) noexcept
    {
        items_.swap(o.items_);
        links_.swap(o.links_);
        std::swap(linked_, o.linked_);
        std::swap(head_, o.head_);
        std::swap(tail_, o.tail_);
        std::swap(capacity_, o.capacity_);
        std::swap(announced_end_, o.announced_end_);
        std::swap(head_number_, o.head_number_);
    }

    [[nodiscard]] static send_item without_in_flight(send_item i) noexcept
    {
        if (i.state == item_state::in_flight) i.state = item_state::waiting;
        return i;
    }

    void grow()
    {
        constexpr std::size_t min_capacity = 64;
        const std::size_t capacity = tail_ < min_capacity / 2 ? min_capacity : 2 * tail_;
        const std::uint32_t no_link = 0;
        while (linked_ && links_.size() != capacity) links_.push_back(no_link);
        items_.resize(capacity);
        capacity_ = capacity;
    }

    std::vector<send_item> items_;      // the items are in [head_, tail_); the rest is unused
    std::vector<std::uint32_t> links_;  // at the same places: how far the linked item is
    bool linked_ = false;
    std::size_t head_ = 0;           // index of the first item
    std::size_t tail_ = 0;           // index of the next item to be queued
    std::size_t capacity_ = 0;       // items_.size()
    std::size_t announced_end_ = 0;  // push_announced() may be called while tail_ is below this
    std::uint64_t head_number_ = 0;  // number of the item at head_
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SEND_ITEMS_HPP
